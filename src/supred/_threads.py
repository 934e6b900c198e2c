"""Threads: several small problems side by side, one BLAS thread each."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Return the BLAS libraries of this process, which takes a while to find out."""
    return ThreadpoolController()


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
    >>> from supred._threads import map_in_threads
    >>> map_in_threads(pow, [(2, 3), (3, 2)], n_jobs=2)
    [8, 9]
    """
    with _libraries().limit(limits=1, user_api="blas"):
        return list(
            Parallel(n_jobs=n_jobs, prefer="threads")(delayed(function)(*task) for task in tasks)
        )
