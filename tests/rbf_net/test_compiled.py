"""Compiled loops against what they stand in for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from supred import RBFNetClassifier
from supred.rbf_net.adam import adam_step, compiled_adam_step
from supred.rbf_net.gradient import Gradient
from supred.rbf_net.network import Networks, Shape, log_slopes

pytest.importorskip("numba")


@pytest.mark.parametrize("rank", [3, 33])  # 33: with columns of zeros
@pytest.mark.parametrize("noisy", [False, True])
def test_sums_over_rows_are_those_of_numpy(rank, noisy):
    rng = np.random.default_rng(0)
    nets = Networks.zeros(Shape(70, rank, 20, 4, 5), 1)
    nets.flat[...] = 0.2 * rng.normal(size=nets.flat.shape)
    arrays = [
        rng.normal(size=(1, 30, 70)),
        np.eye(5)[rng.integers(5, size=30)][None],
        rng.random((1, 30)),
    ]
    arrays += [rng.normal(size=(1, 30, rank))] if noisy else []
    levels = np.array([0.7], dtype=np.float32) if noisy else None
    found = []
    for loops in (False, True):
        gradient = Gradient(nets, log_slopes, levels, loops=loops)
        assert gradient.compiled == loops
        losses = gradient.add_up(0, *(values.astype(np.float32) for values in arrays))
        gradient.finish_metric()
        gradient.finish_centers(0.1)
        found.append((losses, gradient.slopes.parts()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-5)
    for name, slopes in found[0][1].items():
        scale = np.abs(slopes).max()
        np.testing.assert_allclose(found[1][1][name], slopes, atol=2e-5 * scale, err_msg=name)


def test_a_step_of_adam_is_that_of_numpy():
    rng = np.random.default_rng(0)
    arrays = np.abs(rng.normal(size=(5, 1, 40))).astype(np.float32)
    again = arrays.copy()
    adam_step(*arrays, rate=0.1, correction=1.5)
    compiled_adam_step(*again, rate=0.1, correction=1.5)
    np.testing.assert_allclose(again[[0, 2, 3]], arrays[[0, 2, 3]], rtol=1e-5, atol=1e-6)


def test_the_model_does_not_depend_on_the_number_of_threads(monkeypatch):
    X, y = load_digits(return_X_y=True)
    monkeypatch.setattr("supred.rbf_net.descent.HALVED", 1000)
    options = {"n_centers": 30, "max_iter": 60, "metric": 20, "random_state": 0}
    plain = RBFNetClassifier(**options).fit(X, y)
    monkeypatch.setattr("supred.rbf_net.descent.worthwhile", lambda n_rows: True)
    one, two, three = (RBFNetClassifier(n_jobs=k, **options).fit(X, y) for k in (1, 2, 3))
    np.testing.assert_array_equal(two.transform(X), one.transform(X))
    np.testing.assert_array_equal(three.transform(X), one.transform(X))
    assert np.mean(one.predict(X) == plain.predict(X)) > 0.97
