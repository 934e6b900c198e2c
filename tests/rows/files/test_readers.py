"""Files read block by block hold what their parsers read as a whole."""

import re

import numpy as np
import pytest
from scipy import sparse

from supred import RowBlocks
from supred.rows.files import text_readers
from supred.rows.files.svmlight import SvmlightReader

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)).round(3)
Y = np.array(["no", "yes"])[RNG.integers(0, 2, 50)]


def frame(rows=slice(None)):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X[rows], columns=["a", "b", "c"])
    table.insert(1, "label", Y[rows])
    table["weight"] = np.arange(50.0)[rows]
    return table


def write_npy(path, rows=slice(None)):
    np.save(path, X[rows])


def write_csv(path, rows=slice(None)):
    frame(rows).to_csv(path, index=False)


def write_parquet(path, rows=slice(None)):
    pytest.importorskip("pyarrow")
    frame(rows).to_parquet(path, row_group_size=8)


def write_svmlight(path, rows=slice(None)):
    lines = [
        f"{int(label == 'yes')} " + " ".join(f"{k + 1}:{value}" for k, value in enumerate(row))
        for row, label in zip(X[rows], Y[rows], strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


WRITERS = {
    "npy": write_npy, "csv": write_csv, "parquet": write_parquet, "svmlight": write_svmlight
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(text_readers, "SEGMENT_BYTES", 200)
    monkeypatch.setattr("supred.rows.files.parquet.ParquetReader.BATCH_ROWS", 5)
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 7)
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)


def options(kind):
    named = kind in ("csv", "parquet")
    return {"target": "label", "sample_weight": "weight"} if named else {}


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("n_files", [1, 3])
def test_every_format_gives_its_rows(kind, n_files, tmp_path):
    for number, rows in enumerate(np.array_split(np.arange(50), n_files)):
        WRITERS[kind](tmp_path / f"part-{number}.{kind}", rows)
    source = RowBlocks(tmp_path, **options(kind))
    assert source.shape == (50, 3)
    rows = source.rows()
    np.testing.assert_allclose(rows.map(dense), X, atol=1e-12)
    assert rows.block_rows == 7
    for start, stop in ((0, 1), (30, 50), (3, 20), (20, 31), (49, 50)):
        np.testing.assert_allclose(dense(source.read(start, stop)), X[start:stop], atol=1e-12)
    chosen = np.array([44, 0, 13, 13, 2])
    np.testing.assert_allclose(dense(rows.take(chosen)), X[chosen], atol=1e-12)
    kept = RowBlocks(str(tmp_path / f"part-*.{kind}"), cache=True, **options(kind))
    np.testing.assert_allclose(dense(kept.rows().whole()), X, atol=1e-12)
    if kind == "svmlight":
        np.testing.assert_array_equal(source.labels(), Y == "yes")
    elif kind == "npy":
        assert source.labels() is None
        assert source.feature_names is None
    else:
        np.testing.assert_array_equal(source.labels(), Y)
        np.testing.assert_array_equal(source.weights(), np.arange(50.0))
        assert source.feature_names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_by_name_and_in_any_order_in_each_file(kind, tmp_path):
    WRITERS[kind](tmp_path / f"1.{kind}", slice(0, 25))
    other = frame(slice(25, 50))[["weight", "c", "label", "b", "a"]]
    if kind == "csv":
        other.to_csv(tmp_path / "2.csv", index=False)
    else:
        other.to_parquet(tmp_path / "2.parquet")
    source = RowBlocks(tmp_path, target="label", columns=["c", "a"])
    np.testing.assert_allclose(source.rows().whole(), X[:, [2, 0]], atol=1e-12)
    np.testing.assert_array_equal(source.labels(), Y)
    assert source.feature_names.tolist() == ["c", "a"]


def test_npy_targets_precision_and_order(tmp_path):
    whole = np.column_stack([X, np.arange(50) % 2])
    np.save(tmp_path / "a.npy", whole.astype(np.float32))
    source = RowBlocks(tmp_path / "a.npy", target=-1, block_rows=3)
    assert source.dtype == np.float32
    assert source.rows().block_rows == 3
    np.testing.assert_array_equal(source.rows().whole(), X.astype(np.float32))
    np.testing.assert_array_equal(source.labels(), np.arange(50) % 2)
    assert RowBlocks(tmp_path / "a.npy", dtype=np.float64).read(0, 2).dtype == np.float64
    np.save(tmp_path / "b.npy", np.asfortranarray(whole))
    by_columns = RowBlocks(tmp_path / "b.npy", columns=[2, 0])
    np.testing.assert_array_equal(by_columns.rows().whole(), X[:, [2, 0]])


def test_a_transform_of_each_block(tmp_path):
    holes = X.copy()
    holes[::4, 1] = np.nan
    np.save(tmp_path / "a.npy", holes)
    with pytest.raises(ValueError, match="contains NaN: column 1 of row 0"):
        list(RowBlocks(tmp_path / "a.npy").blocks())
    source = RowBlocks(tmp_path / "a.npy", transform=lambda block: np.nan_to_num(block)[:, :2] + 1)
    assert source.shape == (50, 2)
    np.testing.assert_array_equal(np.vstack(list(source.blocks())), np.nan_to_num(holes)[:, :2] + 1)
    np.testing.assert_array_equal(source.rows().whole(), np.nan_to_num(holes)[:, :2] + 1)
    thin = RowBlocks(tmp_path / "a.npy", transform=lambda block: sparse.coo_array(block[:, :1]))
    np.testing.assert_array_equal(thin.rows().whole().toarray(), X[:, :1])


def test_rows_are_saved_as_npy(tmp_path):
    write_csv(tmp_path / "a.csv")
    rows = RowBlocks(tmp_path / "a.csv", target="label", columns=["c", "a"], dtype=np.float32)
    rows.save(tmp_path / "a.npy")
    saved = np.load(tmp_path / "a.npy")
    assert saved.dtype == np.float32
    np.testing.assert_array_equal(saved, X[:, [2, 0]].astype(np.float32))
    with pytest.raises(OSError, match="exists"):
        rows.save(tmp_path / "a.npy")
    rows.save(tmp_path / "a.npy", overwrite=True)
    write_svmlight(tmp_path / "a.svm")
    with pytest.raises(ValueError, match="sparse rows cannot be saved"):
        RowBlocks(tmp_path / "a.svm").save(tmp_path / "b.npy")


def test_a_row_group_is_not_read_as_a_whole(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.undo()
    long = RNG.normal(size=(600_000, 3))  # 14 MB
    table = pyarrow.table({f"x{k}": long[:, k] for k in range(3)})
    parquet.write_table(
        table, tmp_path / "a.parquet", row_group_size=len(long), use_dictionary=False
    )
    del table
    pool = pyarrow.default_memory_pool()
    before = pool.bytes_allocated()
    rows = RowBlocks(tmp_path / "a.parquet", block_rows=30_000)
    taken = [pool.bytes_allocated() - before for _ in rows.blocks()]
    assert len(taken) == 20
    assert max(taken) < long.nbytes / 2


def test_csv_without_names_with_quotes_and_blank_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2,0\n3,4,1\n\n5,6,1\n")
    source = RowBlocks(path, target=2, header=False)
    np.testing.assert_array_equal(source.rows().whole(), [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(source.labels(), [0, 1, 1])
    lines = "".join(f'{k};"a {k % 3}\nb"\n' for k in range(60))
    path.write_text("x;y\n" + lines)
    source = RowBlocks(path, target="y")
    np.testing.assert_array_equal(source.rows().whole()[:, 0], np.arange(60))
    assert sorted(set(source.labels())) == ["a 0\nb", "a 1\nb", "a 2\nb"]


def test_labels_that_look_like_numbers_in_one_place_are_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1.5,7\n" * 60 + "1.5,seven\n" * 60)
    assert sorted(set(RowBlocks(path, target="y").labels())) == ["7", "seven"]


def test_svmlight_counts_from_zero_or_one_and_is_as_wide_as_told(tmp_path):
    path = tmp_path / "a.svmlight"
    path.write_text("1 1:2 3:4\n0 2:1\n")
    np.testing.assert_array_equal(RowBlocks(path).rows().whole().toarray(), [[2, 0, 4], [0, 1, 0]])
    assert RowBlocks(path, n_features=7, zero_based=False).shape == (2, 7)
    with pytest.raises(ValueError, match="raise n_features"):
        RowBlocks(path, n_features=2).rows().whole()
    path.write_text("1 0:2 2:4\n0 1:1\n")
    np.testing.assert_array_equal(RowBlocks(path).rows().whole().toarray(), [[2, 0, 4], [0, 1, 0]])


def test_svmlight_files_of_other_rows_are_not_shifted(tmp_path):
    path = tmp_path / "a.svmlight"
    from_zero, from_one = [[0, 2, 0, 4], [0, 0, 1, 0]], [[2, 0, 4, 0], [0, 1, 0, 0]]
    path.write_text("1 1:2 3:4\n0 2:1\n")
    for zero_based, wanted in ((True, from_zero), (False, from_one)):
        rows = RowBlocks(path, n_features=4, zero_based=zero_based)
        np.testing.assert_array_equal(rows.rows().whole().toarray(), wanted)
    with pytest.raises(ValueError, match=r"a.svmlight has features of index 1 to 3.*zero_based="):
        RowBlocks(path, n_features=4).rows()
    only_one = RowBlocks(path, n_features=3)  # index 3 does not fit from zero
    np.testing.assert_array_equal(only_one.rows().whole().toarray(), np.array(from_one)[:, :3])
    assert only_one.zero_based is False
    path.write_text("1 0:2 2:4\n")
    assert RowBlocks(path, n_features=9).shape == (1, 9)
    with pytest.raises(ValueError, match=r"a.svmlight has a feature of index 0, but zero_based=F"):
        RowBlocks(path, zero_based=False).rows()
    with pytest.raises(ValueError, match="zero_based='no' is not known"):
        RowBlocks(path, zero_based="no")
    path.write_text("1\n0\n")
    assert RowBlocks(path, n_features=9).shape == (2, 9)


def test_a_large_index_of_an_svmlight_file_is_refused_unless_it_is_expected(tmp_path):
    path = tmp_path / "a.svmlight"
    path.write_text("1 1:2\n" * 20 + "0 100000000:1\n")
    with pytest.raises(ValueError, match=r"index 100000000; at most 100000"):
        RowBlocks(path).rows()
    assert RowBlocks(path, n_features=10**8).rows().whole().shape == (21, 10**8)


def test_a_first_pass_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "a.svmlight"
    path.write_text("1 1:2\n0 2:1\n" * 100)
    rows = RowBlocks(path)
    look_at = SvmlightReader.look_at

    def interrupted(self, data, place):
        if place.first_row:
            raise KeyboardInterrupt
        return look_at(self, data, place)

    monkeypatch.setattr(SvmlightReader, "look_at", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = rows.shape
    monkeypatch.setattr(SvmlightReader, "look_at", look_at)
    assert rows.shape == (200, 2)
    np.testing.assert_array_equal(rows.labels(), [1, 0] * 100)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_number_that_is_not_finite_is_named(kind, tmp_path, monkeypatch):
    broken = X.copy()
    broken[37, 1] = np.nan
    broken[41, 1] = np.inf
    monkeypatch.setitem(globals(), "X", broken)
    WRITERS[kind](tmp_path / f"1.{kind}", slice(0, 20))
    WRITERS[kind](tmp_path / f"2.{kind}", slice(20, 50))
    source = RowBlocks(tmp_path, **options(kind))
    with pytest.raises(ValueError, match=rf"contains .* column .*row 17 of .*2.{kind}"):
        source.rows().whole()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_missing_label_is_named(kind, tmp_path, monkeypatch):
    broken = Y.astype(object)
    broken[33] = None
    monkeypatch.setitem(globals(), "Y", broken)
    WRITERS[kind](tmp_path / f"1.{kind}", slice(0, 20))
    WRITERS[kind](tmp_path / f"2.{kind}", slice(20, 50))
    with pytest.raises(ValueError, match=rf"target='label': 1 label.*row 13 of .*2.{kind}"):
        RowBlocks(tmp_path, target="label").labels()


def test_bad_files(tmp_path):
    np.save(tmp_path / "1.npy", X)
    np.save(tmp_path / "2.npy", X[:, :2])
    with pytest.raises(ValueError, match=r"2.npy has 2 columns, but .*1.npy has 3"):
        RowBlocks(tmp_path)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "1.npy").read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"cut.npy is not a readable NPY"):
        RowBlocks(tmp_path / "cut.npy")
    np.save(tmp_path / "objects.npy", X.astype(object))
    with pytest.raises(ValueError, match=r"objects.npy is not a .* it holds no array of numbers"):
        RowBlocks(tmp_path / "objects.npy")
    np.save(tmp_path / "flat.npy", X[:, 0])
    with pytest.raises(ValueError, match=r"flat.npy holds an array of shape \(50,\)"):
        RowBlocks(tmp_path / "flat.npy")
    write_csv(tmp_path / "1.csv")
    with pytest.raises(ValueError, match="several formats"):
        RowBlocks([tmp_path / "1.csv", tmp_path / "1.npy"])
    frame().rename(columns={"a": "z"}).to_csv(tmp_path / "2.csv", index=False)
    with pytest.raises(ValueError, match=r"2.csv has columns \['z'"):
        RowBlocks([tmp_path / "1.csv", tmp_path / "2.csv"])
    with pytest.raises(ValueError, match=r"column 'label' holds '(no|yes)' in row 1, where a num"):
        RowBlocks(tmp_path / "1.csv").rows().whole()
    (tmp_path / "long.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match=r"long.csv, line 3: 3 fields where the first"):
        RowBlocks(tmp_path / "long.csv").shape  # noqa: B018
    (tmp_path / "empty.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="has no rows"):
        RowBlocks(tmp_path / "empty.csv").shape  # noqa: B018
    (tmp_path / "bad.svm").write_text("1 a:2\n")
    with pytest.raises(ValueError, match="not in svmlight format from line 1 on"):
        RowBlocks(tmp_path / "bad.svm").shape  # noqa: B018


def test_a_file_that_shrinks_is_noticed(tmp_path):
    np.save(tmp_path / "a.npy", X)
    source = RowBlocks(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", X[:20])
    with pytest.raises(ValueError, match=r"a.npy was changed after it was opened"):
        source.rows().whole()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "y"}, "has no column 'y'; it has no names: give the position"),
        ({"target": 3}, "has no column 3; it has 3 columns"),
        ({"columns": [0, 0]}, "names a column twice"),
        ({"columns": [0, 1], "target": 1}, "names a column twice, or the target"),
        ({"columns": []}, "no column left"),
        ({"columns": "ab"}, "give a list of columns"),
        ({"format": "xls"}, "format='xls' is not known"),
        ({"dtype": int}, "use float32 or float64"),
        ({"n_features": 3}, "n_features is for svmlight"),
        ({"zero_based": True}, "zero_based is for svmlight"),
        ({"columns": 5}, "columns=5: give a list of columns"),
        ({"columns": [True]}, "columns: .*a.npy has no column True"),
        ({"target": True}, "target: .*a.npy has no column True"),
        ({"target": 1, "sample_weight": -2}, "sample_weight=-2 is the target, too"),
        ({"dtype": "foo"}, "dtype='foo' is not known; use float32"),
        ({"transform": "abc"}, "transform='abc' is not a function"),
        ({"cache": "no"}, "cache='no' is not known; use True or False"),
        ({"header": "no"}, "header='no' is not known; use True or False"),
        ({"block_rows": 0}, "block_rows=0 is out of range"),
    ],
)
def test_bad_arguments(arguments, message, tmp_path):
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(ValueError, match=message):
        RowBlocks(tmp_path / "a.npy", **arguments)


def test_bad_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file of a known format"):
        RowBlocks(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        RowBlocks(str(tmp_path / "*.npy"))
    with pytest.raises(FileNotFoundError, match="is not a file"):
        RowBlocks(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="empty list"):
        RowBlocks([])
    for path in (5, None, [b"x"], b"x", [None]):
        with pytest.raises(ValueError, match=re.escape(f"path={path!r} is not a path; give")):
            RowBlocks(path)
    (tmp_path / "a.dat").touch()
    with pytest.raises(ValueError, match="cannot be inferred from the name"):
        RowBlocks(tmp_path / "a.dat")


def test_npy_files_that_are_damaged_or_hold_no_columns(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.zeros((5, 0)))
    with pytest.raises(ValueError, match=r"shape \(5, 0\).*must hold a matrix of numbers"):
        RowBlocks(path)
    np.save(path, np.zeros((5, 2)))
    content = path.read_bytes()
    for broken in (content.replace(b"}", b"("), content.replace(b"'", b"\0"), content[:70]):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="is not a readable NPY file"):
            RowBlocks(path)


def test_small_row_groups_are_read_together(tmp_path, monkeypatch):
    """Each iteration of Arrow's costs more than a small group."""
    pd = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = pd.DataFrame({"a": np.arange(50_000.0), "b": np.arange(50_000) % 3})
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    monkeypatch.setattr("supred.rows.files.parquet.ParquetReader.BATCH_ROWS", 16_384)
    asked = []
    iterate = parquet.ParquetFile.iter_batches

    def counted(file, batch_rows, groups, columns):
        asked.append(len(groups))
        return iterate(file, batch_rows, groups, columns)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", counted)
    rows = RowBlocks(tmp_path / "rows.parquet", target="b")
    np.testing.assert_array_equal(rows.read(0, 50_000)[:, 0], frame["a"])
    assert asked == [33, 33, 33, 1]
    np.testing.assert_array_equal(rows.read(31_000, 40_000)[:, 0], frame["a"][31_000:40_000])
