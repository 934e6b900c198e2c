"""Where tables come from: files of several formats, standard input, built-in data sets."""

import io
import os
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from supred.app.tables.builtin import BUILTIN
from supred.app.tables.table import TableError, import_pandas
from supred.app.tables.text_files import read_fields

FORMATS = ("csv", "tsv", "parquet", "npz", "svmlight")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".npz": "npz",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
}
# Sparse rows that would have more numbers than this when written out stay sparse.
MOST_DENSE_NUMBERS = 20_000_000


@dataclass
class Raw:
    """What a file holds, before it is known what the target is.

    Attributes
    ----------
    title : str
    fields : dict of str to list of str or float array, or None
        Named columns.
    X : array or sparse matrix, or None
        Numbers that come as a matrix, in place of `fields`.
    names : list of str
        Names of the columns of `X`.
    y : list of str or None
        Labels that come apart from the matrix.
    target : str
    """

    title: str
    fields: dict[str, Any] | None = None
    X: Any = None
    names: list[str] = field(default_factory=list)
    y: list[str] | None = None
    target: str = ""
    n_features_known: bool = True


def read_source(path: str, *, kind: str | None = None, header: bool = True) -> Raw:
    """Read a file, or standard input for ``-``.

    Parameters
    ----------
    path : str
    kind : str, optional
        One of ``FORMATS``; by default told by the file's name, CSV or TSV for standard input.
    header : bool
        Whether the first line of CSV and TSV names the columns.
    """
    if path == "-":
        data = sys.stdin.buffer.read()
        return _read(io.BytesIO(data), "standard input", kind or "csv", header, guess=kind is None)
    place = Path(path)
    if place.is_dir():
        raise TableError(f"{path} is a folder; name a file.")
    if not place.exists():
        raise TableError(f"{path} does not exist.")
    if not place.stat().st_size and place.is_file():
        raise TableError(f"{path} is empty.")
    found = kind or SUFFIXES.get(place.suffix.lower())
    if found is None:
        raise TableError(
            f"{path}: the format cannot be told from the name; pass --format with one of "
            f"{', '.join(FORMATS)}."
        )
    with open(place, "rb") as file:
        return _read(file, path, found, header, guess=place.suffix.lower() == ".txt")


def _read(file: IO[bytes], title: str, kind: str, header: bool, *, guess: bool = False) -> Raw:
    if kind in ("csv", "tsv"):
        # Files called CSV often have semicolons; what is called TSV has tabs.
        separator = "\t" if kind == "tsv" and not guess else None
        return Raw(title, fields=read_fields(file, title, separator=separator, header=header))
    if kind == "parquet":
        return _read_parquet(file, title)
    return _read_npz(file, title) if kind == "npz" else _read_svmlight(file, title)


def _read_parquet(file: IO[bytes], title: str) -> Raw:
    pandas = import_pandas("reading Parquet")
    try:
        frame = pandas.read_parquet(file)
    except ImportError:
        raise TableError("reading Parquet needs pyarrow; install 'supred[parquet]'.") from None
    except Exception as error:  # pyarrow's own errors have no common ancestor of their own
        raise TableError(f"{title} is not a readable Parquet file: {_one_line(error)}") from None
    if not len(frame):
        raise TableError(f"{title} has no rows.")
    fields: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if pandas.api.types.is_numeric_dtype(column.dtype):
            fields[str(name)] = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            fields[str(name)] = ["" if pandas.isna(v) else str(v) for v in column]
    return Raw(title, fields=fields)


def _read_npz(file: IO[bytes], title: str) -> Raw:
    try:
        with np.load(io.BytesIO(file.read()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise TableError(f"{title} is not a readable NPZ file: {_one_line(error)}") from None
    X = _first(arrays, ("X", "x", "data"))
    if X is None or X.ndim != 2 or X.dtype.kind not in "fiub":
        raise TableError(f"{title} needs a matrix of numbers called X; it has {list(arrays)}.")
    y = _first(arrays, ("y", "target", "label", "labels"))
    if not len(X):
        raise TableError(f"{title} has no rows.")
    if y is not None and y.shape != (len(X),):
        raise TableError(f"{title}: y has shape {y.shape}, but X has {len(X)} rows.")
    names = arrays.get("feature_names")
    return Raw(
        title,
        X=X.astype(float),
        names=_names(X.shape[1]) if names is None else [str(name) for name in names],
        y=None if y is None else label_texts(y),
        target="y",
    )


def _read_svmlight(file: IO[bytes], title: str) -> Raw:
    from sklearn.datasets import load_svmlight_file

    data = file.read()
    if not data.strip():
        raise TableError(f"{title} is empty.")
    try:
        X, y = load_svmlight_file(io.BytesIO(data))
    except (ValueError, IndexError) as error:
        raise TableError(f"{title} is not in svmlight format: {_one_line(error)}") from None
    # A file in this format does not say how many features there are beyond the last it names.
    return Raw(
        title,
        X=dense_if_small(X),
        names=_names(X.shape[1]),
        y=label_texts(y),
        target="label",
        n_features_known=False,
    )


def dense_if_small(X: Any) -> Any:
    """Return sparse rows as a dense array where that takes little memory."""
    return X.toarray() if X.shape[0] * X.shape[1] <= MOST_DENSE_NUMBERS else X


def label_texts(y: np.ndarray) -> list[str]:
    """Return labels as text, whole numbers without a decimal point; missing ones empty."""
    if y.dtype.kind == "f":
        return ["" if np.isnan(v) else str(int(v)) if v == int(v) else repr(float(v)) for v in y]
    return [str(label) for label in y.tolist()]


def _first(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> Any:
    return next((arrays[name] for name in names if name in arrays), None)


def _names(count: int) -> list[str]:
    return [f"x{k + 1}" for k in range(count)]


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def read_builtin(name: str) -> Raw:
    """Return one of the data sets of ``BUILTIN``."""
    from sklearn import datasets as bundled

    from supred import datasets

    if name not in BUILTIN:
        raise TableError(f"--dataset {name} is not known; use one of {', '.join(BUILTIN)}.")
    loaders = {
        "digits": bundled.load_digits,
        "iris": bundled.load_iris,
        "wine": bundled.load_wine,
        "breast-cancer": bundled.load_breast_cancer,
    }
    if name in loaders:
        bunch = loaders[name]()
        classes = [str(label) for label in bunch.target_names]
        names = [str(name) for name in bunch.feature_names]
        labels = [classes[k] for k in bunch.target]
        return Raw(name, X=bunch.data.astype(float), names=names, y=labels, target="class")
    try:
        if name == "spirals":
            X, y = datasets.make_spirals(600, n_classes=3, noise=0.02, random_state=0)
        elif name == "swiss-roll":
            X, y = datasets.make_classes_on_swiss_roll(1000, random_state=0)
        elif name == "mnist":
            X, y = datasets.load_mnist()[:2]
        else:
            from supred.datasets.real import data_path

            with open(data_path(f"uci/{name}.csv"), "rb") as file:
                fields = read_fields(file, os.path.basename(name))
            return Raw(name, fields=fields, target="label")
    except FileNotFoundError as error:
        raise TableError(str(error)) from None
    return Raw(name, X=np.asarray(X), names=_names(X.shape[1]), y=label_texts(y), target="class")
