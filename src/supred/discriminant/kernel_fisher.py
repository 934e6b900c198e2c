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
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dtrtri

from supred.numerics.class_scatter import class_means, members_of
from supred.numerics.eigen import eigh
from supred.numerics.shifted_cholesky import shifted_cholesky
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
    residuals : ndarray of shape (n_rows, n_axes)
        What is left of the targets of the training rows.
    freedom : ndarray of shape (n_rows,)
        One minus the influence of each row on its own coordinates.
    """

    axes: np.ndarray
    offset: np.ndarray
    ratios: np.ndarray
    targets: np.ndarray
    residuals: np.ndarray
    freedom: np.ndarray


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
    factor, _ = shifted_cholesky(S, _ridge(alpha, float(np.trace(S))))
    H = (means - mean).T * np.sqrt(shares)  # (D, K)
    T = cho_solve((factor, True), H)
    coefficients, ratios = _axes(np.eye(n_classes) - H.T @ T)
    axes = T @ coefficients

    def influence(block: Any) -> np.ndarray:
        centred = features(block) - mean
        half = solve_triangular(factor, centred.T, lower=True)
        return np.column_stack([np.einsum("ij,ij->j", half, half), centred @ axes])

    leverages, *coordinates = rows.map(influence).T
    targets = _class_targets(shares) @ coefficients
    residuals = targets[class_index] - np.column_stack(coordinates)
    freedom = 1.0 - weights / total * (1.0 + leverages)
    return FisherSolution(axes, mean @ axes, ratios, targets, residuals, freedom)


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
    # In place: matrices of this size are most of the work.
    kernel = G - average[:, None]
    kernel -= average - share @ average
    kernel *= roots[:, None]
    kernel *= roots
    # Class means are Phi^T P E, E one column of roots per class.
    E = members_of(class_index, n_classes) * roots[:, None] / np.sqrt(shares)
    spread = float(np.trace(kernel))
    # Not below the rounding errors of a kernel that was large before it was centred.
    ridge = max(_ridge(alpha, spread), 10 * np.finfo(float).eps * float(np.abs(average).max()))
    # The centred kernel has nothing along the roots. Lifted there, its inverse is as large as
    # along the other directions, and the small differences below keep their digits.
    lift = max(spread, ridge)
    kernel += (lift * roots)[:, None] * roots
    factor, ridge = shifted_cholesky(kernel, ridge)
    lifted = ridge / (ridge + lift)
    solved = cho_solve((factor, True), E)
    # E^T kernel (kernel + ridge)^-1 E = 1 - ridge E^T (kernel + ridge)^-1 E
    along = np.sqrt(shares)  # E along = roots
    coefficients, ratios = _axes(ridge * (E.T @ solved) + (1.0 - lifted) * np.outer(along, along))
    # Rows enter as P Phi: undo the roots and the centring.
    axes = roots[:, None] * (solved @ coefficients)
    axes -= share[:, None] * axes.sum(axis=0)
    # kernel (kernel + ridge)^-1 = 1 - ridge (kernel + ridge)^-1, and the mean's own share
    inverse = np.tril(dtrtri(factor, lower=True, overwrite_c=True)[0])
    freedom = ridge * np.einsum("ij,ij->j", inverse, inverse) - lifted * share
    targets = _class_targets(shares) @ coefficients
    residuals = ridge * (solved @ coefficients) / roots[:, None]
    residuals -= share @ residuals
    return FisherSolution(axes, average @ axes, ratios, targets, residuals, freedom)


def _ridge(alpha: float, spread: float) -> float:
    """Return alpha times the total variance; where there is no spread, alpha."""
    return alpha * (spread if spread > 0 else 1.0)


def _class_targets(shares: np.ndarray) -> np.ndarray:
    """Return the centred regression targets of the classes, e_k / sqrt(share_k) - sqrt(shares).

    Their regression on the features has the coefficients (S_t + alpha I)^-1 H.
    """
    return np.diag(1.0 / np.sqrt(shares)) - np.sqrt(shares)


def _axes(rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvectors q of H^T T = 1 - rest, and its eigenvalues lambda.

    They are scaled so that T q has unit spread within the classes. Well separated classes have
    lambda near one: the rest has the digits that tell the axes apart.
    """
    within, vectors = eigh(0.5 * (rest + rest.T))
    # The K class means have K - 1 directions about their mean.
    count = max(1, min(len(within) - 1, int((within < 1.0 - RANK_TOL).sum())))
    within = np.clip(within[:count], 1e-12, 1.0 - RANK_TOL)
    # v = T q has v^T (S_t + alpha I) v = q^T H^T T q = lambda; within: lambda (1 - lambda).
    return vectors[:, :count] / np.sqrt((1.0 - within) * within), 1.0 - within


def left_out_coordinates(solution: FisherSolution, class_index: np.ndarray) -> np.ndarray:
    """Return the coordinates that each row has when it is left out, with all its weight.

    z_(-i) = t_i - (t_i - z_i) / (1 - h_i), t_i the target of the row's class and h_i its leverage:
    exact for the regression whose values the coordinates are.

    Parameters
    ----------
    solution : FisherSolution
    class_index : ndarray of shape (n_rows,)
    """
    left = np.maximum(solution.freedom, LEAST_FREEDOM)
    return solution.targets[class_index] - solution.residuals / left[:, None]
