"""The ascent on both criteria, against brute force, finite differences and plain formulas."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm
from sklearn.datasets import load_iris, load_wine

from supred.category_space.ascent import (
    AscentOptions,
    ascend,
    greedy_start,
    random_start,
    solve_absolute,
    solve_squared,
)
from supred.category_space.criteria import absolute_pull, auxiliary_step, squared_pull
from supred.category_space.problem import build_problem, build_sparse_problem, orient, whitening
from supred.numerics.class_scatter import (
    ClassRows,
    MatrixScatters,
    RowScatters,
    leading_eigenpair,
    members_of,
    polar,
)

ORIGINS = ["global", "class", "zero"]


def scatters_of(n_classes=3, n_dims=6, seed=0):
    """Random positive semidefinite R_k of different sizes."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n_classes, n_dims, n_dims + 2))
    factors *= rng.uniform(0.2, 2.0, size=(n_classes, n_dims, 1))
    return MatrixScatters(factors @ factors.transpose(0, 2, 1))


def wine_problem(**options):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"origin": "global", "n_dims": X.shape[1]} | options
    return build_problem(X, lambda block: block, members_of(y, 3), np.ones(len(y)), **options)


def absolute_value(X, y, W, eps, origin):
    """Return the absolute criterion as it is written, the median by a fine search."""
    total = 0.0
    for k in range(W.shape[1]):
        a = X[y == k] @ W[:, k]
        if origin == "global":
            candidates = [X.mean(axis=0) @ W[:, k]]
        else:
            candidates = np.linspace(a.min(), a.max(), 20_001)
        total += min(np.sqrt((a - m) ** 2 + eps**2).sum() for m in candidates)
    return total


def test_polar_is_the_nearest_orthonormal_matrix():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((5, 3))
    W = polar(B)
    np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-14)
    for seed in range(1, 200):  # seed 0 drew B
        assert np.sum(W * B) > np.sum(random_start(5, 3, seed) * B)
        skew = rng.standard_normal((5, 5)) * 1e-3
        assert np.sum(W * B) >= np.sum((expm(skew - skew.T) @ W) * B)


@pytest.mark.parametrize("seed", range(4))
def test_squared_finds_the_best_of_a_grid_of_rotations(seed):
    # Two classes in two dimensions: all orthonormal W are one angle and a sign.
    scatters = scatters_of(2, 2, seed)
    angles = np.linspace(0, np.pi, 10_001)
    u = np.array([np.cos(angles), np.sin(angles)])
    v = np.array([-np.sin(angles), np.cos(angles)])
    R = scatters.matrices
    values = 0.5 * (np.einsum("ia,ij,ja->a", u, R[0], u) + np.einsum("ia,ij,ja->a", v, R[1], v))
    solution = solve_squared(scatters, AscentOptions(tol=1e-10))
    assert solution.objective >= values.max() * (1 - 1e-12)
    assert solution.objective == pytest.approx(values.max(), rel=1e-6)


def test_scatters_that_share_eigenvectors_are_an_assignment():
    # Diagonal R_k: the optimum assigns one coordinate to each class; all 60 are tried.
    from itertools import permutations

    rng = np.random.default_rng(3)
    diagonals = rng.uniform(0, 1, size=(3, 5))
    best = max(sum(diagonals[k, p[k]] for k in range(3)) for p in permutations(range(5), 3))
    scatters = MatrixScatters(np.array([np.diag(d) for d in diagonals]))
    assert 2 * solve_squared(scatters, AscentOptions(n_init=10)).objective == pytest.approx(
        best, rel=1e-8
    )


@pytest.mark.parametrize("momentum", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_squared_objective_never_falls(momentum, seed):
    scatters = scatters_of(4, 9, seed)
    result = ascend(
        lambda W: squared_pull(scatters, W),
        random_start(9, 4, seed),
        max_iter=2000,
        tol=1e-9,
        momentum=momentum,
    )
    rises = np.diff(result.objectives)
    assert rises.min() >= -1e-12 * result.objective
    assert result.objectives[-1] > result.objectives[0]
    assert len(result.objectives) == len(result.residuals) == len(result.seconds)
    np.testing.assert_allclose(result.axes.T @ result.axes, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("free_origin", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_absolute_objective_never_falls(free_origin, seed):
    problem = wine_problem(keep_rows=True)
    result = ascend(
        lambda W: absolute_pull(problem.class_rows, W, 0.01, free_origin=free_origin),
        random_start(13, 3, seed),
        max_iter=500,
        tol=1e-9,
    )
    assert np.diff(result.objectives).min() >= -1e-12 * result.objective
    assert result.converged
    np.testing.assert_allclose(result.axes.T @ result.axes, np.eye(3), atol=1e-10)


def test_momentum_ends_where_plain_steps_end():
    scatters = scatters_of(4, 9, 1)
    start, _ = greedy_start(scatters)
    plain, carried = (
        ascend(lambda W: squared_pull(scatters, W), start, max_iter=5000, tol=1e-9, momentum=m)
        for m in (False, True)
    )
    assert carried.objective == pytest.approx(plain.objective, rel=1e-12)
    assert carried.n_iter < plain.n_iter


@pytest.mark.parametrize("free_origin", [False, True])
def test_gradients_by_finite_differences(free_origin):
    rng = np.random.default_rng(0)
    problem = wine_problem(keep_rows=True)
    W, step = random_start(13, 3, 0), rng.standard_normal((13, 3))
    for pull in (
        lambda W: squared_pull(problem.scatters, W),
        lambda W: absolute_pull(problem.class_rows, W, 0.5, free_origin=free_origin),
    ):
        slope = (pull(W + 1e-5 * step)[0] - pull(W - 1e-5 * step)[0]) / 2e-5
        assert slope == pytest.approx(np.sum(pull(W)[1] * step), rel=1e-6)


def test_auxiliary_step_is_optimal():
    # Compared with a convex solver's view: m minimises sum sqrt((a - m)^2 + eps^2).
    rng = np.random.default_rng(0)
    a, weights = rng.standard_normal(30) + 100, rng.integers(1, 4, 30).astype(float)
    m, z = auxiliary_step(a, weights, 0.1, free_origin=True)
    assert abs(weights @ z) < 1e-9
    grid = np.linspace(a.min(), a.max(), 100_001)
    values = np.hypot(a[:, None] - grid, 0.1).T @ weights
    assert abs(m - grid[values.argmin()]) < 2e-4
    assert auxiliary_step(np.full(4, 2.0), np.ones(4), 0.1, free_origin=True)[0] == 2.0


@pytest.mark.parametrize("origin", ["global", "class"])
def test_absolute_is_the_criterion_and_does_not_see_a_shift(origin):
    X, y = load_iris(return_X_y=True)
    solutions = []
    for shift in (np.zeros(4), np.array([1e3, -5e2, 0.0, 7e3])):
        problem = build_problem(
            X + shift,
            lambda block: block,
            members_of(y, 3),
            np.ones(150),
            n_dims=4,
            origin=origin,
            keep_rows=True,
        )
        eps = 1e-3 * problem.rms_distance
        start = solve_squared(problem.scatters)
        solutions.append(
            solve_absolute(problem.class_rows, eps, start.axes, free_origin=origin == "class")
        )
        written = absolute_value(X, y, solutions[-1].axes, eps, origin)
        assert solutions[-1].objective == pytest.approx(written, rel=1e-6)
    first, second = solutions
    assert second.objective == pytest.approx(first.objective, rel=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(first.axes * second.axes, axis=0)), 1, atol=1e-6)


def test_absolute_beats_random_axes():
    X, y = load_iris(return_X_y=True)
    problem = build_problem(
        X,
        lambda block: block,
        members_of(y, 3),
        np.ones(150),
        n_dims=4,
        origin="global",
        keep_rows=True,
    )
    found = solve_absolute(problem.class_rows, 0.01, random_start(4, 3, 0), free_origin=False)
    for seed in range(300):
        W = random_start(4, 3, seed)
        assert found.objective >= absolute_value(X, y, W, 0.01, "global")


@pytest.mark.parametrize("origin", ORIGINS)
def test_scatters_by_matrices_rows_and_sparse_rows_agree(origin):
    X, y = load_wine(return_X_y=True)
    X = np.where(np.median(X, axis=0) < X, X / X.std(axis=0), 0.0)
    weights = np.linspace(0.5, 2.0, len(y))
    mean = weights @ X / weights.sum()
    expected = []
    for k in range(3):
        rows = X[y == k]
        origins = {
            "global": mean,
            "class": weights[y == k] @ rows / weights[y == k].sum(),
            "zero": 0.0,
        }
        centred = rows - origins[origin]
        expected.append((centred * weights[y == k, None]).T @ centred)
    options = {"origin": origin, "n_dims": 13}
    matrices = build_problem(X, lambda block: block, members_of(y, 3), weights, **options)
    by_rows = build_problem(
        X, lambda block: block, members_of(y, 3), weights, keep_rows=True, **options
    )
    by_sparse = build_sparse_problem(
        sparse.csr_array(X), np.zeros(13), members_of(y, 3), weights, origin=origin, keep_rows=True
    )
    assert isinstance(matrices.scatters, MatrixScatters)
    assert isinstance(by_sparse.scatters, RowScatters)
    assert by_sparse.rms_distance == pytest.approx(by_rows.rms_distance)
    U = np.random.default_rng(0).standard_normal((13, 3))
    wanted = np.column_stack([expected[k] @ U[:, k] for k in range(3)])
    for problem in (matrices, by_rows, by_sparse):
        scatters = problem.scatters
        np.testing.assert_allclose(scatters.apply(U), wanted, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(scatters.traces(), [np.trace(R) for R in expected], rtol=1e-9)
        np.testing.assert_allclose(scatters.apply_one(1, U), expected[1] @ U, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(problem.mean, mean, rtol=1e-9)
    rows = RowScatters(by_rows.class_rows)
    np.testing.assert_allclose(rows.apply(U), wanted, rtol=1e-9, atol=1e-9)


def test_whitened_scatters_sum_to_the_identity():
    # About the class means the whitened scatters add up to n times (nearly) the identity.
    problem = wine_problem(origin="class", alpha=1e-4)
    total = problem.scatters.matrices.sum(axis=0) / 178
    np.testing.assert_allclose(total, np.eye(13), atol=0.02)
    np.testing.assert_allclose(problem.whitener.T @ problem.unwhitener, np.eye(13), atol=1e-10)
    by_rows = wine_problem(origin="class", alpha=1e-4, keep_rows=True)
    np.testing.assert_allclose(by_rows.scatters.matrices, problem.scatters.matrices, atol=1e-9)
    np.testing.assert_array_equal(whitening(np.zeros((2, 2)), 0.0)[0], np.eye(2))


def test_leading_eigenpair_of_many_dimensions_is_the_dense_one():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20, 400))
    scatters = RowScatters((ClassRows(rows, np.ones(20), np.zeros(400)),))
    value, vector = leading_eigenpair(scatters, 0)
    assert value == pytest.approx(np.linalg.norm(rows, 2) ** 2, rel=1e-10)
    np.testing.assert_allclose(scatters.apply_one(0, vector), value * vector, atol=1e-8)
    nothing = RowScatters((ClassRows(0 * rows, np.ones(20), np.zeros(400)),))
    assert leading_eigenpair(nothing, 0)[0] == 0.0


def test_orient_turns_the_axis_to_its_class():
    W = np.eye(3)[:, :2]
    means = np.array([[-2.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    np.testing.assert_array_equal(orient(W, means), W * [-1, 1])
    # Where the class lies on neither side the largest entry is made positive.
    np.testing.assert_array_equal(orient(-W, 0 * means), W)


def test_random_starts_find_what_the_computed_one_misses():
    # The absolute criterion has several optima; that of the squared leads to a lower one here.
    problem = wine_problem(origin="class", keep_rows=True)
    start = solve_squared(problem.scatters).axes
    alone, best = (
        solve_absolute(problem.class_rows, 0.004, start, AscentOptions(n_init=n), free_origin=True)
        for n in (0, 8)
    )
    assert alone.start == 0
    assert best.start > 0
    assert best.objective > alone.objective * (1 + 1e-4)


def test_no_random_starts_where_the_first_has_reached_the_bound(monkeypatch):
    R = np.array([np.diag([3.0, 1.0, 0.0]), np.diag([1.0, 4.0, 0.0])])
    monkeypatch.setattr("supred.category_space.ascent.random_start", None)
    assert solve_squared(MatrixScatters(R)).objective == pytest.approx(3.5)


def test_a_start_near_a_known_optimum_is_not_followed_to_its_end():
    scatters = scatters_of(3, 6)
    whole = solve_squared(scatters, AscentOptions(n_init=0, tol=1e-10))
    options = {"max_iter": 1000, "tol": 1e-10, "known": whole.axes}
    again = ascend(lambda W: squared_pull(scatters, W), random_start(6, 3, 1), **options)
    assert again.stopping_reason == "converged"
    assert again.objective == pytest.approx(whole.objective, rel=1e-3)
    assert again.objective < whole.objective


def test_stopping_reasons():
    scatters = scatters_of(3, 6)
    assert solve_squared(scatters, AscentOptions(max_iter=1, tol=0)).stopping_reason == "max_iter"
    assert not solve_squared(scatters, AscentOptions(max_iter=1, tol=0)).converged
    assert solve_squared(scatters, AscentOptions(tol=1e-6)).stopping_reason == "converged"
    assert solve_squared(scatters, AscentOptions(tol=0.0, n_init=0)).stopping_reason == "converged"
