"""Array libraries that tests are run on, as far as they are installed."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
import sklearn

LIBRARIES = ("torch-cpu", "torch-cuda", "cupy")


def putter(library: str) -> Callable[[Any], Any]:
    """Return what makes an array of the library of a NumPy array; skip the test without it."""
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("scikit-learn's array API support needs SCIPY_ARRAY_API=1 (make test-torch)")
    if library == "cupy":
        cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
        return cupy.asarray
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if library == "torch-cuda" and not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    return lambda values: torch.asarray(np.array(values), device=library.removeprefix("torch-"))


def dispatch() -> AbstractContextManager[None]:
    """Let scikit-learn leave arrays where they are."""
    return sklearn.config_context(array_api_dispatch=True)


def count_waits(function: Callable[[], Any]) -> tuple[int, int]:
    """Return how many operations of torch a function makes, and how often the host waits for one.

    On the CPU nothing waits; what would on a GPU are numbers that Python reads, results whose
    size depends on values, and copies to NumPy.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    waits = ("_local_scalar_dense", "nonzero", "_unique", "masked_select", "detach")
    operations = waiting = 0

    class Counter(TorchDispatchMode):
        def __torch_dispatch__(
            self, operation: Any, types: Any, arguments: Any = (), options: Any = None
        ) -> Any:
            nonlocal operations, waiting
            operations += 1
            inside = [each for part in arguments if isinstance(part, list) for each in part]
            by_mask = any(str(getattr(each, "dtype", "")) == "torch.bool" for each in inside)
            waiting += by_mask or any(name in str(operation) for name in waits)
            return operation(*arguments, **(options or {}))

    with Counter():
        function()
    return operations, waiting
