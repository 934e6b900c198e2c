"""Some rows of a source, which are read where they are."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from supred.rows.blocks import LocalRows, Rows, RowSource


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

    @property
    def at_home(self) -> RowSource:
        """The same rows on the host."""
        return SelectedSource(self.source.at_home, self.indices)

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
        self.from_host = parent.from_host
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
        return self.made(part, self.fetch(part))

    def fetch(self, part: slice) -> Any:
        """Return what the parent's block is made of."""
        return self.parent.fetch(self._origins[part.start])

    def made(self, part: slice, fetched: Any) -> Any:
        """Return the selected rows of the parent's block."""
        origin = self._origins[part.start]
        chosen = self.place.put(self.indices[part] - origin.start)
        return self.parent.made(origin, fetched)[chosen]

    def resized(self, width: int) -> "SelectedRows":
        """Return the same rows in blocks for `width` numbers made of each."""
        return SelectedRows(self.parent.resized(width), self.indices)

    def take(self, indices: np.ndarray) -> Any:
        """Return a few rows."""
        return self.parent.take(self.indices[indices])
