"""Tables that are read block by block give the models of tables that are read whole."""

import json

import numpy as np
import pytest

from supred.app.export.model_file import load_model
from supred.app.tables.sources import FileSource
from supred.low_dim_svm.classifier import LowDimSVC
from supred.low_dim_svm.mappings.basis import BasisMapping
from supred.rbf_net import choices
from supred.rbf_net.classifier import RBFNetClassifier
from tests.app.cli.conftest import flowers, write_csv

SETTINGS = ("--set", "n_centers=20")


def model_of(supred, path, *arguments):
    result = supred("fit", *arguments, *SETTINGS, "--out", path, "--json")
    assert result.code == 0, result.err
    return load_model(path), json.loads(result.out)


@pytest.mark.parametrize("gap", [False, True])
def test_the_same_model_as_from_the_whole_table(supred, table, tmp_path, gap):
    if gap:
        lines = table.read_text().splitlines()
        lines[3] = "," + lines[3].split(",", 1)[1]
        table.write_text("\n".join(lines) + "\n")
    whole, said = model_of(supred, tmp_path / "a", table, "--target", "species")
    streamed, also = model_of(supred, tmp_path / "b", table, "--target", "species", "--stream")
    np.testing.assert_allclose(streamed.estimator.coef_, whole.estimator.coef_)
    assert also["columns"] == said["columns"] == ["width", "length", "height"]
    assert also["classes"] == said["classes"]
    assert also["training_error"] == said["training_error"]
    for command in ("predict", "transform"):
        expected = supred(command, tmp_path / "a", table)
        found = supred(command, tmp_path / "b", table, "--stream")
        assert (found.code, found.err) == (0, "")
        np.testing.assert_array_equal(found.out.split()[0], expected.out.split()[0])
        if command == "predict":
            assert found.out == expected.out
        else:
            numbers = [
                np.array([line.split(",") for line in text.split()[1:]], dtype=float)
                for text in (found.out, expected.out)
            ]
            np.testing.assert_allclose(*numbers)


@pytest.mark.parametrize("kind", ["npy", "svmlight", "parquet"])
def test_other_formats_and_folders(supred, tmp_path, kind):
    X, y = flowers()
    class_index = np.unique(y, return_inverse=True)[1]
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate((slice(0, 30), slice(30, 60))):
        path = folder / f"{number}.{kind}"
        if kind == "npy":
            np.save(path, np.column_stack([X[part], class_index[part]]))
        elif kind == "svmlight":
            from sklearn.datasets import dump_svmlight_file

            dump_svmlight_file(X[part], class_index[part], str(path), zero_based=False)
        else:
            pytest.importorskip("pyarrow")
            import pandas

            frame = pandas.DataFrame(X[part], columns=["a", "b", "c"])
            frame["kind"], frame["name"] = y[part], [f"plant {k}" for k in range(30)]
            frame.to_parquet(path)
    goal = {"npy": ["--target", "-1"], "parquet": ["--target", "kind", "--exclude", "name"]}
    model, said = model_of(supred, tmp_path / "m", folder, "--stream", *goal.get(kind, []))
    assert said["rows"] == 60
    scaled = any("divided by their standard deviation" in note for note in said["preprocessing"])
    assert scaled == (kind == "svmlight")  # zeros stay zeros
    files = sorted(folder.iterdir())
    also, _ = model_of(supred, tmp_path / "n", *files, "--stream", *goal.get(kind, []))
    np.testing.assert_array_equal(also.estimator.coef_, model.estimator.coef_)
    assert said["classes"] == (sorted(set(y)) if kind == "parquet" else [0, 1, 2])
    assert said["training_error"] < 0.1
    result = supred("predict", tmp_path / "m", folder, "--stream", "--json")
    assert result.code == 0, result.err
    truth = y if kind == "parquet" else class_index
    error = np.mean(np.array(json.loads(result.out)["predicted"]) != truth)
    assert error == pytest.approx(said["training_error"])


@pytest.mark.parametrize("method", ["LowDimSVC", "RBFNetClassifier"])
@pytest.mark.parametrize("value", ["inf", "nan", "foo", "2.5", "none"])
def test_parameters_are_checked_first(supred, table, tmp_path, method, value):
    if (method, value) == ("RBFNetClassifier", "none"):
        pytest.skip("none is the default")
    arguments = ("--target", "species", "--method", method, "--set", f"max_iter={value}")
    result = supred("fit", table, *arguments, "--stream", "--out", tmp_path / "m")
    assert "max_iter=" in result.error_line


@pytest.mark.parametrize("way", [(), ("--stream",)])
def test_svmlight_rows_that_lack_the_first_feature(supred, tmp_path, way):
    lines = [f"{k % 2} 0:{k % 7 + 1} 1:{5 * (k % 2) + k % 3} 2:1\n" for k in range(40)]
    (tmp_path / "train.svm").write_text("".join(lines))
    model_of(supred, tmp_path / "m", tmp_path / "train.svm", *way)
    (tmp_path / "test.svm").write_text("0 1:0.5 2:1\n1 1:6 2:1\n0 1:0.5\n1 1:6\n")
    result = supred("predict", tmp_path / "m", tmp_path / "test.svm", "--json", *way)
    assert result.code == 0, result.err
    assert json.loads(result.out)["predicted"] == [0, 1, 0, 1]


def test_a_large_table_is_prepared_by_a_sample(supred, table, tmp_path, monkeypatch):
    monkeypatch.setattr("supred.app.cli._stream.FEWEST_SAMPLED", 25)
    monkeypatch.setattr("supred.app.cli._stream.MOST_SAMPLED_NUMBERS", 40)
    _, said = model_of(supred, tmp_path / "m", table, "--target", "species", "--stream")
    assert any("a sample of 25 rows" in sentence for sentence in said["preprocessing"])
    assert said["training_error"] < 0.1


@pytest.mark.parametrize(
    ("method", "setting", "owner", "step"),
    [
        (LowDimSVC, "tol=0", BasisMapping, "regress"),
        (RBFNetClassifier, "alpha=0", choices, "descend_side_by_side"),
    ],
)
def test_an_interrupted_fit_goes_on(
    method, setting, owner, step, supred, table, tmp_path, monkeypatch
):
    arguments = (
        "fit", table, "--target", "species", "--method", method.__name__, "--stream", *SETTINGS,
        "--set", "max_iter=5", "--set", setting, "--checkpoint", tmp_path / "c", "--quiet", "--out",
    )  # fmt: skip
    compute, calls = getattr(owner, step), []

    def interrupted(*arguments):
        calls.append(step)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return compute(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, interrupted)
        assert supred(*arguments, tmp_path / "a").code == 130
    assert (tmp_path / "c").exists()
    assert not (tmp_path / "a").exists()
    assert supred(*arguments, tmp_path / "a").code == 0
    assert not (tmp_path / "c").exists()
    assert supred(*arguments, tmp_path / "b").code == 0
    one, other = (load_model(tmp_path / name).estimator for name in "ab")
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.get_params() == other.get_params() | {"checkpoint": None}
    assert isinstance(one, method)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stream"], "--target is needed; the columns are width"),
        (["--stream", "--target", "5"], "has no column '5'"),
        (["--stream", "--target", "species", "--method", "CategorySpace"], "RBFNetClassifier only"),
        (["--stream", "--target", "species", "--no-header"], "has no column 'species'"),
        (["--stream", "--target", "species", "--format", "npz"], "--format npz cannot be"),
        (["--stream", "--target", "width", "--exclude", "width"], "cannot be excluded"),
        (["--stream", "--target", "width"], "it looks like a quantity"),
        (["--target", "species", "--method", "CategorySpace", "--checkpoint", "c"],
         "--checkpoint cannot be combined with CategorySpace"),
        (["--stream", "--target", "species", "--cache", "none"], "--cache none: there is no such"),
        (["--stream", "--target", "species", "--checkpoint", "none/c"], "does not exist; make"),
    ],
)  # fmt: skip
def test_bad_options(supred, table, tmp_path, arguments, message):
    result = supred("fit", table, *arguments, "--out", tmp_path / "m")
    assert message in result.error_line


def test_a_checkpoint_is_not_the_model(supred, table, tmp_path):
    files = ("--out", tmp_path / "m", "--checkpoint", tmp_path / "m")
    line = supred("fit", table, "--target", "species", "--method", "LowDimSVC", *files).error_line
    assert "is named by both --out and --checkpoint" in line


def test_bad_tables(supred, table, model, tmp_path):
    out = ("--target", "species", "--stream", "--out", tmp_path / "m2")
    assert "is not a file" in supred("fit", tmp_path / "no.csv", *out).error_line
    assert "name files" in supred("fit", "-", *out, stdin="a,b").error_line
    _, y = flowers()
    broken = write_csv(
        tmp_path / "broken.csv",
        ["width", "length", "height", "species"],
        [[1.0, "inf" if k == 30 else 2.0, 3.0, label] for k, label in enumerate(y)],
    )
    line = supred("fit", broken, *out, "--impute", "none").error_line
    assert "'length' holds an infinite number (row 31)" in line
    text = write_csv(tmp_path / "text.csv", ["width", "length", "height"], [[1.0, "red", 3.0]])
    line = supred("predict", model, text, "--stream").error_line
    assert "the column 'length' holds 'red' in row 1, where a number is expected" in line
    narrow = write_csv(tmp_path / "narrow.csv", ["width", "length"], [[1.0, 2.0]])
    assert "lacks the column 'height'" in supred("predict", model, narrow, "--stream").error_line
    wide = write_csv(
        tmp_path / "wide.csv", ["width", "length", "height", "colour"], [[1.0, 2.0, 3.0, 4.0]]
    )
    assert "does not know" in supred("predict", model, wide, "--stream").error_line
    holes = write_csv(tmp_path / "holes.csv", ["width", "length", "height"], [[1.0, 2.0, "inf"]])
    line = supred("predict", model, holes, "--stream").error_line
    assert "'height' holds an infinite number" in line
    rows = [[1.0, 2.0, "inf" if k == 25 else 3.0] for k in range(30)]
    far = write_csv(tmp_path / "far.csv", ["width", "length", "height"], rows)
    with pytest.MonkeyPatch.context() as patch:  # rows are counted from the first, not in blocks
        patch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 7)
        patch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)
        line = supred("predict", model, far, "--stream", "--out", tmp_path / "p").error_line
    assert "'height' holds an infinite number (row 26)" in line
    good = supred("predict", model, wide, "--stream", "--exclude", "colour")
    assert good.code == 0
    assert (
        "evaluate reads the whole table" in supred("evaluate", model, table, "--stream").error_line
    )


def test_text_is_copied_once_and_the_copy_is_removed(supred, table, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    seen = []
    copy_of = FileSource.copy_of

    def spy(self, columns):
        places = copy_of(self, columns)
        seen.append(self.copy)
        lines = [line.split(",")[:3] for line in table.read_text().splitlines()[1:]]
        np.testing.assert_array_equal(np.load(self.copy)[:, places], np.array(lines, dtype=float))
        return places

    monkeypatch.setattr(FileSource, "copy_of", spy)
    fit = ("--target", "species", "--stream")
    copied, _ = model_of(supred, tmp_path / "a", table, *fit, "--cache", folder)
    assert [path.parent.parent for path in seen] == [folder]
    assert list(folder.iterdir()) == []
    direct, _ = model_of(supred, tmp_path / "b", table, *fit, "--no-cache")
    assert len(seen) == 1
    np.testing.assert_array_equal(direct.estimator.coef_, copied.estimator.coef_)
    line = supred("fit", table, *fit, "--cache", tmp_path / "no", "--out", tmp_path / "c")
    assert "there is no such folder" in line.error_line
    line = supred("fit", table, "--target", "species", "--no-cache", "--out", tmp_path / "c")
    assert "--cache and --no-cache are for --stream" in line.error_line


def test_progress_and_what_is_left_are_told(supred, table, tmp_path, monkeypatch):
    monkeypatch.setattr("supred.app.cli._progress.FIRST", 0.0)
    monkeypatch.setattr("supred.app.cli._progress.BETWEEN", 0.0)
    fit = ("fit", table, "--target", "species", "--stream", *SETTINGS)
    arguments = (*fit, "--method", "LowDimSVC")
    lines = supred(*arguments, "--out", tmp_path / "m").err.splitlines()
    reading = [line for line in lines if line.startswith("reading: pass ")]
    training = [line for line in lines if line.startswith("training: pass ")]
    assert len(reading) == 2  # the labels, then the numbers; there is no text
    assert " of about 2 over the rows" in reading[0]
    assert reading[0].endswith("s left")
    assert "of about 19" in training[0]
    quiet = supred(*arguments, "--quiet", "--out", tmp_path / "q")
    assert quiet.err == ""
    lines = supred(*fit, "--out", tmp_path / "r").err.splitlines()
    training = [line for line in lines if line.startswith("training: pass ")]
    assert "of about 41" in training[0]
    assert training[0].endswith("s left")


def test_packed_columns_of_true_and_false_are_streamed(supred, tmp_path):
    """A hundred of them take next to nothing in the file, and as blocks not much in memory."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    text = rng.integers(100, size=100_000)
    frame = pd.get_dummies(text).rename(columns=str)
    frame["y"] = text % 2
    frame.to_parquet(tmp_path / "packed.parquet")
    arguments = ("--target", "y", "--method", "LowDimSVC", "--set", "max_iter=1", "--stream")
    out = ("--set", "n_centers=5", "--folds", "0", "--out", tmp_path / "m")
    result = supred("fit", tmp_path / "packed.parquet", *arguments, *out)
    assert result.code == 0, result.err


def test_an_error_names_the_table_and_not_its_copy(supred, tmp_path):
    """The copy of a text is gone when somebody reads of it."""
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n" + "1e30,x\n2e30,y\n" * 10)
    fit = ("fit", path, "--target", "kind", "--scale", "none", "--stream", "--quiet")
    line = supred(*fit, "--method", "LowDimSVC", "--out", tmp_path / "m").error_line
    assert f"column 0 of row 0 of {path}; rows that are read" in line


def test_an_error_stays_as_it_is_without_a_copy(supred, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n" + "1,x\n2,y\n" * 10)

    def refuse(*_, **__):
        raise ValueError("no such thing; use None.")

    monkeypatch.setattr(LowDimSVC, "fit", refuse)
    fit = ("fit", path, "--target", "kind", "--stream", "--quiet", "--no-cache")
    line = supred(*fit, "--method", "LowDimSVC", "--out", tmp_path / "m").error_line
    assert line.endswith("no such thing; use None.")
