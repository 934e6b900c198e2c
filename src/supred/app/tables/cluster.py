"""Tables that the workers of a Dask cluster read, prepare and keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from supred.app.tables.reading import check_growth, check_packed
from supred.app.tables.sources import Source, Visit, matrix_of
from supred.app.tables.table import Column, TableError
from supred.common.arguments import listed
from supred.common.threads import Turn
from supred.rows.files.columns import import_pyarrow
from supred.rows.files.locating import SUFFIXES, check_same_columns, files_of, open_reader
from supred.rows.files.parquet import ParquetReader
from supred.rows.files.readers import FileReader
from supred.rows.files.text_readers import CsvReader

# Bytes of a text file that a worker reads at a time.
LEAST_PIECE, MOST_PIECE = 1_000_000, 32_000_000


@dataclass(frozen=True)
class Piece:
    """Rows of a file: a stretch of text, or a row group of a Parquet file.

    Attributes
    ----------
    file, kind : str
        Where it is, and its format.
    header : bool
        Whether the first line of text names the columns.
    start, stop : int
        First byte and the byte after the last, or the number of a row group and the next.
    stamp : tuple (size, time, bytes)
        What the file was when the command began.
    run : str
        Of what command this is a part: a worker has a reader of a file for each.
    """

    file: str
    kind: str
    header: bool
    start: int
    stop: int
    stamp: tuple[int, int, bytes]
    run: str

    def read(self, columns: Sequence[str]) -> Any:
        """Return some columns as an Arrow table."""
        reader = _reader(self.file, self.kind, self.header, self.run)
        (size, _, head), (own_size, _, own_head) = self.stamp, reader.stamp
        if (size, head) != (own_size, own_head):  # a copy may have another time
            raise reader.changed()
        found_at = {name: place for place, name in enumerate(reader.column_names)}
        places = [found_at[name] for name in columns]
        if isinstance(reader, ParquetReader):
            found = _row_group(reader, places, self.start)
        else:
            assert isinstance(reader, CsvReader)
            found = self._lines(reader, places)
        return found.rename_columns(list(columns))

    def _lines(self, reader: CsvReader, places: list[int]) -> Any:
        """Return some columns of the rows that begin in a stretch of text."""
        with reader.opened() as file:
            if self.start:
                file.seek(self.start - 1)
                file.readline()  # the row before, or the rest of a row that began there
            begin = file.tell()
            data = file.read(max(self.stop - begin, 0))
            if data and not data.endswith(b"\n"):
                data += file.readline()
            try:
                return reader.layout.parse(data, self.file, 2 if begin else 1, places)
            except ValueError:  # again, to name the line
                file.seek(0)
                first_line = 1 + file.read(begin).count(b"\n")
                return reader.layout.parse(data, self.file, first_line, places)


def _reader(file: str, kind: str, header: bool, run: str) -> FileReader:
    """Return the reader of a file, the same for all pieces: it knows if the file is changed."""
    with _opening:  # or each thread of a worker would open its own
        return _opened(file, kind, header, run)


_opening = Turn()


@lru_cache(maxsize=64)
def _opened(file: str, kind: str, header: bool, run: str) -> FileReader:
    return open_reader(Path(file), kind, header=header)


def _row_group(reader: ParquetReader, places: list[int], group: int) -> Any:
    """Return some columns of a row group; an error if they are far more than the file."""
    parts, n_bytes = [], 0
    for part in reader.parts_of_group(places, group):
        parts.append(part)
        n_bytes += part.nbytes
        check_growth(reader.path, reader.title, n_bytes)
    if not parts:
        return reader.schema.empty_table().select([reader.column_names[k] for k in places])
    return import_pyarrow().concat_tables(parts)


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
        kinds = [kind or SUFFIXES[file.suffix.lower()] for file in files]
        for file, found in zip(files, kinds, strict=True):
            if found not in ("csv", "tsv", "parquet"):
                raise TableError(f"{file}: --scheduler reads CSV, TSV and Parquet files only.")
        self.readers = [
            open_reader(file, found, header=header)
            for file, found in zip(files, kinds, strict=True)
        ]
        check_same_columns(self.readers)
        for reader in self.readers:
            check_packed(reader, streamed=True)
        self.names = self.readers[0].column_names
        size = sum(reader.stamp[0] for reader in self.readers)
        size //= 4 * max(len(client.nthreads()), 1)
        step, run = min(max(size, LEAST_PIECE), MOST_PIECE), uuid4().hex
        self.pieces = [
            piece
            for reader, found in zip(self.readers, kinds, strict=True)
            for piece in _pieces(reader, found, header, step, run)
        ]
        if not self.pieces:  # Parquet files without a row group
            raise TableError(f"{self.title} has no rows.")

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


def _pieces(reader: FileReader, kind: str, header: bool, step: int, run: str) -> list[Piece]:
    """Return the parts of a file that are read at a time: row groups, or `step` bytes of text."""
    size = reader.stamp[0]
    if isinstance(reader, ParquetReader):
        stretches = [(g, g + 1) for g in range(reader.metadata.num_row_groups)]
    else:
        assert isinstance(reader, CsvReader)
        starts = range(reader.body, max(size, reader.body + 1), step)
        stretches = [(start, min(start + step, size)) for start in starts]
    path = str(reader.path.absolute())
    return [Piece(path, kind, header, *stretch, reader.stamp, run) for stretch in stretches]


def _visited(piece: Piece, names: list[str], function: Visit) -> Any:
    return function(piece.read(names))


def _matrix(piece: Piece, columns: list[Column], rows: np.ndarray | None) -> np.ndarray:
    X = matrix_of(piece.read([column.name for column in columns]), columns)
    return X if rows is None else X[rows]
