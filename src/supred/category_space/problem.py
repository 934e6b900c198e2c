"""From rows to the scatters of a category space: origin, whitening, and what to keep.

Rows enter as features: a dense array per block of rows (the features themselves about a fixed
point, or those of a kernel).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from supred.numerics.class_scatter import (
    ClassRows,
    MatrixScatters,
    RowScatters,
    Scatters,
    class_means,
    within_scatters,
)
from supred.rows.blocks import rows_of

ORIGINS = ("global", "class", "zero")
# Ridge of the whitening, as a fraction of the mean variance within the classes.
WHITENING_RIDGE = 1e-3


@dataclass(frozen=True)
class CategoryProblem:
    """What the solvers need, in the coordinates in which the axes are orthonormal.

    Attributes
    ----------
    scatters : MatrixScatters or RowScatters
        The R_k.
    classes : tuple of ClassRows, or None
        The rows of each class about its origin; only made for the absolute criterion.
    class_means : ndarray of shape (n_classes, n_dims)
        Mean of each class.
    mean : ndarray of shape (n_dims,)
        Mean of all rows.
    rms_distance : float
        Root mean square distance of the rows to their mean.
    whitener, unwhitener : ndarray of shape (n_dims, n_dims), or None
        S^(-1/2) and S^(1/2), S the pooled covariance within the classes plus its ridge.
    """

    scatters: Scatters
    classes: tuple[ClassRows, ...] | None
    class_means: np.ndarray
    mean: np.ndarray
    rms_distance: float
    whitener: np.ndarray | None
    unwhitener: np.ndarray | None


def build_problem(
    X: Any,
    features: Callable[[Any], np.ndarray],
    codes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    *,
    n_dims: int,
    origin: str,
    whiten: bool = False,
    keep_rows: bool = False,
    ridge_dims: int | None = None,
) -> CategoryProblem:
    """Make the scatters of each class.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    features : callable
        Makes a dense array of shape (n_rows_of_block, n_dims) of a block of rows.
    codes, weights : ndarray of shape (n_rows,)
        Index of each row's class, and its positive weight.
    n_classes, n_dims : int
    origin : {"global", "class", "zero"}
        The o_k: the mean of all rows, the mean of class k, or zero.
    whiten : bool, default=False
        First divide by the pooled covariance within the classes.
    keep_rows : bool, default=False
        Whether the rows of the classes are needed (absolute criterion).
    ridge_dims : int, optional
        Number of dimensions that the ridge of the whitening counts, if not `n_dims`.
    """
    rows = rows_of(X, n_dims)
    totals = np.bincount(codes, weights=weights, minlength=n_classes)
    means = class_means(rows, features, codes, weights, n_classes)
    mean = totals @ means / totals.sum()
    origins = {"global": np.tile(mean, (n_classes, 1)), "class": means, "zero": 0 * means}[origin]
    # The matrices take K D^2 numbers, the rows n D.
    few_dims = n_classes * n_dims <= rows.n_rows
    whitener = unwhitener = None
    if few_dims and not keep_rows:
        R = within_scatters(rows, features, codes, weights, means)
        if whiten:
            whitener, unwhitener = whitening(R.sum(axis=0) / totals.sum(), ridge_dims)
        offsets = means - origins
        R += totals[:, None, None] * offsets[:, :, None] * offsets[:, None, :]
        if whitener is not None:
            R, means, mean = whitener @ R @ whitener, means @ whitener, mean @ whitener
        return CategoryProblem(MatrixScatters(R), None, means, mean, np.nan, whitener, unwhitener)
    Phi = rows.map(features)  # (n, D)
    if whiten:
        centred = (Phi - means[codes]) * np.sqrt(weights)[:, None]
        whitener, unwhitener = whitening(centred.T @ centred / totals.sum(), ridge_dims)
        Phi, means, mean, origins = (A @ whitener for A in (Phi, means, mean, origins))
    members = [np.flatnonzero(codes == k) for k in range(n_classes)]
    nothing = np.zeros(n_dims)
    classes = tuple(
        ClassRows(Phi[chosen] - origins[k], weights[chosen], nothing)
        for k, chosen in enumerate(members)
    )
    scatters: Scatters = RowScatters(classes)
    if few_dims:
        scatters = MatrixScatters(
            np.array([(c.rows * c.weights[:, None]).T @ c.rows for c in classes])
        )
    distances = np.einsum("ij,ij->i", Phi - mean, Phi - mean)
    rms = float(np.sqrt(weights @ distances / totals.sum()))
    return CategoryProblem(
        scatters, classes if keep_rows else None, means, mean, rms, whitener, unwhitener
    )


def build_sparse_problem(
    X: Any,
    center: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    *,
    origin: str,
    keep_rows: bool = False,
) -> CategoryProblem:
    """Make the scatters of sparse rows of many features without making anything dense.

    Means are given about `center`, as :func:`build_problem` gives them for the features
    ``x - center``; the other parameters are the same.
    """
    members = [np.flatnonzero(codes == k) for k in range(n_classes)]
    totals = np.bincount(codes, weights=weights, minlength=n_classes)
    X = X.tocsr().astype(np.float64)
    means = np.array([weights[rows] @ X[rows] / totals[k] for k, rows in enumerate(members)])
    mean = totals @ means / totals.sum()
    origins = {"global": np.tile(mean, (n_classes, 1)), "class": means, "zero": 0 * means}[origin]
    classes = tuple(ClassRows(X[rows], weights[rows], origins[k]) for k, rows in enumerate(members))
    whole = RowScatters((ClassRows(X, weights, mean),))
    rms = float(np.sqrt(whole.traces()[0] / totals.sum()))
    return CategoryProblem(
        RowScatters(classes),
        classes if keep_rows else None,
        means - center,
        mean - center,
        rms,
        None,
        None,
    )


def whitening(S: np.ndarray, ridge_dims: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (S + ridge I)^(-1/2) and (S + ridge I)^(1/2), ridge = 1e-3 tr S / D.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.problem import whitening
    >>> whitener, unwhitener = whitening(np.diag([4.0, 9.0]))
    >>> whitener.round(3)
    array([[0.5  , 0.   ],
           [0.   , 0.333]])
    """
    values, vectors = eigh(S)
    ridge = WHITENING_RIDGE * float(np.trace(S)) / (ridge_dims or len(S))
    # Classes without any spread leave nothing to divide by.
    roots = np.sqrt(np.maximum(values, 0.0) + ridge) if ridge > 0 else np.ones(len(S))
    return (vectors / roots) @ vectors.T, (vectors * roots) @ vectors.T


def orient(W: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Turn each axis so that the mean of its class is on its positive side.

    The criteria do not see the sign of an axis.
    """
    side = np.einsum("dk,kd->k", W, means)
    largest = np.take_along_axis(W, np.abs(W).argmax(axis=0)[None], axis=0)[0]
    clear = np.abs(side) > 1e-9 * np.linalg.norm(means, axis=1)
    return W * np.where(np.where(clear, side, largest) < 0, -1.0, 1.0)
