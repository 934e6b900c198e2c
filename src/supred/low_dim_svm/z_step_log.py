"""The z step of the logistic loss: the proximal map of a multinomial log-loss, row by row.

    min over z   1/2 ||z - F(x)||^2 + c l(y; z),       c = C / mu

with ``l(y; z) = log sum_k exp(w_k . z + b_k) - (w_y . z + b_y)``. Two classes share one vector w:
the scores of the classes are 0 and ``w . z + b``.
"""

import numpy as np
from scipy.special import log_softmax

from supred.low_dim_svm.z_step import CHUNK

MAX_NEWTON = 100
# Sufficient decrease of a step, as a part of what its slope promises.
ARMIJO = 1e-4
DEFAULT_TOL = 1e-10
ROUNDING = 1e-14


def class_scores(Z: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Return one score per class; the first of two classes has the score 0."""
    values = Z @ coef.T + intercept
    return np.column_stack([np.zeros(len(Z)), values]) if len(coef) == 1 else values


def row_losses(scores: np.ndarray, class_index: np.ndarray) -> np.ndarray:
    """Return ``l(y; z)`` of each row from the scores of the classes."""
    return -log_softmax(scores, axis=1)[np.arange(len(class_index)), class_index]


def log_z_step(
    F: np.ndarray,
    class_index: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    *,
    start: np.ndarray | None = None,
    tol: float = DEFAULT_TOL,
) -> np.ndarray:
    """Solve the z step by Newton's method on all rows together.

    The gradient is ``z - F + c W^T (p - e_y)`` and the Hessian ``I + c W^T (diag(p) - p p^T) W``,
    with the probabilities p; steps are halved until they descend.

    Parameters
    ----------
    F : ndarray of shape (n_rows, n_dimensions)
    class_index : ndarray of shape (n_rows,)
        Index of each row's class.
    coef : ndarray of shape (n_classes, n_dimensions), or (1, n_dimensions) for two classes
    intercept : ndarray of shape (n_classes,) or (1,)
    c : float
        C / mu.
    start : ndarray of shape (n_rows, n_dimensions), optional
        Where to start; F by default.
    tol : float
        A row is finished when half its squared Newton decrement, which estimates how far its
        objective is from the optimum, is at most `tol` times the objective.

    Returns
    -------
    Z : ndarray of shape (n_rows, n_dimensions)

    Examples
    --------
    A huge c moves a row far to its side, a tiny one leaves it where it is.

    >>> import numpy as np
    >>> from supred.low_dim_svm.z_step_log import log_z_step
    >>> F, w, b = np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1)
    >>> log_z_step(F, np.array([1]), w, b, c=1e-9).round(6)
    array([[0.]])
    >>> bool(log_z_step(F, np.array([1]), w, b, c=100.0)[0, 0] > 2)
    True
    """
    W = np.vstack([np.zeros_like(coef), coef]) if len(coef) == 1 else coef
    b = np.append(0.0, intercept) if len(coef) == 1 else intercept
    Z = np.array(F if start is None else start, dtype=float)
    for begin in range(0, len(F), CHUNK):
        part = slice(begin, begin + CHUNK)
        Z[part] = _newton(F[part], class_index[part], W, b, c, Z[part], tol)
    return Z


def _newton(
    F: np.ndarray,
    class_index: np.ndarray,
    W: np.ndarray,
    b: np.ndarray,
    c: float,
    Z: np.ndarray,
    tol: float,
) -> np.ndarray:
    """Iterate on the rows that are not finished."""
    n_dimensions = F.shape[1]
    outer = np.einsum("ki,kj->kij", W, W).reshape(len(W), -1)
    result, rows = Z.copy(), np.arange(len(Z))

    def costs(points: np.ndarray) -> np.ndarray:
        near = 0.5 * np.square(points - F).sum(axis=1)
        return near + c * row_losses(points @ W.T + b, class_index)

    cost = costs(Z)
    for _ in range(MAX_NEWTON):
        p = np.exp(log_softmax(Z @ W.T + b, axis=1))
        mean = p @ W
        gradient = Z - F + c * (mean - W[class_index])
        hessian = c * (p @ outer).reshape(-1, n_dimensions, n_dimensions)
        diagonal = hessian.reshape(len(Z), -1)[:, :: n_dimensions + 1]
        # What the difference rounds by: it keeps a huge c from hiding the identity.
        rounding = ROUNDING * diagonal.sum(axis=1, keepdims=True)
        hessian -= c * mean[:, :, None] * mean[:, None, :]
        diagonal += 1.0 + rounding
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        slope = (gradient * step).sum(axis=1)
        length = np.ones(len(Z))
        for _ in range(40):
            moved = Z + length[:, None] * step
            new_cost = costs(moved)
            short = new_cost > cost + ARMIJO * length * slope
            if not short.any():
                break
            length[short] *= 0.5
        # A step that does not descend in forty halvings is at the rounding of the cost.
        descends = new_cost < cost
        Z = np.where(descends[:, None], moved, Z)
        cost = np.where(descends, new_cost, cost)
        result[rows] = Z
        unfinished = (-0.5 * slope > tol * cost) & descends
        if not unfinished.any():
            break
        rows, Z, F, class_index, cost = (
            part[unfinished] for part in (rows, Z, F, class_index, cost)
        )
    return result
