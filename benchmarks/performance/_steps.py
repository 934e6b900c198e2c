"""Where the time of a fit goes: each step's own time, without the steps that it calls."""

import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from time import perf_counter
from typing import Any

# Step of the fit -> the function that does it. What a step calls is not counted twice.
STEPS = {
    "centres (one k-means step)": "supred.low_dim_svm.mappings.choice:choose_centers",
    "width and ridge": "supred.low_dim_svm.mappings.choice:choose_width_and_ridge",
    "Phi and Phi^T Phi": "supred.low_dim_svm.mappings.basis:BasisMapping.prepare",
    "start": "supred.low_dim_svm.alternation:place",
    "F, z, Phi^T Z": "supred.low_dim_svm.alternation:z_step",
    "g": "supred.low_dim_svm.losses:HingeLoss.g_step",
    "f": "supred.low_dim_svm.mappings.basis:BasisMapping.regress",
}


class Stopwatch:
    """Own seconds and calls of each step.

    Parameters
    ----------
    clock : callable
        Returns seconds.

    Attributes
    ----------
    seconds : dict of float
    calls : dict of int
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self._stack: list[list[Any]] = []  # [step, seconds of the steps inside]

    def timed(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock around it."""

        @wraps(function)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                return function(*arguments, **options)
            frame: list[Any] = [step, 0.0]
            self._stack.append(frame)
            began = self.clock()
            try:
                return function(*arguments, **options)
            finally:
                took = self.clock() - began
                self._stack.pop()
                self.seconds[step] = self.seconds.get(step, 0.0) + took - frame[1]
                self.calls[step] = self.calls.get(step, 0) + 1
                if self._stack:
                    self._stack[-1][1] += took

        return wrapper


@contextmanager
def clocked(
    steps: dict[str, str] | None = None, clock: Callable[[], float] = perf_counter
) -> Iterator[Stopwatch]:
    """Put a clock around the functions of the steps while the block runs."""
    watch = Stopwatch(clock)
    kept = []
    for step, place in (STEPS if steps is None else steps).items():
        owner, name = find(place)
        original = owner.__dict__[name]
        kept.append((owner, name, original))
        setattr(owner, name, watch.timed(step, original))
    try:
        yield watch
    finally:
        for owner, name, original in kept:
            setattr(owner, name, original)


def find(place: str) -> tuple[Any, str]:
    """Return the module or class of a function, and its name there.

    Raises
    ------
    AttributeError
        If there is no such function (any more).
    """
    module, path = place.split(":")
    owner = importlib.import_module(module)
    *classes, name = path.split(".")
    for item in classes:
        owner = getattr(owner, item)
    if name not in owner.__dict__:
        raise AttributeError(f"{place} is not there; change STEPS in benchmarks/performance.")
    return owner, name


def flops_of_fit(
    n_rows: int, n_features: int, n_basis: int, n_components: int, n_iter: int
) -> dict[str, float]:
    """Return the floating-point operations of each BLAS step of a fit, counted by formula.

    The k-means step of the centres looks at ten rows per centre.
    """
    N, D, M, L = n_rows, n_features, n_basis, n_components
    passes = n_iter + 1
    return {
        "centres (one k-means step)": 2.0 * min(N, 10 * M) * M * D,
        "Phi and Phi^T Phi": 2.0 * N * M * D + float(N) * M * M,  # half of the symmetric product
        "start": 2.0 * N * M * L,
        "F, z, Phi^T Z": passes * 4.0 * N * M * L,
        "f": 4.0 * M**3 / 3.0 + passes * 4.0 * M * M * L,  # the band form once, then its solves
    }
