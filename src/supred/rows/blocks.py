"""The one place that knows where rows live.

Everything heavy in the library is a sum over blocks of rows or a map over them. :class:`Rows`
offers these two, whatever the rows are: an array, a sparse matrix, files, a cluster.
:func:`rows_of` makes the right kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arrays import HOST, Place, cast, place_of, type_name

# A block of this many numbers (32 MB in single precision) is large enough for BLAS to run at full
# speed: products with 2500 basis functions are a quarter slower in blocks of 2 million.
BLOCK_NUMBERS = 8_000_000
LEAST_BLOCK_ROWS = 256
# On a device blocks are this many times as large: its products want more rows at once.
DEVICE_BLOCKS = 32
# Where more than this part of a block is chosen, the whole block costs no more: if it would have to
# be made, and if it is there and the rows only have to be copied out of it.
MOST_CHOSEN, MOST_COPIED = 0.7, 0.4
# Rows that come block by block are used in their own unit, in which squares must not overflow.
LARGEST_NUMBER = {np.dtype(np.float64): 2.0**64, np.dtype(np.float32): 2.0**40}


def rows_per_block(n_features: int, width: int = 1) -> int:
    """Return the rows of a block when `width` numbers are made of each row."""
    return max(LEAST_BLOCK_ROWS, BLOCK_NUMBERS // max(width, n_features, 1))


class Rows(ABC):
    """Rows that are visited in blocks, always in the same order.

    The functions given to the methods may run elsewhere: they must be picklable (methods or
    ``functools.partial`` of functions of a module, on small objects) and return new arrays.

    Attributes
    ----------
    n_rows, n_features : int
    dtype : dtype
    is_sparse : bool
        Whether the blocks are sparse.
    place : Place
        Where the blocks are, and what is made of them.
    """

    n_rows: int
    n_features: int
    dtype: np.dtype
    is_sparse: bool = False
    place: Place = HOST

    @abstractmethod
    def sum(self, function: Callable[..., Any], *along: np.ndarray) -> Any:
        """Add up ``function(block, *slices)`` over the blocks, in order.

        Parameters
        ----------
        function : callable
            Returns an array, a number or a tuple of them. If it has a method
            ``accumulate(total, block, *slices)``, that may be used to add a block to a sum.
        *along : ndarray of shape (n_rows, ...)
            Values of each row; the function gets those of the block's rows.
        """

    def sum_where(
        self, chosen: np.ndarray, function: Callable[..., Any], *along: np.ndarray
    ) -> Any:
        """Add up as `sum` does, over the chosen rows alone if that is less work.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_rows,)
            At least one row is; the `along` of the others are zero, and rows whose `along` are
            zero must add nothing.
        function, *along
            As in `sum`.
        """
        return self.sum(function, *along)

    @abstractmethod
    def map(self, function: Callable[..., np.ndarray], *along: np.ndarray) -> np.ndarray:
        """Stack ``function(block, *slices)``, which has one row per row of the block."""

    @abstractmethod
    def derive(
        self, function: Callable[[Any], Any], width: int, cache_bytes: float = 0.0
    ) -> "Rows":
        """Return the rows ``function(block)``, each of `width` numbers.

        Up to `cache_bytes` of them are kept when they are first made; the others are made
        again in each pass.
        """

    @abstractmethod
    def take(self, indices: np.ndarray) -> Any:
        """Return a few rows, in the order of `indices`, as an array or sparse matrix."""

    def whole(self) -> Any:
        """Return all rows as one array or sparse matrix: for callers that cannot do without."""
        return self.take(np.arange(self.n_rows))


class RowSource(ABC):
    """A matrix that is not an array in memory; estimators take it where they take an array.

    Attributes
    ----------
    shape : tuple (n_rows, n_features)
    dtype : dtype
        float64 or float32: what the blocks hold.
    feature_names : ndarray of str, or None
    keeps_blocks : bool
        Whether what is made of the rows may be kept in memory between passes, unless the user
        says how much.
    """

    dtype: np.dtype
    feature_names: np.ndarray | None = None
    keeps_blocks: bool = False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""

    @abstractmethod
    def rows(self, width: int = 1) -> Rows:
        """Return the rows, in blocks for `width` numbers made of each."""

    @property
    def array(self) -> Any:
        """The rows as one array where there is one (a memory map), else None."""
        return None

    def labels(self) -> np.ndarray | None:
        """Return the labels that come with the rows, if any do."""
        return None

    def weights(self) -> np.ndarray | None:
        """Return the weights that come with the rows, if any do."""
        return None

    def select(self, indices: np.ndarray) -> "RowSource":
        """Return the source of the rows `indices`, which rise."""
        return SelectedSource(self, indices)


def rows_of(X: Any, width: int = 1) -> Rows:
    """Return the rows of a dense or sparse matrix or of a source.

    Parameters
    ----------
    X : ndarray, sparse matrix, RowSource or Rows
        The rows; never modified and never copied as a whole.
    width : int, default=1
        Numbers that the caller makes of each row; blocks are sized so that a block of
        results stays small.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.rows.blocks import rows_of
    >>> rows = rows_of(np.arange(6.0).reshape(3, 2))
    >>> rows.sum(lambda block, weights: weights @ block, np.array([1.0, 0.0, 2.0]))
    array([ 8., 11.])
    >>> rows.map(lambda block: block[:, :1] * 2)
    array([[0.], [4.], [8.]])
    """
    if isinstance(X, Rows):
        return X
    return X.rows(width) if isinstance(X, RowSource) else ArrayRows(X, width)


def select(X: Any, indices: np.ndarray) -> Any:
    """Return the rows `indices` (rising) of an array, sparse matrix or source."""
    return X.select(indices) if isinstance(X, RowSource) else X[place_of(X).put(indices)]


class LocalRows(Rows):
    """Rows whose blocks are visited one after another on this machine."""

    @abstractmethod
    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""

    @abstractmethod
    def block(self, part: slice) -> Any:
        """Return the rows of one of the `parts`."""

    @abstractmethod
    def resized(self, width: int) -> "LocalRows":
        """Return the same rows in blocks for `width` numbers made of each."""

    def sum(self, function: Callable[..., Any], *along: np.ndarray) -> Any:
        """Add up ``function(block, *slices)`` over the blocks, in order."""
        total: Any = None
        accumulate = getattr(function, "accumulate", None)
        for part in self.parts():
            slices = (self.place.put(values[part]) for values in along)
            if total is not None and accumulate is not None:
                total = accumulate(total, self.block(part), *slices)
            else:
                term = function(self.block(part), *slices)
                total = term if total is None else add(total, term)
        if total is None:
            raise ValueError("there are no rows to sum over.")
        return total

    def sum_where(
        self, chosen: np.ndarray, function: Callable[..., Any], *along: np.ndarray
    ) -> Any:
        """Add up over the chosen rows; blocks without any are not made."""
        total: Any = None
        for part in self.parts():
            rows = np.flatnonzero(chosen[part])
            if not len(rows):
                continue
            most = MOST_COPIED if self.is_kept(part) else MOST_CHOSEN
            if len(rows) > most * (part.stop - part.start):
                term = function(
                    self.block(part), *(self.place.put(values[part]) for values in along)
                )
            else:
                some = self.some_of_block(part, rows)
                term = function(some, *(self.place.put(values[part][rows]) for values in along))
            total = term if total is None else add(total, term)
        return total

    def is_kept(self, part: slice) -> bool:
        """Tell whether one of the `parts` is in memory and need not be made or read."""
        return False

    def some_of_block(self, part: slice, rows: np.ndarray) -> Any:
        """Return a few rows of one of the `parts`."""
        return self.block(part)[rows]

    def map(self, function: Callable[..., np.ndarray], *along: np.ndarray) -> np.ndarray:
        """Stack ``function(block, *slices)``, which has one row per row of the block."""
        result: np.ndarray | None = None
        for part in self.parts():
            slices = (self.place.put(values[part]) for values in along)
            values = function(self.block(part), *slices)
            if len(values) == self.n_rows:
                return values
            if result is None:
                shape = (self.n_rows, *values.shape[1:])
                result = place_of(values).empty(shape, type_name(values))
            result[part] = values
        if result is None:
            raise ValueError("there are no rows to map over.")
        return result

    def derive(
        self, function: Callable[[Any], Any], width: int, cache_bytes: float = 0.0
    ) -> "DerivedRows":
        """Return the rows ``function(block)``, kept up to `cache_bytes`."""
        return DerivedRows(self.resized(width), function, width, cache_bytes)


def add(total: Any, term: Any) -> Any:
    """Add an array, a number or a tuple of them to `total`, in place where that is possible."""
    if isinstance(total, tuple):
        return tuple(add(one, other) for one, other in zip(total, term, strict=True))
    total += term
    return total


class ArrayRows(LocalRows):
    """Rows of a dense (perhaps memory-mapped) or sparse matrix.

    Parameters
    ----------
    X : ndarray, array of torch or CuPy, or sparse matrix of shape (n_rows, n_features)
    width : int, default=1
    dtype : dtype, optional
        What each block is converted to; by default blocks are what `X` holds.
    """

    def __init__(self, X: Any, width: int = 1, dtype: Any = None) -> None:
        self.is_sparse, self.place = sparse.issparse(X), place_of(X)
        self.X = X.tocsr() if self.is_sparse else X
        self.n_rows, self.n_features = X.shape
        self.dtype = type_name(X) if dtype is None else np.dtype(dtype)
        self.block_rows = rows_per_block(self.n_features, width)
        if not self.place.is_host:
            self.block_rows *= DEVICE_BLOCKS

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""
        for start in range(0, self.n_rows, self.block_rows):
            yield slice(start, min(start + self.block_rows, self.n_rows))

    def block(self, part: slice) -> Any:
        """Return the rows of one of the `parts`."""
        if part.stop - part.start == self.n_rows and type_name(self.X) == self.dtype:
            return self.X
        return cast(self.X[part], self.dtype)

    def is_kept(self, part: slice) -> bool:
        """All of them are, unless they are mapped from a file."""
        return not isinstance(self.X, np.memmap)

    def resized(self, width: int) -> "ArrayRows":
        """Return the same rows in blocks for `width` numbers made of each."""
        return ArrayRows(self.X, width, self.dtype)

    def take(self, indices: np.ndarray) -> Any:
        """Return a few rows."""
        return cast(self.X[self.place.put(indices)], self.dtype)

    def whole(self) -> Any:
        """Return the matrix."""
        return cast(self.X, self.dtype)


class DerivedRows(LocalRows):
    """Rows that a function makes of other rows, some of them kept.

    Parameters
    ----------
    parent : LocalRows
    function : callable
        Makes a block of a block.
    width : int
        Numbers in a row of the result.
    cache_bytes : float
        Most bytes to keep.
    """

    def __init__(
        self, parent: LocalRows, function: Callable[[Any], Any], width: int, cache_bytes: float
    ) -> None:
        self.parent = parent
        self.function = function
        self.n_rows, self.n_features = parent.n_rows, width
        self.dtype, self.place = parent.dtype, parent.place
        self.is_sparse = parent.is_sparse
        self.kept: dict[int, Any] = {}  # by the first row of the block
        self.room = cache_bytes

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""
        return self.parent.parts()

    def block(self, part: slice) -> Any:
        """Return a block, from what is kept where it is there."""
        if self.is_kept(part):
            return self.kept[part.start]
        result = self.function(self.parent.block(part))
        if self.room > 0:
            size = n_bytes(result)
            if size <= self.room:
                self.room -= size
                self.kept[part.start] = result
        return result

    def is_kept(self, part: slice) -> bool:
        """Tell whether a block was kept when it was made."""
        return part.start in self.kept

    def some_of_block(self, part: slice, rows: np.ndarray) -> Any:
        """Return a few rows of a block; only they are made where the block is not kept."""
        if self.is_kept(part):
            return self.kept[part.start][rows]
        return self.function(self.parent.some_of_block(part, rows))

    def resized(self, width: int) -> "DerivedRows":
        """Return the rows as they are: what is kept fixes the blocks."""
        return self

    def take(self, indices: np.ndarray) -> Any:
        """Return a few rows, made of few rows."""
        return self.function(self.parent.take(indices))


def n_bytes(block: Any) -> int:
    """Return the bytes that a dense or sparse block takes."""
    if sparse.issparse(block):
        return int(block.data.nbytes + block.indices.nbytes + block.indptr.nbytes)
    return int(block.nbytes)


class SelectedSource(RowSource):
    """Some rows of a source, which are read where they are.

    Parameters
    ----------
    source : RowSource
        Its rows must be visited on this machine.
    indices : ndarray of int
        Rising.
    """

    def __init__(self, source: RowSource, indices: np.ndarray) -> None:
        self.source = source
        self.indices = np.flatnonzero(indices) if indices.dtype == bool else indices
        self.dtype = source.dtype
        self.feature_names = source.feature_names
        self.keeps_blocks = source.keeps_blocks

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self.indices), self.source.shape[1]

    @property
    def array(self) -> Any:
        """The selected rows of an array, as one."""
        return None if self.source.array is None else self.source.array[self.indices]

    def rows(self, width: int = 1) -> Rows:
        """Return the rows."""
        rows = self.source.rows(width)
        if not isinstance(rows, LocalRows):
            raise TypeError(f"rows cannot be selected from {type(self.source).__name__}.")
        return SelectedRows(rows, self.indices)


class SelectedRows(LocalRows):
    """Some rows of others: the blocks are theirs, without the rows that were not selected."""

    def __init__(self, parent: LocalRows, indices: np.ndarray) -> None:
        self.parent = parent
        self.indices = indices
        self.n_rows, self.n_features = len(indices), parent.n_features
        self.dtype, self.is_sparse, self.place = parent.dtype, parent.is_sparse, parent.place
        self._origins: dict[int, slice] = {}  # first selected row of a block -> parent's block

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block that has any, in order."""
        for origin in self.parent.parts():
            start, stop = np.searchsorted(self.indices, [origin.start, origin.stop])
            if start < stop:
                self._origins[int(start)] = origin
                yield slice(int(start), int(stop))

    def block(self, part: slice) -> Any:
        """Return the rows of one of the `parts`."""
        origin = self._origins[part.start]
        return self.parent.block(origin)[self.indices[part] - origin.start]

    def resized(self, width: int) -> "SelectedRows":
        """Return the same rows in blocks for `width` numbers made of each."""
        return SelectedRows(self.parent.resized(width), self.indices)

    def take(self, indices: np.ndarray) -> Any:
        """Return a few rows."""
        return self.parent.take(self.indices[indices])
