"""A Dask cluster of real workers in processes of their own, one for all tests of this folder."""

from functools import partial

import pytest

N_WORKERS = 3


@pytest.fixture(scope="session")
def start_cluster():
    """Return the function that starts workers on this machine."""
    distributed = pytest.importorskip("distributed")
    return partial(
        distributed.LocalCluster,
        n_workers=N_WORKERS,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit="2GB",
    )


@pytest.fixture(scope="package")
def cluster(start_cluster):
    with start_cluster() as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(N_WORKERS)
        yield client
