"""Readers of binary files: any stretch of rows of a NumPy or Parquet file."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

BUFFER_BYTES = 65_536


class FileReader(ABC):
    """Rows of one file.

    Attributes
    ----------
    path : Path
    names : list of str, or None
        Names of all columns, where the file has them.
    n_columns : int
    columns : list of int
        The columns that `read` returns; all until `use` is called.
    is_sparse : bool
    dtype : dtype
        What `read` returns: float32 if the file holds just that, else float64.
    """

    is_sparse = False
    dtype: np.dtype = np.dtype(np.float64)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: list[str] | None = None
        self.n_columns = 0
        self.columns: list[int] = []

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return the numbers of some rows, shape (stop - start, len(columns))."""

    @abstractmethod
    def values(self, column: int) -> np.ndarray:
        """Return a whole column of any type."""

    def use(self, columns: list[int]) -> None:
        """Choose the columns that `read` returns; an error if one holds no numbers."""
        self.columns = columns

    def name_of(self, column: int) -> str:
        """Return what to call a column in an error."""
        return repr(self.names[column]) if self.names else str(column)


class NpyReader(FileReader):
    """Rows of an NPY file, read without a memory map so that pages do not pile up."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"{path} is not a readable NPY file: {error}") from None
        if not isinstance(mapped, np.memmap) or mapped.ndim != 2 or mapped.dtype.kind not in "fiub":
            raise ValueError(
                f"{path} holds an array of shape {mapped.shape} and type {mapped.dtype}; "
                "RowBlocks needs a matrix of numbers, one row a sample."
            )
        self._n_rows, self.n_columns = mapped.shape
        self.columns = list(range(self.n_columns))
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
        if self.columns != list(range(self.n_columns)):
            rows = rows[:, self.columns]
        return rows.astype(self.dtype, copy=False)

    def values(self, column: int) -> np.ndarray:
        """Return a whole column."""
        step = max(1, 4_000_000 // self.n_columns)
        starts = range(0, self.n_rows, step)
        return np.concatenate(
            [self._read(s, min(s + step, self.n_rows))[:, column] for s in starts]
        )

    def _read(self, start: int, stop: int) -> np.ndarray:
        if not self.in_rows:
            return np.array(np.load(self.path, mmap_mode="r")[start:stop])
        count = (stop - start) * self.n_columns
        with open(self.path, "rb") as file:
            file.seek(self.offset + start * self.n_columns * self.file_dtype.itemsize)
            numbers = np.fromfile(file, dtype=self.file_dtype, count=count)
        if len(numbers) < count:
            raise ValueError(f"{self.path} ends before row {stop}: it was changed or cut off.")
        return numbers.reshape(stop - start, self.n_columns)


class ParquetReader(FileReader):
    """Rows of a Parquet file, streamed batch by batch within its row groups."""

    BATCH_ROWS = 16_384

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise ImportError("reading Parquet needs pyarrow; install 'supred[parquet]'.") from None
        try:
            # With a buffer, pages are read one by one, not a column of a whole row group.
            self.file = parquet.ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{path} is not a readable Parquet file: {error}") from None
        schema = self.file.schema_arrow
        self.names = [str(name) for name in schema.names]
        self.types = schema.types
        self.n_columns = len(self.names)
        self.columns = list(range(self.n_columns))
        sizes = [self.file.metadata.row_group(g).num_rows for g in range(self.file.num_row_groups)]
        self.group_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self._position = -1  # the row that the open stream gives next
        self._rest: np.ndarray | None = None
        self._stream: Iterator[Any] = iter(())

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

    def values(self, column: int) -> np.ndarray:
        """Return a whole column; equal texts are one object."""
        found = self.file.read(columns=[self.file.schema_arrow.names[column]]).column(0)
        if found.type in _texts():
            encoded = found.combine_chunks().dictionary_encode()
            words = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
            codes = encoded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
            return words[codes]
        return found.to_numpy()

    def _seek(self, start: int) -> None:
        group = int(np.searchsorted(self.group_starts, start, side="right")) - 1
        self._stream = self.file.iter_batches(
            batch_size=self.BATCH_ROWS,
            row_groups=range(group, self.file.num_row_groups),
            columns=[self.file.schema_arrow.names[column] for column in self.columns],
        )
        self._rest = None
        skip = start - int(self.group_starts[group])
        while skip:
            batch = self._next()
            self._rest = batch[skip:] if len(batch) > skip else None
            skip -= min(skip, len(batch))

    def _next(self) -> np.ndarray:
        batch = next(self._stream)
        result = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
        for place, column in enumerate(self.columns):
            name = self.file.schema_arrow.names[column]
            result[:, place] = batch.column(batch.schema.get_field_index(name)).to_numpy(
                zero_copy_only=False
            )
        return result

    def use(self, columns: list[int]) -> None:
        """Choose the columns that `read` returns."""
        import pyarrow.types as kinds

        for column in columns:
            kind = self.types[column]
            if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
                raise ValueError(
                    f"{self.path}: column {self.name_of(column)} holds {kind}, not numbers; "
                    "name the columns to use in `columns`."
                )
        single = all(kinds.is_float32(self.types[column]) for column in columns)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.columns, self._position = columns, -1


def _texts() -> tuple[Any, ...]:
    import pyarrow

    return pyarrow.string(), pyarrow.large_string()
