"""Cholesky factors against the matrices that they are factors of."""

import numpy as np
import pytest

from supred.numerics.shifted_cholesky import shifted_cholesky

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(30, 8))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_ridge_that_is_enough_is_used(order):
    A = np.array(TALL.T @ TALL, order=order)
    factor, shift = shifted_cholesky(A.copy(order), 0.5)
    assert shift == 0.5
    lower = np.tril(factor)
    np.testing.assert_allclose(lower @ lower.T, A + 0.5 * np.eye(8), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("lowest", [0.0, -1e-6])
def test_a_ridge_that_rounding_hides_is_raised(scale, lowest):
    A = scale * (TALL @ TALL.T)  # 30 x 30 of rank 8
    A += lowest * scale * np.eye(30)
    factor, shift = shifted_cholesky(A.copy(), 1e-30 * scale)
    assert 0 < shift < 1e-5 * scale
    lower = np.tril(factor)
    np.testing.assert_allclose(lower @ lower.T, A + shift * np.eye(30), atol=1e-12 * scale)


def test_nothing_to_factor():
    factor, shift = shifted_cholesky(np.zeros((3, 3)), 0.0)
    np.testing.assert_array_equal(np.tril(factor), np.eye(3))
    assert shift == 1.0
