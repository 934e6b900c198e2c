"""Which files and which columns of them are meant."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supred.rows.files.parquet import ParquetReader
from supred.rows.files.readers import FileReader, NpyReader
from supred.rows.files.svmlight import SvmlightReader
from supred.rows.files.text_readers import CsvReader

READERS: dict[str, type[FileReader]] = {
    "npy": NpyReader,
    "parquet": ParquetReader,
    "csv": CsvReader,
    "tsv": CsvReader,
    "svmlight": SvmlightReader,
}
SUFFIXES = {
    ".npy": "npy",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
}
PathLike = str | os.PathLike[str]


def files_of(path: Any, format: str | None) -> list[Path]:
    """Return the files that `path` names, in order."""
    if not isinstance(path, str | os.PathLike):
        try:
            files = [Path(one) for one in path]
        except TypeError:
            raise ValueError(
                f"path={_shown(path)} is not a path; give a file, a folder, a pattern or a list of "
                "files."
            ) from None
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
                f"{file}: the format cannot be inferred from the name; give format= (--format) one "
                f"of {', '.join(READERS)}."
            )
    return files


def open_reader(
    path: Path, kind: str | None = None, *, header: bool = True, title: str | None = None
) -> FileReader:
    """Return the reader of one file, by default of the format that its name tells."""
    kind = kind or SUFFIXES[path.suffix.lower()]
    if kind in ("csv", "tsv"):
        separator = "\t" if kind == "tsv" else None
        return CsvReader(path, title=title, header=header, separator=separator)
    return READERS[kind](path, title=title)


def check_same_columns(readers: Sequence[FileReader]) -> None:
    """Raise a ValueError if files do not have the same columns, in whatever order."""
    first = readers[0]
    for reader in readers[1:]:
        if reader.n_columns != first.n_columns:
            raise ValueError(
                f"{reader.title} has {reader.n_columns} columns, but {first.title} has "
                f"{first.n_columns}; all files must have the same columns."
            )
        if sorted(reader.column_names) != sorted(first.column_names):
            raise ValueError(
                f"{reader.title} has columns {shortened(reader.names)}, but {first.title} has "
                f"{shortened(first.names)}; all files must have the same columns."
            )


def index(reader: FileReader, column: Any, name: str) -> int:
    """Return the number of a column that is given by name or number."""
    if isinstance(column, str):
        if reader.names is None or column not in reader.names:
            hint = "" if reader.names else ": give the position of the column, such as -1"
            raise ValueError(
                f"{name}: {reader.title} has no column {column!r}; it has "
                f"{shortened(reader.names)}{hint}."
            )
        return reader.names.index(column)
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if whole and -reader.n_columns <= column < reader.n_columns:
        return int(column) % reader.n_columns
    raise ValueError(
        f"{name}: {reader.title} has no column {_shown(column)}; it has {reader.n_columns} columns."
    )


def _shown(value: Any) -> str:
    return " ".join(repr(value).split())[:80]


def shortened(names: list[str] | None) -> str:
    """Return the first names as text."""
    if names is None:
        return "no names"
    return str(names) if len(names) <= 8 else f"[{', '.join(map(repr, names[:8]))}, ...]"
