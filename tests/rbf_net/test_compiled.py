"""Compiled loops against the steps in NumPy that they stand in for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from supred import RBFNetClassifier
from supred.rbf_net import descent
from supred.rbf_net.adam import units_of
from supred.rbf_net.descent import Course, Problem, State, descend, descend_side_by_side
from supred.rbf_net.draws import Draws
from supred.rbf_net.network import Networks, Shape, log_slopes

pytest.importorskip("numba")


def set_up(rank, n_scores, levels, *, n_rows=90, n_features=20):
    rng = np.random.default_rng(0)
    nets = Networks.zeros(Shape(n_features, rank, 12, 4, n_scores), len(levels))
    nets.flat[...] = 0.2 * rng.normal(size=nets.flat.shape)
    rows = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    targets = rng.random((n_rows, n_scores)).astype(np.float32)
    if n_scores > 1:
        targets /= targets.sum(axis=1, keepdims=True)
    weights = (rng.random(n_rows) + 0.5).astype(np.float32)
    problem = Problem(lambda chosen: rows[chosen], targets, weights, log_slopes, decay=0.01)
    draws = Draws((np.arange(n_rows),), 31, 0)  # an odd number: halves of two sizes
    return State.begin(nets), problem, draws, Course(40, 0.05, np.array(levels)), units_of(nets, 1)


@pytest.mark.parametrize("rank", [3, 20])  # noise in few dimensions and in all
@pytest.mark.parametrize("n_scores", [1, 5])
@pytest.mark.parametrize("levels", [[0.0], [0.7], [0.0, 0.4]])
def test_steps_are_those_of_numpy(rank, n_scores, levels, monkeypatch):
    setting = set_up(rank, n_scores, levels)
    expected, losses = descend(*setting, until=6)
    monkeypatch.setattr(descent, "worthwhile", lambda n_rows: True)
    found, found_losses = descend(*setting, until=6)
    np.testing.assert_allclose(found_losses, losses, rtol=1e-5)
    shape = expected.nets.shape
    for name, slopes in Networks(shape, expected.first).parts().items():
        again = Networks(shape, found.first).parts()[name]
        # single precision
        np.testing.assert_allclose(again, slopes, atol=2e-5 * np.abs(slopes).max(), err_msg=name)
    np.testing.assert_allclose(found.second, expected.second, rtol=1e-3, atol=1e-12)
    np.testing.assert_allclose(found.nets.flat, expected.nets.flat, atol=1e-4)
    assert not np.allclose(found.nets.flat, setting[0].nets.flat, atol=1e-3)


@pytest.mark.parametrize("n_networks", [1, 2, 3])  # shared by two threads, dealt out, shared
def test_networks_do_not_depend_on_the_number_of_threads(n_networks, monkeypatch):
    monkeypatch.setattr(descent, "worthwhile", lambda n_rows: True)
    setting = set_up(3, 5, [0.5, 0.0, 1.0][:n_networks])
    one, *others = (descend_side_by_side(*setting, n_threads=k) for k in (1, 2, 4))
    for state, losses in others:
        np.testing.assert_array_equal(state.nets.flat, one[0].nets.flat)
        np.testing.assert_array_equal(losses, one[1])


def test_models_are_as_good_and_do_not_depend_on_the_number_of_threads(monkeypatch):
    X, y = load_digits(return_X_y=True)
    options = {"n_centers": 30, "max_iter": 60, "metric": 20, "random_state": 0}
    plain = RBFNetClassifier(**options).fit(X, y)
    monkeypatch.setattr(descent, "worthwhile", lambda n_rows: True)
    one, two, three = (RBFNetClassifier(n_jobs=k, **options).fit(X, y) for k in (1, 2, 3))
    np.testing.assert_array_equal(two.transform(X), one.transform(X))
    np.testing.assert_array_equal(three.transform(X), one.transform(X))
    assert np.mean(one.predict(X) == plain.predict(X)) > 0.97


def test_a_network_that_diverges_does_not_end_the_descent(monkeypatch):
    monkeypatch.setattr(descent, "worthwhile", lambda n_rows: True)
    state, problem, draws, course, units = set_up(3, 5, [0.7])
    state.nets.metric[...] = np.nan
    ended, _ = descend(state, problem, draws, course, units, until=2)
    assert ended.step == 2
