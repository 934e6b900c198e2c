"""Columns of Parquet files of all types: read as what they are, or not read at all."""

import io
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from supred import RowBlocks
from supred.rows.files.parquet import ParquetReader
from supred.rows.files.parquet_pages import chunks_of, unpacked_bytes

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 16
UNREAD = {
    "binary": lambda: pyarrow.array([b"a"] * N),
    "binary view": lambda: pyarrow.array([b"a"] * N, pyarrow.binary_view()),
    "lists": lambda: pyarrow.array([[1]] * N),
    "json": lambda: pyarrow.ExtensionArray.from_storage(pyarrow.json_(), pyarrow.array(["{}"] * N)),
    "uuid": lambda: pyarrow.ExtensionArray.from_storage(
        pyarrow.uuid(), pyarrow.array([bytes(16)] * N, pyarrow.binary(16))
    ),
}


@pytest.fixture
def asked(monkeypatch):
    """Columns that pyarrow was asked for."""
    columns, iterate = set(), parquet.ParquetFile.iter_batches

    def counted(self, size, groups, wanted):
        columns.update(wanted)
        return iterate(self, size, groups, wanted)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", counted)
    return columns


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_neither_numbers_nor_text_is_not_read(name, asked, tmp_path):
    """It may take any memory, however small the file."""
    path = tmp_path / "t.parquet"
    try:
        column = UNREAD[name]()
    except AttributeError:
        pytest.skip("this pyarrow does not have the type")
    parquet.write_table(pyarrow.table({"a": np.arange(N) % 2, "c": column}), path)
    with pytest.raises(ValueError, match=r"holds .*, neither numbers nor text; leave it out"):
        RowBlocks(path).read(0, 2)
    with pytest.raises(ValueError, match="neither numbers nor text; leave it out"):
        RowBlocks(path, columns=["a"], target="c").labels()
    assert "c" not in asked
    assert RowBlocks(path, columns=["a"]).read(1, 3).tolist() == [[1.0], [0.0]]


def test_views_of_texts_are_texts(tmp_path):
    path = tmp_path / "t.parquet"
    if not hasattr(pyarrow, "string_view"):
        pytest.skip("this pyarrow does not have the type")
    numbers = pyarrow.array(["1", " 2.5", "?"] * 4, pyarrow.string_view())
    words = pyarrow.array(["x", "y", None] * 4, pyarrow.string_view())
    parquet.write_table(pyarrow.table({"a": numbers, "b": words}), path)
    rows = RowBlocks(path, columns=["a"])
    np.testing.assert_equal(rows.read(0, 3), [[1.0], [2.5], [np.nan]])
    part = next(ParquetReader(path).parts([1]))
    assert part.column(0).to_pylist()[:3] == ["x", "y", None]


def test_texts_that_unpack_to_far_more_than_the_file(asked, tmp_path):
    """Each is there once, so that none is shared, but they are alike."""
    path = tmp_path / "t.parquet"
    texts = ["a" * 70_000 + str(k) for k in range(2_000)]
    table = pyarrow.table({"a": texts, "y": np.arange(2_000) % 2})
    parquet.write_table(table, path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match=r"t\.parquet: texts take 14\d+ bytes in 2000 rows"):
        list(ParquetReader(path).parts([0]))
    assert not asked
    assert RowBlocks(path, columns=["y"]).read(0, 3).tolist() == [[0], [1], [0]]


def _varint(number):
    """Return a whole number as Thrift writes it."""
    number, content = 2 * number, b""
    while number > 127:
        content, number = content + bytes([number & 127 | 128]), number >> 7
    return content + bytes([number])


def _with_larger_page(content, size):
    """Put a page of so many bytes in the place of the only one; the footer does not tell."""
    page = pyarrow.compress(bytes(size), "zstd", asbytes=True)
    sizes = [b"\x15" + _varint(number) for number in (0, size, len(page))]
    values = b"\x2c\x15" + _varint(4_000) + b"\x15\x00\x15\x06\x15\x06\x00\x00"
    page = b"".join(sizes) + values + page
    chunk = parquet.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)
    place, n_bytes = chunk.data_page_offset, chunk.total_compressed_size
    assert len(page) <= n_bytes
    return content[:place] + page.ljust(n_bytes, b"\0") + content[place + n_bytes :]


def test_a_page_that_unpacks_to_far_more_than_the_footer_says(asked, tmp_path):
    """It is unpacked as a whole, however few of its values are wanted."""
    path, file = tmp_path / "t.parquet", io.BytesIO()
    table = pyarrow.table({"a": np.random.default_rng(0).normal(size=4_000)})
    parquet.write_table(table, file, use_dictionary=False, compression="zstd")
    honest = file.getvalue()
    path.write_bytes(_with_larger_page(honest, 200_000_000))
    with pytest.raises(ValueError, match=r"t\.parquet has \d+ bytes, and parts .* to 200000000 at"):
        RowBlocks(path).read(0, 2)
    assert not asked
    path.write_bytes(honest)
    assert RowBlocks(path).read(0, 2).shape == (2, 1)


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}, {"use_dictionary": False}])
def test_what_the_pages_of_a_column_take(options, tmp_path):
    """The footer of an honest file says it too, with the headers of the pages."""
    path = tmp_path / "t.parquet"
    numbers = np.random.default_rng(0).integers(1000, size=15_000) * 1.5
    table = pyarrow.table({"a": numbers, "b": [f"t{k % 7}" for k in range(len(numbers))]})
    parquet.write_table(table, path, **options)
    with path.open("rb") as file:
        (chunks,) = chunks_of(file)
        for chunk in chunks:
            assert 0 <= chunk.unpacked - unpacked_bytes(file, chunk) <= 200
    group = parquet.read_metadata(path).row_group(0)
    found = [group.column(column).total_uncompressed_size for column in range(2)]
    assert [chunk.unpacked for chunk in chunks] == found
    RowBlocks(path, columns=["a"]).read(0, len(numbers))


def test_headers_of_pages_that_cannot_be_read(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"a": np.arange(N) % 2.0}), path, use_dictionary=False)
    content = path.read_bytes()
    for damage in (b"\xff" * 20, b"\x15\x00\x00", bytes(20), b"\x1c" * 40):
        path.write_bytes(content[:4] + damage + content[4 + len(damage) :])
        with pytest.raises(ValueError, match=r"t\.parquet is damaged and cannot be read: "):
            RowBlocks(path).read(0, 2)


def test_statistics_that_are_not_of_the_column(tmp_path):
    """pyarrow ends the process when it is asked for the column."""
    path = tmp_path / "t.parquet"
    table = pyarrow.table({"a": np.arange(N) % 2.0, "b": ["x", "y"] * (N // 2)})
    parquet.write_table(table, path, use_dictionary=False, compression="none")
    content = path.read_bytes()
    two_levels, one = b"\x19\x26\x00\x20\x00", b"\x19\x16\x80\x20\x00"
    if two_levels not in content:
        pytest.skip("this pyarrow writes no such statistics")
    path.write_bytes(content.replace(two_levels, one))
    with pytest.raises(ValueError, match=r"t\.parquet is damaged and cannot be read: "):
        list(ParquetReader(path).parts([0, 1]))


def test_texts_that_are_written_by_their_differences_are_not_called_damaged(tmp_path):
    path = tmp_path / "t.parquet"
    table = pyarrow.table({"a": ["x", "y"] * N})
    encoding = {"a": "DELTA_BYTE_ARRAY"}
    parquet.write_table(table, path, use_dictionary=False, column_encoding=encoding)
    try:
        (part,) = ParquetReader(path).parts([0])
        assert part.column(0).to_pylist() == ["x", "y"] * N
    except ValueError as error:
        assert "has an encoding or a compression that is not read" in str(error)  # noqa: PT017


def test_threads_that_share_a_reader_look_at_the_footer_once(tmp_path, monkeypatch):
    table = pyarrow.table({f"column_{k}": np.arange(40.0) for k in range(5)})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=10)
    reader, looks = ParquetReader(tmp_path / "rows.parquet"), []

    def slow(file):
        looks.append(file)
        time.sleep(0.05)
        return chunks_of(file)

    monkeypatch.setattr("supred.rows.files.parquet.chunks_of", slow)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda k: list(reader.parts_of_group([0, 1, 2], k)), range(4)))
    assert [len(part) for parts in found for part in parts] == [10] * 4
    assert len(looks) == 1
