"""The alternation: it goes downhill, keeps the best iterate and knows when to stop."""

import numpy as np
import pytest

from supred.low_dim_svm.alternation import Schedule, alternate
from supred.low_dim_svm.log_loss import LogLoss
from supred.low_dim_svm.losses import HingeLoss
from supred.low_dim_svm.mappings.basis import LinearMapping, RBFMapping
from supred.low_dim_svm.starts import simplex_codes
from supred.numerics.decisions import task_signs
from tests.family import blobs


def setting(n_classes, multi_class, kind, C=1.0):
    X, y = blobs(n_rows=200, n_classes=n_classes, spread=4.0)
    weights = np.random.RandomState(0).uniform(0.5, 2.0, size=len(y))
    mapping = LinearMapping(0.1) if kind == "linear" else RBFMapping(X[:40], 0.01, 0.1)
    mapping.prepare(X, weights)
    if multi_class == "log":
        loss = LogLoss(y, n_classes, weights, C=C)
    else:
        loss = HingeLoss(y, n_classes, weights, C=C, multi_class=multi_class)
    Z = simplex_codes(n_classes, n_classes - 1)[y]
    return mapping, loss, Z, weights, y


def run(mapping, loss, Z, weights, y, schedule, **options):
    def error(scores):
        winner = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return float(np.mean(winner != y))

    return alternate(mapping, loss, Z, weights, schedule, train_error=error, **options)


@pytest.mark.parametrize(
    ("n_classes", "multi_class"),
    [(2, "ovr"), (3, "ovr"), (5, "ovr"), (4, "ovo"), (2, "log"), (4, "log")],
)
@pytest.mark.parametrize("kind", ["linear", "rbf"])
@pytest.mark.parametrize(("mu", "C"), [(0.5, 1.0), (2.0, 10.0), (20.0, 0.1)])
def test_penalized_objective_never_rises_at_fixed_mu(n_classes, multi_class, kind, mu, C):
    parts = setting(n_classes, multi_class, kind, C=C)
    record = run(*parts, Schedule(mu=mu, mu_factor=1.0, max_iter=15, tol=0.0))
    values = np.array(record.history["penalized_objective"])
    assert (np.diff(values) <= 1e-9 * values[:-1]).all()
    assert values[-1] < 0.999 * values[0]


def test_the_penalized_objective_is_what_its_definition_says():
    mapping, loss, Z, weights, y = setting(3, "ovr", "rbf", C=2.0)
    record = run(mapping, loss, Z, weights, y, Schedule(mu=3.0, max_iter=0))
    coef, intercept = loss.parameters
    signs = task_signs(y, 3, "ovr")
    hinge = np.maximum(0, 1 - signs * (Z @ coef.T + intercept))
    F = mapping.project_training()
    expected = (
        0.1 * np.sum(mapping.W**2)
        + 0.5 * np.sum(coef**2)
        + 2.0 * np.sum(weights @ hinge)
        + 1.5 * np.sum(weights * np.sum((Z - F) ** 2, axis=1))
    )
    np.testing.assert_allclose(record.history["penalized_objective"][0], expected, rtol=1e-12)


def test_the_best_iterate_is_kept():
    mapping, loss, Z, weights, y = setting(4, "ovr", "rbf")
    errors = iter([0.5, 0.4, 0.2, 0.3, 0.25, 0.2, 0.6])
    seen = []

    def note(iteration, record):
        seen.append((mapping.W.copy(), loss.parameters[0].copy()))
        return False

    record = run(
        mapping,
        loss,
        Z,
        weights,
        y,
        Schedule(max_iter=20, patience=4, tol=0.0),
        validation_error=lambda: next(errors),
        on_iteration=note,
    )
    assert record.stopped == "validation"
    assert record.n_iter == 6
    # iterations 2 and 5 have the same error; the nested objective decides between them
    nested = record.history["nested_objective"]
    assert record.best_iter == (2 if nested[2] < nested[5] else 5)
    np.testing.assert_array_equal(mapping.W, seen[record.best_iter][0])
    np.testing.assert_array_equal(loss.parameters[0], seen[record.best_iter][1])


def test_without_validation_the_least_nested_objective_is_kept():
    parts = setting(4, "ovr", "rbf")
    record = run(*parts, Schedule(max_iter=8, tol=0.0))
    assert record.best_iter == int(np.argmin(record.history["nested_objective"]))
    assert record.stopped == "max_iter"


def test_it_ends_when_nothing_changes_or_when_asked():
    assert run(*setting(3, "ovr", "rbf"), Schedule(max_iter=100, tol=1e-3)).stopped == "converged"
    record = run(
        *setting(3, "ovr", "rbf"), Schedule(), on_iteration=lambda iteration, _: iteration == 2
    )
    assert (record.stopped, record.n_iter) == ("callback", 2)


def test_the_joint_training_lowers_the_nested_objective():
    """It must do better than its start: regression to fixed codes, then SVMs."""
    mapping, loss, Z, weights, y = setting(5, "ovr", "rbf")
    record = run(mapping, loss, Z, weights, y, Schedule(max_iter=30, tol=1e-4))
    F = mapping.project_training()
    mapping.regress(Z, 2.0)
    start_F = mapping.project_training()
    refitted = HingeLoss(y, 5, weights)
    refitted.train(start_F)
    start = refitted.objective(start_F) + mapping.penalty()
    refitted = HingeLoss(y, 5, weights)
    refitted.train(F)
    assert min(record.history["nested_objective"]) < 0.98 * start


def test_g_step_at_the_codes_sees_one_row_a_class():
    """At the start all rows of a class are equal: merged, they make the same SVMs."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(3), [40, 30, 10])
    weights = rng.uniform(0.5, 2.0, size=len(y))
    Z = np.array([[0.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])[y]
    merged = HingeLoss(y, 3, weights, C=0.1, tol=1e-9)
    assert [len(part) for part in merged._merge_equal_rows(Z)] == [3, 3, 3]
    merged.train(Z)
    apart = HingeLoss(y, 3, weights, C=0.1, tol=1e-9)
    apart.train(Z + 1e-12 * rng.normal(size=Z.shape))
    np.testing.assert_allclose(merged.parameters[0], apart.parameters[0], atol=1e-4)
    np.testing.assert_allclose(merged.objective(Z), apart.objective(Z), rtol=1e-8)
