"""Folds that a user gives."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from supred.common.arguments import check_integer, one_line


def check_folds(cv: Any) -> None:
    """Raise a ValueError unless `cv` is a number of folds, a splitter or an iterable of splits.

    Examples
    --------
    >>> from supred.common.splits import check_folds
    >>> check_folds(5)
    """
    known = cv is None or hasattr(cv, "split") or isinstance(cv, Iterable)
    if not known or isinstance(cv, str | bytes):
        check_integer("cv", cv, low=2)


def given_splits(cv: Any, X: Any, class_index: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows of each fold, or raise a ValueError that says what is wrong.

    Parameters
    ----------
    cv : int, splitter or iterable of pairs
        As scikit-learn's `check_cv` takes it.
    X : object of n_rows rows
    class_index : ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.splits import given_splits
    >>> given_splits([([0, 1], [2])], np.zeros((3, 1)), np.array([0, 1, 0]))
    [(array([0, 1]), array([2]))]
    """
    rows = np.arange(len(class_index))
    check_folds(cv)
    try:
        splitter = check_cv(cv, class_index, classifier=True)
        given = splitter.split(X, class_index)
        splits = [(rows[train], rows[test]) for train, test in given]
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"cv gives no pairs of training and test rows among {len(rows)} rows "
            f"({one_line(error)}); use a number of folds or a splitter of scikit-learn's."
        ) from error
    if not splits:
        raise ValueError(f"cv={cv!r} gives no split; give at least one.")
    for fold, (train, test) in enumerate(splits):
        if not (len(train) and len(test)):
            what = "training" if not len(train) else "test"
            raise ValueError(f"cv: fold {fold} has no {what} rows; use other folds.")
    return splits
