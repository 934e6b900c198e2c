"""Rows that several tests of category space look at."""

import pytest
from sklearn.datasets import load_wine

from tests.family import read_only


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return read_only((X - X.mean(axis=0)) / X.std(axis=0), y)
