"""Products of large dense matrices, all by the same BLAS.

NumPy and SciPy each bring a BLAS with threads of its own, and the threads of one go on waiting for
work for a tenth of a second after its last product. A factor by SciPy's LAPACK right after a
product by NumPy then shares the cores with threads that do nothing: measured on two cores, a
Cholesky factor of 2500 x 2500 takes 0.15 s instead of 0.10, and a product of a few milliseconds
a tenth of a second. So the large products of a fit are SciPy's, like its factors, and the small
ones between them are held to one thread (`one_blas_thread`) or done without a BLAS.

SciPy's products do not let other threads of Python run meanwhile. Where there may be others that
wait, as on a worker of a cluster, NumPy multiplies.
"""

import threading

import numpy as np
from scipy.linalg.blas import dgemm, sgemm


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A B, in the order (C or Fortran) of A.

    Parameters
    ----------
    A, B : ndarrays of shape (n, k) and (k, m)
        Both in single or both in double precision, else NumPy multiplies them, as it does in
        threads other than the main one, and with a single row, which must not wait for SciPy's
        checks. They are not copied where they are contiguous in C or in Fortran order.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.products import product
    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if len(A) == 1 or threading.current_thread() is not threading.main_thread():
        return A @ B
    gemm = {("f", "f"): sgemm, ("d", "d"): dgemm}.get((A.dtype.char, B.dtype.char))
    if gemm is None or 0 in (*A.shape, *B.shape):
        return A @ B
    # BLAS has columns first: what lies in rows is its own transpose there. A large A that is not
    # turned, whichever side of the product it is on, is the quicker way.
    if A.flags.c_contiguous:
        left, turned = (B, True) if B.flags.f_contiguous else (B.T, False)
        return gemm(1.0, left, A.T, trans_a=turned).T
    right, turned = (B.T, True) if B.flags.c_contiguous else (B, False)
    return gemm(1.0, A, right, trans_b=turned)
