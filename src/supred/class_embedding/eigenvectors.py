"""Leading eigenvectors of a normalised graph, by the method that suits its size and shape.

The eigenvectors of eigenvalue one are known beforehand (one for each connected part). They are
taken out of the matrix, so that the largest eigenvalue left is the first that is wanted and a
zero of the Laplacian never has to be told from a small eigenvalue.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from supred.common.warn import warn_caller
from supred.numerics.eigen import eigh

METHODS = ("dense", "lanczos", "shift-invert")
DENSE_UP_TO = 600
LANCZOS_UP_TO = 10_000
# Distance of the shift from one, the largest eigenvalue.
SHIFT = 1e-7
# The profile of a graph, the mean reach of a row in Cuthill and McKee's order, is about
# 2 sqrt(n) for a sheet of n rows and grows faster where there are more dimensions. Up to this
# many times sqrt(n) a factorisation has little fill. Where it has much, eigenvalues are farther
# apart and Lanczos needs few steps (100 000 rows: 4 s against 23 on a sheet; 11 s in a cube,
# whose factors would take gigabytes).
THIN = 4.0
MANY_EDGES = 10
# Tolerances tried in turn where Lanczos does not converge; the last accepts what there is.
LOOSER = (1e-4, 1e-2, 1.0)


@dataclass(frozen=True)
class Eigenvectors:
    """Largest eigenvalues of a symmetric matrix and their vectors.

    Attributes
    ----------
    values : ndarray of shape (n_vectors,)
        In falling order.
    vectors : ndarray of shape (n_nodes, n_vectors)
        Orthonormal columns.
    method : str
        One of ``METHODS``.
    stopping_reason : str
        "exact", "converged" or "max_iter".
    residual : float
        Largest norm of ``A v - value v``.
    n_iter : int
        Products with the matrix, or with its shifted inverse; 1 for the dense method.
    """

    values: np.ndarray
    vectors: np.ndarray
    method: str
    stopping_reason: str
    residual: float
    n_iter: int


def leading_eigenvectors(
    A: sparse.csr_array,
    known: np.ndarray,
    n_vectors: int,
    *,
    method: str = "auto",
    tol: float = 0.0,
    max_iter: int | None = None,
) -> Eigenvectors:
    """Return the eigenvectors of the largest eigenvalues of `A` that are orthogonal to `known`.

    Parameters
    ----------
    A : sparse array of shape (n_nodes, n_nodes)
        Symmetric, eigenvalues in [-1, 1].
    known : ndarray of shape (n_nodes, n_known)
        Orthonormal eigenvectors of eigenvalue 1, all of them.
    n_vectors : int
        At least 1.
    method : {"auto", "dense", "lanczos", "shift-invert"}
    tol : float
        Relative accuracy of the eigenvalues; 0 is machine precision.
    max_iter : int or None
        Restarts of the Lanczos method.
    """
    n_nodes = A.shape[0]
    if method == "auto":
        method = choose_method(A, n_vectors, known.shape[1])
    if method == "dense":
        # Moving the known vectors to -2 puts them behind all others.
        matrix = A.toarray() - 3.0 * known @ known.T
        values, vectors = eigh(matrix, subset_by_index=(n_nodes - n_vectors, n_nodes - 1))
        stopping, n_iter = "exact", 1
    else:
        # The products are too small for threads, which only get in each other's way.
        with threadpool_limits(limits=1, user_api="blas"):
            if method == "lanczos":
                values, vectors, stopping, n_iter = lanczos(A, known, n_vectors, tol, max_iter)
            else:
                values, vectors, stopping, n_iter = shift_invert(A, known, n_vectors, tol)
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    residual = float(np.linalg.norm(A @ vectors - vectors * values, axis=0).max())
    if stopping == "max_iter":
        warn_caller(
            f"The eigenvectors did not converge in max_iter={max_iter} restarts (the residual is "
            f"{residual:.1e}); raise max_iter or use eigen_solver='shift-invert'.",
            ConvergenceWarning,
        )
    return Eigenvectors(values, vectors, method, stopping, residual, n_iter)


def choose_method(A: sparse.csr_array, n_vectors: int, n_known: int) -> str:
    """Choose dense, Lanczos or shift-invert by the size and the thinness of the graph."""
    n_nodes = A.shape[0]
    if n_nodes <= DENSE_UP_TO or 3 * (n_vectors + n_known) >= n_nodes:
        return "dense"
    if n_nodes <= LANCZOS_UP_TO or profile(A) > THIN * np.sqrt(n_nodes):
        return "lanczos"
    return "shift-invert"


def profile(A: sparse.csr_array) -> float:
    """Return how far a row of `A` reaches before its diagonal, on average, once reordered.

    Nodes with very many edges, as those of classes, are left out: they are eliminated last.
    """
    n_edges = np.diff(A.indptr)
    few = np.flatnonzero(n_edges <= MANY_EDGES * np.median(n_edges))
    matrix = sparse.csr_matrix(A[few][:, few])
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    place = np.argsort(order)
    heads = np.repeat(place, np.diff(matrix.indptr))
    tails = place[matrix.indices]
    first = np.arange(len(order))
    np.minimum.at(first, heads, tails)
    return float((np.arange(len(order)) - first).mean())


def lanczos(
    A: sparse.csr_array,
    known: np.ndarray,
    n_vectors: int,
    tol: float,
    max_iter: int | None,
) -> tuple[np.ndarray, np.ndarray, str, int]:
    """Find the largest eigenvalues by products with `A` alone."""
    operator = _Counted(A.shape, lambda x: A @ x - 3.0 * (known @ (known.T @ x)))
    stopping = "converged"
    for tolerance in (tol, *LOOSER):
        try:
            values, vectors = eigsh(
                operator,
                k=n_vectors,
                which="LA",
                ncv=_basis(n_vectors, A.shape[0]),
                tol=tolerance,
                maxiter=max_iter,
                v0=_start(A.shape[0]),
            )
            return values, vectors, stopping, operator.count
        except ArpackNoConvergence:
            stopping = "max_iter"
    raise AssertionError("the last tolerance accepts any vectors")


def shift_invert(
    A: sparse.csr_array, known: np.ndarray, n_vectors: int, tol: float
) -> tuple[np.ndarray, np.ndarray, str, int]:
    """Find the eigenvalues nearest to a shift just above one, with a factorisation.

    The order of minimum degree eliminates class nodes last, so that their long rows make no fill.
    """
    shift = 1.0 + SHIFT
    n_nodes = A.shape[0]
    factor = splu(
        (shift * sparse.csr_array(sparse.identity(n_nodes)) - A).tocsc(),  # positive definite
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

    def solve(x: np.ndarray) -> np.ndarray:
        """Apply (A - 3 known known^T - shift)^-1."""
        inside = known.T @ x
        y = factor.solve(x - known @ inside)
        y -= known @ (known.T @ y)
        return -(y + known @ (inside / (shift + 2.0)))

    inverse = _Counted(A.shape, solve)
    values, vectors = eigsh(
        A,  # only its shape and type matter: all products are with the inverse
        k=n_vectors,
        sigma=shift,
        which="LM",
        OPinv=inverse,
        ncv=_basis(n_vectors, n_nodes),
        tol=tol,
        v0=_start(n_nodes),
    )
    return values, vectors, "converged", inverse.count


class _Counted(LinearOperator):
    """A symmetric matrix given by its product with a vector, which counts these products."""

    def __init__(self, shape: tuple[int, int], product: Callable[[np.ndarray], np.ndarray]) -> None:
        super().__init__(dtype=np.dtype(float), shape=shape)
        self.product = product
        self.count = 0

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        self.count += 1
        return self.product(x.ravel())


def _basis(n_vectors: int, n_nodes: int) -> int:
    """Return how many vectors to keep: many make few restarts where eigenvalues are close."""
    return min(n_nodes, max(4 * n_vectors + 1, 40))


def _start(n_nodes: int) -> np.ndarray:
    """Return the same start on every run: no vector of interest is orthogonal to it."""
    return np.random.default_rng(0).uniform(-1.0, 1.0, n_nodes)
