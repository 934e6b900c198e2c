"""The Z step against an independent solver of its dual."""

import numpy as np
import pytest
from scipy import sparse

from supred.low_dim_svm.z_step import compiled_z_step, hinge_z_step, two_class_z_step
from supred.low_dim_svm.z_step_hard_rows import solve_hard_rows


def problem(n_svms, n_dimensions, n_rows, *, some_left_out=False, seed=0):
    rng = np.random.RandomState(seed)
    coef = rng.normal(size=(n_svms, n_dimensions)) * rng.choice([0.3, 1.0, 4.0], (n_svms, 1))
    coef[1] = 0.0  # an SVM that found nothing
    F = rng.normal(size=(n_rows, n_dimensions))
    signs = np.where(rng.randint(n_svms, size=n_rows)[:, None] == np.arange(n_svms), 1, -1)
    if some_left_out:
        signs = np.where(rng.uniform(size=signs.shape) < 0.5, 0, signs)
    return F, signs, coef, rng.normal(size=n_svms)


def row_costs(Z, F, signs, coef, intercept, c):
    xi = np.maximum(0.0, 1.0 - signs * (Z @ coef.T + intercept)) * (signs != 0)
    return np.square(Z - F).sum(axis=1) + c * xi.sum(axis=1)


def qp_optimum(F, signs, coef, intercept, c):
    """Solve all rows as one sparse QP in (z, xi) with Clarabel; return each row's optimum.

    min sum_n ||z_n - F_n||^2 + c sum xi,  xi >= 0,  y_k (w_k . z + b_k) + xi_k >= 1 where y_k != 0.
    """
    clarabel = pytest.importorskip("clarabel")
    n_rows, n_dimensions = F.shape
    n_svms = len(coef)
    n_z, n_xi = n_rows * n_dimensions, n_rows * n_svms
    quadratic = sparse.block_diag([2 * sparse.identity(n_z), sparse.csc_matrix((n_xi, n_xi))])
    linear = np.concatenate([-2 * F.ravel(), np.full(n_xi, c)])
    margins = sparse.block_diag([signs[n][:, None] * coef for n in range(n_rows)])
    left = sparse.bmat(
        [[-margins, -sparse.identity(n_xi)], [None, -sparse.identity(n_xi)]], format="csc"
    )
    # a row that is no part of a task has sign 0: its constraint must always hold
    right = np.where(signs != 0, signs * intercept - 1.0, 0.0).ravel()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(2 * n_xi)]
    right = np.concatenate([right, np.zeros(n_xi)])
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(quadratic), linear, left, right, cones, settings
    )
    z = np.array(solver.solve().x)[:n_z].reshape(F.shape)
    return row_costs(z, F, signs, coef, intercept, c)


@pytest.mark.parametrize(("n_svms", "n_dimensions"), [(10, 3), (4, 9)])
@pytest.mark.parametrize("c", [0.05, 2.0])
@pytest.mark.parametrize("some_left_out", [False, True])
def test_objective_is_that_of_a_qp_solver(n_svms, n_dimensions, c, some_left_out):
    n_rows = 1000 if not some_left_out else 200
    F, signs, coef, intercept = problem(n_svms, n_dimensions, n_rows, some_left_out=some_left_out)
    Z = hinge_z_step(F, signs, coef, intercept, c)
    cost = row_costs(Z, F, signs, coef, intercept, c)
    optimum = qp_optimum(F, signs, coef, intercept, c)
    np.testing.assert_allclose(cost, optimum, rtol=2e-6, atol=1e-9)
    np.testing.assert_allclose(cost.sum(), optimum.sum(), rtol=1e-6)


@pytest.mark.parametrize("c", [0.05, 2.0, 1e3])
def test_the_two_methods_agree(c):
    F, signs, coef, intercept = problem(12, 5, 500, some_left_out=True)
    by_sweeps = hinge_z_step(F, signs, coef, intercept, c)
    by_newton, t = solve_hard_rows(F, signs.astype(float), coef, intercept, c, 1e-8)
    np.testing.assert_allclose(
        row_costs(by_sweeps, F, signs, coef, intercept, c),
        row_costs(by_newton, F, signs, coef, intercept, c),
        rtol=1e-6,
        atol=1e-8,
    )
    assert (t >= 0).all()
    assert (t <= c).all()
    assert not t[signs == 0].any()


@pytest.mark.parametrize("c", [1e-3, 0.05, 2.0, 50.0])
@pytest.mark.parametrize(("n_svms", "n_dimensions"), [(10, 9), (6, 2), (3, 3), (5, 12)])
@pytest.mark.parametrize("some_left_out", [False, True])
def test_the_compiled_loop_is_the_reference(c, n_svms, n_dimensions, some_left_out):
    pytest.importorskip("numba")
    F, signs, coef, intercept = problem(n_svms, n_dimensions, 400, some_left_out=some_left_out)
    expected = hinge_z_step(F, signs, coef, intercept, c)
    found = compiled_z_step(F, np.arange(400), signs, coef, intercept, c)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_two_classes_are_one_svm():
    F, signs, coef, intercept = problem(3, 4, 200)
    closed = two_class_z_step(F, signs[:, 0], coef[0], intercept[0], 0.7)
    swept = hinge_z_step(F, signs[:, :1], coef[:1], intercept[:1], 0.7, tol=1e-12)
    np.testing.assert_allclose(closed, swept, atol=1e-9)


def test_two_classes_by_hand():
    """With w = (2, 0), b = 0: m = 2 f, and t = min((1 - m) / 2, c) moves z by t along w / 2."""
    F = np.array([[0.6, 5.0], [0.0, 5.0], [-10.0, 5.0]])
    Z = two_class_z_step(F, np.array([1, 1, 1]), np.array([2.0, 0.0]), 0.0, c=1.0)
    np.testing.assert_allclose(Z, [[0.6, 5.0], [0.5, 5.0], [-9.0, 5.0]])


def test_a_zero_weight_vector_moves_nothing():
    F = np.ones((3, 2))
    Z = two_class_z_step(F, np.array([1, -1, 1]), np.zeros(2), 0.3, c=1.0)
    np.testing.assert_array_equal(Z, F)
    Z = hinge_z_step(F, np.ones((3, 2)), np.zeros((2, 2)), np.zeros(2), 1.0)
    np.testing.assert_array_equal(Z, F)


def test_many_dimensions_cost_no_more_than_their_span():
    """Rows move in the span of the w_k only: what is orthogonal to it must stay."""
    F, signs, coef, intercept = problem(4, 30, 100)
    Z = hinge_z_step(F, signs, coef, intercept, 2.0, tol=1e-9)
    optimum = qp_optimum(F, signs, coef, intercept, 2.0)
    np.testing.assert_allclose(row_costs(Z, F, signs, coef, intercept, 2.0), optimum, rtol=1e-6)
    basis = np.linalg.svd(coef)[2]
    orthogonal = basis[np.linalg.matrix_rank(coef) :]
    np.testing.assert_allclose((Z - F) @ orthogonal.T, 0.0, atol=1e-10)
