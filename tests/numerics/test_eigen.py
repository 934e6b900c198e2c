"""Eigenvectors where the quick method fails."""

import numpy as np
import pytest
from scipy import linalg

from supred.numerics import eigen


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("subset", [None, (1, 2), (4, 4)])
def test_the_slow_method_takes_over(subset, fails, monkeypatch):
    A = np.random.default_rng(0).normal(size=(5, 5))
    A = A + A.T
    expected = eigen.eigh(A, subset_by_index=subset)
    solve = linalg.eigh

    def needs_a_driver(matrix, **options):
        if "driver" not in options and fails:
            raise linalg.LinAlgError("Internal Error.")
        values, vectors = solve(matrix, **options)
        return (values, vectors) if "driver" in options else (values[:0], vectors[:, :0])

    monkeypatch.setattr(eigen.linalg, "eigh", needs_a_driver)
    found = eigen.eigh(A, subset_by_index=subset)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(np.abs(found[1]), np.abs(expected[1]), atol=1e-12)
