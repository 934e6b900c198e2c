"""Which files and which columns of them are meant."""

import glob
import os
from pathlib import Path
from typing import Any

import numpy as np

from supred.rows.files.readers import FileReader, NpyReader, ParquetReader
from supred.rows.files.text_readers import CsvReader, SvmlightReader

READERS: dict[str, type[FileReader]] = {
    "npy": NpyReader,
    "parquet": ParquetReader,
    "csv": CsvReader,
    "svmlight": SvmlightReader,
}
SUFFIXES = {
    ".npy": "npy",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
}
Column = str | int
PathLike = str | os.PathLike[str]


def files_of(path: Any, format: str | None) -> list[Path]:
    """Return the files that `path` names, in order."""
    if not isinstance(path, str | os.PathLike):
        files = [Path(one) for one in path]
        if not files:
            raise ValueError("path is an empty list; name at least one file.")
    elif glob.has_magic(os.fspath(path)) and not Path(path).exists():
        files = sorted(Path(found) for found in glob.glob(os.fspath(path)))
        if not files:
            raise FileNotFoundError(f"no file matches {os.fspath(path)}.")
    elif Path(path).is_dir():
        files = sorted(
            file
            for file in Path(path).iterdir()
            if SUFFIXES.get(file.suffix.lower()) in ([format] if format else READERS)
        )
        if not files:
            raise FileNotFoundError(f"the folder {path} has no file of a known format.")
    else:
        files = [Path(path)]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"{file} is not a file.")
        if format is None and file.suffix.lower() not in SUFFIXES:
            raise ValueError(
                f"{file}: the format cannot be told from the name; give format= one of "
                f"{', '.join(READERS)}."
            )
    return files


def index(reader: FileReader, column: Any, name: str) -> int:
    """Return the number of a column that is given by name or number."""
    if isinstance(column, str):
        if reader.names is None or column not in reader.names:
            hint = "" if reader.names else ": give the position of the column, such as -1"
            raise ValueError(
                f"{name}: {reader.path} has no column {column!r}; it has "
                f"{shortened(reader.names)}{hint}."
            )
        return reader.names.index(column)
    if isinstance(column, int | np.integer) and -reader.n_columns <= column < reader.n_columns:
        return int(column) % reader.n_columns
    raise ValueError(
        f"{name}: {reader.path} has no column {column!r}; it has {reader.n_columns} columns."
    )


def same_column(first: FileReader, reader: FileReader, column: int) -> int:
    """Return the number that a column of the first file has in another."""
    if reader is first or reader.names is None or first.names is None:
        return column
    return reader.names.index(first.names[column])


def shortened(names: list[str] | None) -> str:
    """Return the first names as text."""
    if names is None:
        return "no names"
    return str(names) if len(names) <= 8 else f"[{', '.join(map(repr, names[:8]))}, ...]"
