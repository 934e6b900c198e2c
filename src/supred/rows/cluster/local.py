"""Workers on this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def children_with_one_blas_thread() -> Iterator[None]:
    """Give processes that are started meanwhile one BLAS thread each.

    Dask does so on its own, but not where these variables are set for the client: then every
    worker would take as many threads as the client, and they would wait for each other.

    Examples
    --------
    >>> import os
    >>> from supred.rows.cluster.local import children_with_one_blas_thread
    >>> with children_with_one_blas_thread():
    ...     os.environ["OMP_NUM_THREADS"]
    '1'
    """
    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def local_client(n_workers: int, memory_limit: float | str = "auto") -> Iterator[Any]:
    """Start workers of one thread each, in processes of their own, and connect to them.

    Parameters
    ----------
    n_workers : int
    memory_limit : float or str, default="auto"
        Bytes that a worker may take; "auto" shares out the memory of this machine.
    """
    from distributed import Client, LocalCluster

    with (
        children_with_one_blas_thread(),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=memory_limit,
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        client.wait_for_workers(n_workers)
        yield client
