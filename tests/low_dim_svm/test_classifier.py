"""LowDimSVC: what it finds, how it starts and stops, and what it refuses."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_gaussian_quantiles
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from supred import LowDimSVC
from supred.datasets import make_spirals
from tests.family import blobs, read_only


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return [read_only(part) for part in train_test_split(X / 16, y, random_state=0, stratify=y)]


def spread_and_distances(model, X, y):
    """Largest distance of a row to its class mean, and distances between the class means."""
    Z = model.transform(X)
    means = np.array([Z[y == k].mean(axis=0) for k in model.classes_])
    within = np.linalg.norm(Z - means[np.searchsorted(model.classes_, y)], axis=1).max()
    pairs = np.triu_indices(len(means), 1)
    return within, np.linalg.norm(means[:, None] - means, axis=2)[pairs]


def test_two_spirals_are_unrolled():
    X, y = make_spirals(1000, random_state=0)
    model = LowDimSVC(n_centers=100, gamma=30.0, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    within, (distance,) = spread_and_distances(model, X, y)
    assert within < 0.2 * distance
    assert LinearSVC().fit(X, y).score(X, y) < 0.8  # it is not easy


@pytest.mark.parametrize("n_classes", [3, 5])
def test_spirals_collapse_onto_a_regular_simplex(n_classes):
    X, y = make_spirals(150 * n_classes, n_classes=n_classes, random_state=0)
    model = LowDimSVC(centers="all", gamma=100.0, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    within, distances = spread_and_distances(model, X, y)
    assert within < 0.1 * distances.min()
    assert distances.max() < 1.01 * distances.min()


def test_digits_are_classified_as_well_as_by_a_kernel_svm(digits):
    X_train, X_test, y_train, y_test = digits
    model = LowDimSVC(random_state=0).fit(X_train, y_train)
    svc = SVC(C=10).fit(X_train, y_train)
    assert model.score(X_test, y_test) > svc.score(X_test, y_test) - 0.01
    assert model.transform(X_test).shape == (len(X_test), 9)


def test_joint_training_beats_its_own_start(digits):
    X_train, X_test, y_train, y_test = digits
    options = {"n_centers": 60, "n_components": 9, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = LowDimSVC(max_iter=0, **options).fit(X_train, y_train)
    joint = LowDimSVC(**options).fit(X_train, y_train)
    assert start.n_iter_ == 0
    assert joint.history_["nested_objective"][-1] < 0.8 * start.history_["nested_objective"][0]
    assert joint.score(X_test, y_test) > start.score(X_test, y_test)


@pytest.mark.parametrize("n_components", [1, 2, 3, 9, 15])
def test_any_number_of_dimensions(digits, n_components):
    X_train, X_test, y_train, y_test = digits
    model = LowDimSVC(n_components, n_centers=150, random_state=0).fit(X_train, y_train)
    assert model.transform(X_test).shape == (len(X_test), n_components)
    # ten classes on a line, on a circle and on the sphere: one-vs-rest needs room
    assert model.score(X_test, y_test) > {1: 0.15, 2: 0.5, 3: 0.85}.get(n_components, 0.95)


@pytest.mark.parametrize(
    ("options", "few"),
    [
        ({"n_centers": 40}, True),
        ({"n_centers": 20}, False),  # less than a centre for four rows
        ({"n_centers": 40, "init": "sphere"}, False),
        ({"n_centers": 40, "n_components": 1}, False),
        ({"n_centers": 40, "tol": 1e-3}, False),
        ({"n_centers": 40, "early_stopping": True}, False),
        ({"n_centers": 40, "max_iter": 3}, False),
        ({"mapping": "linear"}, False),
    ],
)
def test_few_iterations_are_enough_with_many_centers(options, few):
    X, y = blobs(n_rows=120, n_classes=3, spread=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LowDimSVC(random_state=0, **options).fit(X, y)
    assert (model.stopping_reason_ == "completed") == few
    assert not few or model.n_iter_ <= 4


@pytest.mark.parametrize(
    ("spread", "multi_class", "n_iter"), [(0.1, "ovo", 1), (6.0, "ovo", 4), (6.0, "ovr", 1)]
)
def test_one_vs_one_svms_go_on_while_there_are_errors(spread, multi_class, n_iter):
    X, y = blobs(n_rows=120, n_classes=3, spread=spread)
    model = LowDimSVC(random_state=0, multi_class=multi_class).fit(X, y)
    assert (model.n_iter_, model.stopping_reason_) == (n_iter, "completed")
    assert (model.history_["train_error"][-1] <= 0.01) == (spread < 1.0)


@pytest.mark.parametrize(("n_classes", "svms"), [(2, "ovr"), (3, "ovo"), (6, "ovo"), (7, "ovr")])
def test_few_classes_get_a_svm_per_pair(n_classes, svms):
    X, y = blobs(n_rows=140, n_classes=n_classes, spread=3.0)
    model = LowDimSVC(n_centers=30, max_iter=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        named = LowDimSVC(n_centers=30, max_iter=2, random_state=0, multi_class=svms).fit(X, y)
        model.fit(X, y)
    assert model.multi_class_ == named.multi_class_ == svms
    np.testing.assert_array_equal(model.decision_function(X), named.decision_function(X))


def test_classes_between_others_are_kept_apart():
    """Shells about one another, of which those in the middle have no side of their own."""
    X, y = make_gaussian_quantiles(n_samples=600, n_features=5, n_classes=3, random_state=0)
    model = LowDimSVC(gamma="scale", alpha=1.0, random_state=0)
    errors = {
        svms: 1.0
        - clone(model).set_params(multi_class=svms).fit(X[:300], y[:300]).score(X[300:], y[300:])
        for svms in ("auto", "ovr")
    }
    assert errors["auto"] < 0.75 * errors["ovr"]


@pytest.mark.parametrize("class_weight", [{1: 100}, {1: 1000}, {0: 10_000}])
def test_svms_of_heavy_classes_are_solved(class_weight):
    X, y = load_iris(return_X_y=True)
    model = LowDimSVC(class_weight=class_weight, max_iter=50, random_state=0).fit(X, y)
    assert model.history_["gap"].max() < 1e-6


def test_ovo_votes_as_svc_does():
    X, y = blobs(n_rows=200, n_classes=5, spread=4.0)
    model = LowDimSVC(multi_class="ovo", n_centers=40, random_state=0).fit(X, y)
    assert model.coef_.shape == (10, 4)
    Z = model.transform(X)
    values = Z @ model.coef_.T + model.intercept_
    column, votes = 0, np.zeros((len(y), 5))
    for first in range(5):
        for second in range(first + 1, 5):
            votes[:, first] += values[:, column] > 0
            votes[:, second] += values[:, column] <= 0
            column += 1
    predicted = model.predict(X)
    assert (votes[np.arange(len(y)), predicted] == votes.max(axis=1)).all()
    assert model.score(X, y) > 0.9 * SVC().fit(X, y).score(X, y)


@pytest.mark.parametrize(
    "regressor",
    [
        RandomForestRegressor(20, random_state=0),
        GaussianProcessRegressor(alpha=1e-2),
        MLPRegressor(hidden_layer_sizes=(20,), max_iter=500, random_state=0),
    ],
    ids=["forest", "gaussian process", "mlp"],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_any_regressor_is_a_mapping(regressor):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LowDimSVC(mapping=regressor, max_iter=6).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert model.transform(X).shape == (150, 2)
    assert model.model_size_.numbers > 0
    with pytest.raises(AttributeError, match="no centres"):
        model.centers_  # noqa: B018


def test_single_precision_far_from_zero(digits):
    X_train, X_test, y_train, _ = digits
    options = {"n_centers": 100, "random_state": 0}
    # a power of two apart, so that the shifted rows are rounded like the plain ones
    plain = LowDimSVC(**options).fit(X_train.astype(np.float32), y_train)
    shifted = LowDimSVC(**options).fit((X_train + 1000).astype(np.float32), y_train)
    same = plain.predict(X_test.astype(np.float32)) == shifted.predict(
        (X_test + 1000).astype(np.float32)
    )
    assert same.mean() >= 0.995
    linear = [
        LowDimSVC(mapping="linear", random_state=0)
        .fit((X_train + offset).astype(np.float32), y_train)
        .predict((X_test + offset).astype(np.float32))
        for offset in (0, 1000)
    ]
    assert np.mean(linear[0] == linear[1]) >= 0.995


def test_log_loss_gives_probabilities_and_is_at_home_in_two_dimensions(digits):
    X_train, X_test, y_train, y_test = digits
    options = {"n_components": 2, "n_centers": 300, "random_state": 0}
    model = LowDimSVC(loss="log", **options).fit(X_train, y_train)
    probabilities = model.predict_proba(X_test)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X_test))
    hinge = LowDimSVC(**options).fit(X_train, y_train)
    assert model.score(X_test, y_test) > max(0.88, hinge.score(X_test, y_test))
    assert not hasattr(hinge, "predict_proba")


def test_log_loss_of_two_classes():
    X, y = blobs(n_classes=2, spread=4.0)
    model = LowDimSVC(loss="log", n_centers=20, random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(y), 2)
    np.testing.assert_array_equal(probabilities[:, 1] > 0.5, model.decision_function(X) > 0)
    np.testing.assert_array_equal(model.predict(X), probabilities.argmax(axis=1))


# --- starts ---------------------------------------------------------------------------------


# --- stopping -------------------------------------------------------------------------------


def test_history_and_stopping(digits):
    X_train, X_test, y_train, y_test = digits
    model = LowDimSVC(n_centers=60, random_state=0).fit(
        X_train, y_train, X_val=X_test, y_val=y_test
    )
    history = model.history_
    assert {len(values) for values in history.values()} == {model.n_iter_ + 1}
    assert model.stopping_reason_ in ("validation", "converged")
    assert model.best_iter_ == np.argmin(history["validation_error"]) or np.isclose(
        history["validation_error"][model.best_iter_], history["validation_error"].min()
    )
    np.testing.assert_allclose(
        1 - model.score(X_test, y_test), history["validation_error"][model.best_iter_]
    )
    np.testing.assert_allclose(
        1 - model.score(X_train, y_train), history["train_error"][model.best_iter_]
    )
    assert (np.diff(history["seconds"]) > 0).all()
    np.testing.assert_allclose(history["mu"][1:4], [2.0, 3.0, 4.5])


def test_early_stopping_holds_out_a_stratified_part(digits):
    X_train, X_test, y_train, y_test = digits
    model = LowDimSVC(
        n_centers=60, early_stopping=True, validation_fraction=0.2, random_state=0
    ).fit(X_train, y_train)
    errors = model.history_["validation_error"]
    # a fifth of 1347 rows: errors are multiples of 1 / 269
    np.testing.assert_allclose(errors * 269, (errors * 269).round(), atol=1e-6)
    assert model.score(X_test, y_test) > 0.9


def test_it_says_when_it_did_not_converge():
    X, y = blobs(spread=4.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        LowDimSVC(n_centers=20, max_iter=2, tol=0, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        LowDimSVC(n_centers=20, random_state=0).fit(X, y)


def test_fixed_mu_converges():
    X, y = blobs(spread=4.0)
    model = LowDimSVC(mu_factor=1.0, n_centers=20, max_iter=300, tol=1e-3, random_state=0)
    history = model.fit(X, y).history_
    assert model.stopping_reason_ == "converged"
    assert (history["mu"] == 2.0).all()
    values = history["penalized_objective"]
    assert (np.diff(values) <= 1e-9 * values[:-1]).all()


# --- around it ------------------------------------------------------------------------------


def test_verbose_tells_of_each_iteration(capsys):
    X, y = blobs()
    model = LowDimSVC(n_centers=20, verbose=1, random_state=0).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("iteration") == model.n_iter_ + 1


def test_callbacks_of_scikit_learn():
    pytest.importorskip("sklearn.callback")
    X, y = blobs()

    class Counter:
        ends = 0

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context, **kwargs): ...

        def on_fit_task_end(self, estimator, context, **kwargs):
            Counter.ends += 1

    model = LowDimSVC(n_centers=20, random_state=0).set_callbacks(Counter()).fit(X, y)
    assert Counter.ends == model.n_iter_ + 2  # each iteration, the start, and the fit


def test_calibrated_probabilities(digits):
    X_train, X_test, y_train, y_test = digits
    model = CalibratedClassifierCV(LowDimSVC(n_centers=60, random_state=0), cv=3)
    probabilities = model.fit(X_train, y_train).predict_proba(X_test)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.mean(probabilities.argmax(axis=1) == y_test) > 0.9
    sure = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == y_test
    assert right[sure > 0.9].mean() > right[sure <= 0.9].mean()


def test_in_a_pipeline_and_in_cross_validation():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), LowDimSVC(n_centers=30, random_state=0))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_balanced_class_weight_helps_the_rare_class():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(size=(380, 2)), rng.normal(size=(20, 2)) + 1.5])
    y = np.repeat([0, 1], [380, 20])
    options = {"n_centers": 20, "alpha": 1.0, "random_state": 0}
    plain = LowDimSVC(**options).fit(X, y)
    balanced = LowDimSVC(class_weight="balanced", **options).fit(X, y)
    assert balanced.predict(X)[y == 1].mean() > plain.predict(X)[y == 1].mean() + 0.2


def test_cache_size_changes_nothing():
    X, y = blobs(n_rows=200)
    cached = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    not_cached = LowDimSVC(n_centers=20, cache_size=0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(cached.transform(X), not_cached.transform(X))


def test_a_regressor_draws_from_random_state():
    X, y = blobs()
    first, second, other = (
        LowDimSVC(mapping=RandomForestRegressor(5), random_state=seed, max_iter=2, tol=1.0)
        .fit(X, y)
        .transform(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, other)


def test_heavy_class_weights():
    X, y = load_iris(return_X_y=True)
    model = LowDimSVC(
        n_centers=20, gamma="scale", alpha=1e-3, class_weight={1: 1000.0}, random_state=0
    ).fit(X, y)
    assert model.history_["gap"][model.best_iter_] < 1e-3
    assert (model.predict(X)[y == 1] == 1).all()


def test_scores_of_each_iteration_by_scikit_learns_monitor():
    callback = pytest.importorskip("sklearn.callback")
    X, y = blobs()
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = LowDimSVC(n_centers=20, random_state=0).set_callbacks(monitor).fit(X, y)
    assert len(monitor.get_logs().data) >= model.n_iter_
    assert model.score(X, y) > 0.8


# --- what it refuses ------------------------------------------------------------------------


def test_sparse_validation_rows_with_a_dense_linear_fit():
    X, y = blobs()
    dense = LowDimSVC(mapping="linear").fit(X, y, X_val=X[:30], y_val=y[:30])
    mixed = LowDimSVC(mapping="linear").fit(X, y, X_val=sparse.csr_array(X[:30]), y_val=y[:30])
    np.testing.assert_allclose(
        dense.history_["validation_error"], mixed.history_["validation_error"]
    )
