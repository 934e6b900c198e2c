"""Eigenvalues of class scatters."""

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence

from supred.numerics import class_scatter


def test_an_eigenvalue_that_lanczos_does_not_find(monkeypatch):
    def fails(*args, **options):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    matrix = np.diag(np.arange(1.0, 151.0))
    monkeypatch.setattr(class_scatter, "eigsh", fails)
    value, vector = class_scatter.largest_eigenpair(matrix.__matmul__, 150)
    assert value == pytest.approx(150.0)
    np.testing.assert_allclose(np.abs(vector), np.eye(150)[-1], atol=1e-12)
    monkeypatch.setattr(class_scatter, "MOST_DENSE", 100)
    with pytest.raises(RuntimeError, match=r"150 x 150 matrix was not found.*center X"):
        class_scatter.largest_eigenpair(matrix.__matmul__, 150)
