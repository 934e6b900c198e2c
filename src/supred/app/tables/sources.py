"""Sources of tables: what the columns hold, however the rows are kept.

As an Arrow table or a matrix in memory, in files larger than memory, or with the workers of a
cluster (`cluster.py`).
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from supred.app.tables.table import TableError
from supred.common.files import named_if_full
from supred.rows.files.columns import (
    MOST_COLUMNS,
    Column,
    Summary,
    check_width,
    distinct_texts,
    encoded,
    import_pyarrow,
    native,
    summary_and_numbers,
    summary_of,
    texts_of,
    union,
)
from supred.rows.files.labels import REAL, check_kinds, real
from supred.rows.files.locating import check_same_columns
from supred.rows.files.readers import FileReader
from supred.rows.files.row_blocks import RowBlocks

# Sparse rows that would have more numbers than this when written out stay sparse.
MOST_DENSE_NUMBERS = 20_000_000
# Makes something of a part of a table: an Arrow table of some columns.
Visit = Callable[[Any], Any]


class Source(ABC):
    """A table of named columns, visited part by part.

    Attributes
    ----------
    title : str
        What to call it in an error.
    names : list of str
        The columns.
    target : str
        Name of the labels, where the source knows it; empty otherwise.
    readers : sequence of FileReader
        The files, where columns may be of other types from one to the next.
    """

    title: str
    names: list[str]
    target: str = ""
    readers: Sequence[FileReader] = ()

    @abstractmethod
    def visit(self, function: Visit, names: Sequence[str]) -> Iterable[Any]:
        """Return what a function makes of some columns of each part, in order."""

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say what some columns hold."""
        result = dict.fromkeys(names, Summary())
        for found in self.visit(_summaries, names):
            result = {name: result[name] + one for name, one in found.items()}
        return result

    def distinct(self, names: Sequence[str]) -> dict[str, set[str] | None]:
        """Return the different texts of some columns, None where there are too many."""
        result: dict[str, set[str] | None] = {name: set() for name in names}
        for found in self.visit(_distinct, names) if names else ():
            for name, texts in found.items():
                result[name] = union(result[name], texts)
        return result

    def texts(self, name: str) -> Any:
        """Return a column as an Arrow array of texts, null where one is missing."""
        pa = import_pyarrow()
        as_real = REAL in check_kinds(self.readers, name)
        found = list(self.visit(partial(_texts, as_real=as_real), [name]))
        self.part_lengths = [len(texts) for texts in found]
        return pa.chunked_array([texts.cast(pa.string()) for texts in found], pa.string())


def matrix_of(part: Any, columns: Sequence[Column]) -> np.ndarray:
    """Return columns of an Arrow table as numbers, shape (n_rows, len(columns))."""
    result = np.empty((part.num_rows, len(columns)))
    for k, column in enumerate(columns):
        result[:, k] = encoded(part.column(column.name), column)
    return result


def _summaries(part: Any) -> dict[str, Summary]:
    return {name: _named(summary_of, part, name) for name in part.column_names}


def _distinct(part: Any) -> dict[str, set[str] | None]:
    return {name: distinct_texts(texts_of(part.column(name))) for name in part.column_names}


def _texts(part: Any, *, as_real: bool) -> Any:
    if as_real:
        part = part.set_column(0, part.column_names[0], real(part.column(0)))
    # Each text once: this may travel from the worker of a cluster.
    coded = _named(texts_of, part, part.column_names[0]).dictionary_encode()
    return coded.combine_chunks() if hasattr(coded, "chunks") else coded


def _named(function: Visit, part: Any, name: str) -> Any:
    try:
        return function(part.column(name))
    except ValueError as error:
        raise TableError(f"the column {name!r} {error}") from None


class FileSource(Source):
    """The rows of one or several files of a format, read part by part.

    Parameters
    ----------
    readers : sequence of FileReader
    title : str
    tell : callable, optional
        Called with the share of all rows that a part holds, roughly, once it is read.
    copy : path, optional
        Where `summaries` writes the numbers that it finds, as an NPY file.
    """

    def __init__(
        self,
        readers: Sequence[FileReader],
        title: str,
        tell: Callable[[float], None] | None = None,
        copy: Path | None = None,
    ) -> None:
        check_same_columns(readers)
        self.readers, self.title, self.tell, self.copy = readers, title, tell, copy
        self.names = readers[0].column_names
        self.copied: dict[str, Summary] = {}  # the columns of the copy, in order

    def visit(self, function: Visit, names: Sequence[str]) -> Iterable[Any]:
        """Return what a function makes of some columns of each part, in order."""
        sizes = [reader.path.stat().st_size for reader in self.readers]
        for reader, size in zip(self.readers, sizes, strict=True):
            before = 0.0
            places = {name: place for place, name in enumerate(reader.column_names)}
            for part in reader.parts([places[name] for name in names]):
                yield function(part.rename_columns(list(names)))
                if self.tell is not None:
                    self.tell((reader.share - before) * size / sum(sizes))
                before = reader.share

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say what some columns hold, and copy their numbers."""
        if self.copy is None:
            return super().summaries(names)
        result = dict.fromkeys(names, Summary())
        with _npy_file(self.copy, (sum(self.part_lengths), len(names))) as file:
            for found in self.visit(_summaries_and_numbers, names):
                result = {name: result[name] + found[0][name] for name in names}
                file.write(found[1].data)
        self.copied = result
        return result

    def copy_of(self, columns: Sequence[Column]) -> list[int]:
        """Return where columns are in the copy; one with texts among them is written anew."""
        if any(self.copied[column.name].kind == "text" for column in columns):
            assert self.copy is not None
            with _npy_file(self.copy, (sum(self.part_lengths), len(columns))) as file:
                names = [column.name for column in columns]
                for part in self.visit(partial(matrix_of, columns=columns), names):
                    file.write(part.data)
            return list(range(len(columns)))
        names = list(self.copied)
        places = {name: place for place, name in enumerate(names)}
        return [places[column.name] for column in columns]


@contextmanager
def _npy_file(path: Path, shape: tuple[int, int]) -> Iterator[IO[bytes]]:
    """Open an NPY file for numbers that are written row by row."""
    header = {"descr": np.dtype(float).str, "fortran_order": False, "shape": shape}
    with named_if_full(path), open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        yield file


def _summaries_and_numbers(part: Any) -> tuple[dict[str, Summary], np.ndarray]:
    X = np.full((part.num_rows, part.num_columns), np.nan)
    summaries = {}
    for k, name in enumerate(part.column_names):
        summaries[name], numbers = _named(summary_and_numbers, part, name)
        if numbers is not None:
            X[:, k] = numbers
    return summaries, X


class MemorySource(Source):
    """An Arrow table."""

    def __init__(self, table: Any, title: str, target: str = "") -> None:
        self.table, self.title, self.target = table, title, target
        self.names = list(table.column_names)
        if not table.num_rows:
            raise TableError(f"{title} has no rows.")

    @classmethod
    def of_matrix(
        cls,
        X: np.ndarray,
        title: str,
        names: Sequence[str] | None = None,
        labels: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> "MemorySource":
        """Return the table of the columns of a matrix and of labels, by name."""
        names = names or [f"x{k + 1}" for k in range(X.shape[1])]
        columns = [*np.asfortranarray(X).T, *labels.values()]
        table = import_pyarrow().table(list(map(native, columns)), names=[*names, *labels])
        return cls(table, title, next(iter(labels), ""))

    def visit(self, function: Visit, names: Sequence[str]) -> Iterable[Any]:
        """Return what a function makes of some columns."""
        return [function(self.table.select(list(names)))]

    def matrix(self, columns: Sequence[Column]) -> np.ndarray:
        """Return columns as numbers, shape (n_rows, len(columns))."""
        return matrix_of(self.table, columns)


class SparseSource(Source):
    """The rows of svmlight files: a label, and the numbers of a row that are not zero.

    A column is called by the index that the files give it, so that a model finds it again in files
    of other rows, whether they count from 0 or from 1.
    """

    target = "label"

    def __init__(self, files: Sequence[Path], title: str) -> None:
        self.files, self.title = files, title
        self.rows = RowBlocks(files, format="svmlight")
        n_features = self.rows.shape[1]
        check_width(n_features, title)
        first = 0 if self.rows.zero_based else 1
        self.names = [f"x{first + k}" for k in range(n_features)]

    def visit(self, function: Visit, names: Sequence[str]) -> Iterable[Any]:
        """Return what a function makes of the labels."""
        if list(names) != [self.target]:
            raise TableError(f"{self.title}: the target can only be {self.target!r}.")
        return [function(import_pyarrow().table({self.target: self.rows.labels()}))]

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say that all columns hold numbers."""
        return dict.fromkeys(names, Summary("number", self.rows.shape[0]))

    def may_hold(self, column: Column) -> bool:
        """Tell whether a column is a feature, be it one that no row names."""
        index = re.fullmatch(r"x(0|[1-9]\d{0,5})", column.name, re.ASCII)
        return column.kind == "number" and index is not None and int(index[1]) <= MOST_COLUMNS

    @cached_property
    def whole(self) -> Any:
        """All rows by the indices of the files, as a CSR matrix; the files are not read again."""
        n_features = self.layout([])[1]["n_features"]
        rows = RowBlocks(self.files, format="svmlight", n_features=n_features, zero_based=True)
        return rows.read(0, rows.shape[0])

    def matrix(self, columns: Sequence[Column]) -> Any:
        """Return columns, shape (n_rows, len(columns)); those that no row names are zero."""
        places, options = self.layout(columns)
        X = self.whole.copy()
        X.resize((X.shape[0], options["n_features"]))
        X = X[:, places]
        return X.toarray() if X.shape[0] * X.shape[1] <= MOST_DENSE_NUMBERS else X

    def layout(self, columns: Sequence[Column]) -> tuple[list[int], dict[str, Any]]:
        """Return the places of columns, and options of `RowBlocks` that put each at its index."""
        places = [int(column.name.removeprefix("x")) for column in columns]
        last = max([*places, int(self.names[-1].removeprefix("x"))])
        return places, {"n_features": last + 1, "zero_based": True}
