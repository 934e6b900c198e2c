"""The one place that knows where rows live.

Everything heavy in the library is a sum over blocks of rows or a map over them. :class:`Rows`
offers these two, whatever the rows are: an array, a sparse matrix, files, a cluster.
:func:`rows_of` makes the right kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import starmap
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arrays import HOST, Place, cast, on_host, place_of, type_name
from supred.common.threads import ahead, in_order
from supred.rows.values import LocalValues, RowValues, StoredValues, total_of

# A block of this many numbers (32 MB in single precision) is large enough for BLAS to run at full
# speed: products with 2500 basis functions are a quarter slower in blocks of 2 million.
BLOCK_NUMBERS = 8_000_000
LEAST_BLOCK_ROWS = 256
# Rows that come block by block are used in their own unit, in which squares must not overflow.
LARGEST_NUMBER = {np.dtype(np.float64): 2.0**64, np.dtype(np.float32): 2.0**40}
# Rows are cut into this many blocks at least, so that as many cores have something to do, unless
# the blocks become smaller than the second number.
FEWEST_BLOCKS, FEWEST_ROWS = 16, 2048


def rows_per_block(n_rows: int, n_features: int, width: int = 1, place: Place = HOST) -> int:
    """Return the rows of a block when `width` numbers are made of each row.

    A device takes as many as it has room for.
    """
    if not place.is_host:
        return max(LEAST_BLOCK_ROWS, place.block_numbers // max(width, n_features, 1))
    most = max(LEAST_BLOCK_ROWS, BLOCK_NUMBERS // max(width, n_features, 1))
    return min(most, max(FEWEST_ROWS, -(-n_rows // FEWEST_BLOCKS)))


def parts_of(n_rows: int, block_rows: int) -> Iterator[slice]:
    """Yield the slices of blocks of so many rows each."""
    for start in range(0, n_rows, block_rows):
        yield slice(start, min(start + block_rows, n_rows))


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
    from_host : bool
        Whether blocks are copied to a device when they are visited: then the values of rows and
        what is made of each row stay on the host, and the device holds a few blocks at a time.
    """

    n_rows: int
    n_features: int
    dtype: np.dtype
    is_sparse: bool = False
    place: Place = HOST
    from_host: bool = False

    @abstractmethod
    def sum(self, function: Callable[..., Any], *along: np.ndarray) -> Any:
        """Add up ``function(block, *slices)`` over the blocks, in order.

        Parameters
        ----------
        function : callable
            Returns an array, a number, anything else that ``+=`` adds to, or a tuple of these.
        *along : ndarray of shape (n_rows, ...)
            Values of each row; the function gets those of the block's rows.
        """

    @abstractmethod
    def map(self, function: Callable[..., np.ndarray], *along: np.ndarray) -> np.ndarray:
        """Stack ``function(block, *slices)``, which has one row per row of the block."""

    @abstractmethod
    def attach(self, make: Callable[..., Any], *along: np.ndarray) -> "RowValues":
        """Return one value per block, ``make(first_row, *slices)``, which stays with the block."""

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

    @property
    def at_home(self) -> "RowSource":
        """The same rows on the host."""
        return self

    def labels(self) -> np.ndarray | None:
        """Return the labels that come with the rows, if any do."""
        return None

    def weights(self) -> np.ndarray | None:
        """Return the weights that come with the rows, if any do."""
        return None

    def select(self, indices: np.ndarray) -> "RowSource":
        """Return the source of the rows `indices`, which are sorted."""
        from supred.rows.selection import SelectedSource

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

    def fetch(self, part: slice) -> Any:
        """Return what `made` makes the block of: read in order, in one thread."""
        return self.block(part)

    def made(self, part: slice, fetched: Any) -> Any:
        """Return one of the `parts`, of what was fetched, in any thread."""
        return fetched

    def visits(
        self, function: Callable[..., Any], calls: Iterable[tuple[slice, tuple]]
    ) -> Iterator[Any]:
        """Yield ``function(block, *arguments)`` of parts and their arguments, in order.

        The blocks are visited in the threads that :func:`supred.common.threads.cores` gives.
        """

        def visit(part: slice, fetched: Any, arguments: tuple) -> Any:
            return function(self.made(part, fetched), *arguments)

        fetched = ((part, self.fetch(part), rest) for part, rest in calls)
        if self.place.is_host:
            return in_order(visit, fetched)
        # A device is kept busy by one thread, and has no room for many blocks.
        return starmap(visit, ahead(fetched) if self.from_host else fetched)

    def sum(self, function: Callable[..., Any], *along: np.ndarray) -> Any:
        """Add up ``function(block, *slices)`` over the blocks, in order."""
        return total_of(self.visits(function, self._slices(self.parts(), along)))

    def _slices(
        self, parts: Iterable[slice], along: tuple[np.ndarray, ...]
    ) -> Iterator[tuple[slice, tuple]]:
        """Yield the parts, each with the values of its rows where these are."""
        for part in parts:
            yield part, tuple(self.place.put(values[part]) for values in along)

    def map(self, function: Callable[..., np.ndarray], *along: np.ndarray) -> np.ndarray:
        """Stack ``function(block, *slices)``, which has one row per row of the block."""
        parts = list(self.parts())
        answer = partial(_answer_on_host, function) if self.from_host else function
        visits = self.visits(answer, self._slices(parts, along))
        result: np.ndarray | None = None
        for part, values in zip(parts, visits, strict=True):
            if len(values) == self.n_rows:
                return values
            if result is None:
                shape = (self.n_rows, *values.shape[1:])
                result = place_of(values).empty(shape, type_name(values))
            result[part] = values
        if result is None:
            raise ValueError("there are no rows to map over.")
        return result

    def attach(self, make: Callable[..., Any], *along: np.ndarray) -> "LocalValues":
        """Return one value per block, ``make(first_row, *slices)``."""
        parts = list(self.parts())
        if self.from_host:
            kept = [make(part.start, *(values[part] for values in along)) for part in parts]
            return StoredValues(self, parts, kept)
        made = [make(part.start, *slices) for part, slices in self._slices(parts, along)]
        return LocalValues(self, parts, made)

    def derive(
        self, function: Callable[[Any], Any], width: int, cache_bytes: float = 0.0
    ) -> "DerivedRows":
        """Return the rows ``function(block)``, kept up to `cache_bytes`."""
        return DerivedRows(self.resized(width), function, width, cache_bytes)


def _answer_on_host(function: Callable[..., Any], *arguments: Any) -> Any:
    return on_host(function(*arguments))


class ArrayRows(LocalRows):
    """Rows of a dense (perhaps memory-mapped) or sparse matrix.

    Parameters
    ----------
    X : ndarray, array of torch or CuPy, or sparse matrix of shape (n_rows, n_features)
    width : int, default=1
    dtype : dtype, optional
        What each block is converted to; by default blocks are what `X` holds.
    block_rows : int, optional
        Rows of a block; by default what suits `width`.
    """

    def __init__(
        self, X: Any, width: int = 1, dtype: Any = None, block_rows: int | None = None
    ) -> None:
        self.is_sparse, self.place = sparse.issparse(X), place_of(X)
        self.X = X.tocsr() if self.is_sparse else X
        self.n_rows, self.n_features = X.shape
        self.dtype = type_name(X) if dtype is None else np.dtype(dtype)
        size = rows_per_block(self.n_rows, self.n_features, width, self.place)
        self.block_rows = block_rows or size

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""
        return parts_of(self.n_rows, self.block_rows)

    def block(self, part: slice) -> Any:
        """Return the rows of one of the `parts`."""
        if part.stop - part.start == self.n_rows and type_name(self.X) == self.dtype:
            return self.X
        return self.made(part, self.fetch(part))

    def resized(self, width: int) -> "ArrayRows":
        """Return the same rows in blocks for `width` numbers made of each."""
        return ArrayRows(self.X, width, self.dtype)

    def fetch(self, part: slice) -> Any:
        """Return the rows as they lie there."""
        return self.X[part]

    def made(self, part: slice, fetched: Any) -> Any:
        """Return the rows in their precision."""
        return cast(fetched, self.dtype)

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
        self.is_sparse, self.from_host = parent.is_sparse, parent.from_host
        self.kept: dict[int, Any] = {}  # by the first row of the block
        self.cache_bytes = cache_bytes

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""
        return self.parent.parts()

    def block(self, part: slice) -> Any:
        """Return a block, from what is kept where it is there."""
        return self.made(part, self.fetch(part))

    def fetch(self, part: slice) -> Any:
        """Return what the block is made of, nothing if it is kept."""
        return None if part.start in self.kept else self.parent.fetch(part)

    def made(self, part: slice, fetched: Any) -> Any:
        """Return a block; those that come first are kept, as far as there is room."""
        if part.start in self.kept:
            return self.kept[part.start]
        result = self.function(self.parent.made(part, fetched))
        if part.stop * n_bytes(result) <= self.cache_bytes * len(range(part.start, part.stop)):
            self.kept[part.start] = result
        return result

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
