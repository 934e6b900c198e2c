"""The f step: ridge regression on fixed features, solved for many right-hand sides and many shifts.

    (Phi_c^T S Phi_c + shift I) W = Phi_c^T S Z_c,     Phi_c, Z_c centred by their weighted means,

which is ridge regression of Z on Phi with an intercept that is not penalised. The matrix is made
once; only the shift (2 alpha / mu) changes within a fit.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dpotrs

from supred.common.threads import one_blas_thread

# One eigendecomposition costs as much as about this many Cholesky factors.
CHOLESKY_LIMIT = 25
# A smaller ratio of pivots is rounding: the matrix is singular.
LEAST_PIVOT = 10 * np.finfo(float).eps


class NormalEquations:
    """Solve ``(G + shift I) W = R`` for one symmetric G, many shifts and right-hand sides.

    A Cholesky factor is made for each new shift; after a number of shifts that cost as much,
    one eigendecomposition takes over and serves all further ones.

    Parameters
    ----------
    gram : ndarray of shape (n_features, n_features)
        Symmetric, positive semidefinite, in double precision.
    many_shifts : bool, default=False
        Start with the eigendecomposition, because many shifts will come.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.mappings.f_step import NormalEquations
    >>> NormalEquations(np.diag([1.0, 3.0])).solve(np.array([[2.0], [4.0]]), shift=1.0)
    array([[1.],
           [1.]])
    """

    def __init__(self, gram: np.ndarray, *, many_shifts: bool = False) -> None:
        self.gram = gram
        self.n_factors = CHOLESKY_LIMIT if many_shifts else 0
        self._factor: np.ndarray | None = None  # its lower triangle
        self._factor_shift = -1.0
        self._eigen: tuple[np.ndarray, np.ndarray] | None = None

    def solve(self, right: np.ndarray, shift: float) -> np.ndarray:
        """Return W, shape of `right`."""
        # With more threads LAPACK sums in another order, and a small factor takes longer.
        with one_blas_thread():
            return self._solve(right, shift)

    def _solve(self, right: np.ndarray, shift: float) -> np.ndarray:
        if self._factor is not None and shift == self._factor_shift:
            return self._solve_factored(right)
        if self.n_factors < CHOLESKY_LIMIT:
            if self._factorise(shift):
                return self._solve_factored(right)
            # Not positive definite to working precision: the eigendecomposition can cope.
            self.n_factors = CHOLESKY_LIMIT
        values, vectors = self.decompose()
        inside = vectors.T @ right / (values + shift)[:, None]
        return vectors @ inside

    def _factorise(self, shift: float) -> bool:
        """Make the Cholesky factor of ``G + shift I``; tell whether it is sound.

        LAPACK is called without scipy's checks and copies, which cost as much as the factor: the
        last factor's memory is used again, and only one triangle of it is read.
        """
        if self._factor is None:
            self._factor = np.empty(self.gram.shape, order="F")
        np.copyto(self._factor, self.gram if self.gram.flags.f_contiguous else self.gram.T)
        self._factor[np.diag_indices_from(self._factor)] += shift
        self._factor, info = dpotrf(self._factor, lower=True, clean=False, overwrite_a=True)
        pivots = self._factor.diagonal()
        sound = info == 0 and bool((pivots.min() / pivots.max()) ** 2 > LEAST_PIVOT)
        self.n_factors += sound
        self._factor_shift = shift
        if not sound:
            self._factor = None
        return sound

    def _solve_factored(self, right: np.ndarray) -> np.ndarray:
        return dpotrs(self._factor, right, lower=True)[0]

    def decompose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues and eigenvectors, which are computed once."""
        if self._eigen is None:
            # SciPy 1.11 asks "evd" for too little work space if there is one row.
            values, vectors = eigh(self.gram, driver="evd" if len(self.gram) > 1 else "ev")
            # What rounding makes negative is zero; a shift under the rounding of the largest
            # eigenvalue would only amplify noise.
            floor = max(float(values[-1]), 0.0) * len(values) * np.finfo(float).eps
            self._eigen = np.maximum(values, floor), vectors
            self._factor, self._factor_shift = None, -1.0
        return self._eigen
