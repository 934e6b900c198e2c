"""What is read from a file takes no more memory than was allowed."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import sparse

from supred.base.container import DESCRIPTION, ModelFileError, read_container, write_container

MEGABYTE = 2**20
ARRAY = "arrays/0.npy"


def peak_of_reading(path, message=None, **options):
    """Return the most bytes that reading takes; with a message it must be refused with that."""
    tracemalloc.start()
    try:
        if message is None:
            read_container(path, "values", **options)
        else:
            with pytest.raises(ModelFileError, match=message) as raised:
                read_container(path, "values", **options)
            assert "\n" not in str(raised.value)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def packed(values):
    """Return an array as it is in the file."""
    out = io.BytesIO()
    np.save(out, values, allow_pickle=False)
    return out.getvalue()


def replace(path, name, content, method=zipfile.ZIP_DEFLATED):
    """Write the file again with another content of one of its parts."""
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    parts[name] = content
    with zipfile.ZipFile(path, "w", method) as archive:
        for part, bytes_of_it in parts.items():
            archive.writestr(part, bytes_of_it)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, "U7"])
def test_an_array_is_read_without_a_copy(tmp_path, dtype):
    values = np.zeros(8 * MEGABYTE // np.dtype(dtype).itemsize, dtype=dtype)
    write_container(tmp_path / "v", "values", values)
    assert peak_of_reading(tmp_path / "v") < 13 * MEGABYTE


def test_one_long_text_is_read_without_a_copy(tmp_path):
    write_container(tmp_path / "v", "values", np.array(["x" * 2 * MEGABYTE]))
    assert peak_of_reading(tmp_path / "v") < 13 * MEGABYTE


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here")
def test_long_doubles_are_not_written(tmp_path):
    with pytest.raises(ModelFileError, match=r"values holds .*, which cannot be saved"):
        write_container(tmp_path / "v", "values", np.arange(3, dtype=np.longdouble))
    assert not (tmp_path / "v").exists()


def test_numbers_that_become_double_count_as_such(tmp_path):
    values = np.arange(2.0 * MEGABYTE)  # 8 MB in the file, 16 MB in memory
    write_container(tmp_path / "v", "values", values)
    np.testing.assert_array_equal(read_container(tmp_path / "v", "values"), values)
    assert peak_of_reading(tmp_path / "v", max_bytes=17 * MEGABYTE) < 21 * MEGABYTE
    refused = r"more than max_bytes=\d+; if you trust it"
    assert peak_of_reading(tmp_path / "v", refused, max_bytes=15 * MEGABYTE) < 5 * MEGABYTE


@pytest.mark.parametrize("dtype", [bool, np.float16, np.int8, "U1"])
def test_only_single_precision_becomes_double(tmp_path, dtype):
    write_container(tmp_path / "v", "values", np.arange(3.0))
    replace(tmp_path / "v", ARRAY, packed(np.zeros(8 * MEGABYTE, dtype=dtype)))
    refused = f"an array of {np.dtype(dtype)}"
    assert peak_of_reading(tmp_path / "v", refused) < 5 * MEGABYTE


def test_parts_are_not_converted(tmp_path):
    """Masks and indices of another type would be made anew."""
    write_container(tmp_path / "v", "values", np.ma.MaskedArray(np.arange(3), [True, False, True]))
    replace(tmp_path / "v", "arrays/1.npy", packed(np.zeros(1, dtype=bool)))
    peak_of_reading(tmp_path / "v", r"a mask of bool of shape \(1,\)")
    write_container(tmp_path / "v", "values", sparse.csr_matrix(np.eye(3)), overwrite=True)
    replace(tmp_path / "v", "arrays/1.npy", packed(np.arange(3, dtype=np.int8)))
    peak_of_reading(tmp_path / "v", "a sparse array with indices of int8")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", [DESCRIPTION, ARRAY])
def test_other_methods_of_compression_are_refused(tmp_path, method, name):
    """Python unpacks them in one go."""
    write_container(tmp_path / "v", "values", np.arange(3))
    content = b" " * 4 * MEGABYTE if name == DESCRIPTION else packed(np.zeros(MEGABYTE))
    replace(tmp_path / "v", name, content, method)
    assert peak_of_reading(tmp_path / "v", "is compressed by method") < MEGABYTE


@pytest.mark.parametrize("name", [DESCRIPTION, ARRAY])
def test_a_part_that_holds_more_than_it_declares(tmp_path, name):
    path = tmp_path / "v"
    write_container(path, "values", np.arange(3))
    content = b" " if name == DESCRIPTION else packed(np.zeros(20_000, dtype=bool))[:-20_000]
    replace(path, name, content + bytes(50 * MEGABYTE))
    hidden = struct.pack("<L", len(content) + 50 * MEGABYTE)
    path.write_bytes(path.read_bytes().replace(hidden, struct.pack("<L", len(content) + 20_000)))
    assert peak_of_reading(path, "is damaged") < 5 * MEGABYTE


def test_a_header_is_short(tmp_path):
    write_container(tmp_path / "v", "values", np.arange(3))
    header = np.lib.format.magic(2, 0) + struct.pack("<L", 20 * MEGABYTE) + b" " * 20 * MEGABYTE
    replace(tmp_path / "v", ARRAY, header)
    assert peak_of_reading(tmp_path / "v", "is damaged") < 5 * MEGABYTE


def test_no_byte_is_read_twice(tmp_path, monkeypatch):
    """After a step back some versions of Python do not compare the check sum any more."""
    path = tmp_path / "values"
    write_container(path, "values", np.arange(30_000.0), compress=False)

    def refuse(file, offset, whence=0):
        raise AssertionError("a step back")

    monkeypatch.setattr(zipfile.ZipExtFile, "seek", refuse)
    np.testing.assert_array_equal(read_container(path, "values"), np.arange(30_000.0))


def test_a_flipped_bit_is_found(tmp_path):
    path = tmp_path / "values"
    write_container(path, "values", np.arange(30_000.0), compress=False)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="CRC"):
        read_container(path, "values")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "a\nb\x1b[31m" * 10_000},
        {"version": ["x" * 10_000] * 10},
        {"version": 1, "made_by": "a\nb\x1b[31m" * 10_000},
        {"value": {"object": "a\nb\x1b[31m" * 10_000, "state": {}}},
    ],
)
def test_what_a_file_says_is_shown_on_one_short_line(tmp_path, change):
    path = tmp_path / "v"
    write_container(path, "values", 1)
    with zipfile.ZipFile(path) as archive:
        document = json.loads(archive.read(DESCRIPTION))
    replace(path, DESCRIPTION, json.dumps({**document, **change}).encode())
    with pytest.raises(ModelFileError) as raised:
        read_container(path, "values")
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < len(str(path)) + 200


def test_a_zip_file_of_several_disks_is_damaged(tmp_path):
    """Python raises an error where it is asked whether this is a ZIP file at all."""
    path = tmp_path / "v"
    write_container(path, "values", 1)
    content, end = path.read_bytes()[:-22], path.read_bytes()[-22:]
    path.write_bytes(content + struct.pack("<4sLQL", b"PK\x06\x07", 1, 0, 2) + end)
    with pytest.raises(ModelFileError, match="is damaged"):
        read_container(path, "values")
