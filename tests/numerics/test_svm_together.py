"""SVMs in one piece, against those that are solved one by one and against their definition."""

import warnings

import numpy as np
import pytest
from sklearn.svm import SVC

from supred.low_dim_svm.starts import simplex_codes
from supred.numerics.decisions import task_signs
from supred.numerics.linear_svm import solve_linear_svms
from supred.numerics.svm_together import on_the_margins, solve_on_rows


def rows(spread, multi_class="ovr", n_rows=300, n_classes=4, n_dimensions=3):
    rng = np.random.RandomState(0)
    class_index = rng.randint(n_classes, size=n_rows)
    centers = 2.0 * rng.normal(size=(n_classes, n_dimensions))
    Z = centers[class_index] + spread * rng.normal(size=(n_rows, n_dimensions))
    signs = task_signs(np.arange(n_classes), n_classes, multi_class)[class_index]
    return Z, signs.astype(float), rng.uniform(0.5, 2.0, size=n_rows)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("spread", [0.1, 1.0, 4.0], ids=["separable", "overlapping", "noisy"])
@pytest.mark.parametrize("guessed", [False, True])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_optimum_is_that_of_each_svm_alone(C, spread, guessed, multi_class):
    Z, signs, weights = rows(spread, multi_class)
    u = C * weights
    reference = solve_linear_svms(Z, signs, u, tol=1e-9)
    start = None
    if guessed:
        start = np.array([[*svm.coef, svm.intercept] for svm in reference]) + 0.1
    found = solve_on_rows(Z, signs.T, u, tol=1e-8, start=start)
    assert (found.gap <= 1e-8 * found.objective).all()
    np.testing.assert_allclose(found.objective, [svm.objective for svm in reference], rtol=2e-8)
    slack = np.maximum(0, 1 - signs * (Z @ found.coef.T + found.intercept)) * (signs != 0)
    primal = 0.5 * np.square(found.coef).sum(axis=1) + u @ slack
    np.testing.assert_allclose(found.objective, primal, rtol=1e-12)


def test_a_start_that_is_the_optimum_stays():
    Z, signs, u = rows(1.0)
    svms = solve_linear_svms(Z, signs, u, tol=1e-12)
    start = np.array([[*svm.coef, svm.intercept] for svm in svms])
    found = solve_on_rows(Z, signs.T, u, tol=1e-4, start=start)
    assert (found.objective <= [svm.objective * (1 + 1e-13) for svm in svms]).all()


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("more", [0, 2], ids=["n_classes - 1 dimensions", "two more"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_codes_at_the_corners_of_a_simplex_are_on_the_margins(n_classes, more, multi_class):
    codes = simplex_codes(n_classes, n_classes - 1 + more)
    signs = task_signs(np.arange(n_classes), n_classes, multi_class).astype(float)
    u = np.arange(3.0, 3.0 + n_classes)
    found = on_the_margins(codes, signs.T, u)
    reference = solve_linear_svms(codes, signs, u, tol=1e-10)
    np.testing.assert_allclose(found.coef, [svm.coef for svm in reference], atol=1e-5)
    np.testing.assert_allclose(found.intercept, [svm.intercept for svm in reference], atol=1e-5)
    assert (found.gap <= 1e-12 * found.objective).all()


def test_rows_that_are_not_all_on_the_margins_are_refused():
    codes, signs = simplex_codes(3, 2), np.array([[1.0, -1, -1]])
    assert on_the_margins(codes, signs, np.full(3, 0.1)) is None  # the bounds are too small
    line = np.array([[-1.0, 0], [0, 0], [1, 0]])
    assert on_the_margins(line, np.array([[-1.0, 1, 1]]), np.full(3, 9.0)) is None
    found = solve_on_rows(codes, signs, np.full(3, 0.1), tol=1e-8)
    assert found.gap[0] <= 1e-8 * found.objective[0]


@pytest.mark.parametrize("guessed", [False, True])
@pytest.mark.parametrize("C", [1e8, 1e30])
def test_bounds_far_beyond_the_duals_lead_to_the_hard_margin(C, guessed):
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 15)
    Z = rng.normal(size=(30, 2)) + 4.0 * y[:, None]
    peer = SVC(kernel="linear", C=1e4, tol=1e-9).fit(Z, y)
    start = np.append(3.0 * peer.coef_, 3.0 * peer.intercept_)[None] if guessed else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        svms = solve_on_rows(Z, y[None], np.full(30, C), tol=1e-8, start=start)
    assert svms.gap[0] <= 1e-8 * svms.objective[0]
    np.testing.assert_allclose(svms.coef, peer.coef_, rtol=1e-4)
