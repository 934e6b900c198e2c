"""Labels of rows: one class each, or several labels as a 0/1 matrix."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supred.base.validation import check_weights
from supred.common.labels import as_labels, is_missing
from supred.numerics.class_scatter import members_of


@dataclass(frozen=True)
class LabelledRows:
    """Rows with the classes they belong to, all checked.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Rows, or their kernel matrix.
    members : ndarray of bool, shape (n_rows, n_classes)
        Which rows belong to which class.
    weights : ndarray of shape (n_rows,)
    classes : ndarray of shape (n_classes,)
    exclusive : bool
        Whether each row belongs to one class; else to any number of them.
    """

    X: Any
    members: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    exclusive: bool

    @classmethod
    def of_classes(
        cls, X: Any, classes: np.ndarray, class_index: np.ndarray, weights: np.ndarray
    ) -> "LabelledRows":
        """Return rows of one class each."""
        return cls(X, members_of(class_index, len(classes)), weights, classes, True)

    def used(self) -> "LabelledRows":
        """Return the rows of positive weight."""
        used = self.weights > 0
        if used.all():
            return self
        rows = self.X[used], self.members[used], self.weights[used]
        return LabelledRows(*rows, self.classes, self.exclusive)


def is_label_matrix(y: Any) -> bool:
    """Tell whether `y` has two or more columns, one per label."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # a ragged list; the checks of labels say what is wrong with it
        return False
    return len(shape) == 2 and shape[1] > 1


def read_label_matrix(y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and which rows have them, or raise a ValueError that names the entry.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_rows, n_labels)
        1 where a row has a label, 0 where it has not. The names of a dataframe's columns are the
        labels, else their numbers.
    n_rows : int
        Rows of X.

    Examples
    --------
    >>> from supred.category_space.labels import read_label_matrix
    >>> labels, members = read_label_matrix([[1, 0], [1, 1], [0, 1]], 3)
    >>> labels.tolist(), members[1].tolist()
    ([0, 1], [True, True])
    """
    labels = label_names(y.columns) if hasattr(y, "columns") else np.arange(np.shape(y)[1])
    entries: Any = y.toarray() if sparse.issparse(y) else as_labels(y)
    if len(entries) != n_rows:
        raise ValueError(f"y has {len(entries)} rows, but X has {n_rows}; give one for each row.")
    missing = is_missing(entries).reshape(entries.shape)
    if missing.any():  # pandas' NA cannot be compared
        entries = np.where(missing, None, entries)
    known = np.isin(entries, (0, 1))
    if not known.all():
        row, column = np.argwhere(~known)[0]
        raise ValueError(
            f"y holds {entries[row].tolist()[column]!r} in row {row}, column {column}; a matrix "
            "of labels holds 1 where a row has the label and 0 elsewhere."
        )
    members = np.ascontiguousarray(entries, dtype=bool)  # of a dataframe columns come first
    for k, column in enumerate(members.T):
        if column.all() or not column.any():
            which = "every row has" if column.all() else "no row has"
            raise ValueError(f"y: {which} label {labels.tolist()[k]!r}; drop its column.")
    return labels, members


def label_names(columns: Any) -> np.ndarray:
    """Return names of columns as labels: strings and numbers as they are, all else as strings.

    Examples
    --------
    >>> from supred.category_space.labels import label_names
    >>> label_names(["a", ("b", 1)]).tolist()
    ['a', "('b', 1)"]
    """
    names = [name if isinstance(name, str | int | float) else str(name) for name in columns]
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"y: {count} columns have the name {name!r}; give each label its own.")
    kind = getattr(getattr(columns, "dtype", None), "kind", "O")
    return np.asarray(columns) if kind in "biufU" else np.array(names, dtype=object)


def label_weights(sample_weight: Any, class_weight: Any, members: np.ndarray) -> np.ndarray:
    """Return the weight of each row with several labels."""
    if class_weight is not None:
        raise ValueError(
            f"class_weight={class_weight!r} cannot be combined with a matrix of labels, of which "
            "a row may have several; use sample_weight."
        )
    everyone = np.zeros(len(members), dtype=int)
    weights = check_weights(sample_weight, None, everyone, np.zeros(1))
    lost = np.flatnonzero((weights @ members == 0) | (weights @ ~members == 0))
    if lost.size:
        raise ValueError(
            f"sample_weight: the rows of positive weight all have or all lack label {lost[0]}; "
            "drop its column."
        )
    return weights
