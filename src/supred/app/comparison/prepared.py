"""Folds, and rows that are prepared by what is learnt from the training rows of each."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from supred.app.comparison.method import Facts, Method
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Table, TableError, stacked

# Splits of more numbers than this are prepared again rather than kept.
KEPT_NUMBERS = 2_000_000

Fold = tuple[np.ndarray, np.ndarray]  # training rows, held-out rows


def make_folds(
    class_index: np.ndarray, n_folds: int, seed: int, *, n_repeats: int = 1
) -> list[Fold]:
    """Return stratified folds; rows of a class with fewer rows than folds are in some of them.

    With `n_repeats` the rows are divided anew so many times, one division after the other.
    """
    most = int(np.bincount(class_index).max())
    if n_folds < 2 or n_folds > most:
        raise TableError(
            f"{n_folds} folds cannot be made; use 2 or more, and at most {most}, the number of "
            "rows of the largest class."
        )
    splitter: Any = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    if n_repeats > 1:
        splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with few rows are expected
        folds = list(splitter.split(np.zeros((len(class_index), 1)), class_index))
    for train, _ in folds:
        if len(np.unique(class_index[train])) < 2:
            raise TableError("a fold has rows of one class only; use fewer folds or more rows.")
    return folds


class Split(NamedTuple):
    """Rows of one fold, ready for a method."""

    X_train: Any
    X_test: Any
    facts: Facts
    transformer: Any  # fitted to the training rows
    X_unlabelled: Any = None  # rows that only some methods learn from

    def fit(self, method: Method, place: int, class_index: np.ndarray) -> Any:
        """Return a method, fitted to the training rows and their class indices.

        `place` is that of the setting among those of the method. Rows without a label have the
        class index -1 for methods that learn from them.
        """
        model = method.make(method.settings(self.facts)[place], self.facts)
        if self.X_unlabelled is None or not method.uses_unlabelled:
            return model.fit(self.X_train, class_index)
        unknown = np.full(self.X_unlabelled.shape[0], -1)
        return model.fit(stacked(self.X_train, self.X_unlabelled), np.append(class_index, unknown))


class PreparedRows:
    """The rows of a table, prepared once per split for all methods.

    Parameters
    ----------
    table : Table
    class_index : ndarray of int of shape (n_rows,)
    preparation : Preparation
    n_components : int or None
    seed : int
    """

    def __init__(
        self,
        table: Table,
        class_index: np.ndarray,
        preparation: Preparation,
        n_components: int | None,
        seed: int,
    ) -> None:
        self.X, self.unlabelled, self.class_index = table.X, table.unlabelled, class_index
        self.columns = table.columns
        self.n_components, self.seed = n_components, seed
        self.steps = preparation.pipeline(table.columns, sparse=table.is_sparse)
        self._kept: dict[tuple[bytes, bytes], Split] = {}

    def split(self, train: np.ndarray, test: np.ndarray) -> Split:
        """Return the rows, prepared by what is learnt from the training ones."""
        key = (train.tobytes(), test.tobytes())
        if key in self._kept:
            return self._kept[key]
        steps = clone(self.steps)
        rows = self.X[train]
        if self.unlabelled is not None:
            rows = stacked(rows, self.unlabelled)  # they too tell means and scales
        rows = steps.fit_transform(rows)
        X_train = rows[: len(train)]
        X_test = steps.transform(self.X[test])
        facts = Facts.of(X_train, self.class_index[train], self.n_components, self.seed)
        X_unlabelled = None if self.unlabelled is None else rows[len(train) :]
        made = Split(X_train, X_test, facts, steps, X_unlabelled)
        if X_train.shape[0] * X_train.shape[1] <= KEPT_NUMBERS:
            self._kept[key] = made
        return made
