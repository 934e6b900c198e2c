"""Closed-form leave-one-out against fits without each row, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics.pairwise import rbf_kernel

from supred.numerics.class_scatter import members_of
from supred.numerics.leave_one_out import LeaveOneOutScore, RidgePath, choose_ridge, score_classes
from tests.family import read_only

RIDGES = (1e-4, 1e-1, 10.0)


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return read_only(X[::3].copy(), members_of(y[::3], 3).astype(float))


def refit_without_each(Phi, Y, ridge, weights=None):
    """Predict each row by a regression on all others."""
    weights = np.ones(len(Y)) if weights is None else weights
    result = []
    for i in range(len(Y)):
        kept = weights.copy()
        kept[i] = 0.0
        model = Ridge(alpha=ridge, solver="cholesky").fit(Phi, Y, sample_weight=kept)
        result.append(model.predict(Phi[i : i + 1])[0])
    return np.array(result)


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("n_features", [4, 90])
def test_it_is_a_fit_without_each_row(flowers, ridge, n_features):
    X, Y = flowers
    Phi = X if n_features == 4 else X @ np.random.default_rng(0).normal(size=(4, 90)) ** 3
    expected = refit_without_each(Phi, Y, ridge)
    path = RidgePath.of_features(Phi, Y)
    np.testing.assert_allclose(path.leave_one_out([ridge])[0], expected, atol=1e-6)
    np.testing.assert_allclose(
        RidgePath.of_gram(Phi @ Phi.T, Y).leave_one_out([ridge])[0], expected, atol=1e-6
    )


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0], [0.4, 1.0, 2.5]])
def test_a_row_is_left_out_with_all_its_weight(flowers, weights):
    X, Y = flowers
    weights = np.resize(weights, len(Y))
    expected = refit_without_each(X, Y, 0.1, weights)
    for path in (RidgePath.of_features(X, Y, weights), RidgePath.of_gram(X @ X.T, Y, weights)):
        np.testing.assert_allclose(path.leave_one_out([0.1])[0], expected, atol=1e-8)


def test_the_path_is_the_single_ridges_and_agrees_with_ridge_cv(flowers):
    X, Y = flowers
    path = RidgePath.of_features(X, Y)
    for found, ridge in zip(path.leave_one_out(RIDGES), RIDGES, strict=True):
        np.testing.assert_allclose(found, path.leave_one_out([ridge])[0], atol=1e-12)
    peer = RidgeCV(alphas=RIDGES, store_cv_results=True, gcv_mode="eigen").fit(X, Y)
    for k, found in enumerate(path.leave_one_out(RIDGES)):
        np.testing.assert_allclose((found - Y) ** 2, peer.cv_results_[:, :, k], atol=1e-8)


def test_scores_count_classes_or_labels():
    members = np.array([[True, False], [False, True], [True, True]])
    predictions = np.array([[0.9, 0.2], [0.6, 0.4], [0.7, 0.1]])
    weights = np.array([1.0, 2.0, 1.0])
    first, worse = score_classes(
        np.stack([predictions[:2], 1 - predictions[:2]]), members[:2], weights[:2]
    )
    assert first.error == pytest.approx(2 / 3)
    assert worse.error == pytest.approx(1 / 3)
    labels = score_classes(predictions[None], members, weights, exclusive=False)[0]
    assert labels.error == pytest.approx((0 + 2 * 1.0 + 0.5) / 4)
    assert LeaveOneOutScore(0.1, 9.0).beats(LeaveOneOutScore(0.2, 0.0))
    assert LeaveOneOutScore(0.1, 0.1).beats(LeaveOneOutScore(0.1, 0.2))
    assert not LeaveOneOutScore(0.1, 0.1).beats(LeaveOneOutScore(0.1, 0.1 + 1e-12))


@pytest.mark.parametrize("rounding", [0.0, 1e-15, -1e-15])
def test_rounding_does_not_decide_between_equal_predictions(rounding):
    members = np.array([[True, False], [False, True], [True, False]])
    predictions = np.array([[0.5, 0.5 + rounding], [0.5, 0.5 + rounding], [0.9, 0.1]])
    assert score_classes(predictions[None], members, np.ones(3))[0].error == pytest.approx(1 / 3)


def test_the_chosen_ridge_has_the_least_error(flowers):
    X, Y = flowers
    path = RidgePath.of_gram(rbf_kernel(X, gamma=0.5), Y)
    alphas = [1e-6, 1e-3, 1.0, 1e3]
    alpha, score = choose_ridge(path, alphas)
    tried = {
        a: score_classes(path.leave_one_out([a * path.spread]), Y > 0.5, path.weights)[0]
        for a in alphas
    }
    assert all(not score.beats(tried[alpha]) for score in tried.values())
    assert score.error == pytest.approx(tried[alpha].error)
    assert score.squared_error == pytest.approx(tried[alpha].squared_error)
    assert tried[1e3].error > score.error


def test_rows_that_are_all_equal_predict_their_mean():
    Y = np.array([[0.0], [1.0], [1.0]])
    path = RidgePath.of_features(np.ones((3, 2)), Y)
    np.testing.assert_allclose(path.leave_one_out([1.0]).ravel(), [1.0, 0.5, 0.5])
