"""The same table gives the same model, whichever way it comes in; or the same one-line error."""

import gzip
import itertools
import json

import numpy as np
import pandas
import pytest

from supred.app.cli.main import main
from supred.app.export.model_file import load_model
from supred.app.tables.cluster import _pieces
from supred.rows.files.locating import open_reader

distributed = pytest.importorskip("distributed")

N = 60
RNG = np.random.default_rng(0)
CLASS = np.arange(N) % 3
NUMBERS = (RNG.normal(size=(N, 2)) + 3 * np.eye(3)[CLASS][:, :2]).round(3)
SETTINGS = ("--target", "kind", "--set", "n_centers=12", "--set", "max_iter=4")


def csv(path, columns):
    """Write fields as they are given, one line per row."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def base():
    return {"a": NUMBERS[:, 0], "b": NUMBERS[:, 1], "kind": np.array(["x", "y", "z"])[CLASS]}


def with_column(values, **typed):
    """A table with one more column: as texts, and typed for Parquet."""
    texts = {"c": values, **base()}
    return texts, {**base(), "c": typed.get("typed", values)}


DAYS = pandas.to_datetime("2024-02-28") + pandas.to_timedelta(np.arange(N) % 4, unit="D")
TIMES = DAYS + pandas.to_timedelta(np.arange(N) % 2 * 12, unit="h")
GAPS = np.where(np.arange(N) % 7 == 0, np.nan, NUMBERS[:, 0] ** 2).round(3)


def cycle(*items):
    return list(itertools.islice(itertools.cycle(items), N))


# name -> the fields as text, the columns as Parquet has them
AWKWARD = {
    "plain": with_column(NUMBERS[::-1, 0], typed=NUMBERS[::-1, 0]),
    "booleans": with_column(
        cycle("True", "False", "False"), typed=np.array(cycle(True, False, False))
    ),
    "booleans with gaps": with_column(
        cycle("true", "", "FALSE"), typed=pandas.array(cycle(True, None, False), dtype="boolean")
    ),
    "gaps": with_column(["?" if np.isnan(v) else f" {v}" for v in GAPS], typed=GAPS),
    "every word for a gap": with_column(
        cycle("1", "", "NA", "n/a", "NaN", "NAN", "-nan", "+nan", "null", "None", "?"),
        typed=cycle(1.0, *[None] * 10),
    ),
    "whole numbers with gaps": with_column(
        cycle("7", "", "9"), typed=pandas.array(cycle(7, None, 9), dtype="Int64")
    ),
    "integers beyond 64 bits": with_column(cycle("1", str(10**30)), typed=cycle(1.0, 1e30)),
    "single precision": with_column(
        NUMBERS[:, 0].astype(np.float32).astype(float), typed=NUMBERS[:, 0].astype(np.float32)
    ),
    "NaN written otherwise": with_column(
        cycle("1", "nan(x)", "-nan"), typed=cycle("1", "nan(x)", None)
    ),
    "text": with_column(
        cycle("red", "", "blue", "green"), typed=cycle("red", None, "blue", "green")
    ),
    "numbers as text in Parquet": with_column(cycle("1", "2", "4"), typed=cycle("1", "2", "4")),
    "categories": with_column(cycle("red", "blue"), typed=pandas.Categorical(cycle("red", "blue"))),
    "not digits of a number": with_column(
        cycle("1_000", "２", "3"), typed=cycle("1_000", "２", "3")
    ),
    "days": with_column(DAYS.strftime("%Y-%m-%d"), typed=DAYS),
    "times": with_column(TIMES.strftime("%Y-%m-%d %H:%M:%S"), typed=TIMES),
    "an empty column": with_column(cycle("", "?"), typed=[None] * N),
    "a constant column": with_column(["5"] * N, typed=[5] * N),
    "numbers that become text late": with_column(
        [*"1" * (N - 1), "one"], typed=[*"1" * (N - 1), "one"]
    ),
    "an identifier": with_column(
        [f"row {k}" for k in range(N)], typed=[f"row {k}" for k in range(N)]
    ),
}


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def fitted(path, capsys, tmp_path, *options):
    out = tmp_path / "model"
    out.unlink(missing_ok=True)
    capsys.readouterr()
    code = main(["fit", str(path), *SETTINGS, "--out", str(out), "--json", *options])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return load_model(out), json.loads(captured.out)


@pytest.fixture
def small_parts(monkeypatch):
    """Several parts per file, so that parts of a column differ in what they hold."""
    monkeypatch.setattr("supred.rows.files.text_readers.SEGMENT_BYTES", 300)
    monkeypatch.setattr("supred.rows.files.parquet.ParquetReader.BATCH_ROWS", 13)
    monkeypatch.setattr("supred.app.tables.cluster.LEAST_PIECE", 300)
    monkeypatch.setattr("supred.app.tables.cluster.MOST_PIECE", 300)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", AWKWARD)
def test_the_same_model_from_every_source(name, capsys, tmp_path, address):
    texts, typed = AWKWARD[name]
    csv(tmp_path / "t.csv", {key: texts[key] for key in sorted(texts)})
    frame = pandas.DataFrame(typed)[sorted(typed)]
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=17)
    whole, said = fitted(tmp_path / "t.csv", capsys, tmp_path)
    new = {"csv": tmp_path / "t.csv", "parquet": tmp_path / "t.parquet"}
    for kind, path in new.items():
        for way in ((), ("--stream",), ("--scheduler", address)):
            model, also = fitted(path, capsys, tmp_path, *way)
            assert model.columns == whole.columns, (kind, way)
            assert model.ignored == whole.ignored
            assert also["classes"] == said["classes"]
            assert also["training_error"] == pytest.approx(said["training_error"])
            np.testing.assert_allclose(
                model.estimator.coef_, whole.estimator.coef_, rtol=1e-6, atol=1e-9
            )
            predicted = []
            for other in new.values():
                assert main(["predict", str(tmp_path / "model"), str(other)]) == 0
                predicted.append(capsys.readouterr().out)
                if not way:
                    arguments = ["predict", str(tmp_path / "model"), str(other), "--stream"]
                    assert main(arguments) == 0
                    predicted.append(capsys.readouterr().out)
            assert len(set(predicted)) == 1


def test_workers_read_every_row_once_wherever_the_file_is_cut(tmp_path):
    csv(tmp_path / "t.csv", base())
    for step in range(1, 60):
        pieces = _pieces(open_reader(tmp_path / "t.csv"), "csv", True, step, f"{tmp_path} {step}")
        texts = [text for piece in pieces for text in piece.read(["a"])["a"].to_pylist()]
        assert texts == [str(number) for number in NUMBERS[:, 0]]


def test_a_matrix_is_the_table_of_its_columns(capsys, tmp_path):
    X = np.column_stack([NUMBERS, GAPS, np.full(N, np.nan)])
    names = [f"x{k + 1}" for k in range(4)]
    frame = pandas.DataFrame(X, columns=names).assign(y=CLASS)
    frame.to_csv(tmp_path / "t.csv", index=False)
    np.savez(tmp_path / "t.npz", X=X, y=CLASS.astype(float))
    np.save(tmp_path / "t.npy", np.column_stack([X, CLASS]))
    settings = ("--target", "y")
    whole, _ = fitted(tmp_path / "t.csv", capsys, tmp_path, *settings)
    assert [column.name for column in whole.columns] == names[:3]
    for path, *way in (
        ("t.npz",),
        ("t.npy", "--target", "-1"),
        ("t.npy", "--target", "-1", "--stream"),
    ):
        model, _ = fitted(tmp_path / path, capsys, tmp_path, *(way or settings))
        assert model.columns == whole.columns
        assert model.classes.tolist() == [0, 1, 2]
        np.testing.assert_allclose(model.estimator.coef_, whole.estimator.coef_)


LABELS = {
    "whole numbers": (cycle("3", "4"), cycle(3, 4), [3, 4]),
    "whole numbers as decimals": (cycle("3.0", "4.0"), cycle(3.0, 4.0), [3, 4]),
    "decimals": (cycle("3.0", "4.5"), cycle(3.0, 4.5), ["3.0", "4.5"]),
    "zero and minus zero": (cycle("0", "-0"), cycle("0", "-0"), ["-0", "0"]),
    "booleans": (cycle("True", "False"), cycle(True, False), ["False", "True"]),
    "infinite": (cycle("inf", "1.0"), cycle(np.inf, 1.0), ["1.0", "inf"]),
    "beyond 64 bits": (cycle("1", "9" * 20), cycle("1", "9" * 20), ["1", "9" * 20]),
    "leading zeros": (cycle("07", "10"), cycle("07", "10"), ["07", "10"]),
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", LABELS)
def test_the_same_labels_from_every_source(name, capsys, tmp_path, address):
    texts, typed, wanted = LABELS[name]
    csv(tmp_path / "t.csv", {**base(), "kind": texts})
    pandas.DataFrame({**base(), "kind": typed}).to_parquet(tmp_path / "t.parquet")
    for path in ("t.csv", "t.parquet"):
        for way in ((), ("--stream",), ("--scheduler", address)):
            assert fitted(tmp_path / path, capsys, tmp_path, *way)[1]["classes"] == wanted, path


ROW = "1,2,x\n"
WRONG = {
    "short row": ("a,b,kind\n" + ROW * 3 + "1,x\n", "line 5: 2 fields where the first line has 3"),
    "long row": ("a,b,kind\n" + ROW * 3 + "1,2,3,x\n", "line 5: 4 fields where the first line"),
    "open quote beside a quote": (
        "a,b,kind\n" + ROW * 2 + '1,5",x\n1,3,"y\n' + ROW,
        "line 5: cannot be read as a table",
    ),
    "open quote": ("a,b,kind\n" + ROW * 3 + '1,"2,x\n', "line 5: cannot be read as a table"),
    "? in the target": ("a,b,kind\n" + ROW * 3 + "1,2,?\n", "1 row(s) have no value of the target"),
    "nothing in the target": ("a,b,kind\n" + "1,2,?\n1,2,\n", "'kind' is empty in all rows"),
    "no name": ("a,,kind\n" + ROW, "column 2 has no name in the header"),
    "one name twice": ("a,a,kind\n" + ROW, "two columns are called 'a'"),
    "numbers for a header": ("1,2,3\n4,5,6\n", "the first line holds numbers only"),
    "not UTF-8": ("a,b,kind\n1,2,caf\xe9\n".encode("latin-1"), "not a text file in UTF-8 (line 2"),
    "nothing but gaps": ("a,b,kind\n" + ",?,x\n,NA,y\n" * 4, "no column is left to learn from"),
    "the target alone": ("kind\n" + "x\ny\n" * 4, "no column is left to learn from"),
    "carriage returns alone": ("a,b,kind\r" + "1,2,x\r" * 3, "end with a carriage return alone"),
    "UTF-16": ("a,b,kind\n1,2,x\n".encode("utf-16-le"), "holds NUL characters"),
    "UTF-16 with a mark": ("a,b,kind\n1,2,x\n".encode("utf-16"), "iconv -f utf-16 -t utf-8"),
    "compressed": (gzip.compress(b"a,b,kind\n1,2,x\n"), "unpack it if it is compressed"),
    "header only": ("a,b,kind\n", "no rows"),
    "empty": ("", "is empty"),
    "too large": ("a,b,kind\n" + ROW * 2 + "1,1e200,y\n1,2,y\n", "one beyond 1e+100; divide"),
    "infinite number": ("a,b,kind\n" + ROW * 2 + "1,1e999,y\n1,2,y\n", "infinite number (row 3)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_same_error_from_every_source(name, capsys, tmp_path, address):
    text, message = WRONG[name]
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for way in ((), ("--stream",), ("--scheduler", address)):
        capsys.readouterr()
        arguments = ["fit", str(path), "--target", "kind", "--out", str(tmp_path / "m"), *way]
        assert main(arguments) == 2
        captured = capsys.readouterr()
        lines = [line for line in captured.err.splitlines() if "error: " in line]
        assert len(lines) == 1, captured.err
        assert message in lines[0], way
        assert captured.out == ""


@pytest.mark.parametrize("way", [(), ("--stream",)])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1:2\n1 99999999999:1\n", "is not in svmlight format"),
        ("0 1:2\n1 2147483646:1\n", "at most 100000 can be used"),
        ("inf 1:2\n1 2:1\n" * 3, None),
        ("x 1:2\n", "a line is not of the form LABEL INDEX:NUMBER"),
        ("", "is empty"),
    ],
)
def test_svmlight_files_that_name_too_much(way, text, message, capsys, tmp_path):
    path = tmp_path / "t.svmlight"
    path.write_text(text)
    code = main(["fit", str(path), "--out", str(tmp_path / "m"), "--set", "n_centers=3", *way])
    err = capsys.readouterr().err
    if message is None:
        assert code == 0, err
        assert load_model(tmp_path / "m").classes.tolist() == ["1.0", "inf"]
    else:
        assert code == 2
        assert message in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("way", [(), ("--stream",)])
def test_parquet_files_that_hold_nothing_or_the_wrong_things(way, capsys, tmp_path):
    path = tmp_path / "t.parquet"
    lists = [[1]] * 4
    for columns, message in (
        ({"a": [], "kind": []}, "has no rows"),
        ({"a": lists, "kind": ["x", "y"] * 2}, "'a' holds list<element: int64>, neither numbers"),
        ({"a": [1, 2, 3, 4], "kind": lists}, "'kind' holds list<element: int64>, neither"),
    ):
        pandas.DataFrame(columns).to_parquet(path)
        assert main(["fit", str(path), "--target", "kind", "--out", str(tmp_path / "m"), *way]) == 2
        assert message in capsys.readouterr().err


def test_a_named_index_is_a_column_as_it_is_in_csv(capsys, tmp_path):
    frame = pandas.DataFrame(base())
    named = frame.set_index("a")
    named.to_csv(tmp_path / "t.csv")
    named.to_parquet(tmp_path / "t.parquet")
    frame.set_index(frame.index.to_numpy()[::-1]).to_parquet(tmp_path / "unnamed.parquet")
    for path in ("t.csv", "t.parquet", "unnamed.parquet"):
        for way in ((), ("--stream",)):
            model, _ = fitted(tmp_path / path, capsys, tmp_path, *way)
            assert sorted(column.name for column in model.columns) == ["a", "b"], path


def test_columns_of_parquet_may_have_numbers_for_names(capsys, tmp_path):
    frame = pandas.DataFrame(np.column_stack([NUMBERS, CLASS]), columns=["0", "1", "2"])
    frame.to_parquet(tmp_path / "t.parquet")
    for way in ((), ("--stream",)):
        model, _ = fitted(tmp_path / "t.parquet", capsys, tmp_path, "--target", "2", *way)
        assert [column.name for column in model.columns] == ["0", "1"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_blank_line_of_one_column_is_a_gap(end, capsys, tmp_path):
    frame = pandas.DataFrame(base())[["a", "kind"]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    fitted(tmp_path / "t.csv", capsys, tmp_path)
    (tmp_path / "new.csv").write_text(end.join(["a", "", "1", "", "2", "?", ""]), newline="")
    answers = []
    for way in ((), ("--stream",)):
        assert main(["predict", str(tmp_path / "model"), str(tmp_path / "new.csv"), *way]) == 0
        answers.append(capsys.readouterr().out.split()[1:])
    assert len(answers[0]) == 5
    assert answers[0][0] == answers[0][2] == answers[0][4]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("step", [3, 7, 1000])
def test_no_row_of_a_file_without_a_header_is_lost(step, tmp_path):
    rows = [("1", "2", "a"), ("3", "4", "b"), ("5", "6", "a")]
    path = tmp_path / "t.csv"
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    found = []
    reader = open_reader(path, header=False)
    for piece in _pieces(reader, "csv", False, step, f"{path} {step}"):
        found += zip(*piece.read(reader.column_names).to_pydict().values(), strict=True)
    assert found == rows
