"""What the pages of a Parquet file take once they are unpacked, read from their own headers.

The file's footer says how large each column is, and may say anything: a page is unpacked as a whole
and takes what its own header says.
"""

from typing import IO, Any, NamedTuple

# A header is read from so many bytes; one that is longer from more, up to what Arrow reads.
SHORT, LONG = 1024, 16 * 2**20
# Kinds of values in Thrift's compact encoding.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
DEEPEST = 20
# Numbers of the fields of a page's header, and of the number of values in those of data pages.
UNPACKED, PACKED, DATA, DATA_V2, N_VALUES = 2, 3, 5, 8, 1


class Page(NamedTuple):
    """A page: the bytes that it takes in the file and in memory, and its number of values."""

    n_bytes: int
    unpacked: int
    n_values: int


def unpacked_bytes(file: IO[bytes], chunk: Any) -> int:
    """Return what a reader of a column has in memory of its pages: two, a dictionary and another.

    Parameters
    ----------
    file : binary file
    chunk : pyarrow.parquet.ColumnChunkMetaData

    Raises
    ------
    ValueError
        If a header cannot be read.
    """
    place = chunk.data_page_offset
    if chunk.dictionary_page_offset is not None:
        place = min(place, chunk.dictionary_page_offset)
    end, missing = place + chunk.total_compressed_size, chunk.num_values
    sizes = [0, 0]
    while missing > 0 and place < end:
        page = _page(file, place)
        sizes = sorted([*sizes, page.unpacked])[1:]
        place, missing = place + page.n_bytes, missing - page.n_values
    return sum(sizes)


def _page(file: IO[bytes], place: int) -> Page:
    """Return the page that begins at a place of a file."""
    size = SHORT
    while True:
        file.seek(place)
        data = file.read(size)
        try:
            header, n_header = _struct(data, 0, 0)
        except IndexError:
            if size >= LONG or len(data) < size:
                raise ValueError("the header of a page is cut off") from None
            size *= 16
            continue
        data_page = header.get(DATA, header.get(DATA_V2, {}))
        n_values = data_page.get(N_VALUES, 0) if isinstance(data_page, dict) else 0
        packed, unpacked = header.get(PACKED), header.get(UNPACKED)
        sized = isinstance(packed, int) and isinstance(unpacked, int)
        if not sized or min(packed, unpacked) < 0:
            raise ValueError("the header of a page has no sizes")
        return Page(n_header + packed, unpacked, n_values)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def _integer(data: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(data, place)
    return (value >> 1) ^ -(value & 1), place


def _struct(data: bytes, place: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the whole numbers and structs in a struct by the numbers of their fields."""
    if depth > DEEPEST:
        raise ValueError("the header of a page is nested too deep")
    found: dict[int, Any] = {}
    field = 0
    while data[place]:
        step, kind, place = data[place] >> 4, data[place] & 15, place + 1
        if step:
            field += step
        else:
            field, place = _integer(data, place)
        found[field], place = _value(data, place, kind, depth + 1)
    return found, place + 1


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a value, None where only its length matters, and the place behind it."""
    if kind in (TRUE, FALSE):
        return None, place
    if kind in (I16, I32, I64):
        return _integer(data, place)
    if kind == STRUCT:
        return _struct(data, place, depth)
    if kind in (BYTE, DOUBLE, BINARY):
        n_bytes = {BYTE: 1, DOUBLE: 8}.get(kind)
        if n_bytes is None:
            n_bytes, place = _varint(data, place)
        place += n_bytes
        data[place]  # a header does not end with it
        return None, place
    if kind in (LIST, SET):
        size, inner, place = data[place] >> 4, data[place] & 15, place + 1
        if size == 15:
            size, place = _varint(data, place)
        for _ in range(size):
            # A truth value in a list has a byte of its own.
            place = _value(data, place, BYTE if inner in (TRUE, FALSE) else inner, depth + 1)[1]
        return None, place
    raise ValueError("the header of a page cannot be read")
