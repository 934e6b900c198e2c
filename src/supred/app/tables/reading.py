"""Tables by name: files of several formats, standard input, built-in data sets."""

import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from supred.app.tables.builtin import BUILTIN, FORMATS
from supred.app.tables.sources import FileSource, MemorySource, SparseSource
from supred.app.tables.table import TableError
from supred.base.packed_arrays import array_shape, read_array
from supred.common.arguments import listed, one_line
from supred.common.files import check_opened
from supred.rows.files.columns import check_names, check_width, import_pyarrow
from supred.rows.files.locating import SUFFIXES, files_of, open_reader
from supred.rows.files.parquet import ParquetReader
from supred.rows.files.readers import MOST_GROWTH, FileReader, most_unpacked

TEXT = ("csv", "tsv")
# What the label of a row takes while a table is streamed, of which there is little else.
LABEL_BYTES = 32
# Arrays of an NPZ file that are read: rows, labels and names of the columns.
ROWS, LABELS, NAMES = ("X", "x", "data"), ("y", "target", "label", "labels"), "feature_names"


def read_source(
    path: str, *, kind: str | None = None, header: bool = True
) -> MemorySource | SparseSource:
    """Read a file, or standard input for ``-``.

    Parameters
    ----------
    path : str
    kind : str, optional
        One of ``FORMATS``; by default inferred from the file's name, CSV or TSV for standard
        input.
    header : bool
        Whether the first line of CSV and TSV names the columns.
    """
    if path == "-":
        return _read_standard_input(kind or "csv", header)
    place = Path(path)
    if place.is_dir():
        raise TableError(
            f"{path} is a folder; name a file (fit, predict and transform take folders with "
            "--stream)."
        )
    if not place.exists():
        raise TableError(f"{path} does not exist.")
    if not place.is_file():
        raise TableError(f"{path} is not an ordinary file; pass - and give it as standard input.")
    found = kind or {**SUFFIXES, ".npz": "npz"}.get(place.suffix.lower())
    if found is None:
        raise TableError(
            f"{path}: the format cannot be inferred from the name; pass --format with one of "
            f"{', '.join(FORMATS)}."
        )
    return _read(place, path, found, header)


def _read_standard_input(kind: str, header: bool) -> MemorySource | SparseSource:
    if sys.stdin is None:
        raise TableError("standard input is closed; name a file.")
    title = "standard input"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "table")
        copy.write_bytes(sys.stdin.buffer.read())
        try:
            source = _read(copy, title, kind, header)
        except ValueError as error:
            raise TableError(str(error).replace(str(copy), title)) from None
        if isinstance(source, SparseSource):
            _ = source.whole  # while the copy is there
        return source


def _read(path: Path, title: str, kind: str, header: bool) -> MemorySource | SparseSource:
    if not path.stat().st_size and path.is_file():
        raise TableError(f"{title} is empty.")
    if kind == "npz":
        return _read_npz(path, title)
    if kind == "svmlight":
        return SparseSource([path], title)
    return MemorySource(_read_table(path, title, kind, header), title)


def _read_table(path: Path, title: str, kind: str, header: bool) -> Any:
    reader = open_reader(path, kind, header=header, title=title)
    check_packed(reader)
    parts, n_bytes = [], 0
    for part in reader.parts(list(range(reader.n_columns))):
        parts.append(part)
        n_bytes += part.nbytes
        if isinstance(reader, ParquetReader):
            check_growth(path, title, n_bytes)
    if not parts:
        what = "has a header but no rows" if header and kind in ("csv", "tsv") else "has no rows"
        raise TableError(f"{title} {what}.")
    return import_pyarrow().concat_tables(parts).rename_columns(reader.column_names)


def open_files(
    paths: Sequence[str],
    *,
    kind: str | None = None,
    header: bool = True,
    tell: Callable[[float], None] | None = None,
    copy: Path | None = None,
) -> tuple[FileSource | SparseSource, list[Path], str]:
    """Return the source of files that are read part by part, the files and their format."""
    if kind == "npz":
        raise TableError("--format npz cannot be combined with --stream.")
    files = [file for path in paths for file in files_of(path, kind)]
    kinds = {kind or SUFFIXES[file.suffix.lower()] for file in files}
    if len(kinds) > 1:
        raise TableError(f"the files are of several formats ({sorted(kinds)}); use one.")
    found = kinds.pop()
    title = listed(paths, 1)
    if found == "svmlight":
        return SparseSource(files, title), files, found
    readers = [open_reader(file, found, header=header) for file in files]
    for reader in readers:
        check_packed(reader, streamed=True)
    return FileSource(readers, title, tell, copy if found in TEXT else None), files, found


def _read_npz(path: Path, title: str) -> MemorySource:
    try:
        with zipfile.ZipFile(path) as archive:
            held = [name.removesuffix(".npy") for name in archive.namelist()]
            wanted = [name for name in held if name in (*ROWS, *LABELS, NAMES)]
            shapes = [array_shape(archive, f"{name}.npy") for name in wanted]
            # Numbers take eight bytes once they are read, texts what the file declares.
            declared = [archive.getinfo(f"{name}.npy").file_size for name in wanted]
            sizes = [8 * prod(shape) for shape in shapes]
            check_growth(path, title, sum(map(max, sizes, declared)))
            arrays = {name: read_array(archive, f"{name}.npy") for name in wanted}
    except TableError:
        raise
    except Exception as error:  # whatever a file that was made to deceive holds
        check_opened(error, path)
        raise TableError(f"{title} is not a readable NPZ file: {one_line(error)}") from None
    X = _first(arrays, ROWS)
    if X is None or X.ndim != 2 or X.dtype.kind not in "fiub":
        raise TableError(f"{title} needs a matrix of numbers called X; it has {held}.")
    check_width(X.shape[1], title)
    y = _first(arrays, LABELS)
    if y is not None and y.shape != (len(X),):
        raise TableError(f"{title}: y has shape {y.shape}, but X has {len(X)} rows.")
    given = arrays.get(NAMES)
    named = None if given is None else [str(name) for name in given.ravel()]
    if named is not None:
        check_names([*named, *([] if y is None else ["y"])], title)
        if len(named) != X.shape[1]:
            raise TableError(
                f"{title}: {NAMES} has {len(named)} names, but X has {X.shape[1]} columns."
            )
    labels = {} if y is None else {"y": y}
    return MemorySource.of_matrix(X, title, named, labels)


def check_packed(reader: FileReader, *, streamed: bool = False) -> None:
    """Raise a TableError if the rows of a Parquet file take far more memory than its size tells."""
    if isinstance(reader, ParquetReader):  # the others take a byte or more for a number
        n_bytes = reader.n_rows * reader.n_columns * 8
        if streamed:  # a batch of the numbers is held at a time, and the label of each row
            batch = min(reader.n_rows, ParquetReader.BATCH_ROWS) * reader.n_columns * 8
            n_bytes = max(batch, reader.n_rows * LABEL_BYTES)
        check_growth(reader.path, reader.title, n_bytes)


def check_growth(path: Path, title: str, n_bytes: int) -> None:
    """Raise a TableError if a file would take far more memory than its size tells."""
    size = path.stat().st_size
    if n_bytes > most_unpacked(size):
        raise TableError(
            f"{title} has {size} bytes and would unpack to {n_bytes}, more than {MOST_GROWTH} "
            "times as many; if you trust it, save it as CSV or NPY."
        )


def _first(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> Any:
    return next((arrays[name] for name in names if name in arrays), None)


def read_builtin(name: str) -> MemorySource:
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
        names, classes = map(str, bunch.feature_names), np.asarray(bunch.target_names).astype(str)
        return MemorySource.of_matrix(
            bunch.data, name, list(names), {"class": classes[bunch.target]}
        )
    try:
        if name == "spirals":
            X, y = datasets.make_spirals(600, n_classes=3, noise=0.02, random_state=0)
        elif name == "swiss-roll":
            X, y = datasets.make_classes_on_swiss_roll(1000, random_state=0)
        elif name == "mnist":
            X, y = datasets.load_mnist()[:2]
        else:
            from supred.datasets.real import data_path

            table = _read_table(Path(data_path(f"uci/{name}.csv")), name, "csv", True)
            return MemorySource(table, name, "label")
    except FileNotFoundError as error:
        raise TableError(str(error)) from None
    return MemorySource.of_matrix(X, name, labels={"class": y})
