"""Reading of tables and their preparation."""

from dataclasses import replace

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet
from sklearn.datasets import dump_svmlight_file

from supred import LowDimSVC
from supred.app.export.table_model import TableModel
from supred.app.tables.assemble import (
    find_column,
    model_table,
    sampled,
    stratified_part,
    training_table,
)
from supred.app.tables.builtin import BUILTIN
from supred.app.tables.preparation import Preparation, learnt_numbers, restored
from supred.app.tables.reading import read_builtin, read_source
from supred.app.tables.sources import MemorySource
from supred.app.tables.table import Column, Table, TableError
from supred.export import load_model, save_model
from supred.rows.files import text_readers

TEXT = "name,size,colour,kind\nan,1.5,red,x\nbe,NA,blue,y\nce,3,,x\nde,?,red,y\n"


def fields_of(tmp_path, text, **options):
    (tmp_path / "t.csv").write_bytes(text.encode())
    return read_source(str(tmp_path / "t.csv"), **options).table.to_pydict()


def source_of(columns):
    return MemorySource(pyarrow.table(columns), "t")


def test_quotes_line_ends_and_separators(tmp_path):
    wanted = {"a": ["1,5", "2"], "b": ['say "x"', "two\nlines"]}
    text = 'a;b\r\n"1,5";"say ""x"""\r\n\r\n2;"two\nlines"\r\n'
    assert fields_of(tmp_path, text) == wanted
    assert fields_of(tmp_path, "a\tb\n1\t2,3\n") == {"a": ["1"], "b": ["2,3"]}
    assert fields_of(tmp_path, '"a\tb;c;d",e\n1,2\n') == {"a\tb;c;d": ["1"], "e": ["2"]}
    assert fields_of(tmp_path, "\ufeffa,b\n1,2") == {"a": ["1"], "b": ["2"]}
    wanted = {"column1": ["1", "3"], "column2": ["2", "4"]}
    assert fields_of(tmp_path, "1,2\n3,4", header=False) == wanted


def test_columns_by_name_and_position():
    names = ["a", "b", "3"]
    assert find_column("b", names, "t") == "b"
    assert find_column("3", names, "t") == "3"
    assert find_column("1", names, "t") == "a"
    assert find_column("-2", names, "t") == "b"
    for wrong in ("c", "0", "4", "-4"):
        with pytest.raises(TableError, match="has no column"):
            find_column(wrong, names, "t")


def csv_table(tmp_path, **options):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return training_table(read_source(str(path)), **{"target": "kind", **options})


def test_a_table_with_text_and_gaps(tmp_path):
    table = csv_table(tmp_path, exclude=["name"])
    assert table.columns == [
        Column("size", "number"),
        Column("colour", "text", ("", "blue", "red")),
    ]
    assert table.row_names == ["an", "be", "ce", "de"]
    assert table.y.tolist() == ["x", "y", "x", "y"]
    steps = Preparation(scale="none").pipeline(table.columns)
    # size with gaps at the median, then blue, red and the empty colour, in sorted order
    wanted = [[1.5, 0, 0, 1], [2.25, 0, 1, 0], [3, 1, 0, 0], [2.25, 0, 0, 1]]
    np.testing.assert_array_equal(steps.fit_transform(table.X), wanted)
    said = " ".join(Preparation().sentences(table))
    assert "the column's median of the training rows: 'size' (2)" in said
    assert "'colour' (3 values)" in said
    assert "mean 0 and standard deviation 1" in said


def test_steps_can_be_switched(tmp_path):
    table = csv_table(tmp_path, exclude=["name"])
    zero = Preparation("zero", "drop", "none")
    np.testing.assert_array_equal(
        zero.pipeline(table.columns).fit_transform(table.X).ravel(), [1.5, 0, 3, 0]
    )
    said = " ".join(zero.sentences(table))
    assert "replaced by zero" in said
    assert "Text columns were left out: 'colour'" in said
    with pytest.raises(TableError, match="2 number"):
        Preparation(impute="none").check(table)
    with pytest.raises(TableError, match="holds text"):
        Preparation(encode="none").check(table)


@pytest.mark.parametrize("impute", ["median", "mean", "zero"])
@pytest.mark.parametrize("scale", ["standard", "none"])
@pytest.mark.parametrize("encode", ["onehot", "drop"])
def test_a_preparation_comes_back_from_what_it_learnt(tmp_path, impute, scale, encode):
    table = csv_table(tmp_path)
    preparation = Preparation(impute, encode, scale)
    fitted = preparation.pipeline(table.columns).fit(table.X)
    again = restored(preparation, table.columns, learnt_numbers(fitted), sparse=False)
    new = table.X.copy()
    new[0, 2] = -1  # a text that was not seen in training
    new[2, 1] = np.nan
    np.testing.assert_array_equal(again.transform(new), fitted.transform(new))


def test_identifiers_are_left_out_unless_kept():
    n = 40
    fields = {
        "key": [f"k{i}" for i in range(n)],
        "size": [str(i % 7) for i in range(n)],
        "void": [""] * n,
        "kind": ["x", "y"] * (n // 2),
    }
    table = training_table(source_of(fields), target="kind")
    assert [column.name for column in table.columns] == ["size"]
    assert table.row_names[:2] == ["k0", "k1"]
    assert table.ignored == ["key", "void"]
    assert "'key' differs in most rows" in table.notes[0]
    assert "'void' holds no value" in table.notes[1]
    kept = training_table(source_of(fields), target="kind", keep=["key"])
    assert [column.name for column in kept.columns] == ["key", "size"]


@pytest.mark.parametrize(("odd", "shown"), [("-", "'-' in row 8"), ("1,5", "'1,5' in row 8")])
def test_one_odd_field_among_numbers_is_named(odd, shown):
    sizes = [odd if k == 7 else f"{k}.5" for k in range(30)]
    kinds = ["x", "y"] * 15
    table = training_table(
        source_of({"size": sizes, "rest": list(range(30)), "kind": kinds}), target="kind"
    )
    assert [column.name for column in table.columns] == ["rest"]
    assert f"The column 'size' is not one of numbers, as it holds {shown}" in table.notes[0]
    with pytest.raises(TableError, match=r"left to learn from\. The column 'size'"):
        training_table(source_of({"size": sizes, "kind": kinds}), target="kind")


def test_rows_without_a_label_can_be_dropped():
    raw = source_of({"a": ["1", "2", "3", "4"], "kind": ["x", "?", "y", "x"]})
    table = training_table(raw, target="kind", drop_unlabelled=True)
    assert table.X.ravel().tolist() == [1, 3, 4]
    assert table.row_names == ["1", "3", "4"]
    assert "1 row(s) without a label" in table.notes[0]


def test_labels_that_are_no_plain_numbers_stay_text():
    kinds = {("7", "10"): "i", ("07", "10"): "U", ("1.0", "2.0"): "i", ("1", "2.0"): "U",
             ("0", "-0"): "U", ("1" * 16, "2"): "U", ("inf", "2"): "U"}  # fmt: skip
    for labels, kind in kinds.items():
        raw = source_of({"a": ["1", "2", "3", "4"], "kind": labels * 2})
        assert training_table(raw, target="kind").labels.dtype.kind == kind


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 3)).round(3), np.arange(12) % 3


def test_npz(tmp_path, numbers):
    X, y = numbers
    path = tmp_path / "t.npz"
    np.savez(path, X=X, y=y)
    table = training_table(read_source(str(path)))
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    for kind in (">i8", ">f8", np.longdouble, np.float16, ">U2"):
        np.savez(path, X=X.astype(">f4"), y=y.astype(kind))
        np.testing.assert_array_equal(training_table(read_source(str(path))).y, y)
    np.savez(path, X=X)
    with pytest.raises(TableError, match="--target is needed"):
        training_table(read_source(str(path)))
    np.savez(path, Z=X)
    with pytest.raises(TableError, match="needs a matrix of numbers called X"):
        read_source(str(path))
    np.savez(path, X=X, y=y[:5])
    with pytest.raises(TableError, match="y has shape"):
        read_source(str(path))
    np.savez(path, X=np.array([[object()]], dtype=object))
    with pytest.raises(TableError, match="not a readable NPZ"):
        read_source(str(path))
    np.savez(path, X=X, y=y, when=np.array(["2024-01-31"], dtype="datetime64[D]"))
    np.testing.assert_array_equal(training_table(read_source(str(path))).X, X)
    path.write_bytes(b"PK nonsense")
    with pytest.raises(TableError, match="not a readable NPZ"):
        read_source(str(path))
    np.savez_compressed(path, X=np.zeros((3_000_000, 3)), y=np.zeros(3_000_000, dtype=int))
    with pytest.raises(TableError, match="more than 100 times as many; if you trust it"):
        read_source(str(path))


def test_svmlight(tmp_path, numbers):
    X, y = numbers
    path = tmp_path / "t.svmlight"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    table = training_table(read_source(str(path)))
    np.testing.assert_allclose(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    # Rows that name no later feature are wide enough for the model all the same.
    (tmp_path / "short.svm").write_text("0 1:2.5\n1 2:1\n")
    short = model_table(
        read_source(str(tmp_path / "short.svm")),
        table.columns,
        target="label",
        classes=np.array([0, 1]),
    )
    np.testing.assert_array_equal(short.X, [[2.5, 0, 0], [0, 1, 0]])
    # Features that count from zero stay where they are in rows that lack the first one.
    dump_svmlight_file(X, y, str(path), zero_based=True)
    from_zero = training_table(read_source(str(path)))
    assert [column.name for column in from_zero.columns] == ["x0", "x1", "x2"]
    short = model_table(read_source(str(tmp_path / "short.svm")), from_zero.columns, target="label")
    np.testing.assert_array_equal(short.X, [[0, 2.5, 0], [0, 0, 1]])
    with pytest.raises(TableError, match="has the column 'x0' that the model does not know"):
        model_table(read_source(str(path)), table.columns, target="label")
    path.write_text("no svmlight\n")
    with pytest.raises(ValueError, match="not in svmlight format"):
        read_source(str(path))


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pandas.DataFrame({"a": [1, 2, None, 4], "t": ["u", None, "v", "u"], "k": [1, 2, 1, 2]})
    frame.to_parquet(path)
    table = training_table(read_source(str(path)), target="k")
    assert table.columns == [Column("a", "number"), Column("t", "text", ("", "u", "v"))]
    assert table.y.tolist() == [1, 2, 1, 2]
    np.testing.assert_array_equal(table.X, [[1, 1], [2, 0], [np.nan, 2], [4, 1]])
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(ValueError, match="not a readable Parquet"):
        read_source(str(path))


def test_a_parquet_file_that_grows_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({name: np.zeros(2_000_000) for name in "abcdefgh"}), path)
    with pytest.raises(TableError, match="would unpack to 128000000, more than 100 times"):
        read_source(str(path))
    texts = ["x" * 1_000_000] * 400  # in the file it is there once
    parquet.write_table(pyarrow.table({"a": texts, "y": np.arange(400) % 2}), path)
    with pytest.raises(ValueError, match=r"texts take 400000000 bytes in 400 rows.*column 'a'"):
        read_source(str(path))
    texts = ["x" * 100_000] * 400  # six such columns together are too many
    parquet.write_table(pyarrow.table({f"c{k}": texts for k in range(6)}), path)
    with pytest.raises(ValueError, match="texts take 240000000 bytes in 400 rows"):
        read_source(str(path))


def test_columns_of_bytes_and_lists_are_not_read(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"b": [b"x" * 1000] * 6, "l": [["a", "b"]] * 6, "a": np.arange(6.0)}
    parquet.write_table(pyarrow.table({**columns, "y": np.arange(6) % 2}), path)
    source = read_source(str(path))
    assert source.table.nbytes < 1000
    table = training_table(source, target="y", exclude=["b", "l"])
    np.testing.assert_array_equal(table.X, np.arange(6.0)[:, None])
    for name, kind in (("b", "binary"), ("l", "list<element: string>")):
        other = {"b": "l", "l": "b"}[name]
        with pytest.raises(TableError, match=f"'{name}' holds {kind}, neither numbers nor text"):
            training_table(read_source(str(path)), target="y", exclude=[other])


def test_text_columns_that_would_be_far_too_many(tmp_path):
    path = tmp_path / "t.csv"
    rows = [",".join([*(f"{k // 3}-{c}" for c in range(6)), "ab"[k % 2]]) for k in range(3000)]
    path.write_text("\n".join(["a,b,c,d,e,f,y", *rows]) + "\n", encoding="utf-8")
    table = training_table(read_source(str(path)), target="y")
    Preparation().check_size(table)  # 144 MB
    Preparation(encode="drop").check_size(replace(table, X=np.tile(table.X, (2, 1))))
    with pytest.raises(TableError, match=r"hold 6000 different values.*--exclude a, 1000 values"):
        Preparation().check_size(replace(table, X=np.tile(table.X, (2, 1))))


def test_a_model_of_very_many_columns_can_be_kept(tmp_path):
    """Names of columns would make its description longer than a reader takes."""
    columns = [Column(f"gene {k} of the table", "number") for k in range(30_000)]
    columns[5] = Column("ü", "text", ("", "a", "ß"))
    X = np.random.default_rng(0).normal(size=(6, 30_000))
    X[:, 5] = np.arange(6) % 3
    table = Table("genes", columns, X, y=np.arange(6) % 2)
    model = TableModel.fit(LowDimSVC(n_centers=2, max_iter=1, random_state=0), table)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.columns == columns
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_the_width_of_a_table_is_limited(tmp_path):
    X = np.ones((2, 100_001), dtype=np.uint8)
    names = ",".join(f"c{k}" for k in range(X.shape[1]))
    row = ",".join(X[0].astype(str))
    (tmp_path / "t.csv").write_text(f"{names}\n{row}\n", encoding="utf-8")
    (tmp_path / "bare.csv").write_text(f"{row}\n{row}\n", encoding="utf-8")
    np.savez_compressed(tmp_path / "t.npz", X=X, y=np.arange(2))
    np.save(tmp_path / "t.npy", X)
    for name, header in (("t.csv", True), ("bare.csv", False), ("t.npz", True), ("t.npy", True)):
        with pytest.raises(ValueError, match=f"{name} has 100001 columns; at most 100000 can be"):
            read_source(str(tmp_path / name), header=header)


@pytest.mark.parametrize("kind", [">f8", ">i4", np.longdouble])
@pytest.mark.parametrize("way", ["npz", "npy"])
def test_numbers_of_other_machines(way, kind, tmp_path):
    X, path = np.arange(12).reshape(6, 2), tmp_path / f"t.{way}"
    np.savez(path, X=X.astype(kind)) if way == "npz" else np.save(path, X.astype(kind))
    source = read_source(str(path))
    np.testing.assert_array_equal([column.to_numpy() for column in source.table.columns], X.T)


def test_an_npz_file_by_another_name(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.ones((2, 2)))
    (tmp_path / "t.npz").rename(tmp_path / "t.npy")
    with pytest.raises(ValueError, match="is not a readable NPY file: it holds several arrays"):
        read_source(str(tmp_path / "t.npy"))


def test_columns_are_parsed_group_by_group(tmp_path, monkeypatch):
    whole = fields_of(tmp_path, TEXT)
    monkeypatch.setattr(text_readers, "MOST_AT_ONCE", 3)
    assert fields_of(tmp_path, TEXT) == whole


def test_built_in_sets(monkeypatch):
    monkeypatch.delenv("SUPRED_DATA", raising=False)
    digits = training_table(read_builtin("digits"))
    assert digits.X.shape == (1797, 64)
    assert digits.y.tolist()[:3] == [0, 1, 2]
    assert training_table(read_builtin("iris")).y[0] == "setosa"
    for name in ("spirals", "swiss-roll", "wine", "breast-cancer"):
        assert len(np.unique(training_table(read_builtin(name)).labels)) > 1
    with pytest.raises(TableError, match="SUPRED_DATA"):
        read_builtin("vehicle")
    with pytest.raises(TableError, match="use one of digits"):
        read_builtin("mars")
    assert all(BUILTIN.values())


def test_a_matrix_target_by_name():
    X = np.column_stack([np.arange(6.0), [0, 1, 0, 1, 0, 1]])
    raw = MemorySource.of_matrix(X, "t", ["a", "b"])
    table = training_table(raw, target="b")
    assert [column.name for column in table.columns] == ["a"]
    assert table.y.tolist() == [0, 1, 0, 1, 0, 1]
    with pytest.raises(TableError, match="has no column 'c'"):
        training_table(raw, target="c")


def test_labels_are_asked_for_when_there_are_none():
    with pytest.raises(TableError, match="has no labels"):
        _ = Table("t", [], np.zeros((1, 1))).labels


def test_a_stratified_part_has_every_class():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n_classes = int(rng.integers(1, 30))
        more = n_classes * rng.random(rng.integers(0, 300)) ** rng.integers(1, 5)
        y = rng.permutation(np.r_[np.arange(n_classes), more.astype(int)])
        n_rows = int(rng.integers(1, len(y) + 5))
        rows = stratified_part(y, n_rows, seed=0)
        assert len(rows) == len(set(rows)) == min(n_rows, len(y))
        assert len(set(y[rows])) == min(n_rows, n_classes)


def test_a_part_of_the_rows_keeps_the_shares_of_the_classes():
    y = np.array([0] * 600 + [1] * 390 + [2] * 10)
    names = [str(k) for k in range(1000)]
    table = Table("t", [Column("a", "number")], np.arange(1000.0)[:, None], "k", y, names)
    part = sampled(table, 100, seed=0)
    assert np.bincount(part.y).tolist() == [60, 39, 1]
    np.testing.assert_array_equal(part.y, y[part.X.ravel().astype(int)])
    assert part.row_names == [names[int(k)] for k in part.X.ravel()]
    assert "100 of 1000 rows" in part.notes[0]
    assert sampled(table, 5000, seed=0) is table
    assert table.notes == []
    with pytest.raises(TableError, match="too few for 3 classes"):
        sampled(table, 5, seed=0)


def test_dates_are_called_dates(tmp_path):
    path = tmp_path / "visits.csv"
    days = [f"2024-{1 + k // 28:02d}-{1 + k % 28:02d}" for k in range(60)]
    lines = [f"P{k},{day},{k % 7},{'ab'[k % 2]}" for k, day in enumerate(days)]
    path.write_text("\n".join(["patient,visit,dose,kind", *lines]) + "\n")
    table = training_table(read_source(str(path)), target="kind")
    assert [column.name for column in table.columns] == ["dose"]
    said = " ".join(table.notes)
    assert "'visit' holds dates" in said
    assert "'patient' differs in most rows, as identifiers do" in said
    assert table.row_names[0] == "P0"
