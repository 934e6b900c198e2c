"""Where the blocks of a matrix are on the cluster, and who visits them.

What fits into the workers' memory is kept there, as tasks that Dask can compute again when a
worker is lost. What does not fit is not kept: the workers hold the recipe of each block, and make
the block anew in each pass.
"""

import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

from supred.rows.cluster import tasks
from supred.rows.cluster.collections import (
    as_row_chunks,
    cancelled_in_words,
    check_connection,
    connected_client,
    float_type,
    is_frame,
)

# A worker's process takes this much before it holds any rows (measured: 245 MB).
BASE_BYTES = 250e6
# Rows are kept if they take no more than this share of what the workers have beyond that, and
# with what is made of them no more than the second share. Dask writes to disk from 0.6 on.
ROWS_SHARE, KEPT_SHARE = 0.45, 0.55
# The blocks that one task holds at once take no more than this share of its worker's memory.
TASK_SHARE = 0.25
# Seconds for which a fit waits when all workers are lost.
PATIENCE = 60.0


@dataclass(frozen=True)
class Worker:
    """A worker of the cluster as the store sees it."""

    address: str
    n_threads: int
    memory: float  # bytes, infinite if there is no limit

    @property
    def usable(self) -> float:
        """Bytes for rows, results and what is computed on the way."""
        return max(self.memory - BASE_BYTES, 0.25 * self.memory)


@dataclass
class Traffic:
    """What the passes have cost so far, counted on the client."""

    passes: int = 0
    tasks: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0


def workers_of(client: Any) -> list[Worker]:
    """Return the workers that are there now, in the order of their addresses."""
    found = client.scheduler_info(n_workers=-1)["workers"]
    return [
        Worker(address, max(1, about["nthreads"]), float(about["memory_limit"] or np.inf))
        for address, about in sorted(found.items())
    ]


@dataclass
class BlockStore:
    """The blocks of a matrix on the cluster.

    Attributes
    ----------
    client : Client
    futures : list of Future
        Each block, or its recipe.
    lengths : ndarray of int
        Rows of each block.
    n_features : int
    dtype : dtype
    kept : bool
        Whether the blocks are kept; else the futures hold recipes.
    groups : list of list of int
        The blocks that are visited by one task. They stay the same while workers come and go,
        and with them every digit of a sum.
    traffic : Traffic
    seen : set of str
        Addresses of the workers that tasks were last meant for.
    """

    client: Any
    futures: list[Any]
    lengths: np.ndarray
    n_features: int
    dtype: np.dtype
    kept: bool
    groups: list[list[int]]
    traffic: Traffic = field(default_factory=Traffic)
    seen: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, X: Any) -> "BlockStore":
        """Place the blocks of a Dask array or dataframe, and measure them where need be."""
        client = connected_client()
        with cancelled_in_words(client):
            return cls._placed(client, X)

    @classmethod
    def _placed(cls, client: Any, X: Any) -> "BlockStore":
        import dask

        X, n_features, dtype = blocks_of(X)
        if _futures_of(X):  # the user wants them kept, and where they are
            futures: list[Any] = _persisted(client, X)
            lengths = np.array(X.chunks[0], dtype=float)
            _raise_errors(futures)
            if np.isnan(lengths).any():
                lengths = _measured(client, futures)
            held = lengths * n_features * dtype.itemsize
            groups = _groups_by_holder(client, futures, lengths, held)
            return cls(client, futures, lengths.astype(int), n_features, dtype, True, groups)
        recipes: list[bytes] = []
        lengths = np.array(X.chunks[0], dtype=float)
        if np.isnan(lengths).any():
            recipes = recipes_of(X)
            lengths = _measured(client, recipes)
        workers = present_workers(client)
        held = lengths * n_features * dtype.itemsize
        kept = bool(held.sum() <= ROWS_SHARE * sum(worker.usable for worker in workers))
        if kept:
            (X,) = dask.optimize(X)  # as a whole: a task must be the same in each part
        else:
            recipes = recipes or recipes_of(X)
            held = np.array([len(recipe) for recipe in recipes], dtype=float)
        placed = _contiguous_groups(lengths, held, workers)
        futures = [None] * len(lengths)
        for worker, ids in placed:
            if kept:
                part = culled(X.blocks[ids[0] : ids[-1] + 1])
                made = _persisted(client, part, worker.address, optimize_graph=False)
            else:
                made = [sent(client, recipes[i], worker.address) for i in ids]
            for i, future in zip(range(ids[0], ids[-1] + 1) if kept else ids, made, strict=True):
                futures[i] = future
        for k in np.flatnonzero(lengths == 0):
            if futures[k] is None:
                futures[k] = sent(client, np.empty((0, n_features), dtype=dtype))
        _raise_errors(futures)
        groups = [ids for _, ids in placed]
        return cls(client, futures, lengths.astype(int), n_features, dtype, kept, groups)

    @property
    def offsets(self) -> np.ndarray:
        """First row of each block, and the number of rows at the end."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def submit(self, worker: Worker | None, function: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task, by a certain worker if it is there, and count it."""
        self.check_connection()
        self.traffic.tasks += 1
        key = new_key(function.__name__)
        where = _at(None if worker is None else worker.address)
        with quiet():
            return self.client.submit(function, *arguments, key=key, pure=False, **where)

    def submit_all(self, function: Callable[..., Any], calls: list[tuple]) -> list[Any]:
        """Start one task per call, where their arguments are, by one message.

        The client sends a message at most every 10 ms, and each `submit` is one.
        """
        self.check_connection()
        self.traffic.tasks += len(calls)
        keys = [new_key(function.__name__) for _ in calls]
        with quiet():
            columns = zip(*calls, strict=True)
            return list(self.client.map(function, *columns, key=keys, pure=False))

    def check_connection(self) -> None:
        """Raise a ConnectionError if the scheduler cannot be reached any more."""
        check_connection(self.client)

    def assigned(self, futures: list[Any]) -> list[tuple[Worker, list[int]]]:
        """Return each group with the worker that visits it now.

        It is the one that holds most of the group, unless that has its share of groups already:
        after a loss, one that came back takes its part of the work again.

        Parameters
        ----------
        futures : list of Future
            What stands for each block.
        """
        workers = present_workers(self.client, PATIENCE)
        self.seen = {worker.address for worker in workers}
        with cancelled_in_words(self.client):
            holders = self.client.who_has([futures[i] for ids in self.groups for i in ids])
        n_threads = sum(worker.n_threads for worker in workers)
        share = {w: int(np.ceil(len(self.groups) * w.n_threads / n_threads)) for w in workers}
        load = dict.fromkeys(workers, 0)
        result = []
        for ids in self.groups:
            held = dict.fromkeys((worker.address for worker in workers), 0)
            for i in ids:
                for place in holders.get(futures[i].key, ()):
                    if place in held:
                        held[place] += int(self.lengths[i])
            free = [worker for worker in workers if load[worker] < share[worker]]
            best = max(free, key=lambda w: (held[w.address], -load[w] / w.n_threads))
            load[best] += 1
            result.append((best, ids))
        return result


def present_workers(client: Any, patience: float | None = None) -> list[Worker]:
    """Return the workers; wait, as Dask does, if there is none at the moment.

    After `patience` seconds without any that is an error.
    """
    while not (workers := workers_of(client)):
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError:
            check_connection(client)
            raise RuntimeError(
                f"all workers of the cluster were lost, and none has come for {patience:g} "
                "seconds; start workers and fit again. A fit with checkpoint= goes on from its "
                "last iteration."
            ) from None
    return workers


def _contiguous_groups(
    lengths: np.ndarray, held: np.ndarray, workers: list[Worker]
) -> list[tuple[Worker, list[int]]]:
    """Cut the blocks into one run per thread, of about as many rows each."""
    threads = [worker for worker in workers for _ in range(worker.n_threads)]
    blocks = [int(i) for i in np.flatnonzero(lengths)]
    result = []
    for worker, run in zip(threads, _runs(blocks, lengths, len(threads)), strict=True):
        for ids in _within_memory(run, held, worker):
            result.append((worker, ids))
    return result


def _groups_by_holder(
    client: Any, futures: list[Any], lengths: np.ndarray, held: np.ndarray
) -> list[list[int]]:
    """Group the blocks by the worker that has them."""
    workers = present_workers(client)
    holders = client.who_has(futures)
    own: dict[str, list[int]] = {worker.address: [] for worker in workers}
    for i in np.flatnonzero(lengths):
        places = [at for at in holders.get(futures[i].key, ()) if at in own]
        own[min(places or own, key=lambda at: len(own[at]))].append(int(i))
    result = []
    for worker in workers:
        for run in _runs(own[worker.address], lengths, worker.n_threads):
            result += _within_memory(run, held, worker)
    return sorted(result)


def _runs(blocks: list[int], lengths: np.ndarray, count: int) -> list[list[int]]:
    """Cut a list of blocks into `count` runs of about as many rows each; some may be empty."""
    result: list[list[int]] = [[] for _ in range(count)]
    total = sum(lengths[i] for i in blocks)
    before = 0.0
    for i in blocks:
        middle = before + 0.5 * lengths[i]
        result[min(count - 1, int(count * middle / total))].append(i)
        before += lengths[i]
    return result


def _within_memory(run: list[int], held: np.ndarray, worker: Worker) -> list[list[int]]:
    """Cut a run so that its blocks can be in the worker's memory at once."""
    most = TASK_SHARE * worker.usable / worker.n_threads
    result: list[list[int]] = []
    taken = np.inf
    for i in run:
        if taken + held[i] > most:
            result.append([])
            taken = 0.0
        result[-1].append(i)
        taken += held[i]
    return result


def blocks_of(X: Any) -> tuple[Any, int, np.dtype]:
    """Return the array of checked blocks, the number of features and the type."""
    array = as_row_chunks(X)
    n_features = len(X.columns) if is_frame(X) else int(X.shape[1])
    dtype = float_type(array.dtype)
    checked = array.map_blocks(
        tasks.checked_block,
        n_features=n_features,
        number_type=dtype,
        meta=np.empty((0, n_features), dtype=dtype),
        chunks=(array.chunks[0], (n_features,)),
    )
    return checked, n_features, dtype


def recipes_of(X: Any) -> list[bytes]:
    """Return for each block of rows the graph that makes it, as bytes."""
    import cloudpickle
    import dask
    from dask.core import flatten
    from dask.optimization import cull

    (X,) = dask.optimize(X)
    graph = dict(X.__dask_graph__())
    return [cloudpickle.dumps((cull(graph, [key])[0], key)) for key in flatten(X.__dask_keys__())]


def _futures_of(X: Any) -> list[Any]:
    from distributed import futures_of

    return list(futures_of(X))


def culled(X: Any) -> Any:
    """Return a Dask array without the tasks that none of its blocks needs.

    Dask's optimisation leaves some, and its scheduler fails on them: of a part of an array from
    which rows were selected, say.
    """
    from dask.core import flatten
    from dask.optimization import cull

    rebuild, arguments = X.__dask_postpersist__()
    return rebuild(cull(dict(X.__dask_graph__()), list(flatten(X.__dask_keys__())))[0], *arguments)


def _persisted(client: Any, X: Any, worker: str | None = None, **options: Any) -> list[Any]:
    """Have blocks computed and kept, by a certain worker if it is there; return their futures."""
    from dask.core import flatten

    with quiet():
        kept = client.persist(X, **_at(worker), **options)
    by_key = {future.key: future for future in _futures_of(kept)}
    return [by_key[key] for key in flatten(kept.__dask_keys__())]


def sent(client: Any, value: Any, worker: str | None = None) -> Any:
    """Return the future of a value that is lost with no worker: a task makes it again."""
    with quiet():
        return client.submit(tasks.same, value, key=new_key("value"), pure=False, **_at(worker))


def _at(worker: str | None) -> dict[str, Any]:
    """Return the options that ask for a worker, which need not be there any more."""
    return {"workers": [worker], "allow_other_workers": True} if worker else {}


def _measured(client: Any, blocks: list[Any]) -> np.ndarray:
    """Return the number of rows of each block, given as a future or as a recipe."""
    with quiet():
        futures = client.map(tasks.measure, blocks, key=new_key("measure"), pure=False)
        return np.array(client.gather(futures), dtype=float)


def _raise_errors(futures: list[Any]) -> None:
    """Wait for the blocks; raise the error of the first that could not be made."""
    from distributed import wait

    wait(futures)
    for future in futures:
        if future.status != "finished":
            future.result()


def new_key(what: str) -> str:
    """Return a key that no other task has."""
    return f"supred-{what}-{uuid4().hex}"


@contextmanager
def quiet() -> Iterator[None]:
    """Do without Dask's advice to scatter: what is scattered is lost with its worker."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield


def n_bytes(value: Any) -> int:
    """Return the bytes that a value takes on its way."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple | list):
        return sum(n_bytes(part) for part in value)
    return len(pickle.dumps(value, protocol=5)) if not isinstance(value, float | int) else 8
