"""The logistic loss: its Z step against an independent solver, its g step against its gradient."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from supred.low_dim_svm.losses import LogLoss
from supred.low_dim_svm.visit import BlockRows
from supred.low_dim_svm.z_step_log import class_scores, log_z_step, row_losses
from supred.rows.blocks import ArrayRows


def problem(n_classes, n_dimensions, n_rows=60, scale=2.0, seed=0):
    rng = np.random.RandomState(seed)
    n_vectors = n_classes if n_classes > 2 else 1
    coef = scale * rng.normal(size=(n_vectors, n_dimensions))
    F = rng.normal(size=(n_rows, n_dimensions))
    return F, rng.randint(n_classes, size=n_rows), coef, rng.normal(size=n_vectors)


def cost(z, f, y, coef, intercept, c):
    loss = row_losses(class_scores(z[None], coef, intercept), np.array([y]))[0]
    return 0.5 * np.sum((z - f) ** 2) + c * loss


@pytest.mark.parametrize(("n_classes", "n_dimensions"), [(2, 1), (2, 3), (5, 2), (4, 6)])
@pytest.mark.parametrize("c", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("scale", [0.1, 20.0])
def test_z_step_is_that_of_an_independent_solver(n_classes, n_dimensions, c, scale):
    F, codes, coef, intercept = problem(n_classes, n_dimensions, scale=scale)
    Z = log_z_step(F, codes, coef, intercept, c)
    for f, y, z in zip(F, codes, Z, strict=True):
        reference = minimize(
            cost, z + 0.1, (f, y, coef, intercept, c), method="BFGS", options={"gtol": 1e-10}
        )
        found = cost(z, f, y, coef, intercept, c)
        assert found <= reference.fun * (1 + 1e-8) + 1e-12


def test_start_does_not_matter():
    F, codes, coef, intercept = problem(5, 3)
    first = log_z_step(F, codes, coef, intercept, 2.0)
    second = log_z_step(F, codes, coef, intercept, 2.0, start=F + 3.0)
    np.testing.assert_allclose(first, second, atol=1e-4)


def fitted(Z, codes, n_classes, weights=None, C=1.0, start=None):
    weights = np.ones(len(Z)) if weights is None else weights
    blocks = ArrayRows(Z, block_rows=70).attach(BlockRows, codes, weights, Z)
    return LogLoss(n_classes, C).g_step(blocks, Z.shape[1], start)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_g_step_is_stationary_and_weighted(n_classes):
    Z, codes, _, _ = problem(n_classes, 3, n_rows=200)
    weights = np.random.RandomState(1).uniform(0.2, 3.0, size=200)
    found = fitted(Z, codes, n_classes, weights, C=0.7)
    coef, intercept = found.parameters
    losses = weights @ row_losses(class_scores(Z, coef, intercept), codes)
    np.testing.assert_allclose(found.objective, 0.5 * np.sum(coef**2) + 0.7 * losses)
    scores = class_scores(Z, coef, intercept)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    residual = 0.7 * weights[:, None] * (p - np.eye(n_classes)[codes])
    gradient = coef + (residual.T @ Z)[-len(coef) :]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-3)
    np.testing.assert_allclose(residual.sum(axis=0)[-len(coef) :], 0.0, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_g_step_is_that_of_scikit_learn(n_classes):
    Z, codes, _, _ = problem(n_classes, 3, n_rows=300)
    reference = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(Z, codes)
    found = fitted(Z, codes, n_classes, C=2.0)
    np.testing.assert_allclose(found.parameters[0], reference.coef_, atol=1e-4)
    again = fitted(Z, codes, n_classes, C=2.0, start=found.parameters)
    assert again.objective <= found.objective


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [1e-30, 1e-9])
def test_biases_of_a_tiny_penalty_are_the_shares_of_the_classes(n_classes, C):
    Z, codes, _, _ = problem(n_classes, 3, n_rows=200)
    coef, intercept = fitted(Z, codes, n_classes, C=C).parameters
    shares = np.bincount(codes) / len(codes)
    assert np.abs(coef).max() < 1e-6
    found = intercept[-1] if n_classes == 2 else intercept[-1] - intercept[0]
    np.testing.assert_allclose(found, np.log(shares[-1] / shares[0]), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_binary_and_many_scores(n_classes):
    Z, codes, _, _ = problem(n_classes, 2, n_rows=100)
    found = fitted(Z, codes, n_classes)
    assert LogLoss(n_classes).scores(Z, found.parameters).shape == (
        (100,) if n_classes == 2 else (100, n_classes)
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_huge_penalty_leaves_no_row_without_a_solution(n_classes):
    F, class_index, coef, intercept = problem(n_classes, 3, scale=50.0)
    Z = log_z_step(F, class_index, coef, intercept, c=1e30)
    before, after = (row_losses(class_scores(z, coef, intercept), class_index) for z in (F, Z))
    assert np.isfinite(Z).all()
    assert after.sum() < before.sum()


@pytest.mark.parametrize("seed", range(5))
def test_rows_far_on_one_side_leave_no_hessian_singular(seed):
    """There a Hessian is a difference of equal terms, whose rounding c times hides the identity."""
    F, class_index, coef, intercept = problem(4, 2, seed=seed, n_rows=200)
    Z = log_z_step(1e12 * F, class_index, 1e-7 * coef, intercept, c=1e29)
    assert np.isfinite(Z).all()
