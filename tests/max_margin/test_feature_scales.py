"""MaxMarginProjection with an RBF kernel of learned scales."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from supred import MaxMarginProjection
from tests.max_margin.test_classifier import ring


def test_a_refit_forgets_what_the_other_kernel_left():
    X, y = ring(40, 3, 0)
    model = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv", cv=2).fit(X, y)
    model.set_params(kernel="linear").fit(X, y)
    fresh = MaxMarginProjection(kernel="linear").fit(X, y)
    assert set(vars(model)) == set(vars(fresh))
    model.set_params(kernel="rbf-diagonal", gamma=1.0).fit(X, y)
    assert not hasattr(model, "components_")
    assert model.gap_ is None
    assert model.gamma_scores_ is None


def test_folds_of_an_iterator_serve_both_choices():
    X, y = ring(40, 3, 0)
    folds = list(StratifiedKFold(2).split(X, y))
    model = MaxMarginProjection(kernel="rbf-diagonal", C="auto", gamma="cv", max_iter=5)
    expected = model.set_params(cv=folds).fit(X, y)
    gamma, C = expected.gamma_, expected.C_
    found = model.set_params(cv=iter(folds)).fit(X, y)
    assert (found.gamma_, found.C_) == (gamma, C)


def test_scales_find_the_ring():
    X, y = ring(150, 12, 0)
    X_test, y_test = ring(1000, 12, 100)
    model = MaxMarginProjection(kernel="rbf-diagonal").fit(X, y)
    assert model.score(X_test, y_test) >= 0.88
    assert model.feature_scales_[:2].sum() >= 0.8 * model.feature_scales_.sum()
    assert model.feature_scales_.sum() == pytest.approx(12 * model.gamma_)
    np.testing.assert_allclose(model.transform(X), X * np.sqrt(model.feature_scales_))
    assert model.objective_ < model.start_objective_


def test_predictions_are_those_of_libsvm_on_the_scaled_features():
    X, y = ring(100, 5, 0)
    model = MaxMarginProjection(kernel="rbf-diagonal", C=3.0).fit(X, y)
    Z = model.transform(X)
    peer = SVC(C=3.0, gamma=1.0, tol=1e-6).fit(Z, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(Z), atol=1e-2)
    np.testing.assert_array_equal(model.predict(X), peer.predict(Z))


def test_n_components_keeps_the_features_with_the_largest_scales():
    X, y = ring(150, 12, 0)
    model = MaxMarginProjection(2, kernel="rbf-diagonal").fit(X, y)
    assert np.flatnonzero(model.feature_scales_).tolist() == [0, 1]
    assert model.transform(X).shape == (150, 2)
    assert model.feature_scales_.sum() == pytest.approx(12 * model.gamma_)
    X_test, y_test = ring(1000, 12, 100)
    assert model.score(X_test, y_test) >= 0.92
    assert (np.diff(model.history_["seconds"]) >= 0).all()


def test_scales_are_shared_by_tasks():
    X, _ = ring(150, 6, 0)
    Y = np.column_stack(
        [np.where((X[:, :2] ** 2).sum(axis=1) < 1.4, 1, -1), np.where(X[:, 0] * X[:, 1] > 0, 1, -1)]
    )
    Y[:30, 0] = 0
    model = MaxMarginProjection(kernel="rbf-diagonal").fit(X, Y)
    assert model.predict(X).shape == (150, 2)
    assert model.score(X, Y) > 0.9
    assert model.feature_scales_[:2].sum() > 0.8 * model.feature_scales_.sum()


@pytest.mark.parametrize("labels", ["classes", "tasks"])
def test_gamma_by_cross_validation_takes_the_best(labels):
    X, y = make_blobs(60, n_features=3, centers=3, cluster_std=2.0, random_state=0)
    target = y if labels == "classes" else np.where(y[:, None] == np.arange(2), 1, -1)
    model = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv", n_jobs=2).fit(X, target)
    assert len(model.gamma_scores_) == 6
    assert model.gamma_scores_[model.gamma_] == max(model.gamma_scores_.values())
    assert min(model.gamma_scores_.values()) > 0.4
    fixed = MaxMarginProjection(kernel="rbf-diagonal", gamma=model.gamma_).fit(X, target)
    np.testing.assert_array_equal(model.feature_scales_, fixed.feature_scales_)


def test_gamma_by_cross_validation_with_entries_missing():
    X, _ = ring(90, 3, 0)
    Y = np.sign(np.column_stack([X, 1.4 - (X[:, :2] ** 2).sum(axis=1)]))
    Y[np.random.default_rng(0).random(Y.shape) < 0.2] = 0  # some rows of signs occur once
    model = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv").fit(X, Y)
    assert max(model.gamma_scores_.values()) > 0.8
    again = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv").fit(X, Y)
    assert model.gamma_scores_ == again.gamma_scores_


def test_gamma_by_cross_validation_does_not_count_rows_without_weight():
    X, y = ring(60, 3, 0)
    y = np.sort(y)
    weights = np.ones(60)
    weights[:15] = 0.0
    weighted = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv").fit(X, y, weights)
    dropped = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv").fit(X[15:], y[15:])
    np.testing.assert_allclose(
        list(weighted.gamma_scores_.values()), list(dropped.gamma_scores_.values())
    )
    splits = [(np.arange(0, 60, 2), np.arange(1, 60, 2))]
    given = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv", cv=splits).fit(X, y, weights)
    assert len(given.gamma_scores_) == 6


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([(np.arange(30), np.arange(30, 60))], "fold 0 has training rows of one class only in t"),
        ([(np.arange(60), np.arange(5))], "fold 0 has no test row with a positive weight"),
    ],
)
def test_folds_that_cannot_choose_gamma(splits, message):
    X = np.random.default_rng(0).normal(size=(60, 3))
    weights = np.ones(60)
    weights[:5] = 0.0
    model = MaxMarginProjection(kernel="rbf-diagonal", gamma="cv", cv=splits)
    with pytest.raises(ValueError, match=message):
        model.fit(X, np.repeat([0, 1], 30), weights)


def test_gamma_scale_is_one_over_twice_the_total_variance():
    X, y = ring(40, 3, 0)
    model = MaxMarginProjection(kernel="rbf-diagonal", max_iter=100).fit(X, y)
    assert model.gamma_ == pytest.approx(0.5 / X.var(axis=0).sum())
