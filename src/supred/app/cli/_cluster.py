"""Train on a Dask cluster: tables that are read, prepared and kept by its workers."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supred.app.export.model_file import TableModel
from supred.app.tables import Column, Preparation, TableError
from supred.app.tables.assemble import find_column
from supred.app.tables.preparation import restored
from supred.app.tables.sources import SUFFIXES, label_texts
from supred.app.tables.table import check_labels, labels_of
from supred.app.tables.text_files import MISSING, is_missing, separator_of
from supred.common.labels import is_missing as is_gap
from supred.rows.cluster.local import local_client

# Lines of the first file that tell which columns hold numbers.
FIRST_LINES = 1000


@dataclass
class ClusterTable:
    """Columns of numbers on the cluster, and labels here.

    Attributes
    ----------
    numbers : dask DataFrame
    labels : ndarray
    target : str
    ignored, notes : list of str
    """

    numbers: Any
    labels: np.ndarray
    target: str
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[Column]:
        """The features."""
        return [Column(str(name), "number") for name in self.numbers.columns]


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a scheduler, or start workers on this machine for ``local``."""
    try:
        from distributed import Client
    except ImportError:
        raise TableError("--scheduler needs Dask; install 'supred[dask]'.") from None
    if address == "local":
        with local_client(os.cpu_count() or 1) as client:
            yield client
        return
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise TableError(
            f"--scheduler {address}: no connection ({reason}); give the "
            "address that dask scheduler prints, such as tcp://10.0.0.1:8786, or local."
        ) from None
    with client:
        yield client


def fit(
    options: argparse.Namespace, estimator: Any, files: list[str]
) -> tuple[TableModel, ClusterTable, float]:
    """Return the model, the table it was trained on and the training error."""
    if options.method != "LowDimSVC":
        raise TableError(f"--scheduler trains LowDimSVC only, not {options.method}.")
    with connected(options.scheduler):
        table = read_table(options, files)
        preparation = Preparation(options.impute, options.encode, options.scale)
        learnt = learn(table, preparation)
        X = table.numbers.map_partitions(prepared, learnt, meta=table.numbers._meta)
        estimator.fit(X, table.labels)
        error = 1.0 - estimator.score(X, table.labels)
    estimator.set_params(checkpoint=None)
    # The model file has the names of the columns; its estimator sees arrays.
    del estimator.feature_names_in_
    transformer = restored(preparation, table.columns, learnt, sparse=False)
    model = TableModel(
        estimator,
        table.columns,
        table.target,
        preparation,
        transformer,
        table.ignored,
        table.notes,
    )
    return model, table, error


def read_table(options: argparse.Namespace, files: list[str]) -> ClusterTable:
    """Read the files as one table on the cluster; its labels come here."""
    if options.dataset is not None or not files or "-" in files:
        raise TableError("--scheduler reads files; name CSV, TSV or Parquet files.")
    title = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    frame, texts = _read_frame(options, files)
    names = [str(name) for name in frame.columns]
    if options.target is None:
        raise TableError(f"--target is needed; the columns are {', '.join(names[:12])}.")
    goal = find_column(options.target, names, title, option="--target")
    ignored = [find_column(name, names, title) for name in options.exclude]
    notes = [f"The table was read in {frame.npartitions} part(s) by the workers of a cluster."]
    texts = [name for name in texts if name not in (goal, *ignored)]
    if texts and options.encode != "drop":
        raise TableError(
            f"{title}: the column {texts[0]!r} holds text, and with --scheduler only numbers are "
            "used; pass --encode drop to leave such columns out, or encode them first."
        )
    if texts:
        notes.append(f"Text columns were left out: {', '.join(map(repr, texts[:8]))}.")
        ignored += texts
    kept = [name for name in names if name != goal and name not in ignored]
    if not kept:
        raise TableError(f"{title}: no column is left to learn from.")
    if options.drop_unlabelled:
        frame = frame.dropna(subset=[goal])
    labels = _labels(frame[goal].compute(), goal, title)
    return ClusterTable(frame[kept].astype(float), labels, goal, ignored, notes)


def _labels(values: Any, goal: str, title: str) -> np.ndarray:
    """Return the labels as the other commands do: whole numbers, or strings."""
    if values.dtype.kind in "fiub":
        texts = label_texts(values.to_numpy())
    else:
        values = values.to_numpy(dtype=object)
        gaps = is_gap(values)
        texts = ["" if gap else str(v).strip() for v, gap in zip(values, gaps, strict=True)]
    missing = [k for k, text in enumerate(texts) if is_missing(text)]
    if missing:
        raise TableError(
            f"{title}: {len(missing)} row(s) have no value of the target {goal!r}, the first is "
            f"row {missing[0] + 1}; fill them in or pass --drop-unlabelled."
        )
    labels = labels_of(texts, goal)
    check_labels(labels, goal)
    return labels


def _read_frame(options: argparse.Namespace, files: list[str]) -> tuple[Any, list[str]]:
    """Return the dataframe of all files and the columns that hold text."""
    import dask.dataframe as dd
    import pandas

    for file in files:
        if "://" not in file and "*" not in file and not Path(file).exists():
            raise TableError(f"{file} does not exist.")
    kind = options.format or SUFFIXES.get(Path(files[0].rstrip("*/")).suffix.lower())
    if kind == "parquet" or (kind is None and Path(files[0]).is_dir()):
        frame = dd.read_parquet(files if len(files) > 1 else files[0])
        texts = [str(n) for n, t in frame.dtypes.items() if getattr(t, "kind", "O") not in "fiub"]
        return frame, texts
    if kind not in ("csv", "tsv"):
        raise TableError(f"{files[0]}: --scheduler reads CSV, TSV and Parquet files only.")
    first = sorted(Path().glob(files[0]))[0] if "*" in files[0] else files[0]
    reading: dict[str, Any] = {"na_values": sorted(MISSING), "skipinitialspace": True}
    reading["header"] = None if options.no_header else 0
    reading["sep"] = "\t"
    if kind == "csv":
        with open(first, encoding="utf-8-sig") as opened:
            reading["sep"] = separator_of(opened.readline())
    few = pandas.read_csv(first, nrows=FIRST_LINES, **reading)
    if options.no_header:
        reading["names"] = [f"column{k + 1}" for k in range(few.shape[1])]
        few.columns = reading["names"]
    names = [str(name) for name in few.columns]
    texts = [n for n, t in zip(names, few.dtypes, strict=True) if t.kind not in "fiub"]
    goal = find_column(options.target, names, files[0], option="--target") if options.target else ""
    types = {name: float if name not in texts else str for name in names}
    if goal:
        types[goal] = str
    return dd.read_csv(files, dtype=types, **reading), texts


def learn(table: ClusterTable, preparation: Preparation) -> dict[str, Any]:
    """Return what the preparation learns of the numbers: what fills gaps, mean and scale."""
    import dask

    numbers = table.numbers
    missing = numbers.isna().sum().compute()
    gaps = [f"{name!r} ({count})" for name, count in missing.items() if count]
    if gaps and preparation.impute == "none":
        raise TableError(f"numbers are missing in {', '.join(gaps[:8])}; pass --impute median.")
    learnt: dict[str, Any] = {}
    if preparation.impute == "zero":
        learnt["fill"] = np.zeros(len(numbers.columns))
    elif preparation.impute == "mean":
        learnt["fill"] = numbers.mean().compute().to_numpy(dtype=float)
    elif preparation.impute == "median":
        learnt["fill"] = numbers.quantile(0.5).compute().to_numpy(dtype=float)
    if gaps:
        about = "about " if preparation.impute == "median" else ""
        table.notes.append(
            f"Missing numbers were replaced by {about}the column's {preparation.impute}: "
            f"{', '.join(gaps[:8])}."
        )
    if preparation.scale == "standard":
        filled = numbers.map_partitions(prepared, learnt, meta=numbers._meta)
        mean, spread = dask.compute(filled.mean(), filled.std(ddof=0))
        scale = spread.to_numpy(dtype=float)
        learnt["mean"] = mean.to_numpy(dtype=float)
        # A constant column is left as it is, as StandardScaler does.
        learnt["scale"] = np.where(scale > 1e-12 * np.abs(learnt["mean"]), scale, 1.0)
        table.notes.append(
            "Numbers were brought to mean 0 and standard deviation 1 over the training rows."
        )
    return learnt


def prepared(numbers: Any, learnt: dict[str, Any]) -> Any:
    """Fill gaps and scale a part of the table: what the saved model does to new rows."""
    if "fill" in learnt:
        numbers = numbers.fillna(dict(zip(numbers.columns, learnt["fill"], strict=True)))
    if "scale" in learnt:
        numbers = (numbers - learnt["mean"]) / learnt["scale"]
    return numbers
