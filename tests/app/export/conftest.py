"""A small table, and a file of a model of it."""

import pytest
from sklearn.datasets import load_iris

from supred import LowDimSVC
from supred.app.export.model_file import TableModel, save_model
from supred.app.tables.table import Column, Table

COLUMNS = [Column(name, "number") for name in "abcd"]


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    X.setflags(write=False)
    return X, y


@pytest.fixture
def saved(data, tmp_path):
    path = tmp_path / "m.supred"
    X, y = data
    table = Table("table", COLUMNS, X, "target", y)
    save_model(TableModel.fit(LowDimSVC(n_centers=15, random_state=0), table), path)
    return path
