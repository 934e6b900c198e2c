"""Where LowDimSVC begins: names, codes of classes, coordinates of rows."""

import numpy as np
import pytest

from supred import LowDimSVC
from supred.datasets import make_spirals
from tests.family import blobs


@pytest.mark.parametrize("init", ["auto", "simplex", "sphere", "random-codes"])
def test_named_starts(init):
    X, y = blobs(n_classes=4, spread=1.0)
    model = LowDimSVC(init=init, n_centers=20, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_random_coordinates_of_each_row_unroll_two_spirals():
    X, y = make_spirals(600, random_state=0)
    for inner_tol in (None, 1e-2):
        model = LowDimSVC(
            2,
            init="random",
            inner_tol=inner_tol,
            n_centers=100,
            gamma=30.0,
            max_iter=200,
            random_state=0,
        ).fit(X, y)
        assert model.history_["train_error"][0] > 0.1  # the start knows nothing of the classes
        assert model.score(X, y) > 0.99


def test_random_coordinates_of_each_row_work_one_vs_one():
    X, y = blobs(n_rows=200, n_classes=4, spread=1.0)
    model = LowDimSVC(init="random", multi_class="ovo", n_centers=40, alpha=0.1, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.9


def test_given_starts():
    X, y = blobs(n_classes=3, spread=1.0)
    codes = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0]])
    options = {"n_centers": 20, "random_state": 0}
    by_class = LowDimSVC(init=codes, **options).fit(X, y)
    by_row = LowDimSVC(init=codes[y], **options).fit(X, y)
    np.testing.assert_allclose(by_class.transform(X), by_row.transform(X), atol=1e-9)
    assert by_class.score(X, y) > 0.9
    # rows of weight zero are left out of the start too
    weights = (np.arange(len(y)) % 4 > 0).astype(float)
    weighted = LowDimSVC(init=codes[y], **options).fit(X, y, sample_weight=weights)
    assert weighted.score(X, y) > 0.9


def test_a_start_for_each_row_follows_the_held_out_part():
    X, y = blobs(n_classes=3, spread=1.0)
    Z = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0]])[y]
    model = LowDimSVC(init=Z, early_stopping=True, n_centers=20, random_state=0).fit(X, y)
    assert model.history_["train_error"][0] == 0.0
