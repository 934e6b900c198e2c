"""The f step: ridge regression on fixed features, solved for many right-hand sides and many shifts.

    (Phi_c^T S Phi_c + shift I) W = Phi_c^T S Z_c,     Phi_c, Z_c centred by their weighted means,

which is ridge regression of Z on Phi with an intercept that is not penalised. The matrix is made
once; only the shift (2 alpha / mu) changes within a fit.
"""

from collections import deque

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri

from supred.common import arrays
from supred.common.arrays import copied, is_foreign, on_host, place_of, solve_triangular
from supred.common.threads import in_order, one_blas_thread
from supred.rows.blocks import parts_of

# One eigendecomposition costs as much as about this many Cholesky factors.
CHOLESKY_LIMIT = 25
# A smaller ratio of pivots is rounding: the matrix is singular.
LEAST_PIVOT = 10 * np.finfo(float).eps
# Columns of a panel of the factor, and rows of its blocks; up to the second number of columns
# these would not be worth sharing out.
PANEL, WHOLE = 192, 1024


class NormalEquations:
    """Solve ``(G + shift I) W = R`` for one symmetric G, many shifts and right-hand sides.

    A Cholesky factor is made for each new shift; after a number of shifts that cost as much,
    one eigendecomposition takes over and serves all further ones.

    Parameters
    ----------
    gram : ndarray of shape (n_features, n_features)
        Symmetric, positive semidefinite, in double precision; where it is, on the host or on a
        device, factors are made. All else is on the host.

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
        self.n_factors = 0
        self._factor: np.ndarray | None = None  # its lower triangle
        self._factor_shift = -1.0
        self._eigen: tuple[np.ndarray, np.ndarray] | None = None

    def solve(self, right: np.ndarray, shift: float) -> np.ndarray:
        """Return W, shape of `right`."""
        # With more threads LAPACK sums in another order.
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
        """Make the Cholesky factor of ``G + shift I``; tell whether it is sound."""
        if is_foreign(self.gram):
            return self._factorise_there(shift)
        if self._factor is None:
            self._factor = np.zeros(self.gram.shape)
        sound = cholesky(self.gram, shift, self._factor)
        return self._keep_sound(self._factor.diagonal(), shift, failed=not sound)

    def _factorise_there(self, shift: float) -> bool:
        """Make the factor on the device of the matrix."""
        shifted = copied(self.gram)
        shifted.reshape(-1)[:: len(shifted) + 1] += shift
        self._factor = arrays.cholesky(shifted)
        pivots = on_host(self._factor.reshape(-1)[:: len(shifted) + 1])
        return self._keep_sound(pivots, shift, failed=not np.isfinite(pivots).all())

    def _keep_sound(self, pivots: np.ndarray, shift: float, *, failed: bool) -> bool:
        """Tell whether a factor with these pivots is sound; forget one that is not."""
        sound = not failed and bool((pivots.min() / pivots.max()) ** 2 > LEAST_PIVOT)
        self.n_factors += sound
        self._factor_shift = shift
        if not sound:
            self._factor = None
        return sound

    def _solve_factored(self, right: np.ndarray) -> np.ndarray:
        assert self._factor is not None
        if is_foreign(self._factor):
            there = place_of(self._factor).put(right)
            inside = solve_triangular(self._factor, there, upper=False)
            return on_host(solve_triangular(self._factor.T, inside, upper=True))
        # What lies in rows is its own transpose to LAPACK.
        return dpotrs(self._factor.T, right, lower=False)[0]

    def times(self, W: np.ndarray) -> np.ndarray:
        """Return ``G W``, some rows of G at a time."""
        if is_foreign(self.gram):
            return on_host(self.gram @ place_of(self.gram).put(W))
        calls = ((self.gram[rows], W) for rows in parts_of(len(W), PANEL))
        return np.concatenate(list(in_order(np.matmul, calls)))

    def decompose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues and eigenvectors, which are computed once."""
        if self._eigen is None:
            # SciPy 1.11 asks "evd" for too little work space if there is one row.
            gram = on_host(self.gram)
            values, vectors = eigh(gram, driver="evd" if len(self.gram) > 1 else "ev")
            # What rounding makes negative is zero; a shift under the rounding of the largest
            # eigenvalue would only amplify noise.
            floor = max(float(values[-1]), 0.0) * len(values) * np.finfo(float).eps
            self._eigen = np.maximum(values, floor), vectors
            self._factor, self._factor_shift = None, -1.0
        return self._eigen


def cholesky(gram: np.ndarray, shift: float, factor: np.ndarray) -> bool:
    """Put the Cholesky factor of ``G + shift I`` into a lower triangle; tell whether there is one.

    It goes by panels of columns, whose blocks are shared out among the threads of
    :func:`supred.common.threads.cores`. The blocks do not depend on the threads, and neither does
    any bit of the factor, unlike that of LAPACK with several threads. Small matrices are left to
    LAPACK, in one thread.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        G, of which the lower triangle is read.
    shift : float
    factor : ndarray of shape (n, n)
        What lies above its diagonal is of no meaning.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.mappings.f_step import cholesky
    >>> factor = np.zeros((2, 2))
    >>> cholesky(np.array([[3.0, 2.0], [2.0, 4.0]]), 1.0, factor), np.tril(factor)
    (True, array([[2., 0.],
           [1., 2.]]))
    """
    size = len(gram)
    if size <= WHOLE:
        np.copyto(factor, gram)
        factor[np.diag_indices(size)] += shift
        with one_blas_thread():
            # What lies in rows is its own transpose to LAPACK, which then writes to it.
            return dpotrf(factor.T, lower=False, clean=False, overwrite_a=True)[1] == 0
    for panel in parts_of(size, PANEL):
        done = slice(0, panel.start)

        def update(rows: slice, panel: slice = panel, done: slice = done) -> None:
            factor[rows, panel] = gram[rows, panel] - factor[rows, done] @ factor[panel, done].T

        blocks = [(slice(k, min(k + PANEL, size)),) for k in range(panel.start, size, PANEL)]
        deque(in_order(update, blocks), maxlen=0)
        corner = factor[panel, panel] + shift * np.eye(panel.stop - panel.start)
        corner, info = dpotrf(corner, lower=True, clean=True)
        if info:
            return False
        factor[panel, panel] = corner
        inverse = dtrtri(corner, lower=True)[0]

        def divide(rows: slice, panel: slice = panel, inverse: np.ndarray = inverse) -> None:
            factor[rows, panel] = factor[rows, panel] @ inverse.T

        deque(in_order(divide, blocks[1:]), maxlen=0)
    return True
