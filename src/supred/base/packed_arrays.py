"""Arrays in a ZIP file: what is unpacked takes the memory that the file declares, and no more."""

import io
import zipfile
from math import prod
from typing import IO

import numpy as np

# Arrays hold truth values, whole numbers, floating-point numbers or texts.
KINDS = "biufUS"
# So much of an array is unpacked at a time, and its header is no longer than this.
PIECE_BYTES, MAX_HEADER_BYTES = 2**20, 2**16


def read_array(archive: zipfile.ZipFile, name: str, *, double: bool = False) -> np.ndarray:
    """Return an array of a ZIP file.

    With `double` it must hold numbers in single precision, and they take twice that memory.
    """
    with open_part(archive, name) as file:
        shape, fortran_order, dtype = _array_header(file)
        single = dtype.kind == "f" and dtype.itemsize == 4
        if dtype.kind not in KINDS or not dtype.itemsize or (double and not single):
            raise ValueError(f"an array of {dtype}")
        # Before any memory is taken: the header must say what the file holds.
        n_bytes = archive.getinfo(name).file_size - file.tell()
        if prod(shape) * dtype.itemsize != n_bytes:
            raise ValueError(f"an array of shape {shape} in {n_bytes} bytes")
        values = np.empty(prod(shape), dtype=float if double else dtype)
        # Bytes, because one text may be as long as the file; numbers where they become others.
        filled, kind = (values, dtype) if double else (values.view(np.uint8), np.dtype(np.uint8))
        step = PIECE_BYTES // kind.itemsize
        for piece in (filled[first : first + step] for first in range(0, len(filled), step)):
            content = file.read(len(piece) * kind.itemsize)
            piece[:] = np.frombuffer(content, dtype=kind, count=len(piece))
    return values.reshape(shape, order="F" if fortran_order else "C")


def array_shape(archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    """Return the shape that an array of a ZIP file declares."""
    with open_part(archive, name) as file:
        return _array_header(file)[0]


def open_part(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a part of a ZIP file, of which `read` with a size unpacks no more than that.

    Without a size Python unpacks what is there, whatever the part declares, and of other methods
    of compression it unpacks all that one piece holds.
    """
    part = archive.getinfo(name)
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed by method {part.compress_type}")
    return archive.open(part)


def _array_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Read the header of an array: shape, whether columns come first, type."""
    # A header declares its own length, which would be read first and found too long later. No byte
    # is read twice: after a step back Python may not compare the check sum any more.
    head = file.read(8)
    version = np.lib.format.read_magic(io.BytesIO(head))
    size = file.read(2 if version == (1, 0) else 4)
    n_bytes = int.from_bytes(size, "little")
    if n_bytes > MAX_HEADER_BYTES:
        raise ValueError(f"an array whose header has {n_bytes} bytes")
    header = io.BytesIO(size + file.read(n_bytes))
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(header)
    return np.lib.format.read_array_header_2_0(header)
