"""Reasons: which columns matter, which classes are confused, and in what these differ."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from supred.app.comparison.result import ColumnImportance, Confusion, Difference
from supred.app.comparison.scores import confusion_of, error_of, most_confused
from supred.app.tables.table import Column

N_SHUFFLES = 3
MOST_ROWS = 500  # held-out rows of a fold that are looked at
LISTED_PAIRS = 4
LISTED_DIFFERENCES = 5
# Values of a text column that are compared between classes.
MOST_VALUES = 12


class FittedFold(NamedTuple):
    """A model with the preparation it was fitted after, and the rows it did not see."""

    transformer: Any
    model: Any
    test: np.ndarray


def column_importances(
    folds: Sequence[FittedFold],
    X: Any,
    columns: Sequence[Column],
    class_index: np.ndarray,
    *,
    metric: str,
    seconds: float,
    seed: int,
) -> list[ColumnImportance]:
    """Return how much the held-out error rises when a column's values are shuffled.

    scikit-learn's `permutation_importance` shuffles every column of one model; here columns are
    taken in order of how much they differ between the classes until the time is up, on the
    held-out rows of several folds, so that the spread is also that of the training rows.

    Parameters
    ----------
    folds : sequence of FittedFold
    X : ndarray of shape (n_rows, n_columns)
        The table as it was read. Sparse rows have too many columns; the answer is empty.
    columns : sequence of Column
    class_index : ndarray of int of shape (n_rows,)
    metric : {"error", "balanced"}
    seconds : float
    seed : int

    Returns
    -------
    list of ColumnImportance
        Columns that were looked at, the largest rise first.
    """
    if sparse.issparse(X) or not folds:
        return []
    began = perf_counter()
    rng = np.random.RandomState(seed)
    parts = []
    for fold in folds:
        rows = fold.test
        if len(rows) > MOST_ROWS:
            rows = rng.choice(rows, MOST_ROWS, replace=False)
        parts.append((fold, rows))
    before = [_error(fold, X[rows], class_index[rows], metric) for fold, rows in parts]
    found = []
    for column in _by_difference(X, columns, class_index):
        rises = []
        for (fold, rows), error in zip(parts, before, strict=True):
            for _ in range(N_SHUFFLES):
                shuffled = X[rows]
                rng.shuffle(shuffled[:, column])
                rises.append(_error(fold, shuffled, class_index[rows], metric) - error)
        rise, spread = float(np.mean(rises)), float(np.std(rises))
        found.append(ColumnImportance(columns[column].name, rise, spread))
        if perf_counter() - began > seconds:
            break
    return sorted(found, key=lambda item: -item.rise)


def _error(fold: FittedFold, X: Any, class_index: np.ndarray, metric: str) -> float:
    predicted = fold.model.predict(fold.transformer.transform(X))
    return error_of(class_index, predicted, metric)


def _by_difference(X: np.ndarray, columns: Sequence[Column], class_index: np.ndarray) -> np.ndarray:
    """Return the columns, the one that differs most between the classes first."""
    effects = [
        max(_share_between(values, class_index) for _, values in _numbers_of(X[:, k], column))
        for k, column in enumerate(columns)
    ]
    return np.argsort(-np.array(effects), kind="stable")


def _share_between(values: np.ndarray, class_index: np.ndarray) -> float:
    """Return the share of a column's variance that lies between the classes."""
    known = np.isfinite(values)
    values, classes = values[known], class_index[known]
    if len(values) < 2 or np.ptp(values) == 0:
        return 0.0
    values = (values - values.mean()) / values.std()
    counts = np.maximum(np.bincount(classes), 1)
    sums = np.bincount(classes, weights=values)
    return float((sums**2 / counts).sum() / len(values))


def _numbers_of(values: np.ndarray, column: Column) -> list[tuple[str, np.ndarray]]:
    """Return a column as numbers: itself, or for text the indicator of each frequent value."""
    if column.kind == "number":
        return [(column.name, values)]
    places, counts = np.unique(values, return_counts=True)
    frequent = places[np.argsort(-counts, kind="stable")][:MOST_VALUES]
    return [
        (f"{column.name} = {column.values[int(k)] or 'empty'}", (values == k).astype(float))
        for k in frequent
    ]


def confused_classes(
    X: Any,
    columns: Sequence[Column],
    class_index: np.ndarray,
    predicted: np.ndarray,
    n_classes: int,
) -> list[Confusion]:
    """Return the pairs of classes that are most often taken for each other, and what differs.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_rows, n_columns)
        The table as it was read.
    columns : sequence of Column
    class_index, predicted : ndarray of int of shape (n_rows,)
    n_classes : int
    """
    both: dict[tuple[int, int], list[int]] = {}
    confusion = confusion_of(class_index, predicted, n_classes)
    for true, taken_for, count in most_confused(confusion, 4 * n_classes):
        pair = (min(true, taken_for), max(true, taken_for))
        both.setdefault(pair, [0, 0])[int(true != pair[0])] = count
    most = sorted(both.items(), key=lambda item: -sum(item[1]))[:LISTED_PAIRS]
    found = []
    for (first, second), (n_first, n_second) in most:
        a, b = class_index == first, class_index == second
        taken = (a & (predicted == second)) | (b & (predicted == first))
        differences = _differences(X, columns, a, b, taken)
        found.append(Confusion(first, second, n_first, n_second, differences))
    return found


def _differences(
    X: Any, columns: Sequence[Column], a: np.ndarray, b: np.ndarray, taken: np.ndarray
) -> list[Difference]:
    """Return the columns whose means differ most between two classes, in their spread."""
    places = _likely(X, a, b) if sparse.issparse(X) else np.arange(len(columns))
    found = []
    for k in places.tolist():
        values = X[:, [k]].toarray().ravel() if sparse.issparse(X) else X[:, k]
        for label, numbers in _numbers_of(values, columns[k]):
            summary = _summary(numbers, a, b, taken)
            if summary is not None:
                found.append(Difference(label, *summary))
    return sorted(found, key=lambda item: -abs(item.effect))[:LISTED_DIFFERENCES]


def _summary(
    values: np.ndarray, a: np.ndarray, b: np.ndarray, taken: np.ndarray
) -> tuple[float, float, float, float] | None:
    known = np.isfinite(values)
    parts = [values[rows & known] for rows in (a, b, taken)]
    if any(len(part) == 0 for part in parts):
        return None
    first, second, confused = (float(part.mean()) for part in parts)
    spread = float(np.sqrt((parts[0].var() + parts[1].var()) / 2))
    spread = max(spread, 1e-3 * abs(first - second))
    return (first, second, confused, (first - second) / spread) if spread > 0 else None


def _likely(X: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the sparse columns whose share of filled fields differs most."""
    filled = X.tocsr().astype(bool)
    share_a, share_b = (np.asarray(filled[rows].mean(axis=0)).ravel() for rows in (a, b))
    return np.argsort(-np.abs(share_a - share_b), kind="stable")[: 4 * LISTED_DIFFERENCES]
