"""Tables that are read block by block: for files that do not fit into memory."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from supred.app.cli._input import preparation_of, training_choices
from supred.app.cli._progress import RowProgress
from supred.app.export.model_file import TableModel, load_table_model
from supred.app.tables.assemble import check_columns, check_finite, training_plan
from supred.app.tables.reading import open_files
from supred.app.tables.sources import SparseSource
from supred.app.tables.table import Column, TableError
from supred.low_dim_svm import settings as low_dim_svm
from supred.low_dim_svm.classifier import LowDimSVC
from supred.rbf_net import settings as rbf_net
from supred.rbf_net.training import N_CHECKS, default_batch, default_steps
from supred.rows.device import on_device
from supred.rows.files.reading import join
from supred.rows.files.row_blocks import RowBlocks

# Estimators that train on rows that are not in memory.
OUT_OF_CORE = ("LowDimSVC", "RBFNetClassifier")
# Medians, means and deviations are learnt from a sample: so many rows at most, and fewer of a wide
# table, but a few in any case.
MOST_SAMPLED, MOST_SAMPLED_NUMBERS, FEWEST_SAMPLED = 100_000, 8_000_000, 100


def fit(
    options: argparse.Namespace, estimator: Any, files: list[str]
) -> tuple[TableModel, int, float]:
    """Return the model, the number of rows and the training error."""
    _check_parameters(estimator)  # before hours of reading
    preparation = preparation_of(options)
    shown = not options.quiet
    # Windows removes no file that is still mapped: the copy then stays with the temporary files.
    with TemporaryDirectory(
        dir=_cache_folder(options), prefix="supred-cache-", ignore_cleanup_errors=True
    ) as cache:
        copy = None if options.no_cache else Path(cache, "rows.npy")
        # The labels; the kinds of the columns, with a copy of their numbers; their texts; a copy
        # of these.
        with RowProgress("reading", 1, (2, 4), shown=shown) as progress:
            source, found = _open(options, files, progress.add, copy)
            plan = training_plan(source, **training_choices(options))
            preparation.check(plan)
            preparation.check_size(plan)
            columns: Sequence[Column | int] | None = plan.columns
            if plan.is_sparse:
                columns = None
            elif source.copy is not None:
                columns, found = source.copy_of(plan.columns), ([source.copy], "npy")
        if plan.is_sparse and plan.ignored:
            raise TableError("--exclude cannot be combined with svmlight files and --stream.")
        n_columns = 1 if plan.is_sparse else len(plan.columns)
        chosen = np.flatnonzero(plan.labelled)[sample_rows(len(plan.y), n_columns, options.seed)]
        sample = rows_at(_blocks(options, found, columns), chosen)
        check_finite(sample, plan.columns, plan.title, chosen)
        transformer = preparation.pipeline(plan.columns, sparse=plan.is_sparse).fit(sample)
        n_rows = len(plan.labelled)
        passes = passes_of(estimator, n_rows)
        with RowProgress("training", n_rows, passes, shown=shown) as progress:
            prepare = progress.counting(transformer.transform)
            rows = _blocks(options, found, columns, transform=prepare)
            X = rows if plan.labelled.all() else rows.select(np.flatnonzero(plan.labelled))
            X = on_device(X, options.device)
            try:
                estimator.fit(X, plan.y)
                error = 1.0 - estimator.score(X, plan.y)
            except ValueError as problem:
                if copy is None:
                    raise
                # the copy is removed now: name the table
                raise TableError(str(problem).replace(str(copy), plan.title)) from None
    part = f"{len(plan.y)}" if len(chosen) == len(plan.y) else f"a sample of {len(chosen)}"
    note = f"The rows were read block by block; the preparation was learnt from {part} rows."
    model = TableModel.of(estimator, plan, preparation, transformer, [note])
    return model, len(plan.y), error


def _check_parameters(estimator: Any) -> None:
    """Raise the ValueError that a fit would raise for a parameter."""
    known = low_dim_svm.Settings if isinstance(estimator, LowDimSVC) else rbf_net.Settings
    known.among(estimator.get_params(deep=False))


def passes_of(estimator: Any, n_rows: int) -> tuple[int, int]:
    """Return how often a fit reads the rows, usually and at most."""
    if isinstance(estimator, LowDimSVC):
        max_iter = 50 if estimator.max_iter == "auto" else estimator.max_iter
        # LowDimSVC reads them eight times at first and once in each iteration, of which ten are
        # usual; the training error takes one more pass.
        return 9 + min(10, max_iter), 9 + max_iter
    n_steps = default_steps(n_rows) if estimator.max_iter is None else estimator.max_iter
    # RBFNetClassifier reads what it needs until the next check at once; race, training and refit
    # have about 35 checks, 60 at most.
    share = min(1.0, n_steps * default_batch(n_rows) / N_CHECKS / max(n_rows, 1))
    return round(6 + 35 * share), round(10 + 60 * share)


def _cache_folder(options: argparse.Namespace) -> Path | None:
    """Return where the copy of text goes: --cache, beside --checkpoint, or None for the usual."""
    if options.cache is not None:
        return Path(options.cache)
    return None if options.checkpoint is None else Path(options.checkpoint).absolute().parent


def read(options: argparse.Namespace) -> tuple[TableModel, RowBlocks]:
    """Return a saved model, and the prepared rows of the files to use it on."""
    model = load_table_model(options.model)
    if type(model.estimator).__name__ not in OUT_OF_CORE:
        raise TableError(
            f"--stream is for models of {' and '.join(OUT_OF_CORE)}, not of "
            f"{type(model.estimator).__name__}."
        )
    source, found = _open(options, [options.input])
    check_columns(source, model.columns, [model.target, *model.ignored], options.exclude)
    columns: Sequence[Column] | None = model.columns
    known: dict[str, Any] = {}
    if isinstance(source, SparseSource):
        columns, (places, known) = None, source.layout(model.columns)

    seen = 0

    def prepared(block: Any) -> np.ndarray:
        nonlocal seen
        if isinstance(source, SparseSource):
            block = block[:, places] if model.sparse else block[:, places].toarray()
        seen += block.shape[0]
        check_finite(block, model.columns, source.title, range(seen - block.shape[0], seen))
        return model.transformer.transform(block)

    rows = _blocks(options, found, columns, transform=prepared, **known)
    _ = rows.shape  # prepares the first row, too
    seen = 0
    return model, rows


def sample_rows(n_rows: int, n_columns: int, seed: int) -> np.ndarray:
    """Return the rows that a preparation is learnt from: all, or a random sample."""
    most = min(MOST_SAMPLED, max(MOST_SAMPLED_NUMBERS // n_columns, FEWEST_SAMPLED))
    if n_rows <= most:
        return np.arange(n_rows)
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, size=most, replace=False))


def rows_at(rows: RowBlocks, chosen: np.ndarray) -> Any:
    """Return rows (sorted indices) as they are in the files, with gaps."""
    n_rows, n_features = rows.shape
    step = max(1, 4_000_000 // n_features)
    found = []
    for start in range(0, n_rows, step):
        first, last = np.searchsorted(chosen, [start, start + step])
        if first < last:
            found.append(rows.read(start, min(start + step, n_rows))[chosen[first:last] - start])
    return join(found)


def _open(
    options: argparse.Namespace,
    paths: list[str],
    tell: Callable[[float], None] | None = None,
    copy: Path | None = None,
) -> tuple[Any, tuple[list[Path], str]]:
    if options.dataset is not None or not paths or "-" in paths:
        raise TableError("--stream reads files; name files, a folder or a pattern.")
    source, files, kind = open_files(
        paths, kind=options.format, header=not options.no_header, tell=tell, copy=copy
    )
    return source, (files, kind)


def _blocks(
    options: argparse.Namespace,
    found: tuple[list[Path], str],
    columns: Sequence[Column | int] | None,
    **more: Any,
) -> RowBlocks:
    files, kind = found
    rows = RowBlocks(
        files, format=kind, header=not options.no_header, columns=columns, dtype=float, **more
    )
    rows.feature_names = None  # the model file has them; its estimator sees arrays
    return rows
