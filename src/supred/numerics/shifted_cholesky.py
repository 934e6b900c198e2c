"""Cholesky factors of positive semidefinite matrices plus a ridge, also where rounding hides it."""

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpotrf


def shifted_cholesky(matrix: np.ndarray, shift: float) -> tuple[np.ndarray, float]:
    """Return the lower factor of ``matrix + shift I``, and the shift that was used.

    It is larger than the one given where that does not reach beyond the rounding errors of the
    matrix, whose smallest eigenvalues these may make negative.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric and, up to rounding, positive semidefinite; it is overwritten.
    shift : float

    Returns
    -------
    factor : ndarray of shape (n, n)
        What lies above its diagonal means nothing.
    shift : float

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.shifted_cholesky import shifted_cholesky
    >>> factor, shift = shifted_cholesky(np.array([[3.0, 4.0], [4.0, 12.0]]), 1.0)
    >>> np.tril(factor), shift
    (array([[2., 0.],
           [2., 3.]]), 1.0)
    >>> bool(shifted_cholesky(np.array([[1.0, 1.0], [1.0, 1.0 - 1e-12]]), 0.0)[1] < 1e-11)
    True
    """
    # The transpose of a symmetric matrix lies in memory as LAPACK wants it.
    columns = np.asfortranarray(matrix.T)
    diagonal = columns.diagonal().copy()
    columns[np.diag_indices_from(columns)] += shift
    factor, info = dpotrf(columns, lower=True, clean=False, overwrite_a=True)
    if not info:
        return factor, shift
    # What lies above the diagonal is as it was.
    whole = np.triu(columns, 1)
    whole += whole.T
    whole[np.diag_indices_from(whole)] = diagonal
    values = eigvalsh(whole)
    rounding = 10 * len(whole) * np.finfo(float).eps * float(np.abs(values).max())
    shift = max(shift, rounding - 2 * min(float(values[0]), 0.0)) or 1.0
    whole[np.diag_indices_from(whole)] += shift
    return np.linalg.cholesky(whole), shift
