"""The permutation check: exact leave-one-out, quiet on noise, awake on structure."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from supred.app.comparison.structure import (
    SIGNIFICANT,
    check_structure,
    leave_one_out_neighbors,
    leave_one_out_ridge,
)
from supred.datasets import make_spirals


def test_ridge_without_a_row_against_refitting():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(25, 4)), rng.normal(size=(25, 3))
    P = leave_one_out_ridge(X)
    centred = X - X.mean(axis=0)
    alpha = 0.1 * (centred**2).sum() / 4
    for i in range(25):
        rest = np.arange(25) != i
        # With the rows centred once, the intercept is unpenalised and stays the mean.
        A = np.c_[np.ones(24), centred[rest]]
        penalty = np.diag([0.0] + [alpha] * 4)
        coefficients = np.linalg.solve(A.T @ A + penalty, A.T @ Y[rest])
        np.testing.assert_allclose((P @ Y)[i], np.r_[1, centred[i]] @ coefficients, atol=1e-10)
    fitted = Ridge(alpha=alpha).fit(X, Y).predict(X)
    assert np.abs(P @ Y - fitted).max() > 1e-3  # it does leave the row out


def test_neighbors_without_a_row_against_refitting():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(25, 4)), rng.normal(size=(25, 3))
    P = leave_one_out_neighbors(X)
    for i in range(25):
        rest = np.arange(25) != i
        expected = KNeighborsRegressor(5).fit(X[rest], Y[rest]).predict(X[[i]])[0]
        np.testing.assert_allclose((P @ Y)[i], expected)


def test_noise_is_seldom_taken_for_structure():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 6)), rng.integers(3, size=80)
        found += check_structure(X, y, seed).p_value <= SIGNIFICANT
    assert found <= 3  # 0.4 expected


@pytest.mark.parametrize("seed", range(3))
def test_linear_and_curved_structure_is_found(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=120)
    linear = rng.normal(size=(120, 10))
    linear[:, 3] += 1.2 * y
    assert check_structure(linear, y, seed).p_value <= SIGNIFICANT
    X, y = make_spirals(random_state=seed)
    assert check_structure(X, y, seed).p_value <= SIGNIFICANT


def test_a_rare_class_is_seen():
    rng = np.random.default_rng(0)
    y = (np.arange(400) < 12).astype(int)
    X = rng.normal(size=(400, 5))
    X[y == 1, 0] += 4
    assert check_structure(X, y, 0).p_value <= SIGNIFICANT


def test_classes_of_one_row_are_no_evidence():
    assert check_structure(np.array([[0.0], [9.0]]), np.array([0, 1]), 0).p_value == 1.0
