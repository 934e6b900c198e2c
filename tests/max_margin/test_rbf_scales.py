"""Learned scales of the Gaussian kernel: gradient by finite differences, LIBSVM, the ring."""

import numpy as np
import pytest
from sklearn.svm import SVC

from supred.max_margin.rbf_scales import (
    learn_scales,
    project_to_simplex,
    scaled_kernel,
    scales_gradient,
    solve_kernel_svms,
    stationarity,
)


def ring(n_rows, n_features, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    signs = np.where((X[:, :2] ** 2).sum(axis=1) < 2 * np.log(2), 1.0, -1.0)[:, None]
    X.flags.writeable = signs.flags.writeable = False
    return X, signs


def test_kernel_is_the_formula():
    rng = np.random.default_rng(0)
    X, centers, scales = rng.normal(size=(4, 3)), rng.normal(size=(2, 3)), np.array([0.5, 0, 2])
    expected = [
        [
            np.exp(-sum(s * (a - b) ** 2 for s, a, b in zip(scales, x, c, strict=True)))
            for c in centers
        ]
        for x in X
    ]
    np.testing.assert_allclose(scaled_kernel(X, centers, scales), expected)
    np.testing.assert_array_equal(scaled_kernel(X, centers, np.zeros(3)), 1)


def test_svms_with_equal_scales_are_those_of_libsvm():
    X, signs = ring(60, 4, 0)
    weights = np.random.default_rng(1).integers(1, 4, 60).astype(float)
    svms = solve_kernel_svms(scaled_kernel(X, X, np.full(4, 0.3)), signs, 2.0 * weights[:, None])
    peer = SVC(C=2.0, gamma=0.3, tol=1e-6).fit(X, signs[:, 0], sample_weight=weights)
    scores = scaled_kernel(X, X, np.full(4, 0.3)) @ svms.dual_coef + svms.intercept
    np.testing.assert_allclose(scores[:, 0], peer.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("n_tasks", [1, 3])
def test_gradient_equals_finite_differences(n_tasks, monkeypatch):
    monkeypatch.setattr("supred.max_margin.rbf_scales.SVM_TOL", 1e-9)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) + 5
    signs = rng.choice([-1.0, 0.0, 1.0], size=(50, n_tasks))
    bounds = np.where(signs != 0, rng.uniform(0.5, 2.0, (50, n_tasks)), 0.0)
    scales = np.array([0.2, 0.1, 0.4, 0.3])

    def objective(s):
        return solve_kernel_svms(scaled_kernel(X, X, s), signs, bounds).objective

    kernel = scaled_kernel(X, X, scales)
    gradient = scales_gradient(X, kernel, solve_kernel_svms(kernel, signs, bounds).dual_coef)
    step = 1e-4
    differences = [
        (objective(scales + step * unit) - objective(scales - step * unit)) / (2 * step)
        for unit in np.eye(4)
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-4)


def test_gradient_is_the_double_sum():
    X, signs = ring(20, 3, 0)
    scales = np.array([0.2, 0.1, 0.4])
    kernel = scaled_kernel(X, X, scales)
    beta = solve_kernel_svms(kernel, signs, np.ones((20, 1))).dual_coef
    slow = np.zeros(3)
    for i in range(20):
        for j in range(20):
            slow += 0.5 * beta[i, 0] * beta[j, 0] * kernel[i, j] * (X[i] - X[j]) ** 2
    np.testing.assert_allclose(scales_gradient(X, kernel, beta), slow)


def test_projection_to_the_simplex_is_the_nearest_point():
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = rng.normal(size=5)
        nearest = project_to_simplex(values, 2.0)
        assert nearest.min() >= 0
        assert nearest.sum() == pytest.approx(2.0)
        others = rng.dirichlet(np.ones(5), size=200) * 2.0
        distance = ((nearest - values) ** 2).sum()
        assert (((others - values) ** 2).sum(axis=1) >= distance).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_scales_find_the_ring_in_two_of_twelve_dimensions(seed):
    X, signs = ring(150, 12, seed)
    X_test, signs_test = ring(1000, 12, seed + 100)
    start = np.full(12, 1 / 12)
    result = learn_scales(X, signs, np.ones((150, 1)), start)
    scores = scaled_kernel(X_test, X, result.scales) @ result.svms.dual_coef
    assert (np.sign(scores + result.svms.intercept) == signs_test).mean() >= 0.88
    assert result.scales[:2].sum() >= 0.8 * result.scales.sum()
    assert result.scales.sum() == pytest.approx(1.0)
    objectives = result.history["objective"]
    assert (np.diff(objectives) < 0).all()
    assert result.stopping_reason == "converged"


def test_optimum_is_stationary_and_not_beaten_by_random_scales():
    X, signs = ring(60, 3, 0)
    bounds = np.ones((60, 1))
    result = learn_scales(X, signs, bounds, np.full(3, 0.4), tol=1e-4)
    assert result.stopping_reason == "converged"
    kernel = scaled_kernel(X, X, result.scales)
    gradient = scales_gradient(X, kernel, result.svms.dual_coef)
    assert stationarity(result.scales, gradient, 1.2) <= 1e-2 * result.svms.objective
    rng = np.random.default_rng(0)
    for scales in rng.dirichlet(np.ones(3), size=30) * 1.2:
        other = solve_kernel_svms(scaled_kernel(X, X, scales), signs, bounds)
        assert other.objective >= result.svms.objective * (1 - 1e-3)


def test_iteration_limit_is_told():
    X, signs = ring(60, 6, 0)
    result = learn_scales(X, signs, np.ones((60, 1)), np.full(6, 0.2), max_iter=1, tol=1e-9)
    assert result.stopping_reason != "converged"
    assert "max_iter=1" in result.message


def test_rows_too_far_apart_for_a_gradient():
    X, signs = np.array([[1.0, 2.0], [-1.0, -2.0]]), np.array([[1.0], [-1.0]])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        result = learn_scales(X, signs, np.ones((2, 1)), np.full(2, 1e9))
    np.testing.assert_array_equal(result.scales, 1e9)
    assert result.stopping_reason == "converged"


class NoSolution:
    """LIBSVM where rounding hides the margin: all at its bound, and "solved"."""

    fit_status_, n_iter_, intercept_ = 0, np.array([9]), np.zeros(1)

    def __init__(self, **options):
        self.C = options["C"]

    def fit(self, kernel, signs, sample_weight):
        self.support_ = np.arange(len(signs))
        self.dual_coef_ = (self.C * sample_weight * signs)[None]


def test_a_dual_objective_below_zero_is_no_solution(monkeypatch):
    monkeypatch.setattr("supred.max_margin.rbf_scales.SVC", NoSolution)
    X, signs = np.arange(8.0)[:, None], np.resize([1, -1], (8, 1))
    svms = solve_kernel_svms(np.eye(8), signs, np.full((8, 1), 4.0))
    assert svms.objective < 0
    assert not svms.solved
    found = learn_scales(X, signs, np.full((8, 1), 1e9), np.ones(1))
    assert found.stopping_reason == "completed"
    assert len(found.history["objective"]) == 1
