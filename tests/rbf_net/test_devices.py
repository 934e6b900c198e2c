"""Rows on torch and CuPy: the model of the same rows in NumPy, and answers where the rows are."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from supred import CategorySpace, RBFNetClassifier
from supred.common.arrays import on_host, place_of
from supred.rbf_net.network import (
    Networks,
    Noise,
    Shape,
    hinge_slopes,
    log_slopes,
    mean_loss,
    noise_width,
)
from tests.devices import LIBRARIES, dispatch, putter


@pytest.fixture(params=LIBRARIES)
def put(request):
    return putter(request.param)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = X[:600].astype(np.float32)
    X.flags.writeable = False
    return X, y[:600]


@pytest.mark.parametrize("rank", [None, 3, 10])
@pytest.mark.parametrize(
    ("row_loss", "n_scores"), [(log_slopes, 4), (log_slopes, 1), (hinge_slopes, 4)]
)
def test_gradients_are_those_of_numpy(put, rank, row_loss, n_scores):
    rng = np.random.default_rng(0)
    shape = Shape(10, rank, 6, 3, n_scores)
    flat = 0.3 * rng.normal(size=(2, shape.n_numbers)).astype(np.float32)
    rows = rng.normal(size=(1, 40, 10)).astype(np.float32)
    targets = (rng.random((1, 40, n_scores)) > 0.5).astype(np.float32)
    weights = rng.random((1, 40)).astype(np.float32)
    levels = np.array([0.0, 0.5], dtype=np.float32)
    normals = rng.normal(size=(1, 40, noise_width(shape))).astype(np.float32)
    found = []
    for here in (np.asarray, put):
        nets = Networks(shape, here(flat))
        gradient = Networks(shape, here(np.zeros_like(flat)))
        arrays = here(rows), here(targets), here(weights)
        noise = Noise(here(levels), here(normals))
        losses = mean_loss(nets, *arrays, row_loss, gradient, noise)
        found.append((on_host(losses), on_host(gradient.flat)))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-5)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"loss": "hinge", "metric": 5}, {"n_components": 2}])
def test_fit_gives_the_model_of_numpy(put, digits, options):
    X, y = digits
    model = RBFNetClassifier(n_centers=30, max_iter=40, random_state=0, **options)
    labels = model.fit(X, y).predict(X)
    with dispatch():
        model.fit(put(X), put(y), sample_weight=put(np.ones(len(y))))
        there = model.decision_function(put(X))
        assert place_of(there) == place_of(put(X))
        assert there.dtype == put(X).dtype
        assert place_of(model.predict(put(X))) == place_of(put(X))
        assert place_of(model.transform(put(X))) == place_of(put(X))
        assert model.score(put(X), put(y)) == pytest.approx(np.mean(labels == y), abs=0.03)
    assert isinstance(model.coef_, np.ndarray)
    # The fitted model answers about rows anywhere. Adam turns rounding of a slope about zero into
    # a step of full length: models agree in what they say, not in their digits.
    assert np.mean(model.predict(X) == labels) > 0.97


def test_labels_of_any_type_and_probabilities(put):
    X, y = load_iris(return_X_y=True)
    names = np.array(["one", "two", "three"])[y]
    model = RBFNetClassifier(max_iter=60, early_stopping=False, random_state=0)
    with dispatch():
        model.fit(put(X), names)
        assert set(model.predict(put(X))) <= {"one", "two", "three"}
        probabilities = model.predict_proba(put(X))
    assert place_of(probabilities) == place_of(put(X))
    np.testing.assert_allclose(on_host(probabilities).sum(axis=1), 1.0)


def test_two_classes_weights_and_validation_rows(put, digits):
    X, y = digits[0], digits[1] > 4
    weights = np.arange(len(y)) % 3 > 0
    model = RBFNetClassifier(n_centers=20, max_iter=30, random_state=0)
    here = model.fit(X, y, weights, X_val=X[:50], y_val=y[:50]).predict(X)
    with dispatch():
        model.fit(put(X), put(y), put(weights), X_val=put(X[:50]), y_val=put(y[:50]))
        there = model.predict(put(X))
    assert np.mean(on_host(there) == here) > 0.97


def test_not_finite_rows_are_refused(put):
    X = np.zeros((20, 2))
    X[3, 1] = np.nan
    with dispatch(), pytest.raises(ValueError, match="NaN"):
        RBFNetClassifier().fit(put(X), np.arange(20) % 2)


def test_estimators_that_need_numpy_say_so(put):
    X, y = load_iris(return_X_y=True)
    with dispatch(), pytest.raises(TypeError, match=r"CategorySpace does not take arrays of"):
        CategorySpace().fit(put(X), y)
