"""What must hold between two fits or two ways to ask the same."""

import numpy as np

from benchmarks.fuzz._draws import HEAD, estimator, pick, rows_and_labels

CHECKS = (
    "check_row_alone",
    "check_again",
    "check_sparse",
    "check_labels",
    "check_unit_weights",
    "check_file",
)


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    lines = rows_and_labels(rng, tame=True)
    call = f"checks.{pick(rng, CHECKS)}({estimator(rng, plain=True)}, X, y)"
    return HEAD + "\n".join([*lines, call]) + "\n"
