"""Arrays of NumPy, torch and CuPy: where they live, and what is written differently in each.

Code that is heavy is written once for a namespace `xp` (the array API standard): that of the rows
it is given. Where arrays live is a :class:`Place`; small arrays are put there when they are
needed, and what is light is done by NumPy on the host.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.utils._array_api import get_namespace_and_device

LIBRARIES = ("torch", "cupy")
# Calls of a function before its kernels are recorded: libraries set themselves up in the first.
PLAIN_CALLS = 3
# Rows of a chunk of a product that is summed up over chunks.
CHUNK = 2048


@dataclass(frozen=True)
class Place:
    """Where arrays live.

    Attributes
    ----------
    xp : module
        Functions of the arrays.
    device : object
        As the array library has it; None for NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.arrays import HOST, place_of
    >>> place_of(np.zeros(2)) is HOST
    True
    >>> HOST.empty((2, 3), "float32").dtype
    dtype('float32')
    """

    xp: Any = np
    device: Any = None

    @property
    def is_host(self) -> bool:
        """Whether the arrays are NumPy's."""
        return self.xp is np

    @property
    def name(self) -> str:
        """Name of the array library."""
        return "NumPy" if self.is_host else self.xp.__name__.rpartition(".")[2]

    def put(self, values: Any) -> Any:
        """Return an array of the host here, as it is if it is here already."""
        if self.is_host:
            return np.asarray(values)
        if not is_foreign(values):  # torch warns of arrays that must not be written to
            values = np.require(values, requirements="W")
        return self.xp.asarray(values, device=self.device)

    def begin_copy(self, block: np.ndarray) -> Callable[[], Any]:
        """Begin to copy an array of the host here; return what waits for it and returns it.

        To a CUDA device of torch it is copied from pinned memory, in a stream of its own, while
        the device computes.
        """
        if getattr(self.device, "type", None) != "cuda":
            there = self.put(block)
            return lambda: there
        import torch

        block = np.require(block, requirements=["C", "W"])
        stream = _copy_stream(self.device)
        with torch.cuda.stream(stream):
            copy = torch.from_numpy(block).pin_memory().to(self.device, non_blocking=True)
            done = stream.record_event()

        def wait() -> Any:
            current = torch.cuda.current_stream(self.device)
            current.wait_event(done)
            copy.record_stream(current)
            return copy

        return wait

    @property
    def block_numbers(self) -> int:
        """Numbers that a block of rows on a device may have: a sixteenth of its memory."""
        if getattr(self.device, "type", None) == "cuda":
            return int(self.xp.cuda.mem_get_info(self.device)[1]) // 128
        if self.name == "cupy":
            return int(self.device.mem_info[1]) // 128
        return 2**24

    def free_bytes(self) -> float:
        """Return how much memory is free on a device; 1 GB where nobody knows."""
        if getattr(self.device, "type", None) == "cuda":
            unused = self.xp.cuda.memory_reserved() - self.xp.cuda.memory_allocated()
            return float(self.xp.cuda.mem_get_info(self.device)[0] + unused)
        if self.name == "cupy":
            return float(self.device.mem_info[0])
        return float(2**30)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array whose values are not set; `dtype` is a name or a type of NumPy's."""
        return self._made("empty", shape, dtype)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of zeros; `dtype` is a name or a type of NumPy's."""
        return self._made("zeros", shape, dtype)

    def arange(self, count: int) -> Any:
        """Return the integers from 0 to `count` - 1, made here."""
        return np.arange(count) if self.is_host else self.xp.arange(count, device=self.device)

    def _made(self, function: str, shape: tuple[int, ...], dtype: Any) -> Any:
        if self.is_host:
            return getattr(np, function)(shape, dtype)
        kind = getattr(self.xp, np.dtype(dtype).name)
        return getattr(self.xp, function)(shape, dtype=kind, device=self.device)


@lru_cache
def _copy_stream(device: Any) -> Any:
    """Return the stream in which blocks are copied to a CUDA device of torch."""
    import torch

    return torch.cuda.Stream(device)


HOST = Place()
_NAMESPACES: dict[str, Any] = {}


def is_foreign(values: Any) -> bool:
    """Tell whether values are an array of torch or CuPy."""
    if type(values) is np.ndarray:  # the common case, on the way of every single row
        return False
    return type(values).__module__.partition(".")[0] in LIBRARIES


def place_of(values: Any) -> Place:
    """Return where an array lives; all that is not torch's or CuPy's lives on the host."""
    if type(values) is np.ndarray:
        return HOST
    library = type(values).__module__.partition(".")[0]
    if library not in LIBRARIES:
        return HOST
    if library not in _NAMESPACES:  # scikit-learn takes a while to find out
        with config_context(array_api_dispatch=True):
            _NAMESPACES[library] = get_namespace_and_device(values)[0]
    return Place(_NAMESPACES[library], values.device)


def stays_in_place(values: Any) -> bool:
    """Tell whether an array of torch or CuPy is to be used where it is.

    It is if scikit-learn is told so by ``array_api_dispatch=True``; otherwise scikit-learn's
    checks make a NumPy array of it where they can.
    """
    return is_foreign(values) and bool(get_config()["array_api_dispatch"])


def on_host(values: Any) -> Any:
    """Return an array of torch or CuPy as one of NumPy; all else as it is."""
    if not is_foreign(values):
        return values
    return values.get() if hasattr(values, "get") else values.detach().cpu().numpy()


def without_gradients(values: Any) -> Any:
    """Return a tensor of torch that asks for gradients as one that does not; all else as it is."""
    return values.detach() if getattr(values, "requires_grad", False) is True else values


def type_name(values: Any) -> np.dtype:
    """Return the type of the numbers of an array, as NumPy has it.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.arrays import type_name
    >>> type_name(np.zeros(2, dtype=np.float32))
    dtype('float32')
    """
    if isinstance(values.dtype, np.dtype):
        return values.dtype
    return np.dtype(str(values.dtype).rpartition(".")[2])


def cast(values: Any, dtype: Any) -> Any:
    """Return an array in another type, a name or one of NumPy's; as it is if it has it."""
    if type_name(values) == dtype:
        return values
    if not is_foreign(values):
        return values.astype(dtype)
    xp = place_of(values).xp
    return xp.astype(values, getattr(xp, np.dtype(dtype).name))


def copied(values: Any) -> Any:
    """Return a copy of an array."""
    return values.clone() if hasattr(values, "clone") else values.copy()


def at_most(values: Any, limit: float) -> Any:
    """Set what is above a limit to it, in place."""
    if type(values) is np.ndarray:
        return np.minimum(values, limit, out=values)
    if hasattr(values, "clamp_"):
        return values.clamp_(max=limit)
    return place_of(values).xp.minimum(values, limit, out=values)


def at_least(values: Any, limit: float) -> Any:
    """Set what is below a limit to it, in place."""
    if type(values) is np.ndarray:
        return np.maximum(values, limit, out=values)
    if hasattr(values, "clamp_"):
        return values.clamp_(min=limit)
    return place_of(values).xp.maximum(values, limit, out=values)


def positive_part(values: Any) -> Any:
    """Return values with zeros in the place of negative ones."""
    if type(values) is np.ndarray:
        return np.maximum(values, 0.0)
    if hasattr(values, "clamp"):
        return values.clamp(min=0.0)
    return place_of(values).xp.maximum(values, 0.0)


def write_better(best: Any, better: Any, values: Any, which: Any) -> None:
    """Write the rows of `values` that are better to the rows of `best` that `which` names.

    On a device, where nothing shall wait for how many they are, `which` must be all rows.
    """
    if is_foreign(best):
        best[...] = place_of(best).xp.where(better[:, None], values, best)
    else:
        best[which[better]] = values[better]


def smallest(values: Any, count: int) -> Any:
    """Return the indices of the `count` smallest values along the last axis, in no order."""
    if hasattr(values, "topk"):
        return values.topk(count, largest=False, sorted=False)[1]
    return place_of(values).xp.argpartition(values, count, axis=-1)[..., :count]


def tall_product(A: Any, B: Any) -> Any:
    """Return ``A^T B`` of matrices of many rows and few columns, in double precision.

    A device does such a product in one of its many units; as a sum of products of chunks of rows,
    each in the precision of the matrices, it is done in all of them.

    Parameters
    ----------
    A, B : arrays of shapes (..., n_rows, p) and (..., n_rows, q)

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.arrays import tall_product
    >>> tall_product(np.ones((5, 1)), np.arange(5.0)[:, None])
    array([[10.]])
    """
    n_rows = A.shape[-2]
    whole = n_rows - n_rows % CHUNK if is_foreign(A) else 0
    rest = cast(A[..., whole:, :].swapaxes(-1, -2) @ B[..., whole:, :], float)
    if not whole:
        return rest
    first, second = (
        M[..., :whole, :].reshape(*M.shape[:-2], -1, CHUNK, M.shape[-1]) for M in (A, B)
    )
    return cast(first.swapaxes(-1, -2) @ second, float).sum(axis=-3) + rest


def solver(matrices: Any) -> Callable[[Any], Any]:
    """Return what solves systems; on a device nothing waits for a check of the matrices."""
    xp = place_of(matrices).xp
    if is_foreign(matrices) and hasattr(xp.linalg, "lu_factor_ex"):
        factors, pivots, _ = xp.linalg.lu_factor_ex(matrices)
        return lambda right: xp.linalg.lu_solve(factors, pivots, right)
    return lambda right: xp.linalg.solve(matrices, right)


def cholesky(matrices: Any) -> Any:
    """Return L with ``L L^T`` the given positive definite matrices.

    On a device nothing waits for the check whether they are: L is NaN if they are not.
    """
    xp = place_of(matrices).xp
    if hasattr(xp.linalg, "cholesky_ex"):
        factors, failed = xp.linalg.cholesky_ex(matrices)
        return xp.where((failed > 0)[..., None, None], np.nan, factors)
    return xp.linalg.cholesky(matrices)


def solve_triangular(triangles: Any, right: Any, *, upper: bool) -> Any:
    """Return the solutions of systems with triangular matrices."""
    xp = place_of(right).xp
    if hasattr(xp.linalg, "solve_triangular"):
        return xp.linalg.solve_triangular(triangles, right, upper=upper)
    return xp.linalg.solve(triangles, right)


def inverses(matrices: Any) -> Any:
    """Return the inverses of matrices; on a device nothing waits for a check of these."""
    xp = place_of(matrices).xp
    if hasattr(xp.linalg, "inv_ex"):
        return xp.linalg.inv_ex(matrices)[0]
    return xp.linalg.inv(matrices)


def recorded(
    function: Callable[..., None], place: Place, plain_calls: int = PLAIN_CALLS
) -> Callable[..., None]:
    """Return a function that does the same, on a CUDA device of torch as a recorded graph.

    A graph launches many small kernels at once: they take longer to launch one by one than to
    run.

    Parameters
    ----------
    function : callable
        Works in place on arrays that it knows; its arguments are arrays of the same shapes in
        each call. It must not look at their values on the host.
    place : Place
        Where the arrays live.
    plain_calls : int
        Calls before it is recorded, in which the libraries set themselves up.
    """
    if getattr(place.device, "type", None) != "cuda":
        return function
    return _Graph(function, plain_calls)


class _Graph:
    """A function whose kernels are recorded after a few calls and then launched together."""

    def __init__(self, function: Callable[..., None], plain_calls: int) -> None:
        self.function, self.plain_calls, self.calls = function, plain_calls, 0
        self.inputs: list[Any] = []
        self.graph: Any = None

    def __call__(self, *arguments: Any) -> None:
        import torch

        self.calls += 1
        if self.calls <= self.plain_calls:
            self.function(*arguments)
            return
        if self.graph is None:
            self.inputs = [copied(values) for values in arguments]
            self.graph = torch.cuda.CUDAGraph()
            # Records, and runs nothing; other threads may copy rows meanwhile. torch.cuda.graph
            # would give back all free memory first, which takes longer than the recording.
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self.graph.capture_begin(capture_error_mode="thread_local")
                try:
                    self.function(*self.inputs)
                finally:
                    self.graph.capture_end()
            torch.cuda.current_stream().wait_stream(stream)
        for known, values in zip(self.inputs, arguments, strict=True):
            known.copy_(values)
        self.graph.replay()
