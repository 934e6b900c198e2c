import numpy as np
import pytest
from scipy import sparse

from supred.solvers.row_space import to_row_space


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
