"""The method for devices, on NumPy's arrays; tests/low_dim_svm/test_devices.py has the others."""

import numpy as np
import pytest

from supred.low_dim_svm.z_step import hinge_z_step
from supred.numerics import svm_on_device
from supred.numerics.decisions import task_signs
from supred.numerics.svm_batch import best_biases, solve_batch
from supred.numerics.svm_interior_point import interior_point
from supred.numerics.svm_on_device import solve_on_device
from supred.numerics.svm_over_blocks import solve_over_blocks
from supred.rows.values import total_of

N_CLASSES, TOL = 4, 1e-8


class Blocks:
    """Rows in four blocks."""

    def __init__(self, Z, index, u):
        self.columns = Z, index, u
        self.parts = np.array_split(np.arange(len(Z)), 4)

    def sum(self, function, *arguments):
        return total_of(
            function(int(part[0]), *(column[part] for column in self.columns), *arguments)
            for part in self.parts
        )


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(0)
    index = rng.integers(N_CLASSES, size=3000)
    Z = 1.5 * rng.normal(size=(N_CLASSES, 3))[index] + rng.normal(size=(3000, 3))
    for column in (columns := (Z, index, rng.random(3000) + 0.1)):
        column.flags.writeable = False
    return Blocks(*columns)


@pytest.mark.parametrize("taken", [10**6, 4 * 1000, 4 * 100])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("started", [False, True])
def test_the_svms_are_those_of_the_host(blocks, taken, multi_class, started, monkeypatch):
    monkeypatch.setattr(svm_on_device, "TAKEN", taken)
    monkeypatch.setattr(svm_on_device, "WHOLE", taken)
    monkeypatch.setattr(svm_on_device, "CHUNK", 64)
    monkeypatch.setattr(svm_on_device, "MANY_TOL", TOL)
    monkeypatch.setattr(svm_on_device, "WHOLE_TOL", TOL)
    signs = task_signs(np.arange(N_CLASSES), N_CLASSES, multi_class)
    expected = solve_over_blocks(blocks, signs, 3, tol=TOL)
    start = np.column_stack([expected.coef, expected.intercept + 0.3]) if started else None
    found = solve_on_device(blocks, signs, 3, tol=TOL, start=start)
    assert (found.gap <= TOL * found.objective).all()
    np.testing.assert_allclose(found.objective, expected.objective, rtol=2 * TOL)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-4)


def test_rows_near_the_margins_are_enough(blocks, monkeypatch):
    """The z step has put many rows on the margins of the last SVMs, which are the start."""
    Z, index, u = blocks.columns
    signs = task_signs(np.arange(N_CLASSES), N_CLASSES, "ovr")
    last = solve_over_blocks(Blocks(Z[:300], index[:300], u[:300]), signs, 3, tol=TOL)
    moved = hinge_z_step(Z, signs[index], last.coef, last.intercept, 0.2)
    sizes = []

    def noting(y, *rest, **options):
        sizes.append(y.size)
        return solve_batch(y, *rest, **options)

    monkeypatch.setattr(svm_on_device, "solve_batch", noting)
    monkeypatch.setattr(svm_on_device, "TAKEN", N_CLASSES * 300)
    monkeypatch.setattr(svm_on_device, "WHOLE", N_CLASSES * 300)
    monkeypatch.setattr(svm_on_device, "CHUNK", 32)
    monkeypatch.setattr(svm_on_device, "GROWTH", 1)
    monkeypatch.setattr(svm_on_device, "MANY_TOL", TOL)
    monkeypatch.setattr(svm_on_device, "WHOLE_TOL", TOL)
    start = np.column_stack([last.coef, last.intercept])
    found = solve_on_device(Blocks(moved, index, u), signs, 3, tol=TOL, start=start)
    assert (found.gap <= TOL * found.objective).all()
    assert len(sizes) > 1
    assert max(sizes) < N_CLASSES * len(Z) / 2


def test_a_start_that_is_better_than_what_few_rows_give_stays(blocks, monkeypatch):
    signs = task_signs(np.arange(N_CLASSES), N_CLASSES, "ovr")
    best = solve_over_blocks(blocks, signs, 3, tol=TOL)
    start = np.column_stack([best.coef, best.intercept])
    monkeypatch.setattr(svm_on_device, "MAX_ROUNDS", 2)
    monkeypatch.setattr(svm_on_device, "MANY_TOL", 0.0)
    found = solve_on_device(blocks, signs, 3, tol=0.0, start=start, most_numbers=256)
    assert (found.objective <= best.objective * (1 + 1e-12)).all()
    # What few rows give is a lower bound all the same.
    assert (found.objective - found.gap <= best.objective).all()


def test_a_bias_without_the_rows_that_pad():
    y, u = np.array([[-1.0, 1.0, 1.0]]), np.array([[1.0, 1.0, 1e-30]])
    assert best_biases(y, u, np.array([[-2.0, 3.0, 3.0]])) == pytest.approx(-0.5)
    # Heavier rows on one side: their corner.
    assert best_biases(y, np.array([[1.0, 3.0, 1e-30]]), np.array([[0.0, 0.0, 0.0]])) == 1.0


def test_a_batch_is_its_svms(blocks):
    Z, index, u = blocks.columns
    y = np.where(index == np.arange(2)[:, None], 1.0, -1.0)[:, :500]
    both = y, np.tile(u[:500], (2, 1)), np.tile(Z[:500], (2, 1, 1))
    together = solve_batch(*both, None, TOL)
    for k in range(2):
        alone = solve_batch(*(each[k : k + 1] for each in both), None, TOL)
        np.testing.assert_allclose(together[0][k : k + 1], alone[0], atol=1e-5)
        assert together[1][k] - together[2][k] <= TOL * together[1][k]


def test_a_class_that_some_rows_leave_out(blocks, monkeypatch):
    """One row in eight lacks the class of a single row: the start is the guess, not their SVMs."""
    Z, index, u = (column.copy() for column in blocks.columns)
    index[index == 3] = 2
    index[1234] = 3
    signs = task_signs(np.arange(N_CLASSES), N_CLASSES, "ovr")
    for name, value in (("WHOLE", 400), ("TAKEN", 400), ("CHUNK", 64), ("MANY_TOL", TOL)):
        monkeypatch.setattr(svm_on_device, name, value)
    few = Blocks(Z, index, u)
    expected = solve_over_blocks(few, signs, 3, tol=TOL)
    found = solve_on_device(few, signs, 3, tol=TOL)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=2 * TOL)


def test_merged_rows_do_not_make_the_path_long():
    """Rows far from the margin that stand for many push it unless their part is a single row's."""
    rng = np.random.default_rng(0)
    near = rng.normal(size=(1, 2, 2000)) + np.array([1.0, 0.0])[None, :, None]
    near[..., :1000] *= -1.0
    far = np.array([[[-6.0, 6.0], [0.0, 0.0]]])
    Z = np.concatenate([near, far], axis=2)
    y = np.sign(np.arange(2000) - 999.5)
    y = np.concatenate([y, [-1.0, 1.0]])[None]
    u = np.concatenate([np.ones(2000), [1e6, 1e6]])[None]
    guess, nothing = np.array([[1.2, 0.1, 0.05]]), np.zeros((1, 2))
    problem = Z, y, u, nothing, nothing[:, 0], TOL
    _, _, _, many = interior_point(*problem, guess=guess)
    as_one, _, _, few = interior_point(*problem, guess=guess, heavy=np.ones(1))
    alone, *_ = interior_point(near, y[:, :-2], u[:, :-2], *problem[3:])
    np.testing.assert_allclose(as_one, alone, atol=1e-4)
    assert few[0] < many[0]
