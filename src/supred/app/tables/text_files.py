"""CSV and TSV, read strictly: every row has as many fields as the header."""

import csv
import io
from typing import IO, Any

import numpy as np

from supred.app.tables.table import TableError

# What stands for a missing value; compared without regard to case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})


def read_fields(
    file: IO[bytes], title: str, *, separator: str | None = None, header: bool = True
) -> dict[str, list[str]]:
    """Read a text table into lists of fields, one a column.

    Parameters
    ----------
    file : binary file
    title : str
        What to call the file in an error.
    separator : str, optional
        By default a tab if the first line has one, else a semicolon or a comma, whichever the
        first line has more of.
    header : bool
        Whether the first line names the columns; they are column1, column2, ... otherwise.

    Raises
    ------
    TableError
        If the file is empty, not text, or a row has more or fewer fields than the first.
    """
    try:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        first = text.readline()
        if not first.strip():
            rest = text.read(1)
            raise TableError(
                f"{title} is empty." if not rest else f"{title} begins with an empty line."
            )
        separator = separator or separator_of(first)
        rows = csv.reader(_chain(first, text), delimiter=separator, strict=True)
        return _columns_of(rows, title, header)
    except UnicodeDecodeError as error:
        raise TableError(f"{title} is not a text file in UTF-8 ({error.reason}).") from None
    except csv.Error as error:
        raise TableError(f"{title} cannot be read as a table: {error}.") from None


def _chain(first: str, rest: IO[str]) -> Any:
    yield first
    yield from rest


def separator_of(line: str) -> str:
    """Return what separates the fields of a line: a tab, a semicolon or a comma."""
    if "\t" in line:
        return "\t"
    return ";" if line.count(";") > line.count(",") else ","


def _columns_of(rows: Any, title: str, header: bool) -> dict[str, list[str]]:
    first = [field.strip() for field in next(rows)]
    if header:
        names = first
        _check_names(names, title)
        columns: list[list[str]] = [[] for _ in names]
    else:
        names = [f"column{k + 1}" for k in range(len(first))]
        columns = [[field] for field in first]
    for row in rows:
        if not row:  # an empty line
            continue
        if len(row) != len(names):
            raise TableError(
                f"{title}, line {rows.line_num}: {len(row)} fields where the first line has "
                f"{len(names)}."
            )
        for column, field in zip(columns, row, strict=True):
            column.append(field.strip())
    if not columns[0]:
        raise TableError(f"{title} has a header but no rows.")
    return dict(zip(names, columns, strict=True))


def _check_names(names: list[str], title: str) -> None:
    if all(_is_number(name) for name in names):
        raise TableError(
            f"{title}: the first line holds numbers only; if it is no header, pass --no-header."
        )
    for k, name in enumerate(names):
        if not name:
            raise TableError(f"{title}: column {k + 1} has no name in the header.")
        if name in names[:k]:
            raise TableError(f"{title}: two columns are called {name!r}; rename one.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_missing(field: str) -> bool:
    """Tell whether a field stands for a missing value."""
    return field.lower() in MISSING


def numbers_of(fields: list[str]) -> np.ndarray | None:
    """Return the fields as numbers, NaN where one is missing; None if one is text."""
    try:
        return np.array(fields, dtype=float)  # the fast way, for a column without gaps
    except ValueError:
        pass
    try:
        return np.array([np.nan if is_missing(field) else float(field) for field in fields])
    except ValueError:
        return None


def first_text(fields: list[str]) -> tuple[int, str]:
    """Return the place of the first field that is no number, and the field."""
    for k, field in enumerate(fields):
        if not is_missing(field) and not _is_number(field):
            return k, field
    raise ValueError("every field is a number.")
