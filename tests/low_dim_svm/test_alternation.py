"""The alternation: it goes downhill, keeps the best iterate and knows when to stop."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from supred import LowDimSVC
from supred.low_dim_svm.alternation import Schedule, alternate
from supred.low_dim_svm.losses import HingeLoss, LogLoss
from supred.low_dim_svm.mappings.linear import LinearMapping
from supred.low_dim_svm.mappings.rbf import RBFMapping
from supred.low_dim_svm.starts import Start, place, simplex_codes
from supred.low_dim_svm.visit import BlockRows
from supred.numerics.decisions import task_signs
from supred.rows.blocks import rows_of
from supred.rows.values import LocalValues
from tests.family import blobs


def setting(n_classes, multi_class, kind, C=1.0):
    """Return the arguments of `alternate` before the schedule; the rows are in two blocks."""
    X, y = blobs(n_rows=200, n_classes=n_classes, spread=4.0)
    weights = np.random.RandomState(0).uniform(0.5, 2.0, size=len(y))
    mapping = LinearMapping(0.1) if kind == "linear" else RBFMapping(X[:40], 0.01, 0.1)
    mapping.prepare(X, weights)
    loss = LogLoss(n_classes, C) if multi_class == "log" else HingeLoss(n_classes, C, multi_class)
    rows = mapping.rows.attach(BlockRows, y, weights)
    return mapping, loss, rows, Start(simplex_codes(n_classes, n_classes - 1))


def labels(rows):
    return [rows.collect(part) for part in (lambda r: r.class_index, lambda r: r.weights)]


run = alternate


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 120)


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
    mapping, loss, rows, start = setting(3, "ovr", "rbf", C=2.0)
    record = run(mapping, loss, rows, start, Schedule(mu=3.0, max_iter=0))
    coef, intercept = record.coef, record.intercept
    y, weights = labels(rows)
    Z = start.codes[y]
    signs = task_signs(y, 3, "ovr")
    hinge = np.maximum(0, 1 - signs * (Z @ coef.T + intercept))
    F = mapping.rows.map(mapping.projection())
    expected = (
        0.1 * np.sum(mapping.W**2)
        + 0.5 * np.sum(coef**2)
        + 2.0 * np.sum(weights @ hinge)
        + 1.5 * np.sum(weights * np.sum((Z - F) ** 2, axis=1))
    )
    np.testing.assert_allclose(record.history["penalized_objective"][0], expected, rtol=1e-12)


def test_the_best_iterate_is_kept():
    mapping, loss, rows, start = setting(4, "ovr", "rbf")
    errors = iter([0.5, 0.4, 0.2, 0.3, 0.25, 0.2, 0.6])
    seen = []

    def note(iteration, values, classifier):
        seen.append((mapping.W.copy(), classifier[0].copy()))
        return False

    record = run(
        mapping,
        loss,
        rows,
        start,
        Schedule(max_iter=20, patience=4, tol=0.0),
        validation_error=lambda classifier: next(errors),
        on_iteration=note,
    )
    assert record.stopping_reason == "validation"
    assert record.n_iter == 6
    # iterations 2 and 5 have the same error; the nested objective decides between them
    nested = record.history["nested_objective"]
    assert record.best_iter == (2 if nested[2] < nested[5] else 5)
    np.testing.assert_array_equal(mapping.W, seen[record.best_iter][0])
    np.testing.assert_array_equal(record.coef, seen[record.best_iter][1])


def test_without_validation_the_least_nested_objective_is_kept():
    parts = setting(4, "ovr", "rbf")
    record = run(*parts, Schedule(max_iter=8, tol=0.0))
    assert record.best_iter == int(np.argmin(record.history["nested_objective"]))
    assert record.stopping_reason == "max_iter"


def test_it_ends_when_nothing_changes_or_when_asked():
    assert (
        run(*setting(3, "ovr", "rbf"), Schedule(max_iter=100, tol=1e-3)).stopping_reason
        == "converged"
    )
    record = run(
        *setting(3, "ovr", "rbf"),
        Schedule(tol=0.0),
        on_iteration=lambda iteration, *_: iteration == 2,
    )
    assert (record.stopping_reason, record.n_iter) == ("callback", 2)


def test_the_joint_training_lowers_the_nested_objective():
    """It must do better than its start: regression to fixed codes, then SVMs trained on that."""
    mapping, loss, rows, start = setting(5, "ovr", "rbf")
    record = run(mapping, loss, rows, start, Schedule(max_iter=30, tol=1e-4))
    reached = record.history["nested_objective"][record.best_iter]
    y, weights = labels(rows)

    def nested(classifier):
        F = mapping.rows.map(mapping.projection())
        losses = weights @ loss.row_losses(F, y, classifier)
        return mapping.penalty() + 0.5 * np.square(classifier[0]).sum() + losses

    np.testing.assert_allclose(nested((record.coef, record.intercept)), reached, rtol=1e-12)
    mapping.regress(place(start, mapping, rows, np.bincount(y, weights=weights)), 2.0)
    F = mapping.rows.map(mapping.projection())
    refitted = loss.g_step(rows_of(F).attach(BlockRows, y, weights, F), 4, None)
    assert reached < 0.98 * nested(refitted.parameters)


def test_a_training_error_that_stays_ends_it_where_tol_is_coarse():
    coarse = run(*setting(3, "ovr", "rbf"), Schedule(max_iter=100, tol=1e-2))
    fine = run(*setting(3, "ovr", "rbf"), Schedule(max_iter=100, tol=1e-3))
    errors = coarse.history["train_error"]
    assert np.ptp(errors[-3:]) == 0
    assert all(np.ptp(errors[k : k + 3]) > 0 for k in range(len(errors) - 3))
    assert coarse.n_iter < fine.n_iter
    assert coarse.stopping_reason == fine.stopping_reason == "converged"


def test_mu_grows_only_when_the_alternation_has_converged_at_fixed_mu():
    parts = setting(4, "ovr", "rbf")
    schedule = Schedule(mu_factor=2.0, inner_tol=1e-3, max_iter=200, tol=1e-2)
    record = run(*parts, schedule)
    mu, values = record.history["mu"], record.history["penalized_objective"]
    change = np.abs(np.diff(values)) / np.abs(values[1:])
    # entry 0 is the start, at the mu of iteration 1
    grown = np.flatnonzero(np.diff(mu[:-1]) > 0) + 1
    assert len(grown) >= 2
    for k in range(1, len(mu) - 1):
        converged = mu[k] == mu[k - 1] and change[k - 1] <= 1e-3
        assert (mu[k + 1] == 2 * mu[k]) if converged else (mu[k + 1] == mu[k])
    assert record.stopping_reason == "converged"
    # at fixed mu the penalised objective never rises
    same = np.diff(mu) == 0
    assert (np.diff(values)[same] <= 1e-9 * values[:-1][same]).all()


def test_with_an_inner_loop_patience_counts_values_of_mu():
    parts = setting(4, "ovr", "rbf")
    schedule = Schedule(mu_factor=2.0, inner_tol=1e-2, max_iter=300, tol=0.0, patience=3)
    errors = iter(np.linspace(0.1, 0.9, 400))  # ever worse
    record = run(*parts, schedule, validation_error=lambda classifier: next(errors))
    assert record.stopping_reason == "validation"
    assert record.best_iter == 0
    assert len(np.unique(record.history["mu"])) == 4
    assert record.n_iter > 4


def test_g_step_at_the_codes_sees_one_row_per_class():
    """At the start all rows of a class are equal: merged, they make the same SVMs."""
    mapping, loss, rows, start = setting(3, "ovr", "rbf", C=0.1)
    y, weights = labels(rows)
    class_weights = np.bincount(y, weights=weights)
    placed = place(start, mapping, rows, class_weights)
    few = start.merged(placed, class_weights)
    assert few.collect(lambda r: r.Z).shape == (3, 2)
    merged = loss.g_step(few, 2, None)
    apart = loss.g_step(placed.blocks, 2, None)
    np.testing.assert_allclose(merged.parameters[0], apart.parameters[0], atol=1e-4)
    np.testing.assert_allclose(merged.objective, apart.objective, rtol=1e-8)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo", "log"])
def test_an_iteration_visits_each_block_once(multi_class, monkeypatch):
    """The rows are asked once an iteration; the g step asks for coordinates, not for rows."""
    mapping, loss, rows, start = setting(4, multi_class, "rbf")
    asked = []
    visits = type(mapping.rows).visits

    def counted(self, function, calls):
        asked.append(function)
        return visits(self, function, calls)

    monkeypatch.setattr(type(mapping.rows), "visits", counted)
    record = run(mapping, loss, rows, start, Schedule(max_iter=6, tol=0.0))
    assert len(asked) == 2 + record.n_iter  # the start, its worth, then one an iteration


@pytest.mark.filterwarnings("ignore:LowDimSVC did not converge")
@pytest.mark.parametrize("loops", ["compiled", "NumPy"])
def test_every_bit_is_the_same_for_any_number_of_threads(loops, monkeypatch):
    if loops == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr("supred.numerics.compiled.MANY_ROWS", 0)
    monkeypatch.setattr("supred.low_dim_svm.mappings.band_form.WIDTH", 16)
    monkeypatch.setattr("supred.low_dim_svm.mappings.band_form.BLOCK", 16)
    X, y = load_digits(return_X_y=True)
    make = {"n_centers": 40, "gamma": 0.5, "alpha": 1e-3, "max_iter": 3, "random_state": 0}
    one, three = (LowDimSVC(**make, n_jobs=n_jobs).fit(X / 16, y) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.coef_, three.coef_)
    np.testing.assert_array_equal(one.mapping_.W, three.mapping_.W)


@pytest.mark.parametrize(("penalized", "reason"), [(40.0, ""), (95.0, "converged")])
def test_an_objective_that_pauses_is_no_end_before_mapping_and_coordinates_agree(penalized, reason):
    history = {
        "mu": [2.0, 2.0, 3.0],
        "penalized_objective": [20.0, 30.0, penalized],
        "nested_objective": [100.0, 100.5, 100.2],
        "train_error": [0.026, 0.0255, 0.025],
        "validation_error": [np.nan] * 3,
    }
    assert Schedule(tol=1e-2).stopping_reason(history, validated=False) == reason


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_a_look_of_the_z_steps_visit_spares_the_g_step_one_of_its_own(multi_class, monkeypatch):
    X, y = blobs(n_rows=4000, n_classes=3, spread=4.0)
    options = {"max_iter": 3, "tol": 0.0, "random_state": 0}
    model = LowDimSVC(20, multi_class=multi_class, **options)
    asked = []
    original = LocalValues.sum
    monkeypatch.setattr(
        LocalValues, "sum", lambda self, *call: (asked.append(1), original(self, *call))[1]
    )
    coefs, counts = [], []
    for least in (3000, 10**9):  # with a look, and without
        monkeypatch.setattr("supred.low_dim_svm.losses.FEW_ROWS", least)
        asked.clear()
        coefs.append(model.fit(X, y).coef_)
        counts.append(len(asked))
    assert np.array_equal(*coefs)
    assert counts[0] == counts[1] - 3
