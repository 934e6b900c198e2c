"""What the fields of a table mean: one rule for every reader.

- A field that is empty or says NA, N/A, NaN (-NaN, +NaN), null, none or ? (in any case, with or
  without blanks around it) is missing, in features and in labels.
- A column is numbers if every other field is one (decimal digits, sign, point, exponent),
  booleans if every other field is true or false, and text otherwise. Booleans are the numbers
  0 and 1. Dates are text.
- It does not matter whether a file has types (Parquet, NumPy) or only texts (CSV): a column of
  booleans, or of numbers written as text, is the same column either way.
- Labels are texts; they become whole numbers if all of them are written so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# What stands for a missing value; compared without regard to case.
MISSING = ("", "na", "n/a", "nan", "-nan", "+nan", "null", "none", "?")
# Numbers of a table are scaled by their variance, so their squares must be finite.
LARGEST_IN_TABLE = 1e100
# Most different texts of a column that are kept.
MOST_TEXTS = 100_000
# A table has so many columns: each takes 3 kB while it is read, however few rows there are.
MOST_COLUMNS = 100_000
# Letters of a text that an error shows.
LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Column:
    """Name and kind of a feature.

    Attributes
    ----------
    name : str
    kind : {"number", "text"}
    values : tuple of str
        The sorted texts of a text column. A field is encoded as the position of its text here,
        -1 if it is none of them; a missing field is the text "".
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """What a stretch of a column holds; the sum of two summaries is that of both stretches.

    Attributes
    ----------
    kind : {"empty", "number", "boolean", "text"}
    n_rows, n_missing : int
    unusable : int or None
        First row that holds an infinite number, or one beyond `LARGEST_IN_TABLE`.
    text : tuple (row, text) or None
        First field that is not a number.
    """

    kind: str = "empty"
    n_rows: int = 0
    n_missing: int = 0
    unusable: int | None = None
    text: tuple[int, str] | None = None

    def __add__(self, after: "Summary") -> "Summary":
        kinds = {self.kind, after.kind} - {"empty"}
        unusable, text = self.unusable, self.text
        if unusable is None and after.unusable is not None:
            unusable = self.n_rows + after.unusable
        if text is None and after.text is not None:
            text = self.n_rows + after.text[0], after.text[1]
        return Summary(
            "text" if len(kinds) > 1 else next(iter(kinds), "empty"),
            self.n_rows + after.n_rows,
            self.n_missing + after.n_missing,
            unusable,
            text,
        )


def import_pyarrow() -> Any:
    """Return pyarrow, or raise an ImportError that says what to install."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        raise ImportError("reading tables needs pyarrow; install 'supred[cli]'.") from None
    return pyarrow


def texts_of(values: Any) -> Any:
    """Return the fields of an Arrow array as texts without blanks around them, missing ones null.

    Examples
    --------
    >>> import pyarrow
    >>> from supred.rows.files.columns import texts_of
    >>> texts_of(pyarrow.array([" a", "?", "b"])).to_pylist()
    ['a', None, 'b']
    >>> texts_of(pyarrow.array([1.0, 2.5, None])).to_pylist()
    ['1.0', '2.5', None]
    """
    pa = import_pyarrow()
    pc, kinds, kind = pa.compute, pa.types, values.type
    if kinds.is_dictionary(kind):
        return texts_of(values.cast(kind.value_type))
    if kinds.is_boolean(kind):
        return pc.if_else(values, "True", "False")
    if kinds.is_floating(kind):
        # NumPy writes numbers as Python does, in the precision that they have.
        numbers = _to_numpy(values)
        return pa.array(numbers.astype(str), mask=np.isnan(numbers))
    if (not kinds.is_primitive(kind) and not _is_text(kind)) or kinds.is_duration(kind):
        raise ValueError(f"holds {kind}, neither numbers nor text; leave it out.")
    texts = pc.utf8_trim_whitespace(values.cast(pa.string()))
    # A day and its midnight are one date, and a fraction of a second of zero is none.
    texts = pc.replace_substring_regex(texts, r"^(\d+-\d\d-\d\d[ T][0-9:]+)\.0+(Z?)$", r"\1\2")
    texts = pc.replace_substring_regex(texts, r"^(\d+-\d\d-\d\d)[ T]00:00:00$", r"\1")
    missing = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(MISSING))
    return pc.if_else(missing, pa.scalar(None, pa.string()), texts)


def summary_of(values: Any) -> Summary:
    """Return what the fields of an Arrow array are."""
    return summary_and_numbers(values)[0]


def summary_and_numbers(values: Any) -> tuple[Summary, np.ndarray | None]:
    """Return what the fields of an Arrow array are, and their numbers unless they are text."""
    n_rows = len(values)
    numbers = _numbers(values)
    if numbers is not None:
        n_missing = int(np.isnan(numbers).sum())
        unusable = np.flatnonzero(np.abs(numbers) > LARGEST_IN_TABLE)[:1]
        kind = "boolean" if import_pyarrow().types.is_boolean(values.type) else "number"
        kind = "empty" if n_missing == n_rows else kind
        first = int(unusable[0]) if unusable.size else None
        return Summary(kind, n_rows, n_missing, first), numbers
    texts = texts_of(values)
    booleans = _booleans(texts)
    words = ((row, text.as_py()) for row, text in enumerate(texts) if text.is_valid)
    example = next((w for w in words if booleans is not None or not is_number(w[1])), None)
    kind = "text" if booleans is None else "boolean"
    return Summary(kind, n_rows, texts.null_count, text=example), booleans


def encoded(values: Any, column: Column, first_row: int = 0) -> np.ndarray:
    """Return the fields of an Arrow array as numbers: NaN where a number is missing.

    Raises
    ------
    ValueError
        If a field of a column of numbers is text; rows are counted from `first_row` on.
    """
    return encoded_as(values, column, first_row)[0]


def encoded_as(values: Any, column: Column, first_row: int = 0) -> tuple[np.ndarray, str]:
    """Return what :func:`encoded` does, and what is written there, "truth values" or "numbers"."""
    pa = import_pyarrow()
    if column.kind == "text":
        texts = texts_of(values).fill_null("")
        places = pa.compute.index_in(texts, value_set=pa.array(column.values, pa.string()))
        return places.fill_null(-1).to_numpy().astype(float), "text"
    numbers, written = _numbers(values), "numbers"
    if numbers is None:
        numbers, written = _booleans(texts_of(values)), "truth values"
    if numbers is None:
        row, text = summary_of(values).text or (0, "")
        text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
        raise ValueError(
            f"the column {column.name!r} holds {text!r} in row {first_row + row + 1}, where a "
            "number is expected."
        )
    return numbers, written


def distinct_texts(texts: Any) -> set[str] | None:
    """Return the different texts of :func:`texts_of`; None if there are too many."""
    return union({"" if text is None else text for text in texts.unique().to_pylist()}, set())


def union(texts: set[str] | None, more: set[str] | None) -> set[str] | None:
    """Return the texts of two parts of a column; None if there are too many."""
    both = None if texts is None or more is None else texts | more
    return None if both is None or len(both) > MOST_TEXTS else both


def is_number(text: str) -> bool:
    """Tell whether a text is written as a number."""
    return re.fullmatch(r"[+-]?(inf(inity)?|\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)", text,
                        re.ASCII | re.IGNORECASE) is not None  # fmt: skip


def check_header(names: Sequence[str], title: str) -> None:
    """Raise a ValueError if the first line of a text does not name the columns."""
    if names and all(is_number(name) for name in names):
        raise ValueError(
            f"{title}: the first line holds numbers only; if it is not a header, pass --no-header "
            "(header=False)."
        )
    check_names(names, title)


def check_names(names: Sequence[str], title: str) -> None:
    """Raise a ValueError if a column has no name, or the name of another."""
    check_width(len(names), title)
    seen: set[str] = set()
    for k, name in enumerate(names):
        if not name.strip():
            raise ValueError(f"{title}: column {k + 1} has no name in the header.")
        if name in seen:
            raise ValueError(f"{title}: two columns are called {name!r}; rename one.")
        seen.add(name)


def native(numbers: np.ndarray) -> np.ndarray:
    """Return values as this machine writes them, numbers in no more than double precision."""
    kind = numbers.dtype.newbyteorder("=")
    wide = kind.kind == "f" and kind.itemsize > 8
    return converted(numbers, np.float64 if wide else kind)


def converted(numbers: Any, dtype: Any) -> Any:
    """Return an array or sparse matrix in another precision.

    A number beyond its range becomes infinite, without a warning: the check of the rows names it.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return numbers.astype(dtype, copy=False)


def check_width(n_columns: int, title: str) -> None:
    """Raise a ValueError if there are more columns than a table may have."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{title} has {n_columns} columns; at most {MOST_COLUMNS} can be used (of arrays and "
            "sparse matrices, from Python, any number)."
        )


def _is_flat(values: Any) -> bool:
    return not hasattr(values, "chunks")


def is_string(kind: Any) -> bool:
    """Tell whether an Arrow type is one of texts."""
    kinds = import_pyarrow().types
    view = str(kind) == "string_view"  # which older versions do not have
    return kinds.is_string(kind) or kinds.is_large_string(kind) or view


def _is_text(kind: Any) -> bool:
    kinds = import_pyarrow().types
    return is_string(kind) or kinds.is_null(kind) or kinds.is_decimal(kind)


def _to_numpy(values: Any) -> np.ndarray:
    return values.to_numpy(zero_copy_only=False) if _is_flat(values) else values.to_numpy()


def _numbers(values: Any) -> np.ndarray | None:
    """Return numbers, NaN where one is missing; None if a field is not written as a number."""
    pa = import_pyarrow()
    kinds, kind = pa.types, values.type
    if kinds.is_dictionary(kind):
        return _numbers(values.cast(kind.value_type))
    if kinds.is_float16(kind):
        values = values.cast(pa.float32())
    if is_string(kind):
        found = _cast(values)
        if found is None:
            found = _cast(texts_of(values))
        if found is None:
            return None
    elif kinds.is_boolean(kind):
        found = values.cast(pa.int8()).cast(pa.float64())
    elif (kinds.is_primitive(kind) and not kinds.is_temporal(kind)) or kinds.is_decimal(kind):
        found = values.cast(pa.float64(), safe=False)
    elif kinds.is_null(kind):
        return np.full(len(values), np.nan)
    else:
        return None
    return _to_numpy(found)


def _cast(texts: Any) -> Any:
    """Return texts as numbers; None if one is not, or is NaN, which Arrow writes in many ways."""
    pa = import_pyarrow()
    try:
        found = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return None if pa.compute.any(pa.compute.is_nan(found)).as_py() else found


def _booleans(texts: Any) -> np.ndarray | None:
    """Return 0 and 1 for false and true, NaN where one is missing; None if a text is neither."""
    pa = import_pyarrow()
    words = pa.compute.utf8_lower(texts)
    places = pa.compute.index_in(words, value_set=pa.array(["false", "true"]))
    if places.null_count > texts.null_count:
        return None
    return _to_numpy(places.cast(pa.float64()))
