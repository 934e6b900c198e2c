"""Rows on torch and CuPy: the model of the same rows in NumPy, and answers where the rows are."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from supred import LowDimSVC, LowDimSVCCV
from supred.common.arrays import on_host, place_of
from supred.low_dim_svm.g_step import hinge_g_step
from supred.low_dim_svm.mappings.f_step import NormalEquations
from supred.low_dim_svm.visit import BlockRows
from supred.low_dim_svm.z_step import hinge_z_step, two_class_z_step
from supred.numerics.svm_interior_point import interior_point
from supred.rows.blocks import rows_of
from tests.devices import LIBRARIES, count_waits, dispatch, putter


@pytest.fixture(params=LIBRARIES)
def put(request):
    return putter(request.param)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    # no two rows are equally far from a centre
    X = (X + np.random.default_rng(0).normal(size=X.shape)).astype(np.float32)
    X.flags.writeable = False
    return X[:800], y[:800]


@pytest.mark.parametrize("c", [0.01, 0.5, 4.0])
def test_z_step_is_that_of_numpy(put, c):
    rng = np.random.default_rng(0)
    F, coef, intercept = rng.normal(size=(500, 5)), rng.normal(size=(6, 5)), rng.normal(size=6)
    signs = np.where(rng.integers(6, size=500)[:, None] == np.arange(6), 1, -1).astype(np.int8)
    here = hinge_z_step(F, signs, coef, intercept, c)
    there = hinge_z_step(put(F), put(signs), coef, intercept, c)
    np.testing.assert_allclose(on_host(there), here, atol=1e-4)
    here = two_class_z_step(F, signs[:, 0], coef[0], 0.3, c)
    there = two_class_z_step(put(F), put(signs[:, 0]), coef[0], 0.3, c)
    np.testing.assert_allclose(on_host(there), here, atol=1e-12)


@pytest.mark.parametrize("guessed", [False, True])
def test_interior_point_is_that_of_numpy(put, guessed):
    rng = np.random.default_rng(2)
    Z, y = rng.normal(size=(2, 3, 60)), np.where(rng.random((2, 60)) > 0.5, 1.0, -1.0)
    outside = np.zeros((2, 3)), np.zeros(2), 1e-9
    guess = rng.normal(size=(2, 4)) if guessed else None
    here = interior_point(Z, y, np.ones((2, 60)), *outside, guess=guess)
    there = interior_point(put(Z), put(y), put(np.ones((2, 60))), *outside, guess=guess)
    np.testing.assert_allclose(on_host(there[0]), here[0], atol=1e-6)


def test_a_g_step_waits_for_few_numbers():
    """One number of each step of the interior point method, and a few for each round."""
    put = putter("torch-cpu")
    rng = np.random.default_rng(4)
    index = rng.integers(5, size=900)
    Z = rng.normal(size=(5, 4))[index] + rng.normal(size=(900, 4))
    blocks = rows_of(put(Z)).attach(BlockRows, index, np.ones(900), put(Z))
    found = hinge_g_step(blocks, 4, 2 * np.eye(5) - 1, C=1.0)
    expected = hinge_g_step(
        rows_of(Z).attach(BlockRows, index, np.ones(900), Z), 4, 2 * np.eye(5) - 1, C=1.0
    )
    np.testing.assert_allclose(found.parameters[0], expected.parameters[0], atol=1e-4)
    assert found.gap <= 1e-6
    args = blocks, 4, 2 * np.eye(5) - 1
    operations, waits = count_waits(lambda: hinge_g_step(*args, C=1.0, start=expected.parameters))
    assert waits < operations / 50


def test_normal_equations_are_solved_where_they_are(put):
    rng = np.random.default_rng(3)
    rows, right = rng.normal(size=(30, 8)), rng.normal(size=(8, 2))
    gram = rows.T @ rows
    for shift in (0.1, 0.1, 2.0):
        found = NormalEquations(put(gram)).solve(right, shift)
        np.testing.assert_allclose(found, np.linalg.solve(gram + shift * np.eye(8), right))
    singular = np.ones((4, 4))
    here = NormalEquations(singular).solve(np.ones((4, 1)), 0.0)
    np.testing.assert_allclose(NormalEquations(put(singular)).solve(np.ones((4, 1)), 0.0), here)


@pytest.mark.parametrize(
    "options",
    [
        {"n_centers": 60},
        {"n_centers": 30, "n_components": 2, "max_iter": 2},
        {"n_centers": 30, "multi_class": "ovo", "max_iter": 2},
        {"mapping": "linear", "max_iter": 3},
        {"n_centers": 40, "early_stopping": True, "max_iter": 3},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_gives_the_model_of_numpy(put, digits, options):
    X, y = digits
    model = LowDimSVC(random_state=0, **options)
    here = model.fit(X, y).decision_function(X)
    labels, n_iter = model.predict(X), model.n_iter_
    with dispatch():
        model.fit(put(X), put(y), put(np.ones(len(y))))
        there = model.decision_function(put(X))
        assert place_of(there) == place_of(put(X))
        assert there.dtype == put(X).dtype
        assert place_of(model.predict(put(X))) == place_of(put(X))
        assert place_of(model.transform(put(X))) == place_of(put(X))
    assert model.n_iter_ == n_iter
    assert isinstance(model.coef_, np.ndarray)
    if model.multi_class == "ovr":  # a vote that changes is one
        np.testing.assert_allclose(on_host(there), here, atol=0.02 * np.abs(here).max())
    assert np.mean(model.predict(X) == labels) > 0.99


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_and_two_classes(put, digits):
    X, y = digits[0], digits[1] > 4
    weights = 1.0 + np.arange(len(y)) % 3
    model = LowDimSVC(n_centers=30, max_iter=3, random_state=0)
    here = model.fit(X, y, weights).decision_function(X)
    with dispatch():
        there = model.fit(put(X), y, put(weights)).decision_function(put(X))
    np.testing.assert_allclose(on_host(there), here, atol=0.02 * np.abs(here).max())


def test_what_needs_numpy_says_so(put, digits):
    X, y = digits
    with dispatch():
        with pytest.raises(ValueError, match="loss='log'"):
            LowDimSVC(loss="log").fit(put(X), y)
        with pytest.raises(ValueError, match="mapping=Ridge"):
            LowDimSVC(mapping=Ridge()).fit(put(X), y)
        with pytest.raises(TypeError, match="LowDimSVCCV does not take arrays"):
            LowDimSVCCV().fit(put(X), y)
