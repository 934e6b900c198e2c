"""Width and ridge by the leave-one-out error of the start."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from supred import LowDimSVC, LowDimSVCCV
from supred.datasets import make_spirals
from supred.low_dim_svm import width_and_ridge
from supred.low_dim_svm.mappings.centers import WIDER, width_factor
from supred.low_dim_svm.width_and_ridge import choose_width_and_ridge
from supred.numerics.kernels import scale_gamma
from tests.family import blobs, read_only


def left_out_predictions(Phi, y, ridge):
    """Fit the ridge regression to one-hot codes anew without each row."""
    predictions = []
    for n in range(len(y)):
        rest = np.arange(len(y)) != n
        mean, target = Phi[rest].mean(axis=0), np.eye(y.max() + 1)[y[rest]]
        A = Phi[rest] - mean
        center = target.mean(axis=0)
        W = np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ (target - center))
        predictions.append((Phi[n] - mean) @ W + center)
    return np.array(predictions)


def left_out_doubt(Phi, y, ridge):
    """Count each row by how far the nearest other class is before its own."""
    doubts = []
    for prediction, own in zip(left_out_predictions(Phi, y, ridge), y, strict=True):
        lead = prediction[own] - np.delete(prediction, own).max()
        doubts.append(1.0 / (1.0 + np.exp(lead / width_and_ridge.LEAD)))
    return np.mean(doubts)


def test_it_is_the_best_of_brute_force(monkeypatch):
    monkeypatch.setattr(width_and_ridge, "CLEARLY", -np.inf)  # nothing is usual
    X, y = blobs(n_rows=60, n_classes=3, spread=6.0)
    centers, weights = X[::4], np.ones(60)
    found = choose_width_and_ridge(X, y, weights, centers, np.random.RandomState(0))
    scale = scale_gamma(X, weights)
    tried = {
        (factor * scale, ridge): left_out_doubt(rbf_kernel(X, centers, factor * scale), y, ridge)
        for factor in width_and_ridge.GAMMA_FACTORS
        for ridge in width_and_ridge.RIDGES[::3]
    }
    Phi = rbf_kernel(X, centers, found.gamma)
    own = left_out_doubt(Phi, y, found.ridge)
    assert own == pytest.approx(found.doubt)
    assert own <= min(tried.values()) + 1e-12
    assert len(set(tried.values())) > 3  # the choice matters
    wrong = left_out_predictions(Phi, y, found.ridge).argmax(axis=1) != y
    assert wrong.mean() == pytest.approx(found.score.error)


def test_the_usual_stays_unless_another_is_clearly_better(monkeypatch):
    """Labels without any order in them favour nothing; spirals need narrow Gaussians."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(120, 10)), rng.randint(2, size=120)
    weights = np.ones(120)
    scale = scale_gamma(X, weights)
    found = choose_width_and_ridge(X, y, weights, X, rng)
    assert (found.gamma, found.ridge) == pytest.approx((2.0 * scale, 0.1))
    heavier = choose_width_and_ridge(X, y, 1e100 * weights, X, rng)
    # Not the size of the weights tells what is clear.
    assert heavier.gamma == pytest.approx(found.gamma)
    monkeypatch.setattr(width_and_ridge, "CLEARLY", -np.inf)
    least = choose_width_and_ridge(X, y, weights, X, rng)
    assert least.doubt < found.doubt
    monkeypatch.undo()
    X, y = make_spirals(300, random_state=0)
    found = choose_width_and_ridge(X, y, np.ones(300), X, rng)
    assert found.gamma > 2.0 * scale_gamma(X, np.ones(300))


def test_what_is_given_is_taken():
    X, y = blobs(n_rows=80)
    auto = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    given = LowDimSVC(n_centers=20, gamma=0.3, alpha=0.5, random_state=0).fit(X, y)
    assert (given.gamma_, given.alpha_) == (0.3, 0.5)
    one = LowDimSVC(n_centers=20, gamma=0.3, random_state=0).fit(X, y)
    assert one.gamma_ == 0.3
    assert np.isclose(width_and_ridge.RIDGES, one.alpha_).any()
    scale = LowDimSVC(n_centers=20, gamma="scale", random_state=0).fit(X, y)
    assert scale.gamma_ == pytest.approx(scale_gamma(X, np.ones(80)))
    factor = width_factor(20, 80)
    assert factor == 1.0
    assert np.isclose(width_and_ridge.GAMMA_FACTORS, auto.gamma_ / scale.gamma_).any()


def test_gaussians_of_a_long_alternation_are_wider():
    X, y = blobs(n_rows=200)
    chosen = [
        choose_width_and_ridge(X, y, np.ones(200), X[:n], np.random.RandomState(0)).gamma
        for n in (49, 50)
    ]
    few, many = (
        LowDimSVC(centers=X[:n], random_state=np.random.RandomState(0)).fit(X, y) for n in (49, 50)
    )
    assert many.gamma_ == pytest.approx(chosen[1])
    assert few.gamma_ == pytest.approx(WIDER * chosen[0])
    assert np.isclose(width_and_ridge.RIDGES, few.alpha_).any()
    # A search looks around the same widths.
    found = LowDimSVCCV(centers=X[:49], random_state=0, cv=2).fit(X, y)
    factors = np.unique(found.cv_results_["param_gamma"]) / scale_gamma(X, np.ones(200))
    np.testing.assert_allclose(factors, WIDER * np.array(width_and_ridge.GAMMA_FACTORS))


def test_the_ridge_is_that_of_the_first_mu():
    X, y = blobs(n_rows=80, spread=5.0)
    first = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    other = LowDimSVC(n_centers=20, mu=6.0, random_state=0).fit(X, y)
    assert other.alpha_ == pytest.approx(3.0 * first.alpha_)


def test_a_linear_mapping_has_a_ridge_too():
    X, y = blobs(n_rows=80, spread=5.0)
    dense = LowDimSVC(mapping="linear").fit(X, y)
    assert np.isclose(width_and_ridge.RIDGES, dense.alpha_).any()
    same = LowDimSVC(mapping="linear").fit(sparse.csr_array(X), y)
    assert same.alpha_ == dense.alpha_


def test_some_rows_and_centers_choose_where_there_are_many(monkeypatch):
    X, y = blobs(n_rows=400, spread=5.0)
    monkeypatch.setattr(width_and_ridge, "MOST_ROWS", 100)
    monkeypatch.setattr(width_and_ridge, "MOST_CENTERS", 10)
    found = choose_width_and_ridge(read_only(X), y, np.ones(400), X[:50], np.random.RandomState(0))
    assert np.isclose(width_and_ridge.RIDGES, 4.0 * found.ridge).any()
    again = choose_width_and_ridge(X, y, np.ones(400), X[:50], np.random.RandomState(0))
    assert again == found


@pytest.mark.parametrize("size", [1e-4, 1e-9, 1e-19])
@pytest.mark.parametrize("made", [LowDimSVC, LowDimSVCCV])
def test_ridges_of_tiny_features_are_tiny(made, size):
    """Any usual ridge would leave nothing of a linear mapping."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3)) + 3.0 * np.eye(3)[y]
    model = made(mapping="linear", random_state=0)
    accuracy = model.fit(X, y).score(X, y)
    assert accuracy > 0.9
    assert model.fit(size * X, y).score(size * X, y) > accuracy - 0.05
