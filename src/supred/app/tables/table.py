"""A table as it was read: named columns of numbers or of text, and labels."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from supred.rows.files.columns import Column

__all__ = ["Column", "Plan", "Table", "TableError", "check_labels", "stacked"]


class TableError(ValueError):
    """A table that cannot be used; the message is one line and says what to do."""


@dataclass
class Table:
    """Features, and labels where they were asked for.

    Attributes
    ----------
    title : str
    columns : list of Column
    X : ndarray of float or sparse matrix of shape (n_rows, n_columns)
        Numbers with NaN where one is missing; texts as their positions in ``Column.values``.
    target : str
    y : ndarray of shape (n_rows,) or None
        Labels, whole numbers or strings.
    row_names : list of str
    ignored : list of str
        Columns that are left out.
    notes : list of str
        Sentences on what was done while reading.
    unlabelled : ndarray of float or sparse matrix, or None
        Rows without a label, where they were asked for.
    """

    title: str
    columns: list[Column]
    X: Any
    target: str = ""
    y: np.ndarray | None = None
    row_names: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unlabelled: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_rows_in_all(self) -> int:
        """Number of rows, those without a label among them."""
        return self.n_rows + (0 if self.unlabelled is None else int(self.unlabelled.shape[0]))

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return hasattr(self.X, "tocsr")

    @property
    def n_missing(self) -> dict[str, int]:
        """How many numbers are missing in the columns that lack some."""
        if self.is_sparse:
            return {}
        counts = np.isnan(self.X).sum(axis=0).tolist()
        return {c.name: n for c, n in zip(self.columns, counts, strict=True) if n}

    def with_unlabelled(self) -> tuple[Any, np.ndarray]:
        """Return all rows, and their labels as strings: None for the last, which have none.

        Strings, because a method that takes rows without a label knows them by the number -1.
        """
        labels = self.labels.astype(str)
        if self.unlabelled is None:
            return self.X, labels
        none = np.full(self.unlabelled.shape[0], None)
        return stacked(self.X, self.unlabelled), np.append(labels.astype(object), none)

    @property
    def labels(self) -> np.ndarray:
        """The labels, or an error if there are none."""
        if self.y is None:
            raise TableError(f"{self.title} has no labels; name their column with --target.")
        return self.y


@dataclass(frozen=True)
class Plan:
    """What is learnt from a table, wherever its rows are.

    Attributes
    ----------
    title, target : str
    columns : list of Column
        The features.
    ignored : list of str
        Columns that are left out.
    notes : list of str
        Sentences on what was left out and why.
    y : ndarray
        Labels of the rows that have one.
    labelled : ndarray of bool
        Which rows have a label.
    n_missing : dict of str to int
        How many numbers are missing in the columns that lack some.
    named_by : str or None
        Column that names the rows.
    is_sparse : bool
    """

    title: str
    target: str
    columns: list[Column]
    ignored: list[str]
    notes: list[str]
    y: np.ndarray
    labelled: np.ndarray
    n_missing: dict[str, int]
    named_by: str | None
    is_sparse: bool

    @property
    def n_rows_in_all(self) -> int:
        """Number of rows, those without a label among them."""
        return len(self.labelled)


def stacked(first: Any, second: Any) -> Any:
    """Return the rows of two matrices, both dense or both sparse, below each other."""
    parts = [first, second]
    return sparse.vstack(parts, "csr") if sparse.issparse(first) else np.vstack(parts)


def check_labels(y: np.ndarray, target: str, *, few: bool = False) -> None:
    """Raise a TableError if the target cannot be one of classes.

    With `few` there may be one label per class.
    """
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise TableError(
            f"the target {target!r} has one value only ({classes[0].item()!r}); "
            "a classifier needs at least two."
        )
    if few:
        return
    if len(y) >= 10 and len(classes) > len(y) / 2:
        raise TableError(
            f"the target {target!r} has {len(classes)} different values in {len(y)} rows; "
            "it looks like a quantity or an identifier, not like classes."
        )
    if counts.max() < 2:
        raise TableError(f"no class of the target {target!r} has two rows.")
