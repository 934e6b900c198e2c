"""Columns of Parquet files of all types: read as what they are, or not read at all."""

import numpy as np
import pytest

from supred import RowBlocks
from supred.rows.files.parquet import ParquetReader

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
