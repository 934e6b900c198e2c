"""Rows on a Dask cluster: sums and maps over blocks that stay where they are."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import cloudpickle
import numpy as np

from supred.rows.blocks import Rows, RowSource
from supred.rows.cluster import tasks
from supred.rows.cluster.collections import (
    as_row_chunks,
    cancelled_in_words,
    feature_names,
    float_type,
    is_frame,
)
from supred.rows.cluster.store import (
    KEPT_SHARE,
    PATIENCE,
    BlockStore,
    Worker,
    n_bytes,
    present_workers,
    sent,
)
from supred.rows.cluster.values import DaskValues

# Sums of more groups than this are added up on the workers.
FAN_IN = 8
# How often a task is tried again after it took several workers with it.
RETRIES = 2
# Seconds after which a look is taken at tasks that are not done.
LOOK_AFTER = 30


class DaskSource(RowSource):
    """A Dask array or dataframe as a source of rows.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Chunked along its rows.

    Notes
    -----
    The blocks are placed on the cluster when they are first asked for. They are kept in the
    workers' memory if they take less than 45 % of it, and are otherwise made from their source
    in each pass.
    """

    keeps_blocks = True

    def __init__(self, X: Any) -> None:
        self.collection = X
        self.feature_names = feature_names(X)
        array = as_row_chunks(X)
        self.dtype = float_type(array.dtype)
        self._n_features = len(X.columns) if is_frame(X) else int(X.shape[1])

    @cached_property
    def store(self) -> BlockStore:
        """The blocks on the cluster."""
        return BlockStore.of(self.collection)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        if is_frame(self.collection):
            return int(self.store.lengths.sum()), self._n_features
        return int(self.collection.shape[0]), self._n_features

    def rows(self, width: int = 1) -> "DaskRows":
        """Return the rows."""
        return DaskRows(self.store, width)

    def select(self, indices: np.ndarray) -> "DaskSource":
        """Return the source of the rows `indices`, which are sorted."""
        import dask.array as da

        indices = np.flatnonzero(indices) if indices.dtype == bool else indices
        lengths = self.store.lengths if is_frame(self.collection) else self.collection.chunks[0]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        counts = tuple(np.diff(np.searchsorted(indices, offsets)).tolist())
        local = indices - np.repeat(offsets[:-1], counts)
        array = as_row_chunks(self.collection)
        chosen = da.blockwise(
            _rows_at,
            "ij",
            array,
            "ij",
            da.from_array(local, chunks=(counts,)),
            "i",
            da.from_array(
                np.column_stack([range(len(counts)), lengths]).astype(int), chunks=(1, 2)
            ),
            "ik",
            concatenate=True,
            adjust_chunks={"i": counts},
            align_arrays=False,
            meta=np.empty((0, self._n_features), dtype=array.dtype),
        )
        result = DaskSource(chosen)
        result.feature_names = self.feature_names
        return result


def _slice(values: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return the values of some rows to be sent; of a constant one value is enough."""
    constant = values.strides[0] == 0 and stop > start
    return np.ascontiguousarray(values[start : start + 1 if constant else stop])


def _rows_at(block: Any, indices: np.ndarray, place_and_length: np.ndarray) -> np.ndarray:
    """Return some rows of a block, which must have the rows that its chunk size says."""
    block, (place, length) = np.asarray(block), place_and_length[0].tolist()
    tasks.check_length(place, length, len(block))
    return block[indices]


class DaskRows(Rows):
    """The rows of a :class:`BlockStore`, or what a function makes of them.

    Parameters
    ----------
    store : BlockStore
    width : int
        Numbers that are made of each row.
    maker : callable, optional
        Makes the rows of a block of the store's rows.
    cache_bytes : float
        Bytes of what is made that a worker may keep, if its memory allows.
    """

    def __init__(
        self,
        store: BlockStore,
        width: int = 1,
        maker: Callable[[Any], np.ndarray] | None = None,
        cache_bytes: float = 0.0,
    ) -> None:
        self.store = store
        self.width = width
        # Numbers of a row that fix the size of the parts in which a worker visits a block.
        self.block_width = max(width, store.n_features)
        self.maker = maker
        self.n_rows = int(store.lengths.sum())
        self.n_features = store.n_features if maker is None else width
        self.dtype = store.dtype
        self.cache_bytes = cache_bytes
        # What stands for each block: the store's future, or that of what was made of it.
        self._futures = list(store.futures)
        self._made = np.zeros(len(self._futures), dtype=bool)
        # The maker may hold all centres: it travels once, not with each task.
        self._maker_future = None if maker is None else sent(store.client, maker)
        self._begun = False

    def sum(self, function: Callable[..., Any], *along: np.ndarray) -> Any:
        """Add up ``function(block, *slices)`` over the blocks.

        Each task adds up its blocks in order, and the partial sums are added in the order of
        their first block.
        """
        groups, futures = self._submit("sum", function, along)
        if not groups:
            raise ValueError("there are no rows to sum over.")
        return self.total(futures)

    def total(self, futures: list[Any]) -> Any:
        """Add up the sums of the groups, on the workers where they are many."""
        while len(futures) > FAN_IN:
            parts = range(0, len(futures), FAN_IN)
            calls = [(futures[i : i + FAN_IN],) for i in parts]
            futures = self.store.submit_all(tasks.total_of, calls)
        return tasks.total_of(self.collect(futures))

    def map(self, function: Callable[..., np.ndarray], *along: np.ndarray) -> np.ndarray:
        """Stack ``function(block, *slices)``, which has one row per row of the block."""
        groups, futures = self._submit("map", function, along)
        if not groups:
            raise ValueError("there are no rows to map over.")
        result: np.ndarray | None = None
        offsets = self.store.offsets
        for ids, values in zip(groups, self.collect(futures), strict=True):
            if result is None:
                result = np.empty((self.n_rows, *values.shape[1:]), dtype=values.dtype)
            start = 0
            for i in ids:
                stop = start + self.store.lengths[i]
                result[offsets[i] : offsets[i + 1]] = values[start:stop]
                start = stop
        return np.empty(0) if result is None else result

    def attach(self, make: Callable[..., Any], *along: np.ndarray) -> "DaskValues":
        """Return values that the workers make and keep: one task per group of blocks."""
        offsets, lengths = self.store.offsets, self.store.lengths
        packed = cloudpickle.dumps(make)
        futures = []
        for worker, ids in self.store.assigned(self._futures):
            slices = [tuple(_slice(a, offsets[i], offsets[i + 1]) for a in along) for i in ids]
            futures.append(
                self.store.submit(
                    worker,
                    tasks.attach,
                    packed,
                    offsets[ids].tolist(),
                    lengths[ids].tolist(),
                    slices,
                    self.block_width,
                )
            )
            self.store.traffic.bytes_sent += n_bytes(slices)
        return DaskValues(self, futures)

    def derive(
        self, function: Callable[[Any], Any], width: int, cache_bytes: float = 0.0
    ) -> "DaskRows":
        """Return the rows ``function(block)``; each worker keeps up to `cache_bytes` of them."""
        if self.maker is not None:
            raise ValueError("rows that are made of others cannot be derived from again.")
        return DaskRows(self.store, width, function, cache_bytes)

    def take(self, indices: np.ndarray) -> np.ndarray:
        """Return a few rows, in the order of `indices`."""
        indices = np.asarray(indices)
        offsets = self.store.offsets
        order = np.argsort(indices, kind="stable")
        rising = indices[order]
        bounds = np.searchsorted(rising, offsets)
        only = {int(i) for i in np.flatnonzero(np.diff(bounds))}
        result = np.empty((len(indices), self.store.n_features), dtype=self.dtype)
        if not only:
            return result if self.maker is None else self.maker(result)
        local: dict[int, tuple[np.ndarray, ...]]
        local = {i: (rising[bounds[i] : bounds[i + 1]] - offsets[i],) for i in only}
        plain = self if self.maker is None else DaskRows(self.store)
        groups, futures = plain._submit("take", tasks.same, (), only=only, local=local)
        for ids, rows in zip(groups, plain.collect(futures), strict=True):
            start = 0
            for i in ids:
                stop = start + len(local[i][0])
                result[order[bounds[i] : bounds[i + 1]]] = rows[start:stop]
                start = stop
        return result if self.maker is None else self.maker(result)

    def _submit(
        self,
        kind: str,
        function: Callable[..., Any],
        along: tuple[np.ndarray, ...],
        only: set[int] | None = None,
        local: dict[int, tuple[np.ndarray, ...]] | None = None,
    ) -> tuple[list[list[int]], list[Any]]:
        """Start one task per group of blocks; return the blocks and the future of each task."""
        store = self.store
        traffic = store.traffic
        offsets = store.offsets
        # Pickled here, once: a function of __main__ or a lambda travels too.
        packed = cloudpickle.dumps(function)
        traffic.passes += 1
        groups, futures = [], []
        for worker, own in self.assigned():
            ids = own if only is None else [i for i in own if i in only]
            if not ids:
                continue
            values: list[tuple[np.ndarray, ...]]
            if local is not None:
                values = [local[i] for i in ids]
            else:
                values = [tuple(_slice(a, offsets[i], offsets[i + 1]) for a in along) for i in ids]
            blocks, lengths, ids, maker, made, width = self.visited(ids)
            future = store.submit(
                worker, tasks.visit, kind, packed, blocks, values, lengths, ids, maker, made, width
            )
            groups.append(ids)
            futures.append(future)
            traffic.bytes_sent += n_bytes(values) + len(packed)
        return groups, futures

    def visited(self, ids: list[int]) -> tuple[Any, ...]:
        """Return what a task needs to visit some blocks, as :func:`tasks.opened` takes it."""
        made = self._made[ids].tolist()
        return (
            [self._futures[i] for i in ids],
            self.store.lengths[ids].tolist(),
            ids,
            None if all(made) else self._maker_future,
            made,
            self.block_width,
        )

    def assigned(self) -> list[tuple[Worker, list[int]]]:
        """Return each group of blocks with the worker that visits it now."""
        self.store.check_connection()
        self._keep_what_is_made()
        return self.store.assigned(self._futures)

    def _keep_what_is_made(self) -> None:
        """Have the workers make and keep as many blocks as they have room for."""
        if self._begun or self.maker is None:
            return
        self._begun = True
        store = self.store
        for worker, room, ids in self._rooms():
            for i in ids:
                size = float(store.lengths[i]) * self.width * self.dtype.itemsize
                if size > room:
                    continue
                room -= size
                self._futures[i] = store.submit(
                    worker, tasks.make_block, store.futures[i], self._maker_future, self.width
                )
                self._made[i] = True
        from distributed import wait

        with cancelled_in_words(store.client):
            wait([future for future, made in zip(self._futures, self._made, strict=True) if made])

    def _rooms(self) -> list[tuple[Worker, float, list[int]]]:
        """Return each worker, the bytes that it may keep and its blocks."""
        blocks: dict[Worker, list[int]] = {}
        for worker, ids in self.store.assigned(self.store.futures):
            blocks.setdefault(worker, []).extend(ids)
        result = []
        for worker, ids in blocks.items():
            rows = self.store.lengths[ids].sum() if self.store.kept else 0
            taken = float(rows) * self.store.n_features * self.dtype.itemsize
            room = min(self.cache_bytes, KEPT_SHARE * worker.usable - taken)
            result.append((worker, room, ids))
        return result

    def collect(self, futures: list[Any]) -> list[Any]:
        """Return the results; what was lost with its worker is computed again."""
        with cancelled_in_words(self.store.client):
            return self._collected(futures)

    def _collected(self, futures: list[Any]) -> list[Any]:
        from distributed import KilledWorker

        client = self.store.client
        for attempt in range(RETRIES + 1):
            self._wait(futures)
            failed = [future for future in futures if future.status == "error"]
            fatal = [f for f in failed if not isinstance(f.exception(), KilledWorker)]
            if fatal or not failed:
                break
            if attempt < RETRIES:
                client.retry(failed)
        if failed and not fatal:
            raise RuntimeError(
                "workers of the cluster died again and again in the same step of the fit; most "
                "likely a block with what is made of it is larger than a worker's memory limit: "
                "use smaller chunks, a smaller cache_size or workers with more memory."
            ) from failed[0].exception()
        self.store.check_connection()
        results = client.gather(futures)
        self.store.traffic.bytes_received += n_bytes(results)
        return results

    def _wait(self, futures: list[Any]) -> None:
        """Wait for tasks; raise an error if none can run because all workers were lost at once.

        Dask runs a task elsewhere when the worker that it was meant for is lost, but not if at that
        moment there is no other: then the task waits for that worker for ever.
        """
        from distributed import wait

        while True:
            try:
                wait(futures, timeout=LOOK_AFTER)
                return
            except TimeoutError:
                self.store.check_connection()
            client = self.store.client
            there = {worker.address for worker in present_workers(client, PATIENCE)}
            if not there & self.store.seen and not any(client.processing().values()):
                raise RuntimeError(
                    "all workers of the cluster were lost at once; fit again. A fit with "
                    "checkpoint= goes on from its last iteration."
                )
