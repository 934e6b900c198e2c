"""Kernel Fisher discriminant by regression (spectral regression), never by an n x n eigenproblem.

With features phi, the axes V maximise the spread between the class means relative to the spread
of all rows:

    S_b v = lambda (S_t + alpha I) v,   S_t = sum_i v_i phi_i phi_i^T / v,   about the mean.

S_b has rank K - 1, S_b = H H^T with H = [sqrt(v_k / v) m_k]; so one linear system with K right-hand
sides, T = (S_t + alpha I)^-1 H, and an eigenproblem of size K, H^T T q = lambda q, give all axes
V = T q. The same V solve S_b v = lambda / (1 - lambda) (S_w + alpha I) v, Fisher's own problem.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular
from scipy.linalg.lapack import dpotri

from supred.numerics.class_scatter import class_means, members_of
from supred.rows.blocks import rows_of

# Directions along which the class means differ by less than this are rounding.
RANK_TOL = 1e-10
# A row whose leverage is nearer to one has no coordinates by the others.
LEAST_FREEDOM = 1e-10


@dataclass(frozen=True)
class FisherSolution:
    """Axes of a Fisher discriminant.

    Attributes
    ----------
    axes : ndarray of shape (n_dims, n_axes)
        In terms of the features (primal) or of the rows (dual). The regularised spread within
        the classes along each is one.
    offset : ndarray of shape (n_axes,)
        Projection of the mean, to be subtracted.
    ratios : ndarray of shape (n_axes,)
        Share of the (regularised) spread along each axis that lies between the classes.
    targets : ndarray of shape (n_classes, n_axes)
        The coordinates of a row are a ridge regression on the target of its class.
    leverages : ndarray of shape (n_rows,)
        Influence of a unit of weight of each row on its own coordinates.
    """

    axes: np.ndarray
    offset: np.ndarray
    ratios: np.ndarray
    targets: np.ndarray
    leverages: np.ndarray


def fisher_of_features(
    X: Any,
    features: Callable[[Any], np.ndarray],
    class_index: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    alpha: float,
    *,
    n_dims: int,
) -> FisherSolution:
    """Solve by one factorisation of the scatter of the features, D x D.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    features : callable
        Makes a dense array of shape (n_rows_of_block, n_dims) of a block of rows.
    class_index, weights : ndarray of shape (n_rows,)
    n_classes : int
    alpha : float
        Ridge, in units of the total variance of the features; above zero.
    n_dims : int
        Numbers that `features` makes of a row; blocks of rows are sized by it.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.discriminant.kernel_fisher import fisher_of_features
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [4.0, 1.0], [4.0, -1.0]])
    >>> class_index = np.array([0, 0, 1, 1])
    >>> solution = fisher_of_features(X, lambda x: x, class_index, np.ones(4), 2, 1e-4, n_dims=2)
    >>> bool(abs(solution.axes[1, 0]) < 1e-6 * abs(solution.axes[0, 0]))
    True
    """
    rows = rows_of(X, n_dims)
    total = weights.sum()
    shares = np.bincount(class_index, weights=weights, minlength=n_classes) / total
    means = class_means(rows, features, members_of(class_index, n_classes), weights)
    mean = shares @ means

    def scatter(block: Any, weights: np.ndarray) -> np.ndarray:
        centred = (features(block) - mean) * np.sqrt(weights / total)[:, None]
        return centred.T @ centred

    S = rows.sum(scatter, weights)
    S[np.diag_indices_from(S)] += _ridge(alpha, float(np.trace(S)))
    H = (means - mean).T * np.sqrt(shares)  # (D, K)
    factor = cho_factor(S, lower=True)
    T = cho_solve(factor, H)
    coefficients, ratios = _axes(H.T @ T)
    axes = T @ coefficients

    def leverage(block: Any) -> np.ndarray:
        half = solve_triangular(factor[0], (features(block) - mean).T, lower=True)
        return np.einsum("ij,ij->j", half, half)

    leverages = (1.0 + rows.map(leverage)) / total
    targets = _class_targets(shares) @ coefficients
    return FisherSolution(axes, mean @ axes, ratios, targets, leverages)


def fisher_of_kernel(
    G: np.ndarray, class_index: np.ndarray, weights: np.ndarray, n_classes: int, alpha: float
) -> FisherSolution:
    """Solve by one factorisation of the kernel matrix of all rows, n x n.

    (S_t + alpha I)^-1 Phi^T P = Phi^T P (P Phi Phi^T P + alpha I)^-1, where P centres the rows and
    holds the roots of their weights: all is said in terms of the kernel.

    Parameters
    ----------
    G : ndarray of shape (n_rows, n_rows)
        Kernel matrix of the training rows.
    class_index, weights, n_classes, alpha
        As in :func:`fisher_of_features`.
    """
    total = weights.sum()
    share = weights / total
    shares = np.bincount(class_index, weights=share, minlength=n_classes)
    roots = np.sqrt(share)
    average = G @ share
    centred = G - average[:, None] - average[None, :] + share @ average
    kernel = roots[:, None] * centred * roots
    # Class means are Phi^T P E, E one column of roots per class.
    E = members_of(class_index, n_classes) * roots[:, None] / np.sqrt(shares)
    system = kernel.copy()
    system[np.diag_indices_from(system)] += _ridge(alpha, float(np.trace(kernel)))
    ridge = _ridge(alpha, float(np.trace(kernel)))
    factor = cho_factor(system, lower=True, overwrite_a=True)
    solved = cho_solve(factor, E)
    coefficients, ratios = _axes(E.T @ (kernel @ solved))
    # Rows enter as P Phi: undo the roots and the centring.
    axes = roots[:, None] * (solved @ coefficients)
    axes -= share[:, None] * axes.sum(axis=0)
    # kernel (kernel + ridge)^-1 = 1 - ridge (kernel + ridge)^-1
    diagonal = np.diag(dpotri(factor[0], lower=True)[0])
    leverages = 1.0 / total + (1.0 - ridge * diagonal) / weights
    targets = _class_targets(shares) @ coefficients
    return FisherSolution(axes, average @ axes, ratios, targets, leverages)


def _ridge(alpha: float, spread: float) -> float:
    """Return alpha times the total variance; where there is no spread, alpha."""
    return alpha * (spread if spread > 0 else 1.0)


def _class_targets(shares: np.ndarray) -> np.ndarray:
    """Return the centred regression targets of the classes, e_k / sqrt(share_k) - sqrt(shares).

    Their regression on the features has the coefficients (S_t + alpha I)^-1 H.
    """
    return np.diag(1.0 / np.sqrt(shares)) - np.sqrt(shares)


def _axes(product: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvectors q of H^T T, scaled so that T q has unit spread within the classes."""
    values, vectors = eigh(0.5 * (product + product.T))
    values, vectors = values[::-1], vectors[:, ::-1]
    # The K class means have K - 1 directions about their mean.
    count = min(len(values) - 1, int((values > RANK_TOL).sum()))
    values = np.clip(values[: max(count, 1)], RANK_TOL, 1.0 - 1e-12)
    # v = T q has v^T (S_t + alpha I) v = q^T H^T T q = lambda; within: lambda (1 - lambda).
    return vectors[:, : len(values)] / np.sqrt(values * (1.0 - values)), values


def left_out_coordinates(
    Z: np.ndarray, solution: FisherSolution, class_index: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the coordinates that each row has when it is left out.

    z_(-i) = (z_i - h_i t_i) / (1 - h_i), t_i the target of the row's class and h_i its leverage:
    exact for the regression whose values the coordinates are.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_axes)
        Coordinates of the training rows.
    solution : FisherSolution
    class_index : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
        What is left out with each row: its weight and that of its copies.
    """
    leverage = (solution.leverages * weights)[:, None]
    left = np.maximum(1.0 - leverage, LEAST_FREEDOM)
    return (Z - leverage * solution.targets[class_index]) / left
