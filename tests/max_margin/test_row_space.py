import numpy as np
import pytest
from scipy import sparse

from supred.max_margin.row_space import fill_directions, to_row_space


@pytest.mark.parametrize("shape", [(30, 5), (6, 40), (8, 8)])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_coordinates_and_basis_give_back_the_centred_rows(shape, as_sparse):
    rng = np.random.default_rng(0)
    X = np.where(rng.random(shape) < 0.5, rng.normal(size=shape) + 3, 0.0)
    weights = rng.integers(1, 4, shape[0]).astype(float)
    space = to_row_space(sparse.csr_matrix(X) if as_sparse else X, weights)
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(space.mean, mean)
    assert space.rows.shape[1] <= min(shape)
    np.testing.assert_allclose(space.to_features(space.rows.T).T, X - mean, atol=1e-9)
    if space.basis is not None:
        n_coordinates = space.basis.shape[1]
        np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(n_coordinates), atol=1e-12)


def test_equal_sparse_rows_have_one_coordinate_of_zero():
    space = to_row_space(sparse.csr_matrix(np.ones((3, 10))), np.ones(3))
    assert space.rows.shape == (3, 1)
    np.testing.assert_allclose(space.rows, 0, atol=1e-12)


def test_filled_directions_are_principal_and_orthonormal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * np.array([1, 2, 9, 3, 5, 0])  # the last one is constant
    space = to_row_space(X, np.ones(200))
    filled = fill_directions(space, np.eye(6)[2:3], np.ones(200), 6)
    np.testing.assert_allclose(filled @ filled.T, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(filled[0], np.eye(6)[2], atol=1e-12)
    # Then the feature of the next variance, 5, and the constant feature last.
    assert abs(filled[1, 4]) > 0.99
    assert abs(filled[5, 5]) > 0.99


def test_filled_directions_with_more_components_than_rows():
    rng = np.random.default_rng(0)
    space = to_row_space(rng.normal(size=(4, 30)), np.ones(4))
    first = np.eye(space.rows.shape[1])[:1]
    filled = fill_directions(space, first, np.ones(4), 12)
    assert filled.shape == (12, 30)
    np.testing.assert_allclose(filled @ filled.T, np.eye(12), atol=1e-10)
