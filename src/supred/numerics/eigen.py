"""Eigenvectors of symmetric matrices, also where LAPACK's quickest method gives up."""

import numpy as np
from scipy import linalg


def eigh(
    matrix: np.ndarray, *, subset_by_index: tuple[int, int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues in ascending order and the eigenvectors as columns.

    SciPy's default, relatively robust representations, fails now and then on matrices with
    clusters of equal eigenvalues, or finds fewer than there are. The QR algorithm takes longer and
    does not.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric.
    subset_by_index : tuple (first, last), optional
        The eigenvalues to return; by default all.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.eigen import eigh
    >>> eigh(np.diag([3.0, 1.0, 2.0]), subset_by_index=(1, 2))[0]
    array([2., 3.])
    """
    first, last = subset_by_index or (0, len(matrix) - 1)
    try:
        values, vectors = linalg.eigh(matrix, subset_by_index=subset_by_index)
        if len(values) == last - first + 1:
            return values, vectors
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(matrix, driver="ev")
    return values[first : last + 1], vectors[:, first : last + 1]
