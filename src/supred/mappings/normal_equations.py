"""Ridge regression on fixed features, solved for many right-hand sides and many shifts.

    (Phi_c^T S Phi_c + shift I) W = Phi_c^T S Z_c,     Phi_c, Z_c centred by their weighted means,

which is ridge regression of Z on Phi with an intercept that is not penalised. The matrix is made
once; only the shift (2 alpha / mu) changes within a fit.
"""

from contextlib import nullcontext

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from supred._threads import one_blas_thread

# One eigendecomposition costs as much as about this many Cholesky factors.
CHOLESKY_LIMIT = 40
# A smaller ratio of pivots is rounding: the matrix is singular.
LEAST_PIVOT = 10 * np.finfo(float).eps
# Up to this size a second BLAS thread waits longer than it works.
ONE_THREAD = 500


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
    >>> from supred.mappings.normal_equations import NormalEquations
    >>> NormalEquations(np.diag([1.0, 3.0])).solve(np.array([[2.0], [4.0]]), shift=1.0)
    array([[1.],
           [1.]])
    """

    def __init__(self, gram: np.ndarray, *, many_shifts: bool = False) -> None:
        self.gram = gram
        self.n_factors = CHOLESKY_LIMIT if many_shifts else 0
        self._factor: tuple[np.ndarray, bool] | None = None
        self._factor_shift = -1.0
        self._eigen: tuple[np.ndarray, np.ndarray] | None = None

    def solve(self, right: np.ndarray, shift: float) -> np.ndarray:
        """Return W, shape of `right`."""
        with one_blas_thread() if len(self.gram) <= ONE_THREAD else nullcontext():
            return self._solve(right, shift)

    def _solve(self, right: np.ndarray, shift: float) -> np.ndarray:
        if shift == self._factor_shift and self._factor is not None:
            return cho_solve(self._factor, right)
        if self.n_factors < CHOLESKY_LIMIT:
            shifted = self.gram.copy(order="F")  # as LAPACK has it: no second copy
            shifted[np.diag_indices_from(shifted)] += shift
            try:
                factor = cho_factor(shifted, lower=True, overwrite_a=True)
                pivots = factor[0].diagonal()
                sound = bool((pivots.min() / pivots.max()) ** 2 > LEAST_PIVOT)
            except np.linalg.LinAlgError:
                sound = False
            if sound:
                self.n_factors += 1
                self._factor, self._factor_shift = factor, shift
                return cho_solve(factor, right)
            # Not positive definite to working precision: the eigendecomposition can cope.
            self.n_factors = CHOLESKY_LIMIT
        values, vectors = self._decompose()
        return vectors @ ((vectors.T @ right) / (values + shift)[:, None])

    def _decompose(self) -> tuple[np.ndarray, np.ndarray]:
        if self._eigen is None:
            values, vectors = eigh(self.gram, driver="evd")
            # What rounding makes negative is zero; a shift under the rounding of the largest
            # eigenvalue would only amplify noise.
            floor = max(float(values[-1]), 0.0) * len(values) * np.finfo(float).eps
            self._eigen = np.maximum(values, floor), vectors
            self._factor, self._factor_shift = None, -1.0
        return self._eigen
