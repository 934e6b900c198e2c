"""Reasons: importances against scikit-learn, differences against plain means."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from supred.app.comparison import reasons
from supred.app.comparison.reasons import FittedFold, column_importances, confused_classes
from supred.app.tables.table import Column

COLUMNS = [Column(name, "number") for name in "abcd"] + [Column("e", "text", ("", "blue", "red"))]
OPTIONS = {"metric": "error", "seconds": 60.0, "seed": 0}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 4))
    X[:, 2] += 3 * y  # tells all apart
    X[:, 0] += 2 * (y == 1)  # tells one apart
    X.setflags(write=False)
    return X, y


def folds_of(X, y):
    test = np.arange(len(y)) % 4 == 0
    scaler = StandardScaler().fit(X[~test])
    model = SVC().fit(scaler.transform(X[~test]), y[~test])
    return [FittedFold(scaler, model, np.flatnonzero(test))], test


def test_importances_against_scikit_learn(rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr(reasons, "N_SHUFFLES", 60)
    folds, test = folds_of(X, y)
    found = column_importances(folds, X, COLUMNS[:4], y, **OPTIONS)
    model = make_pipeline(folds[0].transformer, folds[0].model)
    expected = permutation_importance(model, X[test], y[test], n_repeats=60, random_state=0)
    assert [item.column for item in found][:2] == ["c", "a"]
    for item in found:
        k = "abcd".index(item.column)
        assert item.rise == pytest.approx(expected.importances_mean[k], abs=0.015)
        assert item.spread == pytest.approx(expected.importances_std[k], abs=0.015)


def test_the_likely_columns_come_first_when_time_is_short(rows):
    X, y = rows
    folds, _ = folds_of(X, y)
    found = column_importances(folds, X, COLUMNS[:4], y, **{**OPTIONS, "seconds": 0.0})
    assert [item.column for item in found] == ["c"]


def test_sparse_rows_have_no_importances(rows):
    X, y = rows
    folds, _ = folds_of(X, y)
    assert column_importances(folds, sparse.csr_matrix(X), COLUMNS[:4], y, **OPTIONS) == []


@pytest.mark.parametrize("kind", ["array", "sparse", "text"])
def test_confused_classes_and_the_columns_in_which_they_differ(rows, kind):
    X, y = rows
    predicted = y.copy()
    predicted[[0, 3, 6]], predicted[1] = 1, 0  # three of class 0 taken for 1, one back
    predicted[2] = 0
    if kind == "sparse":
        X = sparse.csr_matrix(X)
    if kind == "text":
        X = np.c_[X, np.array([2, 1, 1])[y]]
        X[5, 0] = np.nan
    first, second = confused_classes(X, COLUMNS[: X.shape[1]], y, predicted, 3)
    assert (first.first, first.second, first.n_first, first.n_second) == (0, 1, 3, 1)
    assert (second.first, second.second, second.n_first, second.n_second) == (0, 2, 0, 1)
    by_name = {item.column: item for item in first.differences}
    values = rows[0][:, 2]
    taken = (predicted != y) & (y != 2)
    item = by_name["c"]
    assert item.first == pytest.approx(values[y == 0].mean())
    assert item.second == pytest.approx(values[y == 1].mean())
    assert item.confused == pytest.approx(values[taken].mean())
    if kind == "text":
        assert first.differences[0].column in ("e = red", "e = blue")
        assert (by_name["e = red"].first, by_name["e = red"].second) == (1.0, 0.0)
    else:
        assert first.differences[0].column == "c"
