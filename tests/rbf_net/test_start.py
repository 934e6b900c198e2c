"""Where the descent starts."""

import numpy as np
import pytest

from supred.rbf_net.start import MOST_COVARIANCE, principal_directions


@pytest.mark.parametrize("n_features", [6, MOST_COVARIANCE + 10])
def test_directions_are_those_of_a_singular_value_decomposition(n_features):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(8, n_features)) * np.geomspace(10, 1, 8)[:, None]
    weights = rng.uniform(0.5, 2.0, size=8)
    centred = (rows - weights @ rows / weights.sum()) * np.sqrt(weights)[:, None]
    expected = np.linalg.svd(centred, full_matrices=False)[2][:3].T
    found = principal_directions(rows, weights, 3)
    np.testing.assert_allclose(np.abs(expected.T @ found), np.eye(3), atol=1e-6)


def test_no_more_directions_than_rows():
    """A full metric of very many columns would take gigabytes."""
    rows = np.random.default_rng(0).normal(size=(5, 20_000))
    assert principal_directions(rows, np.ones(5), 20_000).shape == (20_000, 5)
