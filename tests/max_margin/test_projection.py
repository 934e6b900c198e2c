"""The shared projection against its optimality conditions, brute force and LIBSVM."""

import numpy as np
import pytest
from scipy import linalg
from scipy.optimize import check_grad
from sklearn.svm import SVC

from supred.max_margin.bound import RelaxedRoot, bound_of, lower_bound, relaxed_spectrum
from supred.max_margin.projection import (
    alternate,
    follow_factors,
    has_settled,
    order_by_use,
    refit,
    solve_max_margin_projection,
    start_from_svd,
)
from supred.max_margin.smoothed_objective import huberised_hinge, smoothed_objective
from supred.max_margin.task_svms import Tasks, dual_directions, leading_directions, solve_task_svms
from supred.numerics.decisions import task_signs
from supred.numerics.linear_svm import solve_linear_svm


def related_tasks(n_tasks=4, n_rows=50, n_features=20, rank=2, noise=0.3, C=1.0, seed=0):
    """Tasks whose true weights lie near a space of `rank` dimensions; each has its own rows."""
    rng = np.random.default_rng(seed)
    space = rng.normal(size=(n_features, rank))
    rows = rng.normal(size=(n_tasks * n_rows, n_features))
    signs = np.zeros((n_tasks * n_rows, n_tasks))
    for k in range(n_tasks):
        own = slice(k * n_rows, (k + 1) * n_rows)
        weights = space @ rng.normal(size=rank) + noise * rng.normal(size=n_features)
        scores = rows[own] @ weights
        signs[own, k] = np.where(scores / scores.std() + 0.2 * rng.normal(size=n_rows) > 0, 1, -1)
    for array in (rows, signs):
        array.flags.writeable = False
    return Tasks(rows, signs, np.where(signs != 0, C, 0.0))


@pytest.fixture(scope="module")
def tasks():
    return related_tasks()


@pytest.fixture(scope="module")
def independent(tasks):
    return solve_task_svms(tasks.rows, tasks)


def exact_objective(tasks, components):
    """Objective (1) at fixed A, by LIBSVM."""
    total = 0.0
    for k in range(tasks.n_tasks):
        own = tasks.signs[:, k] != 0
        Z, y, u = tasks.rows[own] @ components.T, tasks.signs[own, k], tasks.bounds[own, k]
        svm = SVC(kernel="linear", C=1.0, tol=1e-6).fit(Z, y, sample_weight=u)
        hinge = np.maximum(0, 1 - y * svm.decision_function(Z))
        total += 0.5 * (svm.coef_**2).sum() + u @ hinge
    return total


def test_task_svms_equal_libsvm(tasks, independent):
    assert independent.objective == pytest.approx(
        exact_objective(tasks, np.eye(tasks.rows.shape[1])), rel=1e-4
    )


def test_task_svms_with_fewer_rows_than_dimensions_equal_those_in_all_dimensions():
    few = related_tasks(n_rows=10, n_features=40)
    svms = solve_task_svms(few.rows, few, tol=1e-7)
    assert svms.objective == pytest.approx(exact_objective(few, np.eye(40)), rel=1e-4)
    V = dual_directions(few, svms.dual)
    np.testing.assert_allclose(svms.coef, V, atol=1e-3 * np.abs(V).max())


def test_within_minus_between_is_sum_of_outer_products(tasks, independent):
    """C_w sums a_i a_j x_i x_j^T over pairs of one class of a task, C_b over the other pairs."""
    V = dual_directions(tasks, independent.dual)
    within, between = np.zeros((20, 20)), np.zeros((20, 20))
    for k in range(tasks.n_tasks):
        own = np.flatnonzero(tasks.signs[:, k])
        for i in own:
            for j in own:
                pair = np.outer(tasks.rows[i], tasks.rows[j])
                pair *= independent.dual[i, k] * independent.dual[j, k]
                if tasks.signs[i, k] == tasks.signs[j, k]:
                    within += pair
                else:
                    between += pair
    difference = within - between
    assert linalg.norm(V @ V.T - difference) <= 1e-10 * linalg.norm(difference)
    # The eigenvector step: same space as the dense eigenvectors.
    A = leading_directions(V, 2)
    dense = linalg.eigh(difference)[1][:, -2:]
    np.testing.assert_allclose(A.T @ A, dense @ dense.T, atol=1e-8)


def test_gradient_of_smoothed_objective(tasks):
    rng = np.random.default_rng(0)
    point = rng.normal(size=20 * 2 + 2 * 4 + 4)

    def value(p):
        return smoothed_objective(p, tasks, 2, 0.5)[0]

    def gradient(p):
        return smoothed_objective(p, tasks, 2, 0.5)[1]

    assert check_grad(value, gradient, point) <= 1e-5 * linalg.norm(gradient(point))


def test_huberised_hinge_stays_within_half_a_width_below_the_hinge():
    slack = np.linspace(-1, 2, 301)
    loss, slope = huberised_hinge(slack, 0.4)
    below = np.maximum(slack, 0) - loss
    assert below.min() >= -1e-12
    assert below.max() == pytest.approx(0.2)
    np.testing.assert_allclose(slope[1:-1], (loss[2:] - loss[:-2]) / 0.02, atol=0.013)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_lbfgs_beats_the_start_and_the_alternation_and_respects_the_bound(tasks, independent, d):
    found = follow_factors(independent, tasks, d)
    other = alternate(independent, tasks, d, max_iter=30)
    bound = lower_bound(independent, tasks, d)
    assert found.stopping_reason == "converged"
    assert found.svms.objective < found.start_objective
    assert found.svms.objective < other.svms.objective
    assert found.svms.objective > bound.value > 0
    objectives = found.history["objective"]
    assert len(objectives) > 20
    assert (np.diff(objectives) <= 1e-9 * np.abs(objectives[:-1])).all()
    scores = tasks.rows @ found.components.T @ found.svms.coef + found.svms.intercept
    wrong = (np.sign(scores) != tasks.signs)[tasks.signs != 0]
    assert found.history["train_error"][-1] == pytest.approx(wrong.mean())
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(d), atol=1e-10)
    assert found.svms.objective == pytest.approx(exact_objective(tasks, found.components), rel=1e-4)


def test_one_dimension_equals_brute_force_over_the_circle():
    """Three tasks in the plane, d = 1: A is an angle, and all angles can be tried."""
    plane = related_tasks(n_tasks=3, n_rows=20, n_features=2, rank=1, seed=3)
    found, _ = solve_max_margin_projection(plane, 1)
    angles = np.linspace(0, np.pi, 121)
    best = min(
        refit(np.array([[np.cos(angle), np.sin(angle)]]), plane).objective for angle in angles
    )
    assert found.svms.objective <= best * (1 + 1e-3)


def test_enough_components_give_the_independent_svms(tasks, independent):
    found, _ = solve_max_margin_projection(tasks, 6)
    assert found.components.shape == (4, 20)
    assert found.stopping_reason == "converged"
    np.testing.assert_allclose(found.components.T @ found.svms.coef, independent.coef, atol=1e-10)
    assert found.svms.objective == pytest.approx(exact_objective(tasks, found.components), rel=1e-4)


def test_alternation_runs_in_a_cycle_and_keeps_its_best_iterate():
    small = related_tasks(n_rows=20)
    found = alternate(solve_task_svms(small.rows, small), small, 1)
    assert found.stopping_reason != "converged"
    assert "cycle" in found.message
    objectives = found.history["objective"]
    assert found.svms.objective == min(objectives)
    assert (np.diff(objectives) > 0).any()


def test_alternation_gives_up_without_progress(tasks, independent):
    found = alternate(independent, tasks, 1)
    assert found.stopping_reason != "converged"
    assert "no better projection" in found.message
    assert alternate(independent, tasks, 1, max_iter=3).message.startswith("max_iter=3")


def test_alternation_converges_where_all_rows_lie_on_one_line():
    """Two tasks on the points -1 and 1 of the first axis: v is that axis, whatever A is."""
    signs = np.array([[-1.0, 1.0], [1.0, -1.0]])
    line = Tasks(np.array([[-1.0, 0.0], [1.0, 0.0]]), signs, np.abs(signs))
    found = alternate(solve_task_svms(line.rows, line), line, 1)
    assert found.stopping_reason == "converged"
    np.testing.assert_allclose(np.abs(found.components), [[1, 0]], atol=1e-6)
    assert found.svms.objective == pytest.approx(1.0, rel=1e-4)


def test_one_small_step_does_not_end_the_run_at_large_C():
    """Steps of L-BFGS are uneven at large C; the objective must be near that of a long run."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 30))
    signs = np.sign(rows @ rng.normal(size=(30, 4)))
    tasks = Tasks(rows, signs, np.full(signs.shape, 1e3))
    short, _ = solve_max_margin_projection(tasks, 2, max_iter=4000)
    assert short.stopping_reason == "converged"
    long, _ = solve_max_margin_projection(tasks, 2, max_iter=4000, tol=1e-9)
    assert short.svms.objective == pytest.approx(long.svms.objective, rel=1e-3)


def test_settled_means_that_five_iterations_together_are_small():
    assert not has_settled([1.0] * 5, 1e-6)
    assert has_settled([1.0] * 6, 1e-6)
    slow = (1.0 - 4e-7 * np.arange(6)).tolist()
    assert not has_settled(slow, 1e-6)
    assert has_settled(slow, 1e-5)


def test_tasks_that_share_rows_are_solved_as_if_alone():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 6))
    signs = np.sign(rows @ rng.normal(size=(6, 3)) + 0.5)
    bounds = np.repeat(rng.uniform(0.5, 2.0, size=(80, 1)), 3, axis=1)
    together = Tasks(rows, signs, bounds)
    assert together.share_rows
    svms = solve_task_svms(rows, together, tol=1e-8)
    for k in range(3):
        alone = SVC(kernel="linear", C=1.0, tol=1e-8)
        alone.fit(rows, signs[:, k], sample_weight=bounds[:, k].copy())
        np.testing.assert_allclose(svms.coef[:, k], alone.coef_[0], atol=1e-3)
    other = bounds.copy()
    other[0, 1] *= 2
    assert not Tasks(rows, signs, other).share_rows
    assert not Tasks(rows, np.where(bounds > 1, signs, 0), bounds).share_rows


def test_iteration_limit_is_told(tasks, independent):
    found = follow_factors(independent, tasks, 2, max_iter=5)
    assert found.stopping_reason != "converged"
    assert found.n_iter == 5
    assert "max_iter=5" in found.message
    assert found.svms.objective <= found.start_objective


def test_bound_is_below_the_objective_of_any_projection(tasks, independent):
    bound = lower_bound(independent, tasks, 2)
    assert (np.diff(bound.history) >= 0).all()
    assert bound.history[-1] > bound.history[0]
    # It is proved by feasible duals.
    assert bound.dual.min() >= 0
    assert (bound.dual <= tasks.bounds + 1e-9).all()
    np.testing.assert_allclose((bound.dual * tasks.signs).sum(axis=0), 0, atol=1e-6)
    values = linalg.svdvals(dual_directions(tasks, bound.dual))
    assert bound.value == pytest.approx(bound.dual.sum() - 0.5 * (values[:2] ** 2).sum(), rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(5):
        A = linalg.qr(rng.normal(size=(20, 2)), mode="economic")[0].T
        assert refit(A, tasks).objective > bound.value


def test_bound_is_tight_without_sharing(tasks, independent):
    assert lower_bound(independent, tasks, 4).value == pytest.approx(
        independent.objective, rel=1e-4
    )


def test_bound_is_near_the_objective_of_tasks_that_share_all():
    """Copies of one task: rank one costs nothing, so the bound must close the gap."""
    one = related_tasks(n_tasks=1, n_features=5, rank=1)
    copies = Tasks(one.rows, np.repeat(one.signs, 3, axis=1), np.repeat(one.bounds, 3, axis=1))
    found, independent = solve_max_margin_projection(copies, 1)
    assert lower_bound(independent, copies, 1).value == pytest.approx(
        found.svms.objective, rel=1e-3
    )


def test_bound_takes_the_best_multiple_of_the_duals():
    V = np.diag([2.0, 1.0])
    # t - 1/2 t^2 4 is largest at t = 1/4 with 1/8.
    assert bound_of(1.0, V, 1) == pytest.approx((0.125, 0.25))


def test_relaxed_spectrum_is_optimal():
    """Compare tr(Omega^T P^-1 Omega) with spectra chosen at random."""
    values = np.array([5.0, 2.0, 1.0, 0.5])
    rng = np.random.default_rng(0)
    for d in (1, 2, 3):
        spectrum = relaxed_spectrum(values, d)
        assert spectrum.sum() == pytest.approx(d)
        assert spectrum.max() <= 1
        best = (values**2 / spectrum).sum()
        tried = rng.dirichlet(np.ones(4), size=2000) * d
        tried = tried[tried.max(axis=1) <= 1]
        assert len(tried) > 10
        assert ((values**2 / tried).sum(axis=1) >= best - 1e-9).all()


def test_start_from_svd_spans_the_leading_weights(independent):
    A = start_from_svd(independent, 2)
    left = linalg.svd(independent.coef)[0][:, :2]
    np.testing.assert_allclose(A.T @ A, left @ left.T, atol=1e-10)


def test_order_by_use_keeps_the_weights(tasks):
    found, _ = solve_max_margin_projection(tasks, 3)
    A, W = order_by_use(found.components, found.svms.coef)
    np.testing.assert_allclose(A.T @ W, found.components.T @ found.svms.coef, atol=1e-12)
    np.testing.assert_allclose(A @ A.T, np.eye(3), atol=1e-12)
    lengths = linalg.norm(W, axis=1)
    assert (np.diff(lengths) < 0).all()


def test_relaxed_root_squares_to_a_relaxed_projection(independent):
    root = RelaxedRoot.best_for(independent.coef, 2, spread=0.1)
    P = root.times(root.times(np.eye(20)))
    values = linalg.eigvalsh(P)
    assert values.min() == pytest.approx(0.1 * 2 / 20)
    assert values.max() <= 1
    assert np.trace(P) == pytest.approx(2)


def test_pairs_of_tiny_classes_are_solved_together(monkeypatch):
    """Hundreds of SVMs of two rows each, one by one, took most of the time of a fit."""
    rng = np.random.default_rng(0)
    signs = task_signs(np.arange(20), 20, "ovo").astype(float)
    tasks = Tasks(rng.normal(size=(20, 5)), signs, 10.0 * abs(signs))
    apart = [
        solve_linear_svm(tasks.rows, y, u, tol=1e-6)
        for y, u in zip(tasks.signs.T, tasks.bounds.T, strict=True)
    ]
    monkeypatch.setattr("supred.max_margin.task_svms._solve_task", None)
    together = solve_task_svms(tasks.rows, tasks, tol=1e-6)
    assert together.objective == pytest.approx(sum(svm.objective for svm in apart), rel=1e-5)
