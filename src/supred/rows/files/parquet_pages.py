"""What the columns of a Parquet file take in memory, by its footer and by the headers of its pages.

The footer says how large each column is, and may say anything: a page is unpacked as a whole and
takes what its own header says. The footer is read here because pyarrow ends the process where
statistics in it do not fit a column.
"""

from typing import IO, Any, NamedTuple

# A header is read from so many bytes; one that is longer from more, up to what Arrow reads.
SHORT, LONG = 1024, 16 * 2**20
# Kinds of values in Thrift's compact encoding.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
DEEPEST = 20
# The fields that are kept of a footer and of the header of a page; a footer may have many others.
Kept = dict[int, Any]
FOOTER: Kept = {4: {1: {3: dict.fromkeys((5, 6, 7, 9, 11))}}}
PAGE: Kept = {2: None, 3: None, 5: {1: None}, 8: {1: None}}
# Bytes at the end of a file: the size of the footer, and PAR1.
END_BYTES = 8


class Chunk(NamedTuple):
    """A column of a row group: where it is, its values, and its bytes in the file and unpacked."""

    place: int
    n_values: int
    n_bytes: int
    unpacked: int


def chunks_of(file: IO[bytes]) -> list[list[Chunk]]:
    """Return the columns of each row group of a file, as its footer describes them.

    Raises
    ------
    ValueError
        If the footer cannot be read.
    """
    n_file = file.seek(0, 2)
    file.seek(max(n_file - END_BYTES, 0))
    size = int.from_bytes(file.read(4), "little")
    file.seek(max(n_file - END_BYTES - size, 0))
    try:
        footer = _struct(file.read(size), 0, 0, FOOTER)[0]
        return [[_chunk(column[3]) for column in group[1]] for group in footer[4]]
    except (IndexError, KeyError, TypeError):
        raise ValueError("its footer cannot be read") from None


def unpacked_bytes(file: IO[bytes], chunk: Chunk) -> int:
    """Return what a reader of a column has in memory of its pages: two, a dictionary and another.

    Raises
    ------
    ValueError
        If a header cannot be read.
    """
    place, missing, sizes = chunk.place, chunk.n_values, [0, 0]
    while missing > 0 and place < chunk.place + chunk.n_bytes:
        n_bytes, unpacked, n_values = _page(file, place)
        sizes = sorted([*sizes, unpacked])[1:]
        place, missing = place + n_bytes, missing - n_values
    return sum(sizes)


def _chunk(parts: dict[int, Any]) -> Chunk:
    dictionary = parts.get(11) or 0
    place = min(parts[9], dictionary) if dictionary > 0 else parts[9]
    chunk = Chunk(place, parts[5], parts[7], parts[6])
    if min(chunk) < 0:
        raise ValueError("its footer holds a negative size")
    return chunk


def _page(file: IO[bytes], place: int) -> tuple[int, int, int]:
    """Return the bytes of the page at a place, those that it unpacks to, and its values."""
    size = SHORT
    while True:
        file.seek(place)
        data = file.read(size)
        try:
            header, n_header = _struct(data, 0, 0, PAGE)
            break
        except IndexError:
            if size >= LONG or len(data) < size:
                raise ValueError("the header of a page is cut off") from None
            size *= 16
    data_page = header.get(5) or header.get(8)
    n_values = data_page.get(1) if isinstance(data_page, dict) else 0
    sizes: list[Any] = [header.get(3), header.get(2), n_values]
    if not all(isinstance(size, int) and size >= 0 for size in sizes):
        raise ValueError("the header of a page has no sizes")
    packed, unpacked, n_values = sizes
    return n_header + packed, unpacked, n_values


def _struct(
    data: bytes, place: int, depth: int, kept: Kept | None = None
) -> tuple[dict[int, Any], int]:
    """Return whole numbers, structs and lists by the numbers of their fields, if they are kept."""
    kept = kept or {}
    if depth > DEEPEST:
        raise ValueError("structs are nested too deep")
    found: dict[int, Any] = {}
    field = 0
    while byte := data[place]:
        place += 1
        if byte >> 4:
            field += byte >> 4
        else:
            field, place = _integer(data, place)
        value, place = _value(data, place, byte & 15, depth, kept.get(field))
        if field in kept:
            found[field] = value
    return found, place + 1


def _value(data: bytes, place: int, kind: int, depth: int, kept: Kept | None) -> tuple[Any, int]:
    """Return a value, None where only its length matters, and the place behind it."""
    if kind in (I32, I64, I16):
        return _integer(data, place)
    if kind in (TRUE, FALSE):
        return None, place
    if kind == BINARY:
        n_bytes, place = _varint(data, place)
        return None, place + n_bytes
    if kind in (BYTE, DOUBLE):
        return None, place + (8 if kind == DOUBLE else 1)
    if kind == STRUCT:
        return _struct(data, place, depth + 1, kept)
    if kind in (LIST, SET):
        size, inner, place = data[place] >> 4, data[place] & 15, place + 1
        if size == 15:
            size, place = _varint(data, place)
        inner = BYTE if inner in (TRUE, FALSE) else inner  # which take no byte as fields
        held = []
        for _ in range(size):
            value, place = _value(data, place, inner, depth + 1, kept)
            if place > len(data):
                raise IndexError
            if kept is not None:
                held.append(value)
        return held, place
    raise ValueError("a value of no known kind")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := data[place]) > 127:
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
    return value | byte << shift, place + 1


def _integer(data: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(data, place)
    return (value >> 1) ^ -(value & 1), place
