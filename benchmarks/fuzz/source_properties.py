"""What must hold between two fits, for models of rows in files, memory maps and clusters."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from benchmarks.fuzz._draws import HEAD, estimator, pick, rows_and_labels
from benchmarks.fuzz.sources import TAKES_SOURCES, WAYS, source_of

CHECKS = (
    "check_row_alone",
    "check_again",
    "check_labels",
    "check_unit_weights",
    "check_file",
)


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    lines = [line for line in rows_and_labels(rng, tame=True) if "sparse" not in line]
    model = estimator(rng, plain=True, among=TAKES_SOURCES)
    call = f"checks.{pick(rng, CHECKS)}(OnSource({model}, {pick(rng, WAYS)!r}), X, y)"
    head = "from benchmarks.fuzz.source_properties import OnSource"
    return HEAD + "\n".join([head, *lines, call]) + "\n"


class OnSource(BaseEstimator):
    """Fits an estimator on rows that are written to a file, or chunked, and returns that one."""

    def __init__(self, estimator: Any, way: str) -> None:
        self.estimator = estimator
        self.way = way

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Any:
        """Return the model of the rows."""
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        return clone(self.estimator).fit(source_of(X, self.way), y, **options)
