"""Readers of binary files: any stretch of rows of a NumPy or Parquet file."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supred.common.arguments import one_line
from supred.rows.files.columns import (
    Column,
    check_names,
    check_width,
    encoded,
    import_pyarrow,
    native,
)

# What pandas calls the index of a frame if it has no name.
UNNAMED = re.compile(r"__index_level_\d+__")
BUFFER_BYTES = 65_536
# Texts of a Parquet file may take this many bytes, or this many times the size of the file, in the
# rows that are read at a time.
MOST_TEXT_BYTES, TEXT_GROWTH = 128 * 2**20, 100
# Numbers of an NPY file that are read at a time.
PIECE_NUMBERS = 4_000_000


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

    def values(self, column: int) -> Any:
        """Return a whole column of any type."""
        pa = import_pyarrow()
        parts = [chunk for part in self.parts([column]) for chunk in part.column(0).chunks]
        return pa.chunked_array(parts) if parts else pa.chunked_array([pa.array([], pa.string())])

    def use(self, columns: Sequence[Column], places: Sequence[int]) -> None:
        """Choose the columns that `read` returns."""
        self.columns, self.places = list(columns), list(places)

    def encode(self, table: Any, first_row: int = 0) -> np.ndarray:
        """Return the wanted columns of an Arrow table, which has just these, as numbers."""
        result = np.empty((table.num_rows, len(self.columns)), dtype=self.dtype)
        for k, column in enumerate(self.columns):
            try:
                result[:, k] = encoded(table.column(k), column, first_row)
            except ValueError as error:
                raise ValueError(f"{self.title}: {error}") from None
        return result


class NpyReader(FileReader):
    """Rows of an NPY file, read without a memory map so that pages do not pile up."""

    def __init__(self, path: Path, title: str | None = None) -> None:
        super().__init__(path, title)
        try:
            mapped: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # NumPy parses the header as an expression of Python's
            raise ValueError(
                f"{self.title} is not a readable NPY file: {one_line(error)}"
            ) from None
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
            rows = rows[:, self.places]
        return rows.astype(self.dtype, copy=False)

    def parts(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns as Arrow tables, one after the other."""
        pa, done = import_pyarrow(), 0
        for piece in self._pieces():
            done += len(piece)
            self.share = done / self.n_rows
            yield pa.table({str(k): np.ascontiguousarray(piece[:, k]) for k in columns})

    def values(self, column: int) -> np.ndarray:
        """Return a whole column."""
        return np.concatenate([piece[:, column] for piece in self._pieces()])

    def _pieces(self) -> Iterator[np.ndarray]:
        step = max(1, PIECE_NUMBERS // self.n_columns)
        for start in range(0, self.n_rows, step):
            yield self._read(start, min(start + step, self.n_rows))

    def _read(self, start: int, stop: int) -> np.ndarray:
        if not self.in_rows:
            return native(np.array(np.load(self.path, mmap_mode="r")[start:stop]))
        count = (stop - start) * self.n_columns
        with open(self.path, "rb") as file:
            file.seek(self.offset + start * self.n_columns * self.file_dtype.itemsize)
            numbers = np.fromfile(file, dtype=self.file_dtype, count=count)
        if len(numbers) < count:
            raise ValueError(f"{self.path} ends before row {stop}: it was changed or cut off.")
        return native(numbers.reshape(stop - start, self.n_columns))


class ParquetReader(FileReader):
    """Rows of a Parquet file, streamed batch by batch within its row groups."""

    BATCH_ROWS = 16_384

    def __init__(self, path: Path, title: str | None = None) -> None:
        super().__init__(path, title)
        pyarrow = import_pyarrow()
        from pyarrow import parquet

        try:
            texts = [field.name for field in parquet.read_schema(path) if _is_string(field.type)]
            # With a buffer, pages are read one by one, not a column of a whole row group.
            self.file = parquet.ParquetFile(
                path, buffer_size=BUFFER_BYTES, pre_buffer=False, read_dictionary=texts
            )
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(
                f"{self.title} is not a readable Parquet file: {one_line(error)}"
            ) from None
        schema = self.file.schema_arrow
        # pandas writes the index of a frame as a column, and says so; one with a name is a column
        # like any other, as it is in CSV.
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        self.names = [
            name for name in schema.names if name not in index or not UNNAMED.fullmatch(name)
        ]
        check_names(self.names, self.title)
        self.n_columns = len(self.names)
        self.use([Column(name, "number") for name in self.names], range(self.n_columns))
        sizes = [self.file.metadata.row_group(g).num_rows for g in range(self.file.num_row_groups)]
        self.group_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self._position = -1  # the row that the open stream gives next
        self._rest: np.ndarray | None = None
        self._stream: Iterator[Any] = iter(())
        self._batch_row = 0  # first row of the batch to come

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.group_starts[-1])

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the numbers of some rows; those that follow the last ones come quickest."""
        if start != self._position:
            self._seek(start)
        pieces, missing = [], stop - start
        while missing:
            batch = self._rest if self._rest is not None else self._next()
            pieces.append(batch[:missing])
            self._rest = batch[missing:] if len(batch) > missing else None
            missing -= len(pieces[-1])
        self._position = stop
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def parts(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns as Arrow tables, one after the other."""
        pa, done = import_pyarrow(), 0
        names = [self.column_names[k] for k in columns]
        # Neither numbers nor text, of which the type tells enough: they may grow without bound.
        types = {name: self.file.schema_arrow.field(name).type for name in names}
        unread = {name: kind for name, kind in types.items() if _is_unreadable(kind)}
        wanted = [name for name in names if name not in unread]
        for batch in self.file.iter_batches(self.BATCH_ROWS, columns=wanted):
            done += batch.num_rows
            self.share = done / max(self.n_rows, 1)
            part = self._spelt_out(pa.Table.from_batches([batch]))
            held = [
                pa.nulls(batch.num_rows, unread[name]) if name in unread else part[name]
                for name in names
            ]
            yield pa.table(held, names=names)

    def _seek(self, start: int) -> None:
        group = int(np.searchsorted(self.group_starts, start, side="right")) - 1
        self._stream = self.file.iter_batches(
            batch_size=self.BATCH_ROWS,
            row_groups=range(group, self.file.num_row_groups),
            columns=self._wanted,
        )
        self._rest, self._batch_row = None, int(self.group_starts[group])
        skip = start - int(self.group_starts[group])
        while skip:
            batch = self._next()
            self._rest = batch[skip:] if len(batch) > skip else None
            skip -= min(skip, len(batch))

    def _next(self) -> np.ndarray:
        batch = next(self._stream)
        self._batch_row += batch.num_rows
        table = import_pyarrow().Table.from_batches([batch]).select(self._wanted)
        return self.encode(self._spelt_out(table), self._batch_row - batch.num_rows)

    def _spelt_out(self, table: Any) -> Any:
        """Return a batch with each text in its row; in the file a long one may be there once."""
        pa, columns = import_pyarrow(), list(table.columns)
        sizes = {
            place: sum(_spelt_bytes(chunk) for chunk in columns[place].chunks)
            for place, field in enumerate(table.schema)
            if pa.types.is_dictionary(field.type) and _is_string(field.type.value_type)
        }
        n_bytes = sum(sizes.values())
        if n_bytes > max(MOST_TEXT_BYTES, TEXT_GROWTH * self.path.stat().st_size):
            name = table.column_names[max(sizes, key=lambda place: sizes[place])]
            raise ValueError(
                f"{self.title}: texts take {n_bytes} bytes in {table.num_rows} rows, most of them "
                f"in the column {name!r}; leave it out of the file, or shorten them."
            )
        for place in sizes:
            columns[place] = columns[place].cast(columns[place].type.value_type)
        return pa.table(columns, names=table.column_names)

    @property
    def _wanted(self) -> list[str]:
        return [self.column_names[place] for place in self.places]

    def use(self, columns: Sequence[Column], places: Sequence[int]) -> None:
        """Choose the columns that `read` returns."""
        super().use(columns, places)
        pa, schema = import_pyarrow(), self.file.schema_arrow
        single = all(schema.field(name).type == pa.float32() for name in self._wanted)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._position = -1


def _is_string(kind: Any) -> bool:
    kinds = import_pyarrow().types
    return kinds.is_string(kind) or kinds.is_large_string(kind)


def _is_unreadable(kind: Any) -> bool:
    kinds = import_pyarrow().types
    binary = (kinds.is_binary, kinds.is_large_binary, kinds.is_fixed_size_binary)
    return kinds.is_nested(kind) or any(test(kind) for test in binary)


def _spelt_bytes(coded: Any) -> int:
    """Return how many bytes the texts of a dictionary array take once each is in its row."""
    compute = import_pyarrow().compute
    lengths = compute.binary_length(coded.dictionary)
    return compute.sum(compute.cast(lengths.take(coded.indices), "int64")).as_py() or 0
