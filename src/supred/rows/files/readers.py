"""Readers of files: what all have in common, and any stretch of rows of a NumPy file."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from supred.common.arguments import one_line
from supred.common.files import check_opened
from supred.rows.files.columns import (
    Column,
    check_width,
    converted,
    encoded_as,
    import_pyarrow,
    is_string,
    native,
)

# Rows, labels and weights of a file may take this many bytes, or this many times its size.
LEAST_UNPACKED, MOST_GROWTH = 64 * 2**20, 100
# Numbers of an NPY file that are read at a time.
PIECE_NUMBERS = 4_000_000
# The beginning of a file that must stay as it is, the header of most NPY files.
HEAD_BYTES = 128


class FileReader(ABC):
    """Rows of one file.

    Attributes
    ----------
    path : Path
    title : str
        What to call the file in an error.
    names : list of str, or None
        Names of all columns, where the file has them.
    n_columns : int
    columns, places : list of Column, list of int
        What `read` returns, and where it is among the columns of the file; all until `use` is
        called.
    is_sparse : bool
    share : float
        Share of the file that `parts` has read.
    stamp : tuple (size, time, bytes)
        What the file was at first: its size, the time of writing and the first bytes.
    dtype : dtype
        What `read` returns: float32 if the file holds just that, else float64.
    """

    is_sparse = False
    dtype: np.dtype = np.dtype(np.float64)
    prefix = "x"  # what columns without names are called

    def __init__(self, path: Path, title: str | None = None) -> None:
        self.path = path
        self.title = title or str(path)
        self.names: list[str] | None = None
        self.n_columns = 0
        self.columns: list[Column] = []
        self.places: list[int] = []
        self.share = 0.0
        # Columns of texts: what is written in the first rows that were read, and their number.
        self._written: dict[str, tuple[str, int]] = {}
        with open(path, "rb") as file:
            self.stamp = _stamp_of(file)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open the file; an error if it is not, or does not stay, what it was at first."""
        if not self.path.is_file():  # to open a pipe would wait for one who writes
            raise self.changed()
        with open(self.path, "rb") as file:
            self.check_unchanged(file)
            try:
                yield file
            except Exception:  # what a reader makes of a file that is written anew
                self.check_unchanged(file)
                raise
            self.check_unchanged(file)

    def check_unchanged(self, file: IO[bytes]) -> None:
        """Raise a ValueError if the open file is not what it was at first."""
        if _stamp_of(file) != self.stamp:
            raise self.changed() from None

    def changed(self) -> ValueError:
        """Return the error of a file that is not what it was at first."""
        return ValueError(
            f"{self.title} was changed after it was opened; make a new RowBlocks, or run the "
            "command again."
        )

    @property
    def column_names(self) -> list[str]:
        """Names of all columns, made up where the file has none."""
        return self.names or [f"{self.prefix}{k + 1}" for k in range(self.n_columns)]

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return the numbers of some rows, shape (stop - start, len(columns))."""

    def parts(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns, of any type, as Arrow tables, one after the other."""
        raise NotImplementedError

    def values(self, column: int) -> np.ndarray:
        """Return a whole column of numbers."""
        raise NotImplementedError

    def use(self, columns: Sequence[Column], places: Sequence[int]) -> None:
        """Choose the columns that `read` returns."""
        self.columns, self.places = list(columns), list(places)

    def close(self) -> None:  # noqa: B027
        """Let go of what is kept open from one `read` to the next."""

    def encode(self, table: Any, first_row: int = 0) -> np.ndarray:
        """Return the wanted columns of an Arrow table, which has just these, as numbers."""
        result = np.empty((table.num_rows, len(self.columns)), dtype=self.dtype)
        for k, column in enumerate(self.columns):
            values = table.column(k)
            try:
                result[:, k], written = encoded_as(values, column, first_row)
            except ValueError as error:
                raise ValueError(f"{self.title}: {error}") from None
            if is_string(values.type) and not np.isnan(result[:, k]).all():
                before = self._written.setdefault(column.name, (written, first_row))
                if before[0] != written:  # as it is where all is read at once
                    raise ValueError(
                        f"{self.title}: the column {column.name!r} holds {before[0]} from row "
                        f"{before[1] + 1} on, but {written} from row {first_row + 1} on; write all "
                        "in one way."
                    )
        return result


class NpyReader(FileReader):
    """Rows of an NPY file, read without a memory map so that pages do not pile up."""

    def __init__(self, path: Path, title: str | None = None) -> None:
        super().__init__(path, title)
        try:
            mapped: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # NumPy parses the header as an expression of Python's
            check_opened(error, path)
            reason = one_line(error)
            # it takes what it does not know for a pickle, and tells how to load it
            if "pickle" in reason or "objects" in reason:
                reason = "it holds no array of numbers"
            raise ValueError(f"{self.title} is not a readable NPY file: {reason}") from None
        if not hasattr(mapped, "shape"):
            raise ValueError(f"{self.title} is not a readable NPY file: it holds several arrays.")
        matrix = isinstance(mapped, np.memmap) and mapped.ndim == 2 and mapped.shape[1] > 0
        if not matrix or mapped.dtype.kind not in "fiub":
            raise ValueError(
                f"{path} holds an array of shape {mapped.shape} and type {mapped.dtype}; "
                "it must hold a matrix of numbers, one row per sample."
            )
        self._n_rows, self.n_columns = mapped.shape
        check_width(self.n_columns, self.title)
        self.use([Column(name, "number") for name in self.column_names], range(self.n_columns))
        self.file_dtype = mapped.dtype
        self.dtype = np.dtype(np.float32 if mapped.dtype == np.float32 else np.float64)
        self.offset = mapped.offset
        self.in_rows = bool(mapped.flags.c_contiguous)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._n_rows

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the numbers of some rows."""
        rows = self._read(start, stop)
        if self.places != list(range(self.n_columns)):
            rows = np.take(rows, self.places, axis=1)  # indexing would lay them out by columns
        return converted(rows, self.dtype)

    def parts(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns as Arrow tables, one after the other."""
        pa, done = import_pyarrow(), 0
        for piece in self._pieces():
            done += len(piece)
            self.share = done / self.n_rows
            yield pa.table({str(k): np.ascontiguousarray(piece[:, k]) for k in columns})

    def values(self, column: int) -> np.ndarray:
        """Return a whole column."""
        pieces = [self._read(0, 0), *self._pieces()]  # a piece of a file without rows, too
        return np.concatenate([piece[:, column] for piece in pieces])

    def _pieces(self) -> Iterator[np.ndarray]:
        step = max(1, PIECE_NUMBERS // self.n_columns)
        for start in range(0, self.n_rows, step):
            yield self._read(start, min(start + step, self.n_rows))

    def _read(self, start: int, stop: int) -> np.ndarray:
        with self.opened() as file:
            if not self.in_rows:
                shape = self.n_rows, self.n_columns
                mapped: Any = np.memmap(file, self.file_dtype, "r", self.offset, shape, order="F")
                return native(np.array(mapped[start:stop], order="C"))
            file.seek(self.offset + start * self.n_columns * self.file_dtype.itemsize)
            numbers = np.fromfile(file, self.file_dtype, (stop - start) * self.n_columns)
            return native(numbers.reshape(stop - start, self.n_columns))


def most_unpacked(n_bytes: int) -> int:
    """Return how many bytes may be made of the rows, labels or weights of packed files."""
    return max(LEAST_UNPACKED, MOST_GROWTH * n_bytes)


def _stamp_of(file: IO[bytes]) -> tuple[int, int, bytes]:
    """Return what tells whether a file is still the one that it was.

    Its number is not among it: some network file systems give a file a new one at times. Its
    beginning is, as the times of two writes may be equal.
    """
    status = os.fstat(file.fileno())
    file.seek(0)
    head = file.read(HEAD_BYTES)
    file.seek(0)
    return status.st_size, status.st_mtime_ns, head
