"""Threads: several small problems side by side, one BLAS thread each."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import scipy.linalg  # noqa: F401  (its BLAS must be loaded before it can be looked for)
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from supred.common.arguments import check_n_jobs

_lock = threading.Lock()
_held = False  # whether a block holds the BLAS to one thread


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Return the BLAS libraries of this process, which takes a while to find out."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the BLAS to one thread while the block runs.

    On small matrices a second BLAS thread costs more than it gives, and two threads of Python
    with a BLAS of two threads each make four on two cores. The number of BLAS threads belongs to
    the whole process: of several blocks that overlap, as when two threads fit a model each, the
    first one sets it and puts it back at its end.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> from supred.numerics.threads import one_blas_thread
    >>> with one_blas_thread():
    ...     {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    {1}
    """
    global _held
    limit = None
    with _lock:
        if not _held:
            limit, _held = _libraries().limit(limits=1, user_api="blas"), True
            limit.__enter__()
    try:
        yield
    finally:
        if limit is not None:
            with _lock:
                limit.__exit__(None, None, None)
                _held = False


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for, counted as joblib does.

    Examples
    --------
    >>> from supred.numerics.threads import count_threads
    >>> count_threads(None), count_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    check_n_jobs(n_jobs)
    return effective_n_jobs(int(n_jobs))


def map_in_threads(
    function: Callable[..., Any], tasks: Iterable[tuple], n_jobs: int | None
) -> list[Any]:
    """Return ``function(*task)`` of each task, in order.

    The tasks are many small array operations, for which a second BLAS thread costs more than it
    gives; so each of the `n_jobs` threads has one.

    Parameters
    ----------
    function : callable
    tasks : iterable of tuples
        The arguments of each call.
    n_jobs : int or None
        Number of threads, as joblib has it: None is 1, -1 all cores.

    Examples
    --------
    >>> from supred.numerics.threads import map_in_threads
    >>> map_in_threads(pow, [(2, 3), (3, 2)], n_jobs=2)
    [8, 9]
    """
    calls = list(tasks)
    n_threads = min(count_threads(n_jobs), len(calls))
    with one_blas_thread():
        if n_threads <= 1:
            return [function(*call) for call in calls]
        # joblib's own threads look for results every hundredth of a second: too seldom for tasks
        # that take less.
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(lambda call: function(*call), calls))
