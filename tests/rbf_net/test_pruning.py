"""Pruning against least squares on every subset."""

from itertools import combinations

import numpy as np
import pytest

from supred.rbf_net.pruning import prune_basis


def problem(n_basis=6, seed=0):
    rng = np.random.RandomState(seed)
    phi = rng.normal(size=(80, n_basis)) @ rng.normal(size=(n_basis, n_basis)) + 3.0
    return phi, rng.uniform(0.5, 2.0, 80), rng.normal(size=(n_basis, 2)), rng.normal(size=(3, 2))


def refit(phi, weights, F, coef, kept):
    """Weighted least squares of F on some of the basis functions and an intercept."""
    design = np.column_stack([phi[:, kept], np.ones(len(phi))])
    roots = np.sqrt(weights)[:, None]
    W = np.linalg.lstsq(design * roots, F * roots, rcond=None)[0]
    return W, float(weights @ np.square((design @ W - F) @ coef.T).sum(axis=1))


def test_taking_one_away_is_the_best_choice_with_the_best_weights():
    phi, weights, W, coef = problem()
    found = prune_basis(phi, weights, W, coef, 5, ridge=1e-12)
    costs = {
        kept: refit(phi, weights, phi @ W, coef, list(kept))[1]
        for kept in combinations(range(6), 5)
    }
    best = min(costs, key=costs.get)
    assert tuple(found.kept) == best
    assert found.cost == pytest.approx(costs[best], rel=1e-6)


@pytest.mark.parametrize("n_keep", [1, 3])
def test_weights_are_those_of_a_refit(n_keep):
    phi, weights, W, coef = problem()
    found = prune_basis(phi, weights, W, coef, n_keep, ridge=1e-12)
    expected, cost = refit(phi, weights, phi @ W, coef, found.kept)
    np.testing.assert_allclose(found.W, expected[:-1], rtol=1e-6)
    np.testing.assert_allclose(found.shift, expected[-1], rtol=1e-6)
    assert found.cost == pytest.approx(cost, rel=1e-6)


def test_useless_basis_functions_go_first():
    phi, weights, W, coef = problem()
    W[[1, 4]] = 0.0
    found = prune_basis(phi, weights, W, coef, 4)
    assert found.kept.tolist() == [0, 2, 3, 5]
    assert found.cost == 0.0


def test_none_to_take_away():
    phi, weights, W, coef = problem()
    found = prune_basis(phi, weights, W, coef, 6)
    np.testing.assert_array_equal(found.W, W)
    np.testing.assert_allclose(found.shift, 0.0, atol=1e-12)
