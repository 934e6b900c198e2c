"""Files that are damaged, deceive, or change while they are used: one line that names the file."""

import os
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from supred import RowBlocks
from supred.rows.files.parquet import ParquetReader

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 3)).round(6)


def message_of(call):
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def write(path, rows):
    if path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix == ".parquet":
        parquet.write_table(pyarrow.table({f"x{k}": rows[:, k] for k in range(3)}), path)
    elif path.suffix == ".svm":
        lines = (" ".join(f"{k + 1}:{x}" for k, x in enumerate(row)) for row in rows)
        path.write_text("".join(f"1 {line}\n" for line in lines))
    else:
        np.savetxt(path, rows, delimiter=",", header="x0,x1,x2", comments="")


@pytest.mark.parametrize("suffix", ["npy", "parquet", "csv", "svm"])
@pytest.mark.parametrize("again", [False, True])
def test_a_file_that_was_changed_is_noticed(suffix, again, tmp_path):
    path = tmp_path / f"a.{suffix}"
    for other in (X[:200], X + 1, np.asfortranarray(X), X.astype(np.float32), None):
        write(path, X)
        rows = RowBlocks(path)
        if again:
            _ = rows.shape
            for reader in rows._readers:
                reader.close()
        if other is None:
            path.unlink()
        else:
            write(path, other)
            os.utime(path, ns=(0, 0))  # the same rows, written anew, are no others but in time
        message = message_of(partial(rows.read, 0, 500))
        assert message.startswith(f"{path} was changed after it was opened; make a new")


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_takes_the_place_of_a_file_is_not_waited_for(suffix, kind, tmp_path):
    path = tmp_path / f"a.{suffix}"
    write(path, X)
    rows = RowBlocks(path)
    path.unlink()
    if kind == "pipe" and hasattr(os, "mkfifo"):
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path)
    assert "was changed after it was opened" in message_of(partial(rows.read, 0, 500))


@pytest.mark.parametrize("order", "CF")
def test_another_layout_at_the_same_time_is_noticed(order, tmp_path):
    path = tmp_path / "a.npy"
    square = np.asarray(X[:3], order=order)
    np.save(path, square)
    os.utime(path, ns=(0, 0))
    rows = RowBlocks(path)
    np.save(path, np.asarray(square, order="FC"["CF".index(order)]))
    os.utime(path, ns=(0, 0))
    assert "was changed after" in message_of(rows.rows().whole)


def test_a_file_that_is_written_while_it_is_read_is_noticed(tmp_path):
    path = tmp_path / "a.parquet"
    write(path, np.repeat(X, 400, axis=0))
    rows = RowBlocks(path)
    rows.read(0, 10)
    write(path, X)
    assert "was changed after it was opened" in message_of(lambda: rows.read(10, 200_000))


def test_damaged_pages_of_parquet_name_the_file(tmp_path):
    path = tmp_path / "a.parquet"
    table = pyarrow.table({"a": RNG.normal(size=9000), "y": np.arange(9000) % 3})
    parquet.write_table(table, path, compression="zstd", use_dictionary=False)
    whole = path.read_bytes()
    # Pages have no check sum, so older Arrow reads the middle of one as numbers of any size.
    places = (4, 20, len(whole) // 2) if int(pyarrow.__version__.split(".")[0]) > 14 else (4, 20)
    for start in places:
        path.write_bytes(whole[:start] + bytes(200) + whole[start + 200 :])
        rows = RowBlocks(path, target="y", columns=["a"])
        assert f"{path} is damaged and cannot be read" in message_of(rows.rows().whole)
    path.write_bytes(whole[:-2000] + bytes(500) + whole[-1500:])
    rows = RowBlocks(path, target="y", columns=["a"])
    assert f"{path} is damaged and cannot be read" in message_of(rows.labels)


@pytest.mark.parametrize(
    "metadata", [b"[1]", b"{bad", b'{"index_columns": 5}', b"\xff", b"1", b"[" * 100_000, b"{}"]
)
def test_metadata_of_pandas_that_are_none(metadata, tmp_path):
    path = tmp_path / "a.parquet"
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1]})
    parquet.write_table(table.replace_schema_metadata({b"pandas": metadata}), path)
    np.testing.assert_array_equal(RowBlocks(path).rows().whole(), X[:, :2])


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_few_files_are_open_at_a_time(tmp_path):
    for k, (start, stop) in enumerate(pairwise(range(0, 501, 25))):
        write(tmp_path / f"{k:02}.parquet", X[start:stop])
    n_open = len(os.listdir("/proc/self/fd"))
    rows = RowBlocks(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == n_open
    for start in range(0, 500, 7):
        np.testing.assert_array_equal(rows.read(start, min(start + 7, 500)), X[start : start + 7])
        assert len(os.listdir("/proc/self/fd")) <= n_open + 3
    for start in range(475, 0, -25):
        rows.read(start, start + 3)
    assert len(os.listdir("/proc/self/fd")) <= n_open + 3


def test_more_rows_than_a_file_of_this_size_may_have(tmp_path):
    path = tmp_path / "a.parquet"
    rows = np.ones(9_000_000, np.int8)  # 72 MB in double precision, a few kB in the file
    parquet.write_table(pyarrow.table({"a": rows, "y": rows}), path)
    assert f"{path} has {path.stat().st_size} bytes and would unpack to 9000000 rows" in message_of(
        lambda: RowBlocks(path, target="y")
    )


def test_columns_of_wide_files_are_found_at_once(tmp_path):
    path = tmp_path / "rows.csv"
    names = [f"column {k}" for k in range(30_000)]
    path.write_text(",".join(names) + "\n" + "1," * 29_999 + "2\n")
    rows = RowBlocks(path, columns=names[::-1])
    assert rows.feature_names.tolist() == names[::-1]


def test_parquet_rows_after_a_read_that_failed(tmp_path, monkeypatch):
    monkeypatch.setattr(ParquetReader, "BATCH_ROWS", 5)
    write(tmp_path / "rows.parquet", X)
    rows, encode = RowBlocks(tmp_path / "rows.parquet"), ParquetReader.encode

    def interrupted(*arguments):
        raise KeyboardInterrupt

    rows.read(0, 5)
    monkeypatch.setattr(ParquetReader, "encode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rows.read(5, 10)
    monkeypatch.setattr(ParquetReader, "encode", encode)
    np.testing.assert_array_equal(rows.read(5, 10), X[5:10])


def test_the_shape_after_a_transform_that_failed(tmp_path):
    write(tmp_path / "rows.npy", X)
    found = iter([KeyboardInterrupt(), X[:1, :2]])

    def transform(rows):
        if isinstance(made := next(found), BaseException):
            raise made
        return made

    rows = RowBlocks(tmp_path / "rows.npy", transform=transform)
    with pytest.raises(KeyboardInterrupt):
        _ = rows.shape
    assert rows.shape == (500, 2)


@pytest.mark.parametrize(("start", "stop"), [(5, 5), (-1, 3), (0, 501), (500, 501), (0, 2.0)])
@pytest.mark.parametrize("suffix", ["npy", "parquet", "csv"])
def test_rows_that_are_not_there(suffix, start, stop, tmp_path):
    write(tmp_path / f"rows.{suffix}", X)
    with pytest.raises(ValueError, match=r"^(start|stop)=.* is out of range"):
        RowBlocks(tmp_path / f"rows.{suffix}").read(start, stop)


def test_a_quote_that_is_never_closed_is_read_once(tmp_path, monkeypatch):
    """Work in proportion to the size: with the square of it, this would take minutes."""
    monkeypatch.setattr("supred.rows.files.text_readers.SEGMENT_BYTES", 2_000_000)
    path = tmp_path / "t.csv"
    rows = "1,2\n" * 1_000_000
    path.write_text('"a,b\n' + rows)
    assert f"{path}: the first line is not a row of a table" in message_of(lambda: RowBlocks(path))
    path.write_text("a,b\n" + '"1,2\n' + rows)
    assert f"{path}, line 2: cannot be read" in message_of(lambda: RowBlocks(path).shape)


def test_rows_of_npy_files_lie_in_memory_row_by_row(tmp_path):
    """As those of arrays: products of rows that lie otherwise differ in their last digits."""
    for k, rows in enumerate((X, np.asfortranarray(X))):
        np.save(tmp_path / f"{k}.npy", rows)
        for columns in (None, [2, 0]):
            block = RowBlocks(tmp_path / f"{k}.npy", columns=columns).read(3, 9)
            assert block.flags.c_contiguous


def test_a_file_that_is_none_of_numpy_is_not_called_a_pickle(tmp_path):
    path = tmp_path / "t.npy"
    path.write_text("a,b\n1,2\n")
    assert message_of(lambda: RowBlocks(path)).endswith("file: it holds no array of numbers")
