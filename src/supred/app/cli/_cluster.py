"""Train on a Dask cluster: tables that are read, prepared and kept by its workers."""

import argparse
from contextlib import AbstractContextManager
from typing import Any

from joblib import effective_n_jobs

from supred.app.cli._input import preparation_of, training_choices
from supred.app.cli._stream import sample_rows
from supred.app.export.model_file import TableModel
from supred.app.tables.assemble import training_plan
from supred.app.tables.cluster import ClusterSource
from supred.app.tables.table import TableError
from supred.common.arguments import one_line
from supred.rows.cluster.local import local_client


def connected(address: str) -> AbstractContextManager[Any]:
    """Connect to a scheduler, or start workers on this machine for ``local``."""
    try:
        from distributed import Client
    except ImportError:
        raise TableError("--scheduler needs Dask; install 'supred[dask]'.") from None
    if address == "local":
        return local_client(effective_n_jobs(-1))
    try:
        return Client(address, timeout=10)
    except (OSError, ValueError, TypeError, ImportError) as error:  # by the kind of the address
        raise TableError(
            f"--scheduler {address}: no connection ({one_line(error)}); give the "
            "address that dask scheduler prints, such as tcp://10.0.0.1:8786, or local."
        ) from None


def fit(
    options: argparse.Namespace, estimator: Any, files: list[str]
) -> tuple[TableModel, int, float]:
    """Return the model, the number of rows and the training error."""
    if options.dataset is not None or not files or "-" in files:
        raise TableError("--scheduler reads files; name CSV, TSV or Parquet files.")
    preparation = preparation_of(options)
    with connected(options.scheduler) as client:
        source = ClusterSource(client, files, options.format, not options.no_header)
        plan = training_plan(source, **training_choices(options))
        preparation.check(plan)
        preparation.check_size(plan)
        rows = source.matrix(plan.columns, plan.labelled)
        sample = rows[sample_rows(len(plan.y), len(plan.columns), options.seed)].compute()
        transformer = preparation.pipeline(plan.columns).fit(sample)
        width = transformer.transform(sample[:1]).shape[1]
        X = rows.map_blocks(
            transformer.transform, dtype=float, chunks=(rows.chunks[0], (width,)), meta=sample[:0]
        )
        estimator.fit(X, plan.y)
        error = 1.0 - estimator.score(X, plan.y)
    note = f"The table was read in {len(source.pieces)} part(s) by the workers of a cluster."
    model = TableModel.of(estimator, plan, preparation, transformer, [note])
    return model, len(plan.y), error
