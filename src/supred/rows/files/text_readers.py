"""Readers of text files: CSV and svmlight, parsed a segment of bytes at a time.

A first pass finds where the segments begin and how many rows each has; after it any stretch of
rows is read by parsing the segments that hold it. Nothing but the last segment is kept.
"""

import io
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from supred.rows.files.readers import FileReader
from supred.rows.files.reading import join

SEGMENT_BYTES = 8_000_000


class Segment(NamedTuple):
    """A stretch of a file that holds whole rows."""

    offset: int
    length: int
    first_row: int
    n_rows: int


class SegmentedReader(FileReader):
    """Rows of a text file."""

    quoted = False

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._segments: list[Segment] | None = None
        self._last: tuple[int, Any] | None = None  # number of a segment, its rows
        self._body = 0  # where the rows begin

    @abstractmethod
    def parse(self, data: bytes, first_row: int) -> Any:
        """Return the rows of a segment as an array or CSR matrix."""

    def look_at(self, data: bytes, first_row: int) -> int:
        """Return the number of rows of a segment, in the first pass."""
        return int(self.parse(data, first_row).shape[0])

    @property
    def segments(self) -> list[Segment]:
        """The segments; the first call reads the file."""
        if self._segments is None:
            found, first_row = [], 0
            for offset, data in self._cut():
                n_rows = self.look_at(data, first_row)
                if n_rows:
                    found.append(Segment(offset, len(data), first_row, n_rows))
                first_row += n_rows
            self._segments = found
        return self._segments

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(segment.n_rows for segment in self.segments)

    def read(self, start: int, stop: int) -> Any:
        """Return the numbers of some rows."""
        pieces = []
        for number, segment in enumerate(self.segments):
            end = segment.first_row + segment.n_rows
            if segment.first_row < stop and start < end:
                rows = self._rows_of(number)
                low = max(start, segment.first_row) - segment.first_row
                pieces.append(rows[low : min(stop, end) - segment.first_row])
        return join(pieces)

    def _rows_of(self, number: int) -> Any:
        if self._last is None or self._last[0] != number:
            self._last = None
            segment = self.segments[number]
            with open(self.path, "rb") as file:
                file.seek(segment.offset)
                rows = self.parse(file.read(segment.length), segment.first_row)
            if rows.shape[0] != segment.n_rows:
                raise ValueError(f"{self.path} was changed while it was read.")
            self._last = number, rows
        return self._last[1]

    def _cut(self) -> Iterator[tuple[int, bytes]]:
        """Yield offset and bytes of the segments, which end where a row ends."""
        with open(self.path, "rb") as file:
            file.seek(self._body)
            while True:
                offset = file.tell()
                data = file.read(SEGMENT_BYTES)
                if not data:
                    return
                data += file.readline()
                while self.quoted and data.count(b'"') % 2:  # a line break inside of quotes
                    more = file.readline()
                    if not more:
                        raise ValueError(f"{self.path} has a quotation mark that never closes.")
                    data += more
                yield offset, data


class CsvReader(SegmentedReader):
    """Rows of a CSV or TSV file; a first line that is not all numbers names the columns."""

    quoted = True

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            import pandas
        except ImportError:
            raise ImportError("reading CSV needs pandas; install 'supred[cli]'.") from None
        self._read_csv = pandas.read_csv
        self._parser_error = pandas.errors.ParserError
        with open(path, "rb") as file:
            line = file.readline()
            after = file.tell()
        text = line.decode("utf-8-sig", errors="replace").rstrip("\r\n")
        if not text.strip():
            raise ValueError(f"{path} is empty or begins with an empty line.")
        self.separator = "\t" if "\t" in text else max(",;", key=text.count)
        first = self._frame(text.encode(), dtype=str, keep_default_na=False).iloc[0].tolist()
        self.n_columns = len(first)
        self.columns = list(range(self.n_columns))
        if not all(_is_number(word) for word in first):
            self.names, self._body = [word.strip() for word in first], after

    def _frame(self, data: bytes, **options: Any) -> Any:
        return self._read_csv(
            io.BytesIO(data), sep=self.separator, header=None, encoding="utf-8-sig", **options
        )

    def _checked_frame(self, data: bytes, first_row: int, **options: Any) -> Any:
        """Return a segment as a frame with all columns."""
        try:
            frame = self._frame(data, **options)
        except self._parser_error as error:
            raise ValueError(
                f"{self.path}, after row {first_row}: {' '.join(str(error).split())}"
            ) from None
        if frame.shape[1] != self.n_columns:
            raise ValueError(
                f"{self.path} has {self.n_columns} columns, but {frame.shape[1]} after row "
                f"{first_row}."
            )
        return frame

    def parse(self, data: bytes, first_row: int) -> np.ndarray:
        """Return the wanted columns of a segment as numbers."""
        if not data.strip():
            return np.empty((0, len(self.columns)))
        frame = self._checked_frame(data, first_row)
        result = np.empty((len(frame), len(self.columns)))
        for place, column in enumerate(self.columns):
            values = frame[column].to_numpy()
            if values.dtype.kind not in "fiub":
                words = frame[column].astype(str)
                row = next(r for r, word in enumerate(words) if not _is_number(word))
                raise ValueError(
                    f"{self.path}: column {self.name_of(column)} holds {words[row]!r} in row "
                    f"{first_row + row}, not a number; name the columns to use in `columns`."
                )
            result[:, place] = values
        return result

    def values(self, column: int) -> np.ndarray:
        """Return a whole column; texts that are empty are missing, equal ones one object."""
        import pandas

        whole = pandas.concat(self._pieces(column), ignore_index=True)
        if whole.dtype.kind in "fiub":
            return whole.to_numpy()
        if any(piece.dtype.kind in "fiub" for piece in self._pieces(column)):
            # What looks like numbers in one place is text in another: it is text.
            whole = pandas.concat(self._pieces(column, dtype=str), ignore_index=True)
        codes, words = pandas.factorize(whole.astype(object), use_na_sentinel=True)
        return np.array([*words, None], dtype=object)[codes]

    def _pieces(self, column: int, **options: Any) -> Iterator[Any]:
        row = 0
        for _, data in self._cut():
            if data.strip():
                piece = self._checked_frame(data, row, **options)[column]
                row += len(piece)
                yield piece


class SvmlightReader(SegmentedReader):
    """Sparse rows of an svmlight file; each row begins with its label.

    Attributes
    ----------
    first_index, last_index : int
        Least and largest index of a feature, known after the first pass.
    shift : int
        What the caller subtracts from the indices: 1 where they count from one.
    """

    is_sparse = True

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.first_index, self.last_index = 2**62, -1
        self.shift = 0
        self._labels: list[np.ndarray] = []

    def look_at(self, data: bytes, first_row: int) -> int:
        """Note the labels and the range of the indices of a segment."""
        X, y = self._load(data, first_row)
        self._labels.append(y)
        if X.nnz:
            self.first_index = min(self.first_index, int(X.indices.min()))
            self.last_index = max(self.last_index, int(X.indices.max()))
        return len(y)

    def parse(self, data: bytes, first_row: int) -> sparse.csr_matrix:
        """Return the rows of a segment."""
        X = self._load(data, first_row)[0]
        n_rows = X.shape[0]
        beyond = self.n_columns + self.shift
        if X.nnz and int(X.indices.max()) >= beyond:
            raise ValueError(
                f"{self.path} has a feature of index {int(X.indices.max())}, but n_features="
                f"{self.n_columns}; raise n_features."
            )
        return sparse.csr_matrix(
            (X.data, X.indices - self.shift, X.indptr), shape=(n_rows, self.n_columns)
        )

    def values(self, column: int) -> np.ndarray:
        """Return the labels."""
        _ = self.segments
        return np.concatenate(self._labels) if self._labels else np.empty(0)

    def _load(self, data: bytes, first_row: int) -> Any:
        from sklearn.datasets import load_svmlight_file

        try:
            return load_svmlight_file(io.BytesIO(data), zero_based=True)
        except (ValueError, IndexError) as error:
            raise ValueError(
                f"{self.path} is not in svmlight format after row {first_row}: {error}"
            ) from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
