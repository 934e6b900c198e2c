"""The choice of centres."""

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from supred.low_dim_svm.mappings.centers import (
    ROWS_PER_CENTER,
    kmeans_centers,
    lloyd_step,
    random_centers,
)

RNG = np.random.RandomState(0)
X = RNG.normal(size=(200, 4))
WEIGHTS = RNG.randint(0, 4, size=200).astype(float)
POSITIVE = WEIGHTS + 1


def test_lloyd_step_is_that_of_kmeans():
    start = X[:12]
    expected = KMeans(12, init=start, n_init=1, max_iter=1).fit(X, sample_weight=POSITIVE)
    moved = lloyd_step(X, POSITIVE, start)
    np.testing.assert_allclose(moved, expected.cluster_centers_, atol=1e-10)
    np.testing.assert_allclose(lloyd_step(sparse.csr_matrix(X), POSITIVE, start), moved, atol=1e-10)


def test_a_centre_that_no_row_is_nearest_to_stays():
    start = np.vstack([X[:3], np.full((1, 4), 1e3)])
    moved = lloyd_step(X, np.ones(200), start)
    np.testing.assert_array_equal(moved[3], start[3])
    assert not np.allclose(moved[:3], start[:3])


def test_random_centers_are_different_rows_of_positive_weight():
    n_centers = int((WEIGHTS > 0).sum())
    centers = random_centers(X, WEIGHTS, n_centers, np.random.RandomState(1))
    np.testing.assert_array_equal(np.sort(centers, axis=0), np.sort(X[WEIGHTS > 0], axis=0))


def test_kmeans_looks_at_a_bounded_number_of_rows(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "supred.low_dim_svm.mappings.centers.lloyd_step",
        lambda X, weights, centers: (seen.append(len(weights)), centers)[1],
    )
    kmeans_centers(X, np.ones(200), 5, np.random.RandomState(0))
    assert seen == [5 * ROWS_PER_CENTER]


def test_kmeans_lowers_the_distance_to_the_nearest_centre():
    def spread(centers):
        return np.square(X[:, None] - centers).sum(axis=2).min(axis=1).mean()

    ones = np.ones(200)
    drawn = random_centers(X, ones, 20, np.random.RandomState(0))
    moved = kmeans_centers(X, ones, 20, np.random.RandomState(0))
    assert spread(moved) < 0.95 * spread(drawn)
