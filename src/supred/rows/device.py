"""Rows of the host that are computed with on a device, to which they are copied in blocks."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from supred.common.arrays import HOST, Place, is_foreign, place_of
from supred.rows.blocks import LocalRows, RowSource, parts_of, rows_per_block
from supred.rows.files.reading import ArraySource, MemoryMap, ReadSource
from supred.rows.selection import SelectedSource


def on_device(X: Any, device: Any = "auto") -> Any:
    """Let `LowDimSVC` and `RBFNetClassifier` compute with rows of the host on a device.

    The rows stay where they are: in memory, a memory map or files. Blocks of them are copied to
    the device when they are needed, the next one while one is computed with, so that there may
    be more rows than fit. What the estimators return is on the host. Rows that fit are better
    given as an array of torch or CuPy, see the guide "On a GPU".

    Parameters
    ----------
    X : ndarray, memory map or RowBlocks of shape (n_rows, n_features)
        Dense rows.
    device : str or device, default="auto"
        "cuda", "cuda:1" or a device object of torch or CuPy. "auto" is CUDA if torch finds it and
        "cpu" otherwise, which returns `X` as it is: the host computes.

    Returns
    -------
    X : source of rows, to be given to the estimators in the place of `X`

    See Also
    --------
    RowBlocks : Rows in files.

    Examples
    --------
    >>> import numpy as np
    >>> from supred import on_device
    >>> on_device(np.eye(2), "cpu")
    array([[1., 0.],
           [0., 1.]])
    >>> on_device(np.eye(2), "gpu")
    Traceback (most recent call last):
    ValueError: device='gpu' is not known; use 'auto', 'cpu', 'cuda' or 'cuda:N'.
    """
    place = place_named(device)
    if place.is_host:
        return X
    if isinstance(X, SelectedSource):
        return on_device(X.source, device).select(X.indices)
    if MemoryMap.takes(X):
        source: Any = MemoryMap(X)
    else:
        usable = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"
        source = ArraySource(X) if usable else X
    if is_foreign(X) or not isinstance(source, ReadSource) or source.is_sparse:
        kind = type(X).__name__ + (" of sparse rows" if isinstance(source, ReadSource) else "")
        raise TypeError(
            f"on_device takes NumPy arrays of two axes, memory maps and RowBlocks; X is a {kind}."
        )
    return DeviceSource(source, place)


def place_named(device: Any) -> Place:
    """Return the place that a name or a device object of torch or CuPy stands for.

    Parameters
    ----------
    device : str or device
        "cpu" is NumPy, "cuda" and "cuda:1" are torch's, "auto" is CUDA if torch finds it and else
        NumPy.

    Examples
    --------
    >>> from supred.common.arrays import HOST
    >>> from supred.rows.device import place_named
    >>> place_named("cpu") is HOST
    True
    >>> place_named("nowhere")
    Traceback (most recent call last):
    ValueError: device='nowhere' is not known; use 'auto', 'cpu', 'cuda' or 'cuda:N'.
    """
    library = type(device).__module__.partition(".")[0]
    if library == "cupy":
        import cupy

        with device:
            return place_of(cupy.empty(0))
    if library != "torch":
        if isinstance(device, str) and device == "cpu":
            return HOST
        if not isinstance(device, str) or not re.fullmatch(r"auto|cuda(:\d+)?", device):
            raise ValueError(
                f"device={device!r} is not known; use 'auto', 'cpu', 'cuda' or 'cuda:N'."
            )
    try:
        import torch
    except ImportError:
        if device == "auto":
            return HOST
        raise ImportError(f"device={device!r} needs torch; install 'supred[torch]'.") from None
    count = torch.cuda.device_count()
    if device == "auto":
        if count == 0:
            return HOST
        device = "cuda"
    wanted = torch.device(device)
    if wanted.type == "cuda" and (wanted.index or 0) >= count:
        raise ValueError(
            f"device={str(device)!r} is not there: torch finds {count} CUDA device(s); use 'auto' "
            "or 'cpu'."
        )
    return place_of(torch.empty(0, device=wanted))


class DeviceSource(RowSource):
    """Rows that are read on the host and visited on a device.

    Parameters
    ----------
    source : ReadSource
    place : Place
    """

    def __init__(self, source: ReadSource, place: Place) -> None:
        self.source, self.place = source, place
        self.dtype, self.feature_names = source.dtype, source.feature_names
        self.keeps_blocks = source.keeps_blocks

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.source.shape

    @property
    def at_home(self) -> RowSource:
        """The same rows on the host."""
        return self.source

    def labels(self) -> np.ndarray | None:
        """Return the labels that come with the rows, if any do."""
        return self.source.labels()

    def weights(self) -> np.ndarray | None:
        """Return the weights that come with the rows, if any do."""
        return self.source.weights()

    def rows(self, width: int = 1) -> "DeviceRows":
        """Return the rows, in blocks for `width` numbers made of each."""
        return DeviceRows(self.source, self.place, width)


class DeviceRows(LocalRows):
    """Rows whose blocks are copied to a device, the next one while one is visited."""

    from_host = True

    def __init__(self, source: ReadSource, place: Place, width: int = 1) -> None:
        home = source.rows()
        assert isinstance(home, LocalRows)
        self.source, self.home, self.place = source, home, place
        self.n_rows, self.n_features = source.shape
        self.dtype = source.dtype
        size = rows_per_block(self.n_rows, self.n_features, width, place)
        self.block_rows = size if source.block_rows is None else min(size, source.block_rows)

    def parts(self) -> Iterator[slice]:
        """Yield the slice of rows of each block, in order."""
        return parts_of(self.n_rows, self.block_rows)

    def block(self, part: slice) -> Any:
        """Return the rows of one of the `parts`."""
        return self.made(part, self.fetch(part))

    def fetch(self, part: slice) -> Callable[[], Any]:
        """Read a block and begin to copy it."""
        return self.place.begin_copy(self.home.block(part))

    def made(self, part: slice, fetched: Callable[[], Any]) -> Any:
        """Return the block once it is there."""
        return fetched()

    def resized(self, width: int) -> "DeviceRows":
        """Return the same rows in blocks for `width` numbers made of each."""
        return DeviceRows(self.source, self.place, width)

    def take(self, indices: np.ndarray) -> Any:
        """Return a few rows."""
        return self.place.begin_copy(self.home.take(indices))()
