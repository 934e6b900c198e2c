"""Sources whose rows are read piece by piece, and checked as they are read."""

import mmap
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arguments import largest_magnitude
from supred.rows.blocks import (
    LARGEST_NUMBER,
    LocalRows,
    Rows,
    RowSource,
    parts_of,
    rows_per_block,
)
from supred.rows.files.columns import converted


class ReadSource(RowSource):
    """A source that can read any stretch of its rows."""

    is_sparse = False
    block_rows: int | None = None  # most rows of a block, if the user says so

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return rows as an array or CSR matrix of type `dtype`."""

    @abstractmethod
    def where(self, row: int) -> str:
        """Say where a row is, for an error."""

    def rows(self, width: int = 1) -> Rows:
        """Return the rows, in blocks for `width` numbers made of each."""
        return ReadRows(self, width)


class ReadRows(LocalRows):
    """Rows that are read when their block is visited; no block is kept.

    The blocks are those of an array of the same shape, so that sums come out the same.
    """

    def __init__(self, source: ReadSource, width: int = 1) -> None:
        self.source = source
        self.n_rows, self.n_features = source.shape
        self.dtype, self.is_sparse = source.dtype, source.is_sparse
        size = rows_per_block(self.n_rows, self.n_features, width)
        self.block_rows = size if source.block_rows is None else min(size, source.block_rows)

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""
        return parts_of(self.n_rows, self.block_rows)

    def block(self, part: slice) -> Any:
        """Read a block and check that its numbers are finite, and their squares, too."""
        block = self.source.read(part.start, part.stop)
        if not largest_magnitude(block) <= LARGEST_NUMBER[block.dtype]:  # NaN is not, either
            self._refuse(block, part.start)
        return block

    def _refuse(self, block: Any, start: int) -> None:
        """Name the first number that cannot be used."""
        most = LARGEST_NUMBER[block.dtype]
        found = block.tocoo() if self.is_sparse else block
        if sparse.issparse(found):
            first = np.flatnonzero(~(np.abs(found.data) <= most))[0]
            row, column, value = found.row[first], found.col[first], found.data[first]
        else:
            row, column = np.argwhere(~(np.abs(found) <= most))[0]
            value = found[row, column]
        names = self.source.feature_names
        name = f"{column}" if names is None else f"{names[column]!r}"
        place = f"column {name} of {self.source.where(start + int(row))}"
        if np.isfinite(value):
            raise ValueError(
                f"Input X contains {value:.3g}: {place}; rows that are read block by block may "
                f"hold numbers up to {most:.3g}: divide the column by a constant."
            )
        raise ValueError(
            f"Input X contains {'NaN' if np.isnan(value) else 'infinity'}: {place}; "
            "drop such rows or fill in the values."
        )

    def resized(self, width: int) -> "ReadRows":
        """Return the same rows in blocks for `width` numbers made of each."""
        return ReadRows(self.source, width)

    def whole(self) -> Any:
        """Return all rows as one array or sparse matrix."""
        if self.is_sparse:
            return join([self.block(part) for part in self.parts()])
        return self.map(np.asarray)

    def take(self, indices: np.ndarray) -> Any:
        """Return a few rows; the blocks that hold any of them are read once each."""
        order = np.argsort(indices, kind="stable")
        ordered = np.asarray(indices)[order]
        found = []
        for part in self.parts():
            first, last = np.searchsorted(ordered, [part.start, part.stop])
            if first < last:
                found.append(self.block(part)[ordered[first:last] - part.start])
        joined = join(found)
        return joined if (ordered == indices).all() else joined[np.argsort(order, kind="stable")]


def join(pieces: list[Any]) -> Any:
    """Return arrays or CSR matrices one under the other."""
    if len(pieces) == 1:
        return pieces[0]
    if sparse.issparse(pieces[0]):
        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def as_csr(rows: Any) -> Any:
    """Return sparse rows as CSR, in which each number is stored once; they stay as they are."""
    rows = rows.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


class ArraySource(ReadSource):
    """The rows of an array on the host, converted and checked block by block.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Numbers of any type; what is not in single precision is treated in double precision.
    """

    keeps_blocks = True

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.X.shape[0], self.X.shape[1]

    @property
    def array(self) -> np.ndarray:
        """The array."""
        return self.X

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows in single or double precision."""
        return np.asarray(converted(self.X[start:stop], self.dtype))

    def where(self, row: int) -> str:
        """Say where a row is."""
        return f"row {row}"


class MemoryMap(ArraySource):
    """The rows of a memory-mapped array, which are read when their block is visited.

    Parameters
    ----------
    X : memmap of shape (n_rows, n_features)

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from supred.rows.files.reading import MemoryMap
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "X.npy")
    ...     np.save(path, np.arange(6, dtype=np.uint8).reshape(3, 2))
    ...     MemoryMap(np.load(path, mmap_mode="r")).rows().sum(lambda block: block.sum(axis=0))
    array([6., 9.])
    """

    keeps_blocks = False

    def __init__(self, X: np.memmap) -> None:
        super().__init__(X)
        self._pages = _shared_pages(X)

    @staticmethod
    def takes(X: Any) -> bool:
        """Tell whether `X` is a memory map that can be used as rows of numbers."""
        return (
            isinstance(X, np.memmap) and X.ndim == 2 and min(X.shape) > 0 and X.dtype.kind in "fiub"
        )

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows in single or double precision."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.array(self.X[start:stop], dtype=self.dtype)
        if self._pages is not None:
            # What was read is in the system's cache; it need not count as this program's memory.
            self._pages.madvise(mmap.MADV_DONTNEED)
        return rows


def _shared_pages(X: np.memmap) -> mmap.mmap | None:
    """Return the map behind an array if its pages may be dropped and read again.

    Pages of a private map (mode "c") hold what was written to it, and must stay.
    """
    if X.mode not in ("r", "r+", "w+") or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    base: Any = X
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None
