"""The g step against LIBSVM, and its own certificate."""

import numpy as np
import pytest
from sklearn.svm import SVC

from supred.low_dim_svm.z_step import two_class_z_step as z_step_two_classes
from supred.numerics import linear_svm, svm_working_set
from supred.numerics.decisions import task_signs
from supred.numerics.linear_svm import solve_linear_svm, solve_linear_svms
from supred.numerics.svm_interior_point import interior_point


def problem(kind, n_rows=240, n_dimensions=4, seed=0):
    rng = np.random.RandomState(seed)
    share, distance = {
        "balanced": (0.5, 2.0),
        "one to nine": (0.1, 2.0),
        "separable": (0.5, 9.0),
        "noisy": (0.5, 0.3),
    }[kind]
    y = np.where(rng.uniform(size=n_rows) < share, 1.0, -1.0)
    Z = rng.normal(size=(n_rows, n_dimensions))
    Z[:, 0] += 0.5 * distance * y
    return Z, y


def primal(Z, y, u, w, b):
    return 0.5 * w @ w + u @ np.maximum(0.0, 1.0 - y * (Z @ w + b))


def libsvm_objective(Z, y, C):
    model = SVC(kernel="linear", C=C, tol=1e-8, max_iter=3_000_000).fit(Z, y)
    w, b = model.coef_[0], model.intercept_[0]
    return primal(Z, y, np.full(len(y), C), w, b)


@pytest.mark.parametrize("kind", ["balanced", "one to nine", "separable", "noisy"])
@pytest.mark.parametrize("C", [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0])
@pytest.mark.filterwarnings("ignore:Solver terminated early")
def test_objective_is_that_of_libsvm(kind, C):
    Z, y = problem(kind)
    u = np.full(len(y), C)
    reference = libsvm_objective(Z, y, C)
    default = solve_linear_svm(Z, y, u)
    exact = solve_linear_svm(Z, y, u, tol=1e-6)
    assert default.objective <= reference * (1 + 1e-3)
    assert exact.objective <= reference * (1 + 1e-5)
    for svm in (default, exact):
        # the certificate is a true lower bound, and the objective is what it says
        assert svm.objective - svm.gap <= reference * (1 + 1e-9)
        np.testing.assert_allclose(
            svm.objective, primal(Z, y, u, svm.coef, svm.intercept), rtol=1e-12
        )
    assert exact.gap <= 1e-6 * exact.objective


@pytest.mark.parametrize("kind", ["balanced", "one to nine", "separable", "noisy"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("warm", [False, True])
def test_working_sets_solve_the_whole_problem(kind, C, warm, monkeypatch):
    Z, y = problem(kind, n_rows=3000)
    u = np.full(len(y), C)
    reference = solve_linear_svm(Z, y, u, tol=1e-8)
    monkeypatch.setattr(linear_svm, "SMALL", 200)
    monkeypatch.setattr(svm_working_set, "WORKING", 60)
    start = (reference.coef * 1.1, reference.intercept + 0.1) if warm else None
    svm = solve_linear_svm(Z, y, u, tol=1e-6, start=start)
    assert svm.gap <= 1e-6 * svm.objective
    np.testing.assert_allclose(svm.objective, reference.objective, rtol=2e-6)


def test_rows_that_lie_on_their_margin(monkeypatch):
    """After a Z step most rows are exactly on the margin of the last solution."""
    monkeypatch.setattr(linear_svm, "SMALL", 100)
    monkeypatch.setattr(svm_working_set, "WORKING", 50)
    rng = np.random.RandomState(0)
    y = np.where(np.arange(2000) % 2, 1.0, -1.0)
    Z = np.column_stack([y, rng.normal(size=(2000, 2))])
    svm = solve_linear_svm(Z, y, np.full(2000, 1.0), start=(np.array([1.0, 0, 0]), 0.0))
    assert svm.gap <= 1e-4 * svm.objective
    np.testing.assert_allclose(svm.objective, 0.5, rtol=1e-4)


def test_dual_is_feasible_and_gives_the_weights():
    Z, y = problem("balanced")
    u = np.random.RandomState(1).uniform(0.5, 2.0, size=len(y))
    svm = solve_linear_svm(Z, y, u, tol=1e-10)
    assert (svm.dual >= 0).all()
    assert (svm.dual <= u).all()
    assert abs(svm.dual @ y) < 1e-9
    np.testing.assert_allclose(Z.T @ (svm.dual * y), svm.coef, atol=1e-4)


def test_a_weight_is_a_number_of_copies():
    Z, y = problem("noisy")
    times = np.random.RandomState(1).randint(1, 4, size=len(y))
    weighted = solve_linear_svm(Z, y, times * 0.7)
    copied = solve_linear_svm(
        np.repeat(Z, times, axis=0), np.repeat(y, times), np.full(times.sum(), 0.7)
    )
    # the same path to the same point, not only the same optimum
    np.testing.assert_allclose(weighted.coef, copied.coef, rtol=1e-9)
    np.testing.assert_allclose(weighted.intercept, copied.intercept, rtol=1e-8)


def test_rows_that_are_no_part_of_the_task():
    Z, y = problem("balanced")
    kept = np.arange(len(y)) % 3 > 0
    alone = solve_linear_svm(Z[kept], y[kept], np.ones(kept.sum()))
    for signs, u in ((np.where(kept, y, 0), np.ones(len(y))), (y, kept.astype(float))):
        svm = solve_linear_svm(Z, signs, u)
        np.testing.assert_array_equal(svm.coef, alone.coef)
        assert not svm.dual[~kept].any()


def test_each_svm_has_bounds_of_its_own():
    Z, y = problem("balanced")
    rng = np.random.RandomState(1)
    signs = np.column_stack([y, np.where(rng.uniform(size=len(y)) < 0.5, y, 0.0)])
    u = rng.uniform(0.1, 2.0, size=signs.shape) * (signs != 0)
    together = solve_linear_svms(Z, signs, u, tol=1e-8)
    for k, svm in enumerate(together):
        alone = solve_linear_svm(Z, signs[:, k], u[:, k], tol=1e-8)
        assert svm.objective == pytest.approx(alone.objective, rel=1e-7)
        np.testing.assert_allclose(svm.coef, alone.coef, atol=1e-4)


def test_one_sign_only_is_a_constant():
    svm = solve_linear_svm(np.eye(3), -np.ones(3), np.ones(3))
    assert not svm.coef.any()
    assert svm.intercept == -1.0
    assert svm.gap == 0.0


@pytest.mark.parametrize("together", [True, False])
def test_several_svms_are_single_ones_whatever_n_jobs(together, monkeypatch):
    Z, _ = problem("balanced", n_rows=600)
    signs = np.where(np.arange(len(Z))[:, None] % 3 == np.arange(3), 1, -1)
    u = np.random.RandomState(0).uniform(0.5, 2.0, size=len(Z))
    alone = [solve_linear_svm(Z, signs[:, k], u) for k in range(3)]
    if not together:
        monkeypatch.setattr(linear_svm, "SMALL", 100)
        monkeypatch.setattr(svm_working_set, "WORKING", 50)
    one = solve_linear_svms(Z, signs, u, n_jobs=1)
    two = solve_linear_svms(Z, signs, u, n_jobs=2)
    for k in range(3):
        np.testing.assert_array_equal(one[k].coef, two[k].coef)
        np.testing.assert_allclose(one[k].objective, alone[k].objective, rtol=2e-4)
        if together:
            np.testing.assert_allclose(one[k].coef, alone[k].coef, rtol=1e-8)
            np.testing.assert_allclose(one[k].dual, alone[k].dual, rtol=1e-6, atol=1e-9)


def test_rows_outside_act_by_their_sums():
    """Rows held at their bound are a linear term: the rest of the problem must not notice."""
    Z, y = problem("balanced", n_rows=120)
    u = np.full(len(y), 0.5)
    whole = solve_linear_svm(Z, y, u, tol=1e-9)
    slack = 1 - y * (Z @ whole.coef + whole.intercept)
    outside = slack > 0.3  # surely at their bound
    w, b, _, _ = interior_point(
        Z[~outside].T[None],
        y[None, ~outside],
        u[None, ~outside],
        (Z[outside].T @ (u * y)[outside])[None],
        (u * y)[outside].sum(keepdims=True),
        1e-9,
        offset=u[outside].sum(keepdims=True),
    )
    np.testing.assert_allclose(w[0], whole.coef, atol=1e-4)
    np.testing.assert_allclose(b[0], whole.intercept, atol=1e-4)


@pytest.mark.parametrize("ratio", [30.0, 1e2, 1e3, 1e4])
@pytest.mark.parametrize("n_rows", [150, 1600])
@pytest.mark.filterwarnings("ignore:Solver terminated early")
def test_one_side_much_heavier_than_the_other(ratio, n_rows):
    Z, y = problem("balanced", n_rows=n_rows)
    u = np.where(y > 0, ratio, 1.0)
    model = SVC(kernel="linear", class_weight={1.0: ratio}, max_iter=200_000).fit(Z, y)
    reference = primal(Z, y, u, model.coef_[0], model.intercept_[0])
    together = solve_linear_svms(Z, np.column_stack([y, -y]), u)
    for svm in (solve_linear_svm(Z, y, u), *together):
        assert svm.objective <= reference * (1 + 1e-3)


@pytest.mark.parametrize("n_rows", [200, 3500])
def test_shifted_and_scaled_rows(n_rows):
    """With z' = s z + m, bounds u / s^2 give w' = w / s and the objective over s^2."""
    Z, y = problem("balanced", n_rows=n_rows)
    u = np.ones(n_rows)
    svm = solve_linear_svm(Z, y, u)
    for s, m in ((1.0, 1e6), (1e6, 0.0), (1e-6, 3.0)):
        moved = solve_linear_svm(s * Z + m, y, u / s**2)
        np.testing.assert_allclose(moved.objective * s**2, svm.objective, rtol=1e-5)
        assert moved.gap <= 1.01e-4 * moved.objective
        np.testing.assert_allclose(moved.coef * s, svm.coef, atol=1e-3)


def test_svms_of_different_sizes_go_together(monkeypatch):
    """Working sets are padded to one size; the padding must not be felt."""
    Z, _ = problem("noisy", n_rows=900)
    rng = np.random.RandomState(3)
    signs = rng.choice([-1, 1], size=(900, 4))
    signs[rng.uniform(size=(900, 4)) < [0.0, 0.1, 0.3, 0.4]] = 0
    u = rng.uniform(0.5, 2.0, size=900)
    together = solve_linear_svms(Z, signs, u, tol=1e-8)
    monkeypatch.setattr(linear_svm, "TOGETHER", 1)
    alone = solve_linear_svms(Z, signs, u, tol=1e-8)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.objective, other.objective, rtol=1e-8)
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-6)
        assert one.gap <= 1e-8 * one.objective
        assert (one.dual <= u).all()


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_many_overlapping_rows_take_few_iterations(C):
    """Most rows are held; a cold start must not end in a problem with all of them."""
    Z, y = problem("noisy", n_rows=20_000)
    svm = solve_linear_svm(Z, y, np.full(len(y), C))
    assert svm.gap <= 1e-4 * svm.objective
    assert svm.n_iter < 150


def test_a_guess_whose_margin_holds_many_rows_costs_no_more_than_none(monkeypatch):
    """After a Z step thousands of rows lie on the margin of the last SVM, which says nothing."""
    rng = np.random.RandomState(0)
    F = rng.randn(20_000, 3)
    y = np.where(F[:, 0] + 0.7 * rng.randn(20_000) > 0, 1.0, -1.0)
    u = np.full(len(y), 1.0)
    last = solve_linear_svm(F[:2000], y[:2000], u[:2000], tol=1e-8)
    guess = last.coef, last.intercept
    Z = z_step_two_classes(F, y, *guess, c=1.2 / float(last.coef @ last.coef))
    on_margin = np.abs(1.0 - y * (Z @ last.coef + last.intercept)) < 1e-9
    assert on_margin.mean() > 0.1
    work = []

    def counted(Z, *rest, **options):
        found = interior_point(Z, *rest, **options)
        work.append(Z.shape[2] * found[3].max())  # rows times iterations
        return found

    monkeypatch.setattr("supred.numerics.linear_svm.interior_point", counted)
    cold = solve_linear_svm(Z, y, u, tol=1e-8)
    without = sum(work)
    work.clear()
    warm = solve_linear_svm(Z, y, u, tol=1e-8, start=guess)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert sum(work) <= 3 * without


@pytest.mark.parametrize("widest", [8, 12])
def test_columns_of_very_unequal_size_give_no_constant(widest):
    rng = np.random.default_rng(0)
    y = np.sign(rng.normal(size=200))
    Z = (rng.normal(size=(200, 20)) + 0.5 * y[:, None]) * 10.0 ** np.linspace(-widest, widest, 20)
    svm = solve_linear_svm(Z, y, np.full(200, 100.0))
    assert np.mean(np.sign(Z @ svm.coef + svm.intercept) == y) > 0.85
    losses = np.maximum(1 - y * (Z @ svm.coef + svm.intercept), 0)
    assert svm.objective == pytest.approx(0.5 * svm.coef @ svm.coef + 100.0 * losses.sum())
    assert 0 <= svm.gap <= svm.objective


def test_svms_beside_large_bounds_are_tried_again_together(monkeypatch):
    """With bounds that leave no digits of ||w||^2 one try of smaller bounds is nearly enough."""
    rng = np.random.default_rng(0)
    classes = np.arange(60) % 8
    signs = task_signs(classes, 8, "ovo").astype(float)
    Z = rng.normal(size=(60, 3)) * 10.0 ** rng.uniform(-10, 10, size=(60, 1))
    tried = []

    def counted(problems, *rest):
        tried.append(len(problems))
        return solve_batch(problems, *rest)

    solve_batch = linear_svm._solve_batch
    monkeypatch.setattr(linear_svm, "_solve_batch", counted)
    svms = solve_linear_svms(Z, signs, np.full(60, 4e28))
    assert len(svms) == 28  # of which 20 go together
    assert sum(tried) <= 28 + 3 * 28
    assert len(tried) <= 2 * 6
    for svm, y in zip(svms, signs.T, strict=True):
        assert svm.objective <= 0.95 * 4e28 * 2 * min(np.sum(y > 0), np.sum(y < 0))


@pytest.mark.parametrize("n_rows", [2, 8, 200])
def test_bounds_beyond_what_a_dual_variable_can_reach_change_nothing(n_rows):
    """The dual variables of both signs have one sum: those of a heavy class cannot use more."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    Z = rng.normal(size=(n_rows, 3)) + 2.0 * y[:, None]
    light = solve_linear_svm(Z, y, np.where(y > 0, 1e6, 1e4), tol=1e-6)
    heavy = solve_linear_svm(Z, y, np.where(y > 0, 1e28, 1e4), tol=1e-6)
    assert heavy.objective == pytest.approx(light.objective, rel=1e-3)
    np.testing.assert_allclose(heavy.coef, light.coef, rtol=1e-2, atol=1e-3)
    assert heavy.gap <= 1e-3 * heavy.objective
