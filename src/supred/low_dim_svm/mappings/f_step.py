"""The f step: ridge regression on fixed features, solved for many right-hand sides and many shifts.

    (Phi_c^T S Phi_c + shift I) W = Phi_c^T S Z_c,     Phi_c, Z_c centred by their weighted means,

which is ridge regression of Z on Phi with an intercept that is not penalised. The matrix is made
once; only the shift (2 alpha / mu) changes within a fit.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dpotrs

from supred.common import arrays
from supred.common.arrays import copied, is_foreign, on_host, place_of, solve_triangular
from supred.common.threads import one_blas_thread
from supred.low_dim_svm.mappings.band_form import LEAST_PIVOT, BandForm


class NormalEquations:
    """Solve ``(G + shift I) W = R`` for one symmetric G, many shifts and right-hand sides.

    Each shift takes a Cholesky factor, until `reduce` makes the band form of G, which serves
    them all. A matrix that is singular to working precision is left to its eigenvectors.

    Parameters
    ----------
    gram : ndarray of shape (n_features, n_features)
        Symmetric, positive semidefinite, in double precision, on the host or on a device. All
        else is on the host.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.mappings.f_step import NormalEquations
    >>> NormalEquations(np.diag([1.0, 3.0])).solve(np.array([[2.0], [4.0]]), shift=1.0)
    array([[1.],
           [1.]])
    """

    def __init__(self, gram: np.ndarray) -> None:
        self.gram = gram
        self._form: BandForm | None = None
        self._factor: tuple[float, np.ndarray | None] = (np.nan, None)
        self._eigen: tuple[np.ndarray, np.ndarray] | None = None

    # With more threads LAPACK sums in another order.
    @one_blas_thread()
    def solve(self, right: np.ndarray, shift: float) -> np.ndarray:
        """Return W, shape of `right`."""
        if self._eigen is None:
            if is_foreign(self.gram):
                found = self._solve_there(right, shift)
            elif self._form is None:
                found = self._solve_here(right, shift)
            else:
                found = self._form.solve(right, shift)
            if found is not None:
                return found
        values, vectors = self._decompose()
        return vectors @ (vectors.T @ right / (values + shift)[:, None])

    @one_blas_thread()
    def reduce(self) -> None:
        """Make the band form now, because more than a few shifts will come.

        A device is quick at Cholesky factors and goes on with them.
        """
        if self._form is None and not is_foreign(self.gram):
            self._form = BandForm.of(self.gram)

    def _solve_here(self, right: np.ndarray, shift: float) -> np.ndarray | None:
        """Solve by a Cholesky factor, that of the last shift if it is the same."""
        if self._factor[0] != shift:
            shifted = np.array(self.gram, order="F")
            np.einsum("ii->i", shifted)[...] += shift
            factor, info = dpotrf(shifted, lower=True, clean=False, overwrite_a=True)
            sound = not info and _is_sound(factor.diagonal())
            self._factor = shift, factor if sound else None
        factor = self._factor[1]
        return None if factor is None else dpotrs(factor, right, lower=True)[0]

    def _solve_there(self, right: np.ndarray, shift: float) -> np.ndarray | None:
        """Solve by a Cholesky factor on the device of the matrix; None if it is not sound."""
        shifted = copied(self.gram)
        shifted.reshape(-1)[:: len(shifted) + 1] += shift
        factor = arrays.cholesky(shifted)
        if not _is_sound(on_host(factor.reshape(-1)[:: len(shifted) + 1])):
            return None
        inside = solve_triangular(factor, place_of(factor).put(right), upper=False)
        return on_host(solve_triangular(factor.T, inside, upper=True))

    def _decompose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues and eigenvectors, which are computed once."""
        if self._eigen is None:
            # SciPy 1.11 asks "evd" for too little work space if there is one row.
            gram = on_host(self.gram)
            values, vectors = eigh(gram, driver="evd" if len(self.gram) > 1 else "ev")
            # What rounding makes negative is zero; a shift under the rounding of the largest
            # eigenvalue would only amplify noise.
            floor = max(float(values[-1]), 0.0) * len(values) * np.finfo(float).eps
            self._eigen = np.maximum(values, floor), vectors
        return self._eigen


def _is_sound(pivots: np.ndarray) -> bool:
    """Tell by the pivots of a factor whether the matrix is not singular to working precision."""
    return bool((pivots.min() / pivots.max()) ** 2 > LEAST_PIVOT)
