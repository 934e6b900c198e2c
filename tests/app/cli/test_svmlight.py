"""Tables of svmlight files: from which number on features are counted, and where rows come from."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

SETTINGS = ("--set", "n_centers=8", "--method", "LowDimSVC", "--quiet", "--out")
WAYS = [(), ("--stream",)]


@pytest.fixture
def rows():
    """Rows of which the first ten lack the first feature, and their classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 3 * y[:, None] * [0, 1, -1]
    X[:10, 0] = 0
    return X, y


def predicted(supred, model, *arguments, **more):
    result = supred("predict", model, *arguments, "--json", **more)
    assert result.code == 0, result.err
    return json.loads(result.out)["predicted"]


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("again", WAYS)
def test_the_base_of_the_training_file_is_kept(supred, tmp_path, rows, base, way, again):
    X, y = rows
    whole, first, model = tmp_path / "t.svm", tmp_path / "first.svm", tmp_path / "m"
    dump_svmlight_file(X, y, str(whole), zero_based=not base)
    dump_svmlight_file(X[:10], y[:10], str(first), zero_based=not base)
    assert supred("fit", whole, *SETTINGS, model, *way).code == 0
    wanted = predicted(supred, model, whole, *again)
    assert predicted(supred, model, first, *again) == wanted[:10]
    assert np.mean(np.array(wanted) != y) < 0.1
    if base:
        dump_svmlight_file(X, y, str(whole), zero_based=True)
        line = supred("predict", model, whole, *again).error_line
        assert "has the column 'x0' that the model does not know" in line


@pytest.mark.parametrize("exclude", [(), ("--exclude", "x1")])
def test_a_model_of_rows_in_memory_predicts_those_of_files(supred, tmp_path, rows, exclude):
    path, model = tmp_path / "t.svm", tmp_path / "m"
    dump_svmlight_file(*rows, str(path), zero_based=True)
    assert supred("fit", path, *SETTINGS, model, *exclude).code == 0
    wanted = predicted(supred, model, path, *exclude)
    assert predicted(supred, model, path, "--stream", *exclude) == wanted


def test_standard_input(supred, tmp_path, rows):
    path, model = tmp_path / "t.svm", tmp_path / "m"
    dump_svmlight_file(*rows, str(path), zero_based=True)
    data, kind = path.read_bytes(), ("--format", "svmlight")
    assert supred("fit", "-", *kind, *SETTINGS, model, stdin=data).code == 0
    assert predicted(supred, model, *kind, stdin=data) == predicted(supred, model, path)
    line = supred("predict", model, *kind, stdin="no\n").error_line
    assert "error: standard input is not in svmlight format" in line


def test_maps_with_new_rows(supred, tmp_path, rows):
    X, y = rows
    path, new = tmp_path / "t.svm", tmp_path / "new.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    dump_svmlight_file(X, y, str(new), zero_based=True)
    result = supred("map", path, "--new", new, "--out", tmp_path / "m.html", "--quiet")
    assert "has the column 'x0' that the model does not know" in result.error_line


def test_as_many_features_as_a_table_may_have(supred, tmp_path):
    (tmp_path / "wide.svm").write_text("1 1:1 100000:2\n0 5:1\n" * 20)
    fit = ("fit", tmp_path / "wide.svm", "--target", "label", "--method", "LowDimSVC")
    assert supred(*fit, "--folds", "0", "--out", tmp_path / "m").code == 0


NUMBERS = [f"{k % 5},{k % 3}.5,{k % 2}" for k in range(20)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("names", "rows", "lacking"),
    [
        ("x1,age", NUMBERS, "the column 'age'"),
        ("a,b", NUMBERS, "the columns 'a', 'b'"),
        ("x1,x01", NUMBERS, "the column 'x01'"),
        ("x1,x-1", NUMBERS, "the column 'x-1'"),
        ("x1,x99999999999", NUMBERS, "the column 'x99999999999'"),
        ("x1,x3", [f"{'pq'[k % 2]}{row[1:]}" for k, row in enumerate(NUMBERS)], "the column 'x1'"),
    ],
)
def test_a_model_of_other_columns(supred, tmp_path, names, rows, lacking, way):
    table, path, model = tmp_path / "t.csv", tmp_path / "t.svm", tmp_path / "m"
    table.write_text("\n".join([f"{names},kind", *rows]) + "\n")
    path.write_text("0 1:1 2:3\n1 1:2\n")
    assert supred("fit", table, "--target", "kind", "--folds", "0", *SETTINGS, model).code == 0
    for more in ((), ("--exclude", "x2")):
        line = supred("predict", model, path, *way, *more).error_line
        assert f"{path} lacks {lacking} that the model needs" in line


def test_a_feature_that_the_model_needs_cannot_be_excluded(supred, tmp_path, rows):
    path, model = tmp_path / "t.svm", tmp_path / "m"
    dump_svmlight_file(*rows, str(path), zero_based=False)
    assert supred("fit", path, *SETTINGS, model).code == 0
    line = supred("predict", model, path, "--exclude", "x2").error_line
    assert "lacks the column 'x2' that the model needs" in line


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", ["inf", "-inf", "1e400", "1e200"])
def test_a_number_that_no_table_may_hold(supred, tmp_path, rows, number, way):
    path, wrong, model = tmp_path / "t.svm", tmp_path / "wrong.svm", tmp_path / "m"
    dump_svmlight_file(*rows, str(path), zero_based=False)
    wrong.write_text(f"{path.read_text()}1 2:{number}\n")
    assert supred("fit", path, *SETTINGS, model).code == 0
    for command in (("fit", wrong, *SETTINGS, tmp_path / "n"), ("predict", model, wrong)):
        line = supred(*command, *way).error_line
        assert f"{wrong}: the column 'x2' holds an infinite number (row 61), or one beyond" in line
