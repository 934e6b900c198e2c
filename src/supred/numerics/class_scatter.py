"""The scatter R_k of each class about an origin, as something that multiplies vectors.

    R_k = sum_i v_i (x_i - o_k)(x_i - o_k)^T    over the rows i of class k, with weights v_i.

With many rows the matrices themselves are kept (an iteration then needs no pass over the
rows); with many dimensions the rows are kept, and no square matrix of that size is ever made.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import svd
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from supred.numerics.eigen import eigh
from supred.rows.blocks import Rows

# Up to this size all eigenvectors of a dense matrix come quicker than one by Lanczos.
DENSE_SIZE = 100
# Rows of so few numbers, times the classes, are multiplied by all axes at once.
FEW_NUMBERS = 300_000
# Relative accuracy of the largest of many eigenvalues that are nearly equal.
CLUSTERED = 1e-9
# A matrix up to this size is taken as a whole where Lanczos does not find its eigenvalue.
MOST_DENSE = 3000
# A restart of Lanczos for so many rows of the matrix takes about as long as that.
ROWS_PER_RESTART = 15


@dataclass(frozen=True)
class ClassRows:
    """The rows of one class about an origin that is subtracted on the fly.

    Attributes
    ----------
    rows : ndarray or sparse matrix of shape (n_rows_of_class, n_dims)
    weights : ndarray of shape (n_rows_of_class,)
    origin : ndarray of shape (n_dims,)
    """

    rows: Any
    weights: np.ndarray
    origin: np.ndarray

    def project(self, U: np.ndarray) -> np.ndarray:
        """Return (x_i - o) . u of each row, for one vector or the columns of a matrix."""
        return self.rows @ U - self.origin @ U

    def pull(self, t: np.ndarray) -> np.ndarray:
        """Return sum_i t_i (x_i - o), the adjoint of `project`."""
        total = t.sum(axis=0)
        shift = self.origin * total if t.ndim == 1 else np.outer(self.origin, total)
        return self.rows.T @ t - shift

    def scatter(self, U: np.ndarray) -> np.ndarray:
        """Return R u for one vector or the columns of a matrix."""
        projected = self.project(U)
        weights = self.weights if projected.ndim == 1 else self.weights[:, None]
        return self.pull(weights * projected)


class MatrixScatters:
    """The scatters as an array of shape (n_classes, n_dims, n_dims)."""

    def __init__(self, matrices: np.ndarray) -> None:
        self.matrices = matrices
        self.n_classes, self.n_dims = matrices.shape[:2]

    def apply(self, W: np.ndarray) -> np.ndarray:
        """Return [R_1 w_1, ..., R_K w_K], shape (n_dims, n_classes)."""
        return np.matmul(self.matrices, W.T[:, :, None])[:, :, 0].T

    def apply_one(self, k: int, U: np.ndarray) -> np.ndarray:
        """Return R_k u for one vector or the columns of a matrix."""
        return self.matrices[k] @ U

    def traces(self) -> np.ndarray:
        """Return the total spread of each class, tr R_k."""
        return np.trace(self.matrices, axis1=1, axis2=2)

    def divided_by(self, unit: float) -> "MatrixScatters":
        """Return the R_k / unit."""
        return MatrixScatters(self.matrices / unit)


class RowScatters:
    """The scatters by the rows of each class."""

    def __init__(self, classes: tuple[ClassRows, ...]) -> None:
        self.classes = classes
        self.n_classes, self.n_dims = len(classes), int(classes[0].rows.shape[1])
        sizes = [len(c.weights) for c in classes]
        few = self.n_classes * self.n_dims * sum(sizes) <= FEW_NUMBERS
        self._together: tuple[np.ndarray, np.ndarray] | None = None
        if few and all(isinstance(c.rows, np.ndarray) for c in classes):
            rows = np.vstack([c.rows - c.origin for c in classes])
            own = np.repeat(np.arange(self.n_classes), sizes)[:, None] == np.arange(self.n_classes)
            self._together = rows, own * np.concatenate([c.weights for c in classes])[:, None]

    def apply(self, W: np.ndarray) -> np.ndarray:
        """Return [R_1 w_1, ..., R_K w_K], shape (n_dims, n_classes)."""
        if self._together is not None:
            rows, weights = self._together
            return rows.T @ (weights * (rows @ W))
        return np.column_stack([c.scatter(W[:, k]) for k, c in enumerate(self.classes)])

    def apply_one(self, k: int, U: np.ndarray) -> np.ndarray:
        """Return R_k u for one vector or the columns of a matrix."""
        return self.classes[k].scatter(U)

    def traces(self) -> np.ndarray:
        """Return the total spread of each class, tr R_k."""
        return np.array([_spread(c) for c in self.classes])

    def divided_by(self, unit: float) -> "RowScatters":
        """Return the R_k / unit: the same rows with smaller weights."""
        return RowScatters(tuple(replace(c, weights=c.weights / unit) for c in self.classes))


Scatters = MatrixScatters | RowScatters


def leading_eigenpair(scatters: Scatters, k: int) -> tuple[float, np.ndarray]:
    """Return the largest eigenvalue of R_k and its eigenvector."""
    if isinstance(scatters, RowScatters):
        c = scatters.classes[k]
        if isinstance(c.rows, np.ndarray) and len(c.rows) <= min(DENSE_SIZE, scatters.n_dims):
            # A class of few rows: the eigenvector is a combination of them.
            rows = np.sqrt(c.weights)[:, None] * (c.rows - c.origin)
            value, shares = largest_eigenpair(lambda U: rows @ (rows.T @ U), len(rows))
            vector = shares @ rows
            if (length := float(np.linalg.norm(vector))) > 0:
                return value, vector / length
    return largest_eigenpair(lambda U: scatters.apply_one(k, U), scatters.n_dims)


def largest_eigenpair(
    multiply: Callable[[np.ndarray], np.ndarray], size: int, *, tol: float = 0.0
) -> tuple[float, np.ndarray]:
    """Return the largest eigenvalue of a symmetric operator and its eigenvector.

    Parameters
    ----------
    multiply : callable
        Multiplies one vector or the columns of a matrix.
    size : int
        Number of dimensions.
    tol : float, default=0
        Relative accuracy of Lanczos; 0 means machine precision.
    """
    if size <= DENSE_SIZE:
        return _largest_of_matrix(multiply(np.eye(size)))
    start = np.random.default_rng(0).standard_normal(size)
    image = multiply(start)
    if not image.any():
        return 0.0, start / np.linalg.norm(start)
    operator = LinearOperator((size, size), matvec=multiply, matmat=multiply, dtype=float)
    # With many eigenvalues beside the largest the last digits are noise.
    restarts = 5 + size // ROWS_PER_RESTART if size <= MOST_DENSE else 5 * size
    for accuracy, steps in ((tol, restarts), (max(tol, CLUSTERED), 20 * size)):
        options: dict[str, Any] = {"v0": start, "tol": accuracy, "maxiter": steps}
        try:
            values, vectors = eigsh(operator, k=1, which="LA", **options)
        except ArpackNoConvergence as error:
            if size <= MOST_DENSE:
                return _largest_of_matrix(multiply(np.eye(size)))
            failure = error
        else:
            return float(values[0]), vectors[:, 0]
    raise RuntimeError(
        f"the largest eigenvalue of a {size} x {size} matrix was not found: the largest ones are "
        "next to equal, or X lies far from its origin; center X, and leave out features that "
        "say nothing."
    ) from failure


def _largest_of_matrix(matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the largest eigenvalue of a matrix that is symmetric but for rounding."""
    last = len(matrix) - 1
    values, vectors = eigh(0.5 * (matrix + matrix.T), subset_by_index=(last, last))
    return float(values[0]), vectors[:, 0]


def polar(B: np.ndarray) -> np.ndarray:
    """Return the nearest matrix with orthonormal columns, U V^T of the thin SVD B = U S V^T.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.class_scatter import polar
    >>> polar(np.array([[2.0, 0.0], [0.0, 3.0], [0.0, 0.0]]))
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    try:
        U, _, Vt = np.linalg.svd(B, full_matrices=False)
    except np.linalg.LinAlgError:  # the quick algorithm can fail where the slow one does not
        U, _, Vt = svd(B, full_matrices=False, lapack_driver="gesvd")
    return U @ Vt


def members_of(class_index: np.ndarray, n_classes: int) -> np.ndarray:
    """Return which rows belong to which class, bool of shape (n_rows, n_classes)."""
    return class_index[:, None] == np.arange(n_classes)


def class_means(
    rows: Rows, features: Callable[[Any], np.ndarray], members: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the weighted mean of the features of each class, in one pass over the rows.

    Parameters
    ----------
    rows : Rows
    features : callable
        Makes a dense array of shape (n_rows_of_block, n_dims) of a block.
    members : ndarray of bool, shape (n_rows, n_classes)
        Which rows belong to which class; a row may belong to several, or to none.
    weights : ndarray of shape (n_rows,)

    Returns
    -------
    means : ndarray of shape (n_classes, n_dims)
    """
    shares = members * weights[:, None]

    def sums(block: Any, shares: np.ndarray) -> np.ndarray:
        return shares.T @ features(block)

    return rows.sum(sums, shares) / shares.sum(axis=0)[:, None]


def within_scatters(
    rows: Rows,
    features: Callable[[Any], np.ndarray],
    members: np.ndarray,
    weights: np.ndarray,
    means: np.ndarray,
) -> np.ndarray:
    """Return the scatter of each class about its own mean, in one pass over the rows.

    The parameters are those of :func:`class_means`, and the means it returned.

    Returns
    -------
    scatters : ndarray of shape (n_classes, n_dims, n_dims)
    """

    def scatter(block: Any, members: np.ndarray, weights: np.ndarray) -> np.ndarray:
        values = features(block)
        result = np.zeros((*means.shape, means.shape[1]))
        for k, mean in enumerate(means):
            chosen = members[:, k]
            centred = values[chosen] - mean
            result[k] = (centred * weights[chosen, None]).T @ centred
        return result

    return rows.sum(scatter, members, weights)


def _spread(c: ClassRows) -> float:
    """Return sum_i v_i ||x_i - o||^2."""
    if hasattr(c.rows, "multiply"):
        squares = np.asarray(c.rows.multiply(c.rows).sum(axis=1)).ravel()
        squares = squares - 2 * (c.rows @ c.origin) + c.origin @ c.origin
    else:
        shifted = c.rows - c.origin
        squares = np.einsum("ij,ij->i", shifted, shifted)
    return float(c.weights @ np.maximum(squares, 0.0))
