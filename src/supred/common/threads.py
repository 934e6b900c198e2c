"""Threads: blocks of rows or small problems side by side, one BLAS thread each."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import islice
from typing import Any
from weakref import WeakSet

import numpy as np
import scipy.linalg  # noqa: F401  (its BLAS must be loaded before it can be looked for)
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from supred.common.arguments import check_n_jobs

# The other threads of a fit that has any; outside of a fit the BLAS shares out what it can.
_team: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("team", default=None)
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
    >>> from supred.common.threads import one_blas_thread
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
    >>> from supred.common.threads import count_threads
    >>> count_threads(None), count_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    check_n_jobs(n_jobs)
    return effective_n_jobs(int(n_jobs))


@contextmanager
def cores(n_jobs: int | None) -> Iterator[None]:
    """Visit blocks of rows in so many threads, of one BLAS thread each, while the block runs.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, as joblib has it: -1 is all cores. None takes as many as the BLAS may,
        which is one inside a worker of joblib or Dask that has a core to itself.

    Examples
    --------
    >>> from supred.common.threads import cores, in_order
    >>> with cores(2):
    ...     list(in_order(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    n_threads = blas_threads() if n_jobs is None else count_threads(n_jobs)
    # They live as long as the block: new threads for every sum would be slower than one thread.
    # Between the sums a BLAS thread that has nothing more to do would spin for a while.
    with one_blas_thread(), ThreadPoolExecutor(max(1, n_threads - 1)) as pool:
        token = _team.set((pool, n_threads) if n_threads > 1 else None)
        try:
            yield
        finally:
            _team.reset(token)


def blas_threads() -> int:
    """Return how many threads the BLAS may use now, within what joblib leaves to this thread."""
    found = [library["num_threads"] for library in _libraries().select(user_api="blas").info()]
    return max(1, min(max(found, default=1), effective_n_jobs(-1)))


def in_order(function: Callable[..., Any], calls: Iterable[tuple]) -> Iterator[Any]:
    """Yield ``function(*call)`` of each call, in order, as many side by side as `cores` says.

    The calls are asked for in this thread, one after another, and only a few ahead of what was
    yielded, so that few of their arguments and results are in memory. This thread is one of those
    that work: waking one that waits takes as long as a small task.
    """
    team = _team.get()
    if team is None:
        yield from (function(*call) for call in calls)
        return
    pool, n_threads = team
    coming, waiting = iter(calls), deque[list[Any]]()  # of the latter each a future and its call
    try:
        while True:
            for call in islice(coming, 2 * n_threads - len(waiting)):
                waiting.append([pool.submit(function, *call), call])
            if not waiting:
                return
            if not waiting[0][0].done():
                # One that no other thread has begun is done here.
                free = next((task for task in waiting if task[0].cancel()), None)
                if free is not None:
                    free[0] = _done(function, free[1])
                    continue
            yield waiting.popleft()[0].result()
    finally:
        for future, _ in waiting:
            future.cancel()
        wait([future for future, _ in waiting])


def _done(function: Callable[..., Any], call: tuple) -> Future:
    """Return the future of a call that is done in this thread, as alone as in the others."""
    future: Future = Future()
    token = _team.set(None)
    try:
        future.set_result(function(*call))
    except Exception as error:
        future.set_exception(error)
    finally:
        _team.reset(token)
    return future


class Scratch(threading.local):
    """Memory of each thread that is used again: the first touch of new memory takes long.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.threads import Scratch
    >>> Scratch().doubles(np.ones(2, dtype=np.float32))
    array([1., 1.])
    """

    room = np.empty(0)

    def doubles(self, values: np.ndarray) -> np.ndarray:
        """Return a copy in double precision, until the next call in this thread."""
        if self.room.size < values.size:
            self.room = np.empty(values.size)
        copy = self.room[: values.size].reshape(values.shape)
        np.copyto(copy, values)
        return copy

    def __reduce__(self) -> tuple[type["Scratch"], tuple]:
        return Scratch, ()


class Turn:
    """A lock that one thread holds, once or several times; a copy of it is a lock of its own.

    Examples
    --------
    >>> import copy
    >>> from supred.common.threads import Turn
    >>> turn = Turn()
    >>> with turn, turn, copy.copy(turn):
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _turns.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type["Turn"], tuple[()]]:
        return Turn, ()


def _renew_locks() -> None:
    """Free all locks in a process that was forked: the threads that held them are not there."""
    global _lock, _held
    _lock, _held = threading.Lock(), False
    for turn in list(_turns):
        turn._lock = threading.RLock()


_turns: WeakSet[Turn] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def ahead(items: Iterable[Any]) -> Iterator[Any]:
    """Yield items, each of which is made in another thread while the one before is used.

    Examples
    --------
    >>> from supred.common.threads import ahead
    >>> list(ahead(k * k for k in range(4)))
    [0, 1, 4, 9]
    """
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, iterator, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, iterator, end)
            yield item


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
    >>> from supred.common.threads import map_in_threads
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
