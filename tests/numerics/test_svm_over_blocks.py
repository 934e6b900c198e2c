"""SVMs from sums and a few rows, against those that see all rows at once."""

import pickle

import numpy as np
import pytest

from supred.low_dim_svm.z_step import two_class_z_step
from supred.numerics import svm_over_blocks, svm_survey
from supred.numerics.decisions import task_signs
from supred.numerics.linear_svm import solve_linear_svm, solve_linear_svms
from supred.numerics.svm_over_blocks import first_survey, solve_over_blocks
from supred.numerics.svm_survey import survey
from supred.rows.cluster.tasks import total_of as total_on_a_worker
from supred.rows.values import total_of


class Blocks:
    """Rows of arrays in blocks; it counts what is asked and what comes back."""

    def __init__(self, Z, class_index, u, n_blocks=7):
        self.parts = np.array_split(np.arange(len(Z)), n_blocks)
        self.arrays = Z, class_index, u
        self.n_asked = self.n_rows = 0

    def sum(self, function, *arguments):
        terms = [
            function(part[0], *(array[part] for array in self.arrays), *arguments)
            for part in self.parts
        ]
        total = total_of(terms)
        self.n_asked += 1
        self.n_rows += sum(len(near.nearest()) for near in total[2])
        return total


def rows(n_rows=4000, n_classes=4, n_dimensions=3, spread=1.0, seed=0):
    rng = np.random.RandomState(seed)
    class_index = rng.randint(n_classes, size=n_rows)
    centers = 2.0 * rng.normal(size=(n_classes, n_dimensions))
    Z = centers[class_index] + spread * rng.normal(size=(n_rows, n_dimensions))
    return Z, class_index, rng.uniform(0.5, 2.0, size=n_rows)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("spread", [0.1, 1.0, 4.0], ids=["separable", "overlapping", "noisy"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("grouped", [True, False], ids=["by class", "by sign"])
def test_the_optimum_is_that_over_all_rows(C, spread, multi_class, grouped, monkeypatch):
    if not grouped:
        monkeypatch.setattr(svm_survey, "MOST_CELLS", 0)
    Z, class_index, weights = rows(spread=spread)
    signs = task_signs(np.arange(4), 4, multi_class)
    reference = solve_linear_svms(Z, signs[class_index], C * weights, tol=1e-8)
    found = solve_over_blocks(Blocks(Z, class_index, C * weights), signs, 3, tol=1e-8)
    assert (found.gap <= 1e-8 * found.objective).all()
    np.testing.assert_allclose(found.objective, [svm.objective for svm in reference], rtol=3e-8)
    y = signs[class_index]
    slack = np.maximum(0, 1 - y * (Z @ found.coef.T + found.intercept)) * (y != 0)
    primal = 0.5 * np.square(found.coef).sum(axis=1) + (C * weights) @ slack
    np.testing.assert_allclose(found.objective, primal, rtol=1e-12)


def test_blocks_and_a_start_change_little_and_few_rows_travel():
    Z, class_index, weights = rows(n_rows=20_000)
    signs = task_signs(np.arange(4), 4, "ovr")
    one = Blocks(Z, class_index, weights, n_blocks=1)
    many = Blocks(Z, class_index, weights, n_blocks=40)
    first = solve_over_blocks(one, signs, 3, tol=1e-8)
    second = solve_over_blocks(many, signs, 3, tol=1e-8)
    np.testing.assert_allclose(first.coef, second.coef, rtol=1e-6, atol=1e-7)
    start = np.column_stack([first.coef, first.intercept])
    many.n_rows = 0
    again = solve_over_blocks(many, signs, 3, tol=1e-8, start=1.01 * start)
    assert (again.objective <= first.objective * (1 + 1e-8)).all()
    assert many.n_rows <= 4 * 1500
    again = solve_over_blocks(many, signs, 3, tol=1e-8, start=start)
    assert (again.objective <= first.objective * (1 + 1e-15)).all()


def test_a_survey_at_hand_spares_a_visit():
    Z, class_index, weights = rows(n_rows=20_000)
    signs = task_signs(np.arange(4), 4, "ovr")
    start = np.random.RandomState(0).normal(size=(4, 4))
    one, two = (Blocks(Z, class_index, weights) for _ in range(2))
    alone = solve_over_blocks(one, signs, 3, tol=1e-8, start=start)
    first = Blocks(Z, class_index, weights).sum(first_survey, start, signs.astype(float))
    helped = solve_over_blocks(two, signs, 3, tol=1e-8, start=start, first=first)
    assert two.n_asked == one.n_asked - 1
    assert np.array_equal(alone.coef, helped.coef)


def test_sums_of_many_blocks_travel_small():
    Z, class_index, u = rows()
    signs = task_signs(np.arange(4), 4, "ovr").astype(float)
    start = np.random.RandomState(0).normal(size=(4, 4))
    many = Blocks(Z, class_index, u, n_blocks=100).sum(first_survey, start, signs)
    whole = Blocks(Z, class_index, u, n_blocks=1).sum(first_survey, start, signs)
    assert len(many[1].parts) <= svm_survey.MOST_PARTS
    assert len(pickle.loads(pickle.dumps(many[1])).parts) == 1
    np.testing.assert_allclose(many[1].sums(), whole[1].sums(), rtol=1e-12, atol=1e-11)


def test_sums_have_the_same_digits_on_one_worker_and_from_many():
    Z, class_index, u = rows()
    signs = task_signs(np.arange(4), 4, "ovr").astype(float)
    start = np.random.RandomState(0).normal(size=(4, 4))

    def group(k):
        part = slice(1000 * k, 1000 * (k + 1))
        blocks = Blocks(Z[part], class_index[part], u[part], n_blocks=5)
        return blocks.sum(first_survey, start, signs)

    here = total_on_a_worker([group(k) for k in range(4)])
    sent = total_on_a_worker([pickle.loads(pickle.dumps(group(k))) for k in range(4)])
    assert np.array_equal(here[1].sums(), sent[1].sums())


def test_rows_that_the_z_step_put_on_the_margin():
    """Thousands of rows on the margin of the guess, which says nothing about their duals."""
    rng = np.random.RandomState(0)
    F = rng.randn(20_000, 3)
    y = np.where(F[:, 0] + 0.7 * rng.randn(20_000) > 0, 1.0, -1.0)
    u = np.ones(len(y))
    last = solve_linear_svm(F[:2000], y[:2000], u[:2000], tol=1e-8)
    Z = two_class_z_step(F, y, last.coef, last.intercept, c=1.2 / float(last.coef @ last.coef))
    reference = solve_linear_svm(Z, y, u, tol=1e-8)
    blocks = Blocks(Z, (y > 0).astype(int), u)
    guess = np.append(last.coef, last.intercept)[None]
    found = solve_over_blocks(blocks, np.array([[-1], [1]]), 3, tol=1e-8, start=guess)
    np.testing.assert_allclose(found.objective[0], reference.objective, rtol=3e-8)
    assert blocks.n_rows <= 8000


def test_few_rows_come_where_the_margin_turns_under_many_rows_on_it():
    """The rows on the margin of the guess must be told apart along it, not across it only."""
    rng = np.random.RandomState(0)
    class_index = np.arange(60_000) % 2
    y = 2.0 * class_index - 1.0
    Z = rng.normal(size=(60_000, 2))
    Z[:, 0] += 0.8 * y
    Z[:30_000, 0] = y[:30_000]  # on the margin of the guess
    blocks = Blocks(Z, class_index, np.ones(len(Z)))
    guess = np.array([[1.0, 0.0, 0.0]])
    found = solve_over_blocks(blocks, np.array([[-1], [1]]), 2, tol=1e-8, start=guess)
    assert found.gap[0] <= 1e-8 * found.objective[0]
    assert blocks.n_rows <= 6000  # all of them, were they merged by one distance


@pytest.mark.parametrize("most", [1, 4000, 10**9])
def test_svms_are_solved_together_up_to_a_number_of_rows(most, monkeypatch):
    Z, class_index, weights = rows()
    signs = task_signs(np.arange(4), 4, "ovr")
    monkeypatch.setattr(svm_over_blocks, "MOST_TOGETHER", most)
    found = solve_over_blocks(Blocks(Z, class_index, weights), signs, 3, tol=1e-8)
    assert (found.gap <= 1e-8 * found.objective).all()
    reference = solve_linear_svms(Z, signs[class_index], weights, tol=1e-8)
    np.testing.assert_allclose(found.coef, [svm.coef for svm in reference], atol=1e-5)


def test_one_sign_only_and_one_side_much_heavier():
    Z, class_index, _ = rows(n_classes=2)
    alone = solve_over_blocks(
        Blocks(Z, np.zeros(len(Z), dtype=int), np.ones(len(Z))), np.array([[-1], [1]]), 3, tol=1e-8
    )
    assert (alone.intercept[0], alone.objective[0], alone.gap[0]) == (-1.0, 0.0, 0.0)
    for ratio in (30.0, 1e4):
        u = np.where(class_index, ratio, 1.0)
        y = np.where(class_index, 1.0, -1.0)
        reference = solve_linear_svm(Z, y, u, tol=1e-6)
        found = solve_over_blocks(Blocks(Z, class_index, u), np.array([[-1], [1]]), 3, tol=1e-6)
        assert found.objective[0] <= reference.objective * (1 + 1e-5)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("first", [True, False], ids=["first guess", "guess after a guess"])
def test_the_compiled_loop_is_the_reference(multi_class, first):
    pytest.importorskip("numba")
    Z, class_index, u = rows(n_rows=800)
    signs = task_signs(np.arange(4), 4, multi_class).astype(float)
    n_svms = signs.shape[1]
    guess = np.random.RandomState(1).normal(size=(n_svms, 4))
    # so many rows on a margin that a hash must choose
    Z[:200] += np.outer((signs[0, 0] - guess[0, 3] - Z[:200] @ guess[0, :3]), guess[0, :3]) / (
        guess[0, :3] @ guess[0, :3]
    )
    class_index[:200] = 0
    known = [np.arange(1000 + k, 1100, 3) for k in range(n_svms)]
    before = None if first else guess + 0.1 * np.random.RandomState(2).normal(size=guess.shape)
    problem = Z, class_index, u, guess, before, signs
    arguments = 1000, *problem, known, [50] * n_svms
    expected, found = survey(*arguments), survey(*arguments, True)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1].sums(), expected[1].sums(), rtol=1e-12, atol=1e-12)
    for one, other in zip(found[2], expected[2], strict=True):
        np.testing.assert_allclose(one.nearest(), other.nearest(), rtol=1e-12, atol=1e-12)


def test_the_compiled_path_is_the_reference():
    pytest.importorskip("numba")
    Z, class_index, u = rows()
    signs = task_signs(np.arange(4), 4, "ovr")
    found, expected = (
        solve_over_blocks(Blocks(Z, class_index, u), signs, 3, tol=1e-8, fast=fast)
        for fast in (True, False)
    )
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-9)
    np.testing.assert_allclose(found.intercept, expected.intercept, rtol=1e-9)


def test_rounds_end_when_all_rows_are_in_the_set(monkeypatch):
    """A gap that stays open then, by rounding, would be asked for again and again."""
    solve = svm_over_blocks._solve_together
    monkeypatch.setattr(
        svm_over_blocks, "_solve_together", lambda *path: (solve(*path)[0], np.zeros(1))
    )
    Z, class_index, weights = rows(n_rows=60, n_classes=2)
    blocks = Blocks(Z, class_index, weights)
    found = solve_over_blocks(blocks, np.array([[-1], [1]]), 3, tol=1e-8)
    assert found.gap == found.objective  # nothing is certified
    assert blocks.n_asked < svm_over_blocks.MAX_ROUNDS / 2
    reference = solve_linear_svms(Z, 2.0 * class_index[:, None] - 1.0, weights, tol=1e-8)
    np.testing.assert_allclose(found.objective, reference[0].objective, rtol=1e-6)
