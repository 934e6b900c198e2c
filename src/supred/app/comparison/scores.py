"""Errors: plain and balanced, with their standard errors, and what they say class by class."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score

from supred.app.comparison.peers import MAJORITY
from supred.app.comparison.result import MethodResult

METRICS = ("error", "balanced")


class Estimate(NamedTuple):
    """A held-out error and how far off it may be."""

    mean: float
    standard_error: float

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} % ± {100 * self.standard_error:.1f}"


def error_of(y: np.ndarray, predicted: np.ndarray, metric: str) -> float:
    """Return the share of rows misclassified, or its mean over the classes ("balanced")."""
    if metric == "balanced":
        return 1.0 - float(balanced_accuracy_score(y, predicted))
    return float(np.mean(predicted != y))


def estimate(method: MethodResult, metric: str = "error") -> Estimate | None:
    """Return the mean over the folds and its standard error; None without a result.

    A few folds can agree by chance, and no error in a few rows does not mean none in many. The
    standard error is therefore at least that of as many independent rows with one error and one
    success added, sqrt(e (1 - e) / n) with e = (n_errors + 1) / (n + 2).

    Examples
    --------
    >>> from supred.app.comparison import MethodResult
    >>> from supred.app.comparison.scores import estimate
    >>> print(estimate(MethodResult("SVC", "done", fold_errors=[0.01, 0.03])))
    2.0 % ± 1.0
    """
    folds = method.fold_errors if metric == "error" else method.fold_balanced_errors
    if method.status != "done" or not folds or not np.isfinite(folds).all():
        return None
    mean = float(np.mean(folds))
    spread = float(np.std(folds, ddof=1) / np.sqrt(len(folds))) if len(folds) > 1 else 0.0
    if method.predicted is not None and metric == "error" and len(method.predicted):
        n_rows = len(method.predicted)
        share = (mean * n_rows + 1) / (n_rows + 2)
        spread = max(spread, float(np.sqrt(share * (1 - share) / n_rows)))
    return Estimate(mean, spread)


def ranked(methods: Sequence[MethodResult], metric: str = "error") -> list[int]:
    """Return the methods' positions: the most accurate first, those without a result last."""
    found = {k: estimate(method, metric) for k, method in enumerate(methods)}

    def key(k: int) -> tuple[bool, float, float]:
        error = found[k]
        return (error is None, error.mean if error else 0.0, methods[k].predict_seconds or 0.0)

    return sorted(found, key=key)


def best_method(methods: Sequence[MethodResult], metric: str = "error") -> MethodResult | None:
    """Return the most accurate method; the majority class does not take part."""
    order = [methods[k] for k in ranked(methods, metric) if methods[k].name != MAJORITY]
    return order[0] if order and estimate(order[0], metric) is not None else None


def confusion_of(y: np.ndarray, predicted: np.ndarray, n_classes: int) -> sparse.csr_array:
    """Return how many rows of each class (rows) were predicted as each class (columns).

    Few pairs of many classes are ever confused, so the matrix is sparse.
    """
    ones = np.ones(len(y), dtype=np.int64)
    return sparse.coo_array((ones, (y, predicted)), shape=(n_classes, n_classes)).tocsr()


def most_confused(confusion: sparse.csr_array, n_listed: int) -> list[tuple[int, int, int]]:
    """Return the largest entries of a confusion matrix off its diagonal.

    Returns
    -------
    list of (true class, predicted class, rows), the most rows first
    """
    pairs = confusion.tocoo()
    wrong = np.flatnonzero(pairs.row != pairs.col)
    most = wrong[np.argsort(-pairs.data[wrong], kind="stable")][:n_listed]
    return [(int(pairs.row[k]), int(pairs.col[k]), int(pairs.data[k])) for k in most]
