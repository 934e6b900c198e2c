"""Fitted models that are fitted again, refused or asked in another way: nothing else may change."""

from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.fuzz import checks
from benchmarks.fuzz._draws import HEAD, estimator, pick, rows_and_labels
from benchmarks.fuzz.sources import source_of

# What `fit` is given the second time, and refuses.
REFUSED = (
    "X, y, -np.ones(len(y))",
    "X[:, :1], y, -np.ones(len(y))",
    "X * 2.0**-40, y, np.ones(len(y) + 1)",
    "pandas.DataFrame(X).rename(columns=str), y, np.full(len(y), np.nan)",
    "X, np.zeros(len(y))",
    "X[:-1], y",
    "X * np.nan, y",
    "np.vstack([X, X]), [*y, *y[:-1]]",
)
CHECKS = ("check_refused", "check_later_parameters", "check_copies", "check_other_rows")
# Of rows on a cluster a model answers later.
WAYS = ("memory map", "npy", "csv", "parquet", "dask")


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    check = pick(rng, CHECKS)
    alike = check == "check_other_rows"  # up to rounding, which extreme parameters magnify
    lines, model = rows_and_labels(rng, tame=alike), estimator(rng, plain=alike)
    arguments = ["X", "y"]
    if check == "check_refused":
        arguments.append(f"({pick(rng, REFUSED)})")
        lines.append("X = X.toarray() if sparse.issparse(X) else X")
    elif alike:
        arguments.append(repr(pick(rng, WAYS)))
    call = f"refits.{check}({model}, {', '.join(arguments)})"
    head = "import pandas\nfrom benchmarks.fuzz import refits"
    return HEAD + "\n".join([head, *lines, call]) + "\n"


def check_refused(estimator: Any, X: Any, y: Any, refused: tuple[Any, ...]) -> None:
    """Check that a fit that is refused leaves the model, or the lack of one, as it was."""
    for fitted in (estimator, checks.fit(deepcopy(estimator), X, y)):
        if fitted is None:
            continue
        before = dict(vars(fitted))
        assert checks.fit(fitted, *refused) is None, "labels, rows or weights should be refused"
        after = vars(fitted)
        assert after.keys() == before.keys(), f"left behind: {after.keys() ^ before.keys()}"
        changed = [name for name, value in before.items() if after[name] is not value]
        assert not changed, f"changed: {changed}"


def check_later_parameters(estimator: Any, X: Any, y: Any) -> None:
    """Check that parameters that are set after a fit do not change the model's answers."""
    fitted = checks.fit(estimator, X, y)
    if fitted is not None:
        Z, labels = fitted.transform(X), fitted.predict(X)
        bound = _bound(fitted, X, y)
        fitted.set_params(**type(fitted)().get_params(deep=False))
        assert _bound(fitted, X, y) == bound, "the certificate is another"
        assert np.array_equal(fitted.transform(X), Z), "coordinates changed"
        assert np.array_equal(fitted.predict(X), labels), "predictions changed"


def _bound(fitted: Any, X: Any, y: Any) -> float | None:
    """Return what a certificate of the model says, None if there is none."""
    try:
        return fitted.certificate(X, y).bound if hasattr(fitted, "certificate") else None
    except ValueError as error:
        checks.refused(error)
        return None


def check_copies(estimator: Any, X: Any, y: Any) -> None:
    """Check that a deep copy of a model answers the same, and a refit of it is the same model."""
    fitted = checks.fit(estimator, X, y)
    if fitted is not None:
        Z = fitted.transform(X)
        copy = deepcopy(fitted)
        assert np.array_equal(copy.transform(X), Z), "a copy answers otherwise"
        checks.fit(copy, X, y)
        assert np.array_equal(fitted.transform(X), Z), "fitting a copy changed the model"
        if not getattr(fitted, "warm_start", False):
            assert np.array_equal(copy.transform(X), Z), "a second fit is another model"


def check_other_rows(estimator: Any, X: Any, y: Any, way: str) -> None:
    """Check that a model of an array answers the same for rows of a file or a cluster."""
    fitted = checks.fit(estimator, X, y)
    if fitted is None or sparse.issparse(X) or (way == "csv" and X.dtype == np.float32):
        return  # texts of a number in single precision are another number in double precision
    expected = fitted.transform(X)
    with checks.no_numeric_warnings():
        try:
            Z = fitted.transform(source_of(X, way))
            Z = Z.compute() if way == "dask" else Z
        except (ValueError, TypeError) as error:
            checks.refused(error)
            return
    size = max(float(np.abs(expected).max()), 1e-9)
    worst = float(np.abs(np.asarray(Z) - expected).max()) / size
    assert worst < (1e-3 if X.dtype == np.float32 else 1e-6), f"{way}: differs by {worst:.2g}"
