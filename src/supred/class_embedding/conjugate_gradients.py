"""Conjugate gradients for several right sides at once."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

TINY, EPSILON = np.finfo(float).tiny, np.finfo(float).eps


@dataclass(frozen=True)
class Solution:
    """Solutions of linear systems with one matrix.

    Attributes
    ----------
    values : ndarray of shape (n_nodes, n_columns)
    n_iter : int
        Products with the matrix.
    residual : float
        Largest relative residual of a column.
    stopping_reason : str
        "converged" or "max_iter".
    """

    values: np.ndarray
    n_iter: int
    residual: float
    stopping_reason: str


def conjugate_gradients(
    S: sparse.csr_array,
    degrees: np.ndarray,
    right: np.ndarray,
    *,
    start: np.ndarray | None = None,
    tol: float = 1e-5,
    max_iter: int = 2000,
) -> Solution:
    """Solve (D - S) X = B, D diagonal, S symmetric and not negative, for all columns of B.

    SciPy's solver takes one right side. Here the columns share each product with the sparse
    matrix. The diagonal is the preconditioner, and each may have its own.

    Parameters
    ----------
    S : sparse array of shape (n_nodes, n_nodes)
    degrees : ndarray of shape (n_nodes,), (n_nodes, 1) or (n_nodes, n_columns)
        The diagonal of D, or one for each column: at least the sums of the rows of S. A node
        without degree stays where it starts.
    right : ndarray of shape (n_nodes, n_columns)
    start : ndarray of shape (n_nodes, n_columns) or None
    tol : float
        Residual at which to stop, relative to the right side, both in the norm that the
        preconditioner gives and in the largest entry of D^-1 times it, without which rows of
        small degree would not count.
    max_iter : int

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from supred.class_embedding.conjugate_gradients import conjugate_gradients
    >>> S = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> conjugate_gradients(S, np.array([2.0, 2.0]), np.array([[3.0], [0.0]])).values.ravel()
    array([2., 1.])
    """
    X = np.zeros_like(right, dtype=float) if start is None else np.array(start, dtype=float)
    degrees = degrees.reshape(len(right), -1)
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    residual = right - (degrees * X - S @ X)
    scaled = inverse * residual
    step = scaled.copy()
    size = np.einsum("ij,ij->j", residual, step)
    whole = np.maximum(np.einsum("ij,ij->j", right, inverse * right), TINY)
    top = np.maximum(np.abs(inverse * right).max(axis=0), TINY)
    n_iter, room = 0, np.empty_like(X)
    relative = _relative_residual(size / whole, scaled, top, tol)
    while relative > tol and n_iter < max_iter:
        product = degrees * step
        product -= S @ step
        length = _ratios(size, np.einsum("ij,ij->j", step, product))
        X += np.multiply(length, step, out=room)
        residual -= np.multiply(length, product, out=product)
        np.multiply(inverse, residual, out=scaled)
        before, size = size, np.einsum("ij,ij->j", residual, scaled)
        step *= _ratios(size, before)
        step += scaled
        n_iter += 1
        relative = _relative_residual(size / whole, scaled, top, tol)
    return Solution(X, n_iter, relative, "converged" if relative <= tol else "max_iter")


def _ratios(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return above / below, and 0 where below is lost in rounding: that column stays as it is."""
    usable = below > EPSILON * EPSILON * above
    return np.where(usable, above, 0.0) / np.where(usable, below, 1.0)


def _relative_residual(
    energy: np.ndarray, scaled: np.ndarray, top: np.ndarray, tol: float
) -> float:
    """Return the larger of both residuals; the first alone while it is above `tol`."""
    relative = float(np.sqrt(energy.max()))
    if relative > tol:
        return relative
    return max(relative, float((np.abs(scaled).max(axis=0) / top).max()))
