"""The one place that knows where rows live.

Everything heavy in the library is a sum over blocks of rows or a map over them. :class:`Rows`
offers exactly these two.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# A block of this many numbers (8 MB in single precision) stays near the cache and is large
# enough for BLAS to run at full speed.
BLOCK_NUMBERS = 2_000_000
LEAST_BLOCK_ROWS = 256


class Rows:
    """Rows of a dense or sparse matrix, visited in blocks.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        The rows; never modified and never copied as a whole.
    width : int, default=1
        Numbers that the caller makes of each row; blocks are sized so that a block of
        results stays small.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.blocks import Rows
    >>> rows = Rows(np.arange(6.0).reshape(3, 2))
    >>> rows.sum(lambda block, part: block.sum(axis=0))
    array([6., 9.])
    >>> rows.map(lambda block, part: block[:, :1] * 2)
    array([[0.], [4.], [8.]])
    """

    def __init__(self, X: Any, width: int = 1) -> None:
        self.X = X.tocsr() if hasattr(X, "tocsr") else X
        widest = max(width, X.shape[1], 1)
        self.block_rows = max(LEAST_BLOCK_ROWS, BLOCK_NUMBERS // widest)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""
        for start in range(0, self.n_rows, self.block_rows):
            yield slice(start, min(start + self.block_rows, self.n_rows))

    def sum(self, function: Callable[[Any, slice], Any]) -> Any:
        """Add up ``function(block, part)`` over the blocks, in order."""
        total: Any = None
        for part in self.parts():
            term = function(self.X[part], part)
            if total is None:
                total = term
            else:
                total += term
        return total

    def map(self, function: Callable[[Any, slice], np.ndarray]) -> np.ndarray:
        """Stack ``function(block, part)``, which has one row per row of the block."""
        result: np.ndarray | None = None
        for part in self.parts():
            values = function(self.X[part], part)
            if result is None:
                result = np.empty((self.n_rows, *values.shape[1:]), dtype=values.dtype)
            result[part] = values
        if result is None:
            raise ValueError("there are no rows to map over.")
        return result
