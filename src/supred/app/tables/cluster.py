"""Tables that the workers of a Dask cluster read, prepare and keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supred.app.tables.sources import Source, Visit, matrix_of
from supred.app.tables.table import Column, TableError
from supred.common.arguments import listed
from supred.rows.files.locating import SUFFIXES, files_of, open_reader
from supred.rows.files.parquet import ParquetReader
from supred.rows.files.text_readers import CsvReader, TextLayout

# Bytes of a text file that a worker reads at a time.
LEAST_PIECE, MOST_PIECE = 1_000_000, 32_000_000


@dataclass(frozen=True)
class Piece:
    """Rows of a file: a stretch of text, or a row group of a Parquet file.

    Attributes
    ----------
    file : str
    start, stop : int
        First byte and the byte after the last, or the number of a row group and the next.
    names : tuple of str
        All columns, as the file has them.
    layout : TextLayout or None
    """

    file: str
    start: int
    stop: int
    names: tuple[str, ...]
    layout: TextLayout | None

    def read(self, columns: Sequence[str]) -> Any:
        """Return some columns as an Arrow table."""
        if self.layout is None:
            from pyarrow import parquet

            rows = parquet.ParquetFile(self.file).read_row_group(self.start, columns=list(columns))
            return rows.select(list(columns))
        found_at = {name: place for place, name in enumerate(self.names)}
        places = [found_at[name] for name in columns]
        with open(self.file, "rb") as file:
            if self.start:
                file.seek(self.start - 1)
                file.readline()  # the row before, or the rest of a row that began there
            begin = file.tell()
            data = file.read(max(self.stop - begin, 0))
            if data and not data.endswith(b"\n"):
                data += file.readline()
        try:
            found = self.layout.parse(data, self.file, 2 if begin else 1, places)
        except ValueError:  # again, to name the line
            with open(self.file, "rb") as file:
                first_line = 1 + file.read(begin).count(b"\n")
            found = self.layout.parse(data, self.file, first_line, places)
        return found.rename_columns(list(columns))


class ClusterSource(Source):
    """CSV, TSV and Parquet files that every worker can open.

    Parameters
    ----------
    client : distributed.Client
    paths : list of str
        Files, folders and patterns.
    kind : str, optional
        Format; by default inferred from the files' names.
    header : bool
        Whether the first line of CSV and TSV names the columns.
    """

    def __init__(
        self, client: Any, paths: Sequence[str], kind: str | None = None, header: bool = True
    ) -> None:
        self.client = client
        self.title = listed(paths, 1)
        files = [file for path in paths for file in files_of(path, kind)]
        size = sum(file.stat().st_size for file in files) // (4 * max(len(client.nthreads()), 1))
        step = min(max(size, LEAST_PIECE), MOST_PIECE)
        self.pieces = [piece for file in files for piece in _pieces(file, kind, header, step)]
        self.names = list(self.pieces[0].names)
        for piece in self.pieces:
            if sorted(piece.names) != sorted(self.names):
                raise TableError(f"{piece.file} and {files[0]} do not have the same columns.")

    def visit(self, function: Visit, names: Sequence[str]) -> list[Any]:
        """Return what a function makes of some columns of each part, in order, on the workers."""
        n_pieces = len(self.pieces)
        arguments = self.pieces, [list(names)] * n_pieces, [function] * n_pieces
        return self.client.gather(self.client.map(_visited, *arguments, pure=False))

    def matrix(self, columns: Sequence[Column], labelled: np.ndarray) -> Any:
        """Return columns of the rows with a label as a Dask array of numbers."""
        import dask.array as da
        from dask import delayed

        kept = np.split(labelled, np.cumsum(self.part_lengths)[:-1])
        make = delayed(_matrix)
        return da.concatenate(
            [
                da.from_delayed(
                    make(piece, list(columns), None if rows.all() else rows),
                    (int(rows.sum()), len(columns)),
                    dtype=float,
                )
                for piece, rows in zip(self.pieces, kept, strict=True)
                if rows.any()
            ]
        )


def _pieces(file: Path, kind: str | None, header: bool, step: int) -> list[Piece]:
    found = kind or SUFFIXES[file.suffix.lower()]
    if found not in ("csv", "tsv", "parquet"):
        raise TableError(f"{file}: --scheduler reads CSV, TSV and Parquet files only.")
    path = str(file.absolute())
    reader = open_reader(file, found, header=header)
    names = tuple(reader.column_names)
    if isinstance(reader, ParquetReader):
        return [Piece(path, g, g + 1, names, None) for g in range(reader.metadata.num_row_groups)]
    assert isinstance(reader, CsvReader)
    size = file.stat().st_size
    starts = range(reader.body, max(size, reader.body + 1), step)
    return [Piece(path, s, min(s + step, size), names, reader.layout) for s in starts]


def _visited(piece: Piece, names: list[str], function: Visit) -> Any:
    return function(piece.read(names))


def _matrix(piece: Piece, columns: list[Column], rows: np.ndarray | None) -> np.ndarray:
    X = matrix_of(piece.read([column.name for column in columns]), columns)
    return X if rows is None else X[rows]
