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
