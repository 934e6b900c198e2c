"""Where tables come from: files of several formats, standard input, built-in data sets.

A source says what its columns hold without saying how its rows are kept: as an Arrow table or a
matrix in memory, in files larger than memory, or with the workers of a cluster.
"""

import io
import sys
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from supred.app.tables.builtin import BUILTIN
from supred.app.tables.table import TableError
from supred.common.arguments import one_line
from supred.rows.files.columns import (
    Column,
    Summary,
    check_names,
    distinct_texts,
    encoded,
    import_pyarrow,
    summary_and_numbers,
    summary_of,
    texts_of,
    union,
)
from supred.rows.files.locating import SUFFIXES, check_same_columns, files_of, open_reader
from supred.rows.files.row_blocks import RowBlocks

TEXT = ("csv", "tsv")
FORMATS = ("csv", "tsv", "parquet", "npy", "npz", "svmlight")
# Sparse rows that would have more numbers than this when written out stay sparse.
MOST_DENSE_NUMBERS = 20_000_000
# Features of an svmlight file, which may name any number.
MOST_FEATURES = 1_000_000
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
    """

    title: str
    names: list[str]
    target: str = ""

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
        found = list(self.visit(_texts, [name]))
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


def _texts(part: Any) -> Any:
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
        Is told the share of all rows that a part holds, about, when it was read.
    copy : path, optional
        Where `summaries` writes the numbers that it finds, as an NPY file.
    """

    def __init__(
        self,
        readers: Sequence[Any],
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
            for part in reader.parts([reader.column_names.index(name) for name in names]):
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
        return [names.index(column.name) for column in columns]


@contextmanager
def _npy_file(path: Path, shape: tuple[int, int]) -> Iterator[IO[bytes]]:
    """Open an NPY file for numbers that are written row by row."""
    header = {"descr": np.dtype(float).str, "fortran_order": False, "shape": shape}
    with open(path, "wb") as file:
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
        table = import_pyarrow().table(columns, names=[*names, *labels])
        return cls(table, title, next(iter(labels), ""))

    def visit(self, function: Visit, names: Sequence[str]) -> Iterable[Any]:
        """Return what a function makes of some columns."""
        return [function(self.table.select(list(names)))]

    def matrix(self, columns: Sequence[Column]) -> np.ndarray:
        """Return columns as numbers, shape (n_rows, len(columns))."""
        return matrix_of(self.table, columns)


class SparseSource(Source):
    """The rows of svmlight files: a label, and the numbers of a row that are not zero."""

    target = "label"

    def __init__(self, files: Sequence[Path], title: str) -> None:
        self.files, self.title = files, title
        self.rows = RowBlocks(files, format="svmlight")
        n_features = self.rows.shape[1]
        if n_features > MOST_FEATURES:
            raise TableError(
                f"{title} names a feature {n_features}; at most {MOST_FEATURES} can be used."
            )
        self.names = [f"x{k + 1}" for k in range(n_features)]

    def visit(self, function: Visit, names: Sequence[str]) -> Iterable[Any]:
        """Return what a function makes of the labels."""
        if list(names) != [self.target]:
            raise TableError(f"{self.title}: the target can only be {self.target!r}.")
        return [function(import_pyarrow().table({self.target: self.rows.labels()}))]

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say that all columns hold numbers."""
        return dict.fromkeys(names, Summary("number", self.rows.shape[0]))

    def matrix(self, columns: Sequence[Column]) -> Any:
        """Return columns, shape (n_rows, len(columns)); those that no row names are zero."""
        places = [int(column.name.removeprefix("x")) - 1 for column in columns]
        n_features = max(len(self.names), *(place + 1 for place in places))
        rows = RowBlocks(self.files, format="svmlight", n_features=n_features)
        X: Any = rows.read(0, rows.shape[0])[:, places]
        return X.toarray() if X.shape[0] * X.shape[1] <= MOST_DENSE_NUMBERS else X


def read_source(
    path: str, *, kind: str | None = None, header: bool = True
) -> MemorySource | SparseSource:
    """Read a file, or standard input for ``-``.

    Parameters
    ----------
    path : str
    kind : str, optional
        One of ``FORMATS``; by default inferred from the file's name, CSV or TSV for standard
        input.
    header : bool
        Whether the first line of CSV and TSV names the columns.
    """
    if path == "-":
        with tempfile.NamedTemporaryFile() as file:
            file.write(sys.stdin.buffer.read())
            file.flush()
            return _read(Path(file.name), "standard input", kind or "csv", header)
    place = Path(path)
    if place.is_dir():
        raise TableError(f"{path} is a folder; name a file, or pass --stream.")
    if not place.exists():
        raise TableError(f"{path} does not exist.")
    found = kind or {**SUFFIXES, ".npz": "npz"}.get(place.suffix.lower())
    if found is None:
        raise TableError(
            f"{path}: the format cannot be told from the name; pass --format with one of "
            f"{', '.join(FORMATS)}."
        )
    return _read(place, path, found, header)


def _read(path: Path, title: str, kind: str, header: bool) -> MemorySource | SparseSource:
    if not path.stat().st_size and path.is_file():
        raise TableError(f"{title} is empty.")
    if kind == "npz":
        return _read_npz(path, title)
    if kind == "svmlight":
        return SparseSource([path], title)
    return MemorySource(_read_table(path, title, kind, header), title)


def _read_table(path: Path, title: str, kind: str, header: bool) -> Any:
    reader = open_reader(path, kind, header=header, title=title)
    parts = list(reader.parts(list(range(reader.n_columns))))
    if not parts:
        what = "has a header but no rows" if header and kind in ("csv", "tsv") else "has no rows"
        raise TableError(f"{title} {what}.")
    return import_pyarrow().concat_tables(parts).rename_columns(reader.column_names)


def open_files(
    paths: Sequence[str],
    *,
    kind: str | None = None,
    header: bool = True,
    tell: Callable[[float], None] | None = None,
    copy: Path | None = None,
) -> tuple[FileSource | SparseSource, list[Path], str]:
    """Return the source of files that are read part by part, the files and their format."""
    if kind == "npz":
        raise TableError("--format npz cannot be combined with --stream.")
    files = [file for path in paths for file in files_of(path, kind)]
    kinds = {kind or SUFFIXES[file.suffix.lower()] for file in files}
    if len(kinds) > 1:
        raise TableError(f"the files are of several formats ({sorted(kinds)}); use one.")
    found = kinds.pop()
    title = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    if found == "svmlight":
        return SparseSource(files, title), files, found
    readers = [open_reader(file, found, header=header) for file in files]
    return FileSource(readers, title, tell, copy if found in TEXT else None), files, found


def _read_npz(path: Path, title: str) -> MemorySource:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise TableError(f"{title} is not a readable NPZ file: {one_line(error)}") from None
    X = _first(arrays, ("X", "x", "data"))
    if X is None or X.ndim != 2 or X.dtype.kind not in "fiub":
        raise TableError(f"{title} needs a matrix of numbers called X; it has {list(arrays)}.")
    y = _first(arrays, ("y", "target", "label", "labels"))
    if y is not None and y.shape != (len(X),):
        raise TableError(f"{title}: y has shape {y.shape}, but X has {len(X)} rows.")
    names = arrays.get("feature_names")
    named = None if names is None else [str(name) for name in names.ravel()]
    if named is not None:
        check_names([*named, *([] if y is None else ["y"])], title)
        if len(named) != X.shape[1]:
            raise TableError(
                f"{title}: feature_names has {len(named)} names, but X has {X.shape[1]} columns."
            )
    labels = {} if y is None else {"y": y}
    return MemorySource.of_matrix(X, title, named, labels)


def _first(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> Any:
    return next((arrays[name] for name in names if name in arrays), None)


def read_builtin(name: str) -> MemorySource:
    """Return one of the data sets of ``BUILTIN``."""
    from sklearn import datasets as bundled

    from supred import datasets

    if name not in BUILTIN:
        raise TableError(f"--dataset {name} is not known; use one of {', '.join(BUILTIN)}.")
    loaders = {
        "digits": bundled.load_digits,
        "iris": bundled.load_iris,
        "wine": bundled.load_wine,
        "breast-cancer": bundled.load_breast_cancer,
    }
    if name in loaders:
        bunch = loaders[name]()
        names, classes = map(str, bunch.feature_names), np.asarray(bunch.target_names).astype(str)
        return MemorySource.of_matrix(
            bunch.data, name, list(names), {"class": classes[bunch.target]}
        )
    try:
        if name == "spirals":
            X, y = datasets.make_spirals(600, n_classes=3, noise=0.02, random_state=0)
        elif name == "swiss-roll":
            X, y = datasets.make_classes_on_swiss_roll(1000, random_state=0)
        elif name == "mnist":
            X, y = datasets.load_mnist()[:2]
        else:
            from supred.datasets.real import data_path

            table = _read_table(Path(data_path(f"uci/{name}.csv")), name, "csv", True)
            return MemorySource(table, name, "label")
    except FileNotFoundError as error:
        raise TableError(str(error)) from None
    return MemorySource.of_matrix(X, name, labels={"class": y})
