"""Gaussian kernels against SciPy's distances, far from zero too."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from supred import KernelDiscriminantAnalysis, LowDimSVC, RBFNetClassifier
from supred.numerics.kernels import GaussianCenters, scale_gamma

RNG = np.random.RandomState(0)
X = RNG.normal(size=(80, 6))
CENTERS = RNG.normal(size=(15, 6))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_distances_and_kernel(make):
    gaussians = GaussianCenters.of(CENTERS)
    squared = cdist(X, CENTERS, "sqeuclidean")
    np.testing.assert_allclose(gaussians.squared_distances(make(X)), squared, rtol=1e-10)
    np.testing.assert_allclose(gaussians.kernel(make(X), 0.3), np.exp(-0.3 * squared), rtol=1e-10)
    np.testing.assert_allclose(gaussians.original, CENTERS)


def test_single_precision_far_from_zero():
    """At an offset of 1000 the plain expansion has no digit left."""
    rows, centers = (X + 1000).astype(np.float32), (CENTERS + 1000).astype(np.float32)
    exact = cdist(rows.astype(float), centers.astype(float), "sqeuclidean")
    found = GaussianCenters.of(centers).squared_distances(rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=1e-4)
    plain = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centers.T + (centers**2).sum(axis=1)
    assert np.abs(plain - exact).max() > 0.1


def test_narrow_gaussians_of_rows_of_unequal_size():
    """The expansion of distances between large rows hides those of small ones."""
    rows = X * np.geomspace(1e-3, 1e6, len(X))[:, None]
    found = GaussianCenters.of(rows).kernel(rows, 1e3)
    np.testing.assert_allclose(found, np.exp(-1e3 * cdist(rows, rows, "sqeuclidean")), atol=1e-9)


def test_a_row_that_is_a_centre_has_distance_zero():
    squared = GaussianCenters.of(CENTERS).squared_distances(CENTERS)
    assert (squared >= 0).all()
    np.testing.assert_allclose(np.diag(squared), 0.0, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_scale_rule(make):
    weights = RNG.randint(1, 4, size=80)
    copies = np.repeat(X, weights, axis=0)
    expected = 1.0 / (2.0 * copies.var(axis=0).sum())
    np.testing.assert_allclose(scale_gamma(make(X), weights.astype(float)), expected)
    shifted = scale_gamma(make(X + np.arange(6)), weights.astype(float))
    np.testing.assert_allclose(shifted, expected)


def test_scale_rule_of_constant_features():
    assert scale_gamma(np.ones((5, 2)), np.ones(5)) == 1.0
    for value in RNG.normal(size=20):  # whose weighted mean is off by rounding
        rows, weights = np.full((50, 3), value), RNG.uniform(size=50)
        assert scale_gamma(rows, weights) == 1.0
        assert scale_gamma(sparse.csr_matrix(rows), weights) == 1.0
        rows[0] *= 1 + 1e-6
        assert scale_gamma(rows, weights) > 1e6


def test_rows_in_any_order_give_gaussians_in_rows():
    X = np.random.RandomState(0).normal(size=(40, 3))
    gaussians = GaussianCenters.of(X[:7])
    found = gaussians.kernel(np.asfortranarray(X), 0.5)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, gaussians.kernel(X, 0.5))


def test_rows_whose_variance_all_but_vanishes_are_equal():
    """One over it would not be a finite number."""
    assert scale_gamma(1e-155 * X, np.ones(len(X))) == 1.0
    assert 1e200 < scale_gamma(1e-110 * X, np.ones(len(X))) < 1e250


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("far", [1, 2])
def test_rows_that_hide_all_others_are_told(make, far):
    rows = np.tile(X, (3, 1)) + 0.1 * np.random.RandomState(1).normal(size=(240, 6))
    weights = np.linspace(1.0, 3.0, 240)
    rows[:far] *= 1e5
    with pytest.warns(UserWarning, match="a few rows lie so far from the others"):
        scale_gamma(make(rows), weights)


@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(0).lognormal(0.0, 3.0, size=(2000, 3)),
        np.random.default_rng(0).standard_cauchy(size=(300, 5)),
        np.where(np.arange(300)[:, None] == 7, 1e6, 3.3),  # all others are equal
        np.where(np.arange(300)[:, None] < 30, 1e6 * X[0], np.resize(X, (300, 6))),  # not few
        np.eye(5)[:, :2] * 1e6,
        1e-200 * X,
    ],
)
def test_heavy_tails_and_rare_values_are_not_far_rows(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scale_gamma(rows, np.ones(len(rows)))


@pytest.mark.parametrize(
    "model",
    [
        LowDimSVC(random_state=0, max_iter=2),
        RBFNetClassifier(n_centers=3, max_iter=2, random_state=0),
        KernelDiscriminantAnalysis(random_state=0),
    ],
)
def test_estimators_tell_of_far_rows_once(model):
    rows, y = np.array(X), (X[:, 0] > 0).astype(int)
    rows[0] *= 1e6
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(rows, y)
    assert sum("a few rows" in str(warning.message) for warning in found) == 1
