"""Where tables come from: files of several formats, standard input, built-in data sets.

A source says what its columns hold without saying how its rows are kept: as an Arrow table or a
matrix in memory, in files larger than memory, or with the workers of a cluster.
"""

import io
import sys
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supred.app.tables.builtin import BUILTIN
from supred.app.tables.table import TableError
from supred.common.arguments import one_line
from supred.rows.files.columns import (
    Column,
    Summary,
    distinct_texts,
    encoded,
    import_pyarrow,
    summary_of,
    texts_of,
)
from supred.rows.files.locating import SUFFIXES, check_same_columns, files_of, open_reader
from supred.rows.files.row_blocks import RowBlocks

FORMATS = ("csv", "tsv", "parquet", "npy", "npz", "svmlight")
# Sparse rows that would have more numbers than this when written out stay sparse.
MOST_DENSE_NUMBERS = 20_000_000
# Features of an svmlight file, which may name any number.
MOST_FEATURES = 1_000_000


class Source(ABC):
    """A table of named columns.

    Attributes
    ----------
    title : str
        What to call it in an error.
    names : list of str
        The columns.
    target : str
        Name of the labels, where they come apart from the columns; empty otherwise.
    """

    title: str
    names: list[str]
    target: str = ""

    @abstractmethod
    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say what some columns hold."""

    @abstractmethod
    def distinct(self, names: Sequence[str]) -> dict[str, set[str] | None]:
        """Return the different texts of some columns, None where there are too many."""

    @abstractmethod
    def texts(self, name: str) -> Any:
        """Return a column as an Arrow array of texts, null where one is missing."""


class PartedSource(Source):
    """A table that can be visited part by part, in order."""

    @abstractmethod
    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns as Arrow tables of consecutive rows."""

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say what some columns hold."""
        result = dict.fromkeys(names, Summary())
        for part in self.parts(names):
            for k, name in enumerate(names):
                result[name] += self._checked(summary_of, part.column(k), name)
        return result

    def distinct(self, names: Sequence[str]) -> dict[str, set[str] | None]:
        """Return the different texts of some columns, None where there are too many."""
        result: dict[str, set[str] | None] = {name: set() for name in names}
        for part in self.parts(names) if names else ():
            for k, name in enumerate(names):
                result[name] = distinct_texts(texts_of(part.column(k)), result[name])
        return result

    def texts(self, name: str) -> Any:
        """Return a column as an Arrow array of texts, null where one is missing."""
        pa = import_pyarrow()
        found = [self._checked(texts_of, part.column(0), name) for part in self.parts([name])]
        chunks = [chunk for one in found for chunk in getattr(one, "chunks", [one])]
        return pa.chunked_array(chunks, pa.string())

    def _checked(self, function: Any, values: Any, name: str) -> Any:
        try:
            return function(values)
        except ValueError as error:
            raise TableError(f"{self.title}: the column {name!r} {error}") from None


class FileSource(PartedSource):
    """The rows of one or several files of a format, read part by part."""

    def __init__(self, readers: Sequence[Any], title: str) -> None:
        check_same_columns(readers)
        self.readers, self.title = readers, title
        self.names = readers[0].column_names

    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns as Arrow tables of consecutive rows."""
        for reader in self.readers:
            yield from reader.parts([reader.column_names.index(name) for name in names])


class SparseFileSource(Source):
    """The rows of svmlight files, each of which begins with its label."""

    target = "label"

    def __init__(self, files: Sequence[Path], title: str) -> None:
        self.rows, self.title = RowBlocks(files, format="svmlight"), title
        n_features = self.rows.shape[1]
        if n_features > MOST_FEATURES:
            raise TableError(
                f"{title} names a feature {n_features}; at most {MOST_FEATURES} can be used."
            )
        self.names = [f"x{k + 1}" for k in range(n_features)]

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say that all columns hold numbers."""
        return dict.fromkeys(names, Summary("number", self.rows.shape[0]))

    def distinct(self, names: Sequence[str]) -> dict[str, set[str] | None]:
        """Return the texts of no column."""
        return {name: set() for name in names}

    def texts(self, name: str) -> Any:
        """Return the labels as an Arrow array of texts."""
        if name != self.target:
            raise TableError(f"{self.title} has no column {name!r}; its labels are 'label'.")
        return texts_of(import_pyarrow().array(self.rows.labels()))


class MemorySource(PartedSource):
    """An Arrow table."""

    def __init__(self, table: Any, title: str) -> None:
        self.table, self.title = table, title
        self.names = [str(name) for name in table.column_names]
        if not table.num_rows:
            raise TableError(f"{title} has no rows.")

    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the table."""
        yield self.table.select(list(names))

    def matrix(self, columns: Sequence[Column]) -> np.ndarray:
        """Return columns as numbers, shape (n_rows, len(columns))."""
        result = np.empty((self.table.num_rows, len(columns)))
        for k, column in enumerate(columns):
            result[:, k] = encoded(self.table.column(column.name), column)
        return result

    def without(self, names: Sequence[str]) -> "MemorySource":
        """Return the table without some columns."""
        return MemorySource(self.table.drop_columns(list(names)), self.title)


class MatrixSource(Source):
    """A dense or sparse matrix of numbers, and labels that come apart from it.

    Attributes
    ----------
    X : ndarray of float or CSR matrix
    y : Arrow array of texts, or None
    n_features_known : bool
        Whether there can be no features beyond those of `X`.
    """

    def __init__(
        self,
        X: Any,
        title: str,
        *,
        names: Sequence[str] | None = None,
        y: Any = None,
        target: str = "",
        n_features_known: bool = True,
    ) -> None:
        self.X, self.title = X, title
        self.names = [f"x{k + 1}" for k in range(X.shape[1])] if names is None else list(names)
        self.y = y if y is None or hasattr(y, "type") else texts_of(import_pyarrow().array(y))
        self.target = "" if y is None else target
        self.n_features_known = n_features_known
        if not X.shape[0]:
            raise TableError(f"{title} has no rows.")

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Say what some columns hold."""
        n_rows = self.X.shape[0]
        if hasattr(self.X, "tocsr"):
            return dict.fromkeys(names, Summary("number", n_rows))
        return {name: summary_of(self._column(name)) for name in names}

    def distinct(self, names: Sequence[str]) -> dict[str, set[str] | None]:
        """Return the texts of no column: all hold numbers."""
        return {name: set() for name in names}

    def texts(self, name: str) -> Any:
        """Return the labels, or a column, as an Arrow array of texts."""
        return (
            self.y if name == self.target and self.y is not None else texts_of(self._column(name))
        )

    def _column(self, name: str) -> Any:
        column = self.X[:, [self.names.index(name)]]
        dense = column.toarray() if hasattr(column, "toarray") else column
        return import_pyarrow().array(dense.ravel())

    def matrix(self, columns: Sequence[Column]) -> Any:
        """Return columns, shape (n_rows, len(columns)); those that no sparse row names are zero."""
        wanted = [column.name for column in columns]
        X, gap = self.X, len(wanted) - len(self.names)
        if wanted == self.names:
            return X
        if not self.n_features_known and gap > 0 and wanted[: len(self.names)] == self.names:
            from scipy import sparse

            if sparse.issparse(X):
                return sparse.hstack([X, sparse.csr_matrix((X.shape[0], gap))], format="csr")
            return np.hstack([X, np.zeros((X.shape[0], gap))])
        places = {name: k for k, name in enumerate(self.names)}
        return X[:, [places[name] for name in wanted]]

    def without(self, names: Sequence[str]) -> "MatrixSource":
        """Return the matrix without some columns."""
        kept = [Column(name, "number") for name in self.names if name not in names]
        return MatrixSource(
            self.matrix(kept),
            self.title,
            names=[column.name for column in kept],
            y=self.y,
            target=self.target,
        )


def read_source(
    path: str, *, kind: str | None = None, header: bool = True
) -> MemorySource | MatrixSource:
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


def _read(path: Path, title: str, kind: str, header: bool) -> MemorySource | MatrixSource:
    if not path.stat().st_size and path.is_file():
        raise TableError(f"{title} is empty.")
    if kind == "npz":
        return _read_npz(path, title)
    if kind == "svmlight":
        return _read_svmlight(path, title)
    reader = open_reader(path, kind, header=header, title=title)
    if kind == "npy":
        return MatrixSource(reader.read(0, reader.n_rows).astype(float), title)
    parts = list(reader.parts(list(range(reader.n_columns))))
    if not parts:
        what = "has a header but no rows" if header and kind in ("csv", "tsv") else "has no rows"
        raise TableError(f"{title} {what}.")
    table = import_pyarrow().concat_tables(parts)
    return MemorySource(table.rename_columns(reader.column_names), title)


def open_files(
    paths: Sequence[str], *, kind: str | None = None, header: bool = True
) -> tuple[FileSource | SparseFileSource, list[Path], str]:
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
        return SparseFileSource(files, title), files, found
    return FileSource([open_reader(f, found, header=header) for f in files], title), files, found


def _read_npz(path: Path, title: str) -> MatrixSource:
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
    if named is not None and (len(named) != X.shape[1] or len(set(named)) < len(named)):
        raise TableError(
            f"{title}: feature_names has {len(set(named))} different names, but X has "
            f"{X.shape[1]} columns."
        )
    return MatrixSource(X.astype(float), title, names=named, y=y, target="y")


def _read_svmlight(path: Path, title: str) -> MatrixSource:
    source = SparseFileSource([path], title)
    n_rows, n_features = source.rows.shape
    X: Any = source.rows.read(0, n_rows)
    X = X.toarray() if n_rows * n_features <= MOST_DENSE_NUMBERS else X
    # A file in this format does not say how many features there are beyond the last it names.
    return MatrixSource(X, title, y=source.texts("label"), target="label", n_features_known=False)


def _first(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> Any:
    return next((arrays[name] for name in names if name in arrays), None)


def read_builtin(name: str) -> MemorySource | MatrixSource:
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
        labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
        names = [str(name) for name in bunch.feature_names]
        return MatrixSource(bunch.data.astype(float), name, names=names, y=labels, target="class")
    try:
        if name == "spirals":
            X, y = datasets.make_spirals(600, n_classes=3, noise=0.02, random_state=0)
        elif name == "swiss-roll":
            X, y = datasets.make_classes_on_swiss_roll(1000, random_state=0)
        elif name == "mnist":
            X, y = datasets.load_mnist()[:2]
        else:
            from supred.datasets.real import data_path

            source = _read(Path(data_path(f"uci/{name}.csv")), name, "csv", True)
            source.target = "label"
            return source
    except FileNotFoundError as error:
        raise TableError(str(error)) from None
    return MatrixSource(np.asarray(X, dtype=float), name, y=y, target="class")
