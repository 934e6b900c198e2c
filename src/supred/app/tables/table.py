"""A table as it was read: named columns of numbers or of text."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

# A text column with more distinct values than this, on more than half of the rows, names rows.
LEAST_IDENTIFIERS = 20


class TableError(ValueError):
    """A table that cannot be used; the message is one line and says what to do."""


@dataclass(frozen=True)
class Column:
    """Name and kind of a feature.

    Attributes
    ----------
    name : str
    kind : {"number", "text"}
    """

    name: str
    kind: str


@dataclass
class Table:
    """Features, and labels where they were asked for.

    Attributes
    ----------
    title : str
    columns : list of Column
    X : ndarray of float, sparse matrix or DataFrame of shape (n_rows, n_columns)
        Numbers with NaN where one is missing; a DataFrame if a column holds text.
    target : str
    y : ndarray of shape (n_rows,) or None
        Labels, whole numbers or strings.
    row_names : list of str
    ignored : list of str
        Columns that are left out.
    notes : list of str
        Sentences on what was done while reading.
    """

    title: str
    columns: list[Column]
    X: Any
    target: str = ""
    y: np.ndarray | None = None
    row_names: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def labels(self) -> np.ndarray:
        """The labels, or an error if there are none."""
        if self.y is None:
            raise TableError(f"{self.title} has no labels; name their column with --target.")
        return self.y


def labels_of(values: list[str], target: str, line_of: Any = None) -> np.ndarray:
    """Return labels as whole numbers where all of them are written so, else as strings."""
    if all(_is_plain_integer(value) for value in values):
        return np.array([int(value) for value in values])
    return np.array(values, dtype=np.str_)


def _is_plain_integer(value: str) -> bool:
    # 007 and +1 stay as they are written, so that predictions come out as labels went in.
    digits = value.removeprefix("-")
    return (
        digits.isascii()
        and digits.isdigit()
        and len(digits) < 16
        and (digits == "0" or digits[0] != "0")
        and value != "-0"
    )


def check_labels(y: np.ndarray, target: str) -> None:
    """Raise a TableError if the target cannot be one of classes."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise TableError(
            f"the target {target!r} has one value only ({classes[0].item()!r}); "
            "a classifier needs at least two."
        )
    if len(y) >= 10 and len(classes) > len(y) / 2:
        raise TableError(
            f"the target {target!r} has {len(classes)} different values in {len(y)} rows; "
            "it looks like a quantity or an identifier, not like classes."
        )
    if counts.max() < 2:
        raise TableError(f"no class of the target {target!r} has two rows.")


def looks_like_identifiers(values: list[str]) -> bool:
    """Tell whether a text column names rows rather than describing them."""
    distinct = len(set(values))
    return distinct > LEAST_IDENTIFIERS and distinct > len(values) / 2


def frame_of(columns: list[Column], values: list[Any]) -> Any:
    """Return a float array of number columns, or a DataFrame if there is a text column."""
    if all(column.kind == "number" for column in columns):
        return np.column_stack(values).astype(float)
    pandas = import_pandas("a table with text columns")
    return pandas.DataFrame(
        {
            column.name: value if column.kind == "number" else np.array(value, dtype=object)
            for column, value in zip(columns, values, strict=True)
        }
    ).astype({column.name: object for column in columns if column.kind == "text"})


def import_pandas(what: str) -> Any:
    """Return pandas, or raise a TableError that says what needs it."""
    try:
        import pandas
    except ImportError:
        raise TableError(f"{what} needs pandas; install 'supred[cli]'.") from None
    return pandas
