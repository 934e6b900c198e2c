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
