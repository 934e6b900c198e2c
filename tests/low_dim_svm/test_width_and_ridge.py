"""Width and ridge by the leave-one-out error of the start."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from supred import LowDimSVC
from supred.low_dim_svm import width_and_ridge
from supred.low_dim_svm.width_and_ridge import choose_width_and_ridge
from supred.numerics.kernels import scale_gamma
from tests.family import blobs, read_only


def left_out_errors(Phi, y, ridge):
    """Fit the ridge regression to one-hot codes anew without each row."""
    wrong = []
    for n in range(len(y)):
        rest = np.arange(len(y)) != n
        mean, target = Phi[rest].mean(axis=0), np.eye(y.max() + 1)[y[rest]]
        A = Phi[rest] - mean
        center = target.mean(axis=0)
        W = np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ (target - center))
        wrong.append(((Phi[n] - mean) @ W + center).argmax() != y[n])
    return np.mean(wrong)


def test_it_is_the_best_of_brute_force():
    X, y = blobs(n_rows=60, n_classes=3, spread=6.0)
    centers, weights = X[::4], np.ones(60)
    found = choose_width_and_ridge(X, y, weights, centers, np.random.RandomState(0))
    scale = scale_gamma(X, weights)
    tried = {
        (factor * scale, ridge): left_out_errors(rbf_kernel(X, centers, factor * scale), y, ridge)
        for factor in width_and_ridge.GAMMA_FACTORS
        for ridge in width_and_ridge.RIDGES[::3]
    }
    own = left_out_errors(rbf_kernel(X, centers, found.gamma), y, found.ridge)
    assert own == pytest.approx(found.score.error)
    assert own <= min(tried.values()) + 1e-12
    assert len(set(tried.values())) > 3  # the choice matters


def test_what_is_given_is_taken():
    X, y = blobs(n_rows=80)
    auto = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    given = LowDimSVC(n_centers=20, gamma=0.3, alpha=0.5, random_state=0).fit(X, y)
    assert (given.gamma_, given.alpha_) == (0.3, 0.5)
    one = LowDimSVC(n_centers=20, gamma=0.3, random_state=0).fit(X, y)
    assert one.gamma_ == 0.3
    assert np.isclose(width_and_ridge.RIDGES, one.alpha_).any()
    scale = LowDimSVC(n_centers=20, gamma="scale", random_state=0).fit(X, y)
    assert scale.gamma_ == pytest.approx(scale_gamma(X, np.ones(80)))
    assert np.isclose(width_and_ridge.GAMMA_FACTORS, auto.gamma_ / scale.gamma_).any()


def test_the_ridge_is_that_of_the_first_mu():
    X, y = blobs(n_rows=80, spread=5.0)
    first = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    other = LowDimSVC(n_centers=20, mu=6.0, random_state=0).fit(X, y)
    assert other.alpha_ == pytest.approx(3.0 * first.alpha_)


def test_a_linear_mapping_has_a_ridge_too():
    X, y = blobs(n_rows=80, spread=5.0)
    dense = LowDimSVC(mapping="linear").fit(X, y)
    assert np.isclose(width_and_ridge.RIDGES, dense.alpha_).any()
    same = LowDimSVC(mapping="linear").fit(sparse.csr_array(X), y)
    assert same.alpha_ == dense.alpha_


def test_some_rows_and_centers_choose_where_there_are_many(monkeypatch):
    X, y = blobs(n_rows=400, spread=5.0)
    monkeypatch.setattr(width_and_ridge, "MOST_ROWS", 100)
    monkeypatch.setattr(width_and_ridge, "MOST_CENTERS", 10)
    found = choose_width_and_ridge(read_only(X), y, np.ones(400), X[:50], np.random.RandomState(0))
    assert np.isclose(width_and_ridge.RIDGES, 4.0 * found.ridge).any()
    again = choose_width_and_ridge(X, y, np.ones(400), X[:50], np.random.RandomState(0))
    assert again == found
