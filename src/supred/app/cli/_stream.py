"""Tables that are read block by block: for files that do not fit into memory."""

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from supred.app.export.model_file import TableModel, load_model
from supred.app.tables import Column, Preparation, TableError
from supred.app.tables.assemble import find_column
from supred.app.tables.sources import label_texts
from supred.app.tables.table import check_labels, labels_of
from supred.rows.files.row_blocks import RowBlocks, column_names

if TYPE_CHECKING:
    from supred.rows.blocks import LocalRows

# Rows from which medians, means and deviations are learnt.
MOST_SAMPLED = 100_000
FORMATS = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "svmlight": "svmlight"}


def fit(
    options: argparse.Namespace, estimator: Any, files: list[str]
) -> tuple[TableModel, int, float]:
    """Return the model, the number of rows and the training error."""
    if options.method != "LowDimSVC":
        raise TableError(f"--stream trains LowDimSVC only, not {options.method}.")
    for name in ("keep", "drop_unlabelled", "no_header"):
        if getattr(options, name):
            raise TableError(f"--{name.replace('_', '-')} does not go with --stream.")
    path, kind = _place(options, files)
    title = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    names = checked(column_names, path, format=kind)
    target, places = "label", {}
    if kind_of(path, kind) != "svmlight":
        if options.target is None:
            raise TableError(f"--target is needed; the columns are {', '.join(names[:12])}.")
        target = find_column(options.target, names, title, option="--target")
        places = {"target": names.index(target)}
    ignored = [find_column(name, names, title) for name in options.exclude]
    if target in ignored:
        raise TableError(f"{target!r} is the target and cannot be excluded.")
    kept = [name for name in names if name != target and name not in ignored]
    if not kept:
        raise TableError(f"{title}: no column is left to learn from.")
    if places:
        places["columns"] = [names.index(name) for name in kept]
    elif ignored:
        raise TableError("--exclude does not go with svmlight files and --stream.")
    columns = [Column(name, "number") for name in kept]
    raw = checked(RowBlocks, path, format=kind, **places)
    labels = labels_of(_texts(checked(raw.labels)), target)
    check_labels(labels, target)
    preparation = Preparation(options.impute, options.encode, options.scale)
    sample = checked(sampled, raw, options.seed)
    transformer = preparation.pipeline(columns, sparse=raw.is_sparse).fit(sample)
    rows = checked(RowBlocks, path, format=kind, transform=transformer.transform, **places)
    checked(estimator.fit, rows, labels)
    error = 1.0 - estimator.score(rows, labels)
    estimator.set_params(checkpoint=None)
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # the file has them; the estimator sees arrays
    part = f"{len(labels)}" if sample.shape[0] == len(labels) else f"a sample of {sample.shape[0]}"
    notes = [
        "The rows were read block by block.",
        f"What stands in for missing numbers ({options.impute}) and how numbers are scaled "
        f"({options.scale}) was learnt from {part} rows.",
    ]
    model = TableModel(
        estimator, columns, target, preparation, transformer, ignored, notes, raw.is_sparse
    )
    return model, len(labels), error


def read(options: argparse.Namespace) -> tuple[TableModel, RowBlocks]:
    """Return a saved model, and the prepared rows of the files to use it on."""
    model = load_model(options.model)
    if options.no_header:
        raise TableError("--no-header does not go with --stream.")
    if not hasattr(model.estimator, "mapping_"):
        raise TableError(f"--stream goes with LowDimSVC, not {type(model.estimator).__name__}.")
    if any(column.kind == "text" for column in model.columns):
        raise TableError("--stream does not go with a model of text columns.")
    path, kind = _place(options, [options.input])
    title = options.input
    prepare = model.transformer.transform
    if kind_of(path, kind) == "svmlight":
        wide = len(model.columns)
        return model, checked(RowBlocks, path, format=kind, n_features=wide, transform=prepare)
    names = checked(column_names, path, format=kind)
    wanted = [column.name for column in model.columns]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise TableError(f"{title} lacks the column {missing[0]!r} that the model needs.")
    allowed = {*wanted, model.target, *model.ignored, *options.exclude}
    extra = [name for name in names if name not in allowed]
    if extra:
        raise TableError(
            f"{title} has a column {extra[0]!r} that the model does not know; leave it out with "
            "--exclude."
        )
    places = [names.index(name) for name in wanted]
    rows = checked(RowBlocks, path, format=kind, columns=places, transform=prepare)
    rows.feature_names = None  # the estimator was trained on arrays
    return model, rows


def sampled(rows: RowBlocks, seed: int) -> Any:
    """Return rows as they are in the files: all, or a random sample of them."""
    n_rows = rows.shape[0]
    chosen = np.arange(n_rows)
    if n_rows > MOST_SAMPLED:
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(n_rows, size=MOST_SAMPLED, replace=False))
    blocks: LocalRows = rows.rows()  # type: ignore[assignment]
    found = []
    for part in blocks.parts():
        first, last = np.searchsorted(chosen, [part.start, part.stop])
        if first < last:
            found.append(rows.read(part.start, part.stop)[chosen[first:last] - part.start])
    from supred.rows.files.reading import join

    return join(found)


def kind_of(path: str | list[str], kind: str | None) -> str:
    """Return the format of the files."""
    return kind or RowBlocks.format_of(path)


def _place(options: argparse.Namespace, files: list[str]) -> tuple[str | list[str], str | None]:
    """Return the file or files, and their format, if the user gave one."""
    if options.dataset is not None or not files or "-" in files:
        raise TableError("--stream reads files; name files, a folder or a pattern.")
    if options.format is not None and options.format not in FORMATS:
        raise TableError(f"--format {options.format} does not go with --stream.")
    return files[0] if len(files) == 1 else files, FORMATS.get(options.format)


def _texts(labels: np.ndarray) -> list[str]:
    return label_texts(labels) if labels.dtype.kind in "fiub" else [str(v) for v in labels]


def checked(function: Any, *arguments: Any, **named: Any) -> Any:
    """Call a function whose errors, found while rows are read, are those of a table."""
    try:
        return function(*arguments, **named)
    except (ValueError, OSError, ImportError) as error:
        raise TableError(" ".join(str(error).split())) from None
