"""Workers on this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def children_with_one_blas_thread() -> Iterator[None]:
    """Give processes that are started meanwhile one BLAS thread each.

    Dask does so on its own, but not where these variables are set for the client: then every
    worker would take as many threads as the client, and they would wait for each other.

    Examples
    --------
    >>> import os
    >>> from supred.cluster.local import children_with_one_blas_thread
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
