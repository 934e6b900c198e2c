"""A symmetric matrix as Q B Q^T with a band B: all its shifts are solved for the price of one.

A Cholesky factor of ``G + shift I`` costs n^3 / 3 multiplications for each shift. The band form
``G = Q B Q^T`` with an orthogonal Q costs about six times as much, once, and then
``(G + shift I)^-1 = Q (B + shift I)^-1 Q^T`` takes n^2 for any shift. An eigendecomposition would
do so too, but its second half, from the band to a diagonal, is slow.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpbtrf, dpbtrs

from supred.common.threads import in_order
from supred.rows.blocks import parts_of

# Entries beside the diagonal of the band, and rows of the blocks that threads share.
WIDTH, BLOCK = 64, 384
# A smaller ratio of pivots is rounding: the matrix is singular.
LEAST_PIVOT = 10 * np.finfo(float).eps


@dataclass(frozen=True)
class BandForm:
    """``G = Q B Q^T``.

    Attributes
    ----------
    band : ndarray of shape (width + 1, n)
        B: its diagonal, then those below it.
    reflections : list of tuples (V, T)
        Q is the product of ``I - V T V^T``, each on the last rows.
    """

    band: np.ndarray
    reflections: list[tuple[np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, gram: np.ndarray) -> "BandForm":
        """Reduce a symmetric matrix, `WIDTH` columns at a time.

        The QR decomposition of what lies below the band in these columns gives a reflection
        ``H = I - V T V^T``. With ``X = S V T`` and ``Y = X - 1/2 V T^T V^T X`` the rest S of the
        matrix becomes ``H^T S H = S - V Y^T - Y V^T``. Blocks of its rows are shared out among
        the threads of :func:`supred.common.threads.cores`; they do not depend on the threads, and
        neither does any bit of the result.

        Examples
        --------
        >>> import numpy as np
        >>> from supred.low_dim_svm.mappings.band_form import BandForm
        >>> BandForm.of(np.diag([1.0, 3.0])).solve(np.array([[2.0], [4.0]]), shift=1.0)
        array([[1.],
               [1.]])
        """
        matrix, size = gram.copy(), len(gram)
        width, reflections = min(WIDTH, size - 1), []
        for begin in range(width, size - 1, max(width, 1)):
            columns = matrix[begin:, begin - width : begin]
            V, T, triangle = _reflection(columns)
            columns[: len(triangle)] = triangle
            _reflect(matrix[begin:, begin:], V, T)
            reflections.append((V, T))
        band = np.zeros((width + 1, size))
        for k in range(width + 1):
            band[k, : size - k] = matrix.diagonal(-k)
        return cls(band, reflections)

    def solve(self, right: np.ndarray, shift: float) -> np.ndarray | None:
        """Return ``(G + shift I)^-1 R``, or None if that is singular to working precision."""
        shifted = self.band.copy()
        shifted[0] += shift
        factor, info = dpbtrf(shifted, lower=True, overwrite_ab=True)
        if info or not (factor[0].min() / factor[0].max()) ** 2 > LEAST_PIVOT:
            return None
        inside = np.array(right.T, dtype=float, order="C")
        for V, T in self.reflections:
            part = inside[:, -len(V) :]
            part -= ((part @ V) @ T) @ V.T
        inside = np.ascontiguousarray(dpbtrs(factor, inside.T, lower=True)[0].T)
        for V, T in reversed(self.reflections):
            part = inside[:, -len(V) :]
            part -= ((part @ V) @ T.T) @ V.T
        return np.ascontiguousarray(inside.T)


def _reflection(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return V, T and the triangle R of a QR decomposition with ``Q = I - V T V^T``."""
    packed, tau = np.linalg.qr(columns, mode="raw")
    n_vectors = len(tau)
    V = np.tril(packed.T[:, :n_vectors], -1)
    V[np.diag_indices(n_vectors)] = 1.0
    # T^-1 is diag(1 / tau) plus what is above the diagonal of V^T V; a tau may be 0.
    inverse = np.eye(n_vectors) + tau[:, None] * np.triu(V.T @ V, 1)
    return np.asfortranarray(V), np.linalg.solve(inverse, np.diag(tau)), np.triu(packed.T)


def _reflect(S: np.ndarray, V: np.ndarray, T: np.ndarray) -> None:
    """Write ``H^T S H`` with ``H = I - V T V^T`` over the symmetric matrix S."""
    VT = V @ T
    parts = list(parts_of(len(S), BLOCK))
    X = np.concatenate(list(in_order(np.matmul, ((S[rows], VT) for rows in parts))))
    Y = X - 0.5 * (V @ (VT.T @ X))
    left, right = np.hstack([V, Y]), np.hstack([Y, V])

    def update(rows: slice) -> None:
        for columns in parts:
            if columns.start <= rows.start:
                S[rows, columns] -= left[rows] @ right[columns].T
                if columns.start < rows.start:
                    S[columns, rows] = S[rows, columns].T

    # The longest ones first, so that no thread waits for another at the end.
    deque(in_order(update, ((rows,) for rows in reversed(parts))), maxlen=0)
