"""Values that live with the blocks of a Dask cluster."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np

from supred.rows.cluster import tasks
from supred.rows.cluster.store import sent
from supred.rows.values import RowValues

if TYPE_CHECKING:
    from supred.rows.cluster.rows import DaskRows

# Bytes of a call up to which every task gets its own: to hand one on takes two hops more.
MOST_COPIED = 2**20


class DaskValues(RowValues):
    """Values that stay on the workers, with the blocks that they belong to.

    Parameters
    ----------
    rows : DaskRows
    futures : list of Future
        For each group of blocks its values, with a term that they came with.
    """

    def __init__(self, rows: "DaskRows", futures: list[Any]) -> None:
        self.rows: DaskRows = rows
        self.futures = futures

    def visit(self, function: Callable[..., Any], *arguments: Any) -> tuple["DaskValues", Any]:
        """Call ``function(block, value, *arguments)`` for each block: one task per group."""
        store = self.rows.store
        call = self._sent(function, arguments)
        futures = [
            store.submit(worker, tasks.visit_values, call, values, *self.rows.visited(ids))
            for (worker, ids), values in zip(self.rows.assigned(), self.futures, strict=True)
        ]
        store.traffic.passes += 1
        terms = store.submit_all(tasks.term_of, [(future,) for future in futures])
        return DaskValues(self.rows, futures), self.rows.total(terms)

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add up ``function(value, *arguments)``: one task per group."""
        call = self._sent(function, arguments)
        store = self.rows.store
        store.traffic.passes += 1
        calls = [(call, values) for values in self.futures]
        return self.rows.total(store.submit_all(tasks.sum_values, calls))

    def collect(self, function: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Stack ``function(value)`` on the client."""
        call = self._sent(function, ())
        groups, calls = self.rows.store.groups, [(call, values) for values in self.futures]
        futures = self.rows.store.submit_all(tasks.collect_values, calls)
        stacked = self.rows.collect(futures)
        pieces = {
            i: piece
            for ids, group in zip(groups, stacked, strict=True)
            for i, piece in zip(ids, group, strict=True)
        }
        return np.concatenate([pieces[i] for i in sorted(pieces)])

    def _sent(self, function: Callable[..., Any], arguments: tuple) -> Any:
        """Return what every task gets: the call, or where that makes many bytes a future of it.

        A future is sent once, and the workers hand it on to each other.
        """
        self.rows.store.check_connection()
        packed = cloudpickle.dumps((function, arguments))
        copies = len(self.futures)
        small = len(packed) * copies <= MOST_COPIED
        self.rows.store.traffic.bytes_sent += len(packed) * (copies if small else 1)
        return packed if small else sent(self.rows.store.client, packed)
