"""Readers of text files: CSV, parsed a segment of bytes at a time.

A first pass finds where the segments begin and how many rows each has; after it any stretch of
rows is read by parsing the segments that hold it. Nothing but the last segment is kept.
"""

import codecs
import csv
import io
import re
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from supred.common.arguments import one_line
from supred.rows.files.columns import Column, check_header, check_width, import_pyarrow
from supred.rows.files.readers import FileReader
from supred.rows.files.reading import join

SEGMENT_BYTES = 8_000_000
# Bytes of a row beyond its first line, if it has line breaks inside of quotes.
MOST_IN_QUOTES = 8_000_000
# Columns that are parsed at once; Arrow takes 10 kB for each of them.
MOST_AT_ONCE = 8192


class Segment(NamedTuple):
    """A stretch of a file that holds whole rows."""

    offset: int
    length: int
    first_line: int
    first_row: int = 0
    n_rows: int = 0


class SegmentedReader(FileReader):
    """Rows of a text file."""

    separators = ""  # what a field may begin after, beside the beginning of a line

    def __init__(self, path: Path, title: str | None = None) -> None:
        super().__init__(path, title)
        self._segments: list[Segment] | None = None
        self._last: tuple[int, Any] | None = None  # number of a segment, its rows
        self.body = 0  # where the rows begin

    @abstractmethod
    def parse(self, data: bytes, place: Segment) -> Any:
        """Return the rows of a segment as an array or CSR matrix."""

    @abstractmethod
    def look_at(self, data: bytes, place: Segment) -> int:
        """Return the number of rows of a segment, in the first pass."""

    def start_over(self) -> None:
        """Forget what a first pass that was interrupted has noted."""

    @property
    def segments(self) -> list[Segment]:
        """The segments; the first call reads the file."""
        if self._segments is None:
            self.start_over()
            found, first_row = [], 0
            for place, data in self._cut():
                place = place._replace(first_row=first_row)
                n_rows = self.look_at(data, place)
                if n_rows:
                    found.append(place._replace(n_rows=n_rows))
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
        # What is kept for the next call stays as it is, whatever the caller makes of these.
        return join(pieces) if len(pieces) > 1 else pieces[0].copy()

    def _rows_of(self, number: int) -> Any:
        if self._last is None or self._last[0] != number:
            self._last = None
            segment = self.segments[number]
            with self.opened() as file:
                file.seek(segment.offset)
                rows = self.parse(file.read(segment.length), segment)
            self._last = number, rows
        return self._last[1]

    def _cut(self) -> Iterator[tuple[Segment, bytes]]:
        """Yield place and bytes of the segments, which end where a row ends."""
        with self.opened() as file:
            line = 1 + file.read(self.body).count(b"\n")
            while True:
                offset = file.tell()
                data = file.read(SEGMENT_BYTES)
                if not data:
                    return
                data += file.readline()
                data += _rest_of_row(file, data, self.separators)
                yield Segment(offset, len(data), line), data
                line += data.count(b"\n")


class CsvReader(SegmentedReader):
    """Rows of a CSV or TSV file, read strictly: UTF-8, as many fields in each row as in the first.

    Parameters
    ----------
    path : path
    header : bool
        Whether the first line names the columns; they are column1, column2, ... otherwise.
    title : str, optional
        What to call the file in an error.
    separator : str, optional
        By default a tab if the first line has one, else a semicolon or a comma, whichever the
        first line has more of.
    """

    prefix = "column"

    def __init__(
        self,
        path: Path,
        *,
        header: bool = True,
        title: str | None = None,
        separator: str | None = None,
    ) -> None:
        super().__init__(path, title)
        with self.opened() as file:
            line, after = _first_row(file, separator or ",;\t")
        self.layout = TextLayout.of(line, self.title, header=header, separator=separator)
        self.separators, self.n_columns = self.layout.separator, len(self.layout.fields)
        if header:
            self.names, self.body = list(self.layout.fields), after
        self.use([Column(name, "number") for name in self.column_names], range(self.n_columns))

    def look_at(self, data: bytes, place: Segment) -> int:
        """Return the number of rows of a segment; an error if a wanted field is no number."""
        return len(self.parse(data, place))

    def parse(self, data: bytes, place: Segment) -> np.ndarray:
        """Return the wanted columns of a segment as numbers."""
        table = self.layout.parse(data, self.title, place.first_line, self.places)
        return self.encode(table, place.first_row)

    def parts(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns as Arrow tables of texts, one after the other."""
        size = self.path.stat().st_size
        for place, data in self._cut():
            table = self.layout.parse(data, self.title, place.first_line, columns)
            self.share = (place.offset + place.length) / size
            if table.num_rows:
                yield table


@dataclass(frozen=True)
class TextLayout:
    """How a text table is written.

    Attributes
    ----------
    fields : tuple of str
        The fields of the first row: the names of the columns, if the table has a header.
    separator : str
    """

    fields: tuple[str, ...]
    separator: str

    @classmethod
    def of(
        cls, line: bytes, title: str, *, header: bool = True, separator: str | None = None
    ) -> "TextLayout":
        """Return the layout that the first row shows.

        Raises
        ------
        ValueError
            If it is empty, not text, or as a header has no or equal names, or numbers only.
        """
        text = _decoded(line, title, 1).removeprefix("\ufeff")
        if not text.strip():
            raise ValueError(f"{title} is empty or begins with an empty line.")
        if "\0" in text:
            raise ValueError(
                f"{title} holds NUL characters in its first line; if it is in UTF-16, convert it, "
                "such as with iconv -f utf-16 -t utf-8."
            )
        bare = re.sub(r'(?<![^,;\t\r\n])"[^"]*(?:""[^"]*)*"', "", text)
        separator = separator or ("\t" if "\t" in bare else max(",;", key=bare.count))
        try:
            words = next(csv.reader([text], delimiter=separator, strict=True))
        except csv.Error as error:
            reason: object = error
            if "\r" in bare.strip():
                reason = "lines end with a carriage return alone; convert them: tr '\\r' '\\n'"
            raise ValueError(
                f"{title}: the first line is not a row of a table ({reason})."
            ) from None
        fields = tuple(word.strip() for word in words)
        check_width(len(fields), title)
        if header:
            check_header(fields, title)
        return cls(fields, separator)

    def parse(self, data: bytes, title: str, first_line: int, columns: Sequence[int]) -> Any:
        """Return some columns of a stretch of whole rows as an Arrow table of texts.

        Parameters
        ----------
        data : bytes
        title : str
            What to call the file in an error.
        first_line : int
            Number of the line with which `data` begins.
        columns : sequence of int
            Their names in the result are those of `fields`.
        """
        pa = import_pyarrow()
        from pyarrow import csv as arrow_csv

        if len(columns) > MOST_AT_ONCE:
            groups = range(0, len(columns), MOST_AT_ONCE)
            parts = [
                self.parse(data, title, first_line, columns[k : k + MOST_AT_ONCE]) for k in groups
            ]
            found = {name: part[name] for part in parts for name in part.column_names}
            return pa.table(found)
        names = [str(k) for k in range(len(self.fields))]
        wanted = [names[k] for k in columns]
        # A blank line is a row of a table of one column, and nothing otherwise.
        one_column = len(names) == 1
        if not (data if one_column else data.strip(b"\r\n")):
            return pa.table({name: pa.array([], pa.string()) for name in wanted})
        if _is_open_after(data, self.separator):
            self._explain(data, title, first_line)
        if first_line > 1 and data.startswith(codecs.BOM_UTF8):
            data = codecs.BOM_UTF8 + data  # Arrow drops one, wherever in the file it is
        try:
            return arrow_csv.read_csv(
                _copied(data),
                # One block, so that rows cannot be cut inside of quotes.
                arrow_csv.ReadOptions(column_names=names, block_size=len(data) + 1),
                arrow_csv.ParseOptions(
                    delimiter=self.separator,
                    newlines_in_values=True,
                    ignore_empty_lines=not one_column,
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), include_columns=wanted
                ),
            )
        except pa.ArrowInvalid as error:
            self._explain(data, title, first_line)
            raise ValueError(f"{title} cannot be read as a table: {one_line(error)}") from None

    def _explain(self, data: bytes, title: str, first_line: int) -> None:
        """Raise an error that names the first line that is wrong, if one is."""
        lines = io.StringIO(_decoded(data, title, first_line), newline="")
        rows = csv.reader(lines, delimiter=self.separator, strict=True)
        line = first_line  # where a row begins
        try:
            for row in rows:
                if row and len(row) != len(self.fields):
                    raise ValueError(
                        f"{title}, line {line}: {len(row)} fields where the first line has "
                        f"{len(self.fields)}."
                    )
                line = first_line + rows.line_num
        except csv.Error as error:
            raise ValueError(
                f"{title}, line {line}: cannot be read as a table ({error}); check the quotes of "
                "the row that begins there."
            ) from None


def _copied(data: bytes) -> Any:
    """Return bytes as an Arrow buffer that Python has no part in.

    Arrow lets go of what it has read in a thread of its own. If that is an object of Python's and
    the process is about to end, the thread aborts it.
    """
    stream = import_pyarrow().BufferOutputStream()
    stream.write(data)
    return stream.getvalue()


def _first_row(file: IO[bytes], separators: str) -> tuple[bytes, int]:
    """Return the first row of a text table, and where it ends."""
    line = file.readline()
    line += _rest_of_row(file, line, separators)
    return line, file.tell()


def _rest_of_row(file: IO[bytes], data: bytes, separators: str) -> bytes:
    """Return the lines up to the end of the row that `data` ends in, if a quote is open there."""
    lines, n_bytes, is_open = [], 0, _is_open_after(data, separators)
    while is_open and n_bytes < MOST_IN_QUOTES and (line := file.readline()):
        lines.append(line)
        n_bytes += len(line)
        is_open = _is_open_after(b'"' + line, separators)
    return b"".join(lines)


def _is_open_after(data: bytes, separators: str) -> bool:
    """Tell whether rows end inside of quotes, which count only where a field begins with one."""
    if b'"' not in data:
        return False
    data = b"\n" + data.removeprefix(codecs.BOM_UTF8)
    ends = b"\r\n" + separators.encode()
    letters = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(letters == ord('"'))
    if np.isin(letters[places[::2] - 1], list(ends + b'"')).all():
        return len(places) % 2 == 1  # each second one opens, or opens again
    quoted = re.compile(b"[" + ends + rb']"[^"]*+(?:""[^"]*+)*+("?)')
    last = deque(quoted.finditer(data), maxlen=1)
    return bool(last) and not last[0][1]


def _decoded(data: bytes, title: str, first_line: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = first_line + data[: error.start].count(b"\n")
        marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        if b"\0" in data and not marked:
            raise ValueError(
                f"{title} is not a text file: it holds NUL characters; unpack it if it is "
                "compressed, and give the format that it has."
            ) from None
        raise ValueError(
            f"{title} is not a text file in UTF-8 (line {line}: {error.reason}); convert it, such "
            f"as with iconv -f {'utf-16' if marked else 'latin1'} -t utf-8."
        ) from None
