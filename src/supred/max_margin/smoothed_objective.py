"""The objective of a shared projection on factors of the weights, smoothed for L-BFGS.

(1) is the objective of :mod:`supred.max_margin.projection`; its weights are Omega = L R.
"""

import numpy as np
from scipy import linalg

from supred.max_margin.task_svms import Tasks

# A direction of the start that no task uses gets this fraction of the largest weight: a factor
# of zero would have no gradient.
LEAST_WEIGHT = 1e-3


def huberised_hinge(slack: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Return h(e) and h'(e) of a hinge max(0, e) that is rounded over ``0 < e < width``.

    h(e) = 0 for e <= 0, e^2 / (2 width) up to e = width, and e - width / 2 from there: never
    above the hinge and at most width / 2 below it.
    """
    slope = np.minimum(np.maximum(slack / width, 0.0), 1.0)
    return slope * (slack - 0.5 * width * slope), slope


def smoothed_objective(
    point: np.ndarray, tasks: Tasks, n_components: int, width: float
) -> tuple[float, np.ndarray]:
    """Return a smooth majorant of (1) on factors, and its gradient, at `point` = (L, R, b).

    1/2 ||L R||_F^2 + sum_ik u_ik (h(1 - y_ik (x_i L R + b)_k) + width / 2),

    L (D x d), R (d x K). The constant width / 2 puts it above the hinge, and it falls as the
    width does, so that it never rises from one iteration or one width to the next.
    """
    L, R, b = factors_at(point, tasks, n_components)
    projected = tasks.rows @ L  # (n, d)
    loss, slope = huberised_hinge(1.0 - tasks.signs * (projected @ R + b), width)
    overlap = L.T @ L  # (d, d): ||L R||^2 = tr R^T (L^T L) R
    value = 0.5 * float(np.vdot(R, overlap @ R)) + float(np.vdot(tasks.bounds, loss + 0.5 * width))
    pull = tasks.bounds * slope * tasks.signs  # (n, K), dual variables times signs
    gradient_L = L @ (R @ R.T) - tasks.rows.T @ (pull @ R.T)
    gradient_R = overlap @ R - projected.T @ pull
    return value, np.concatenate([gradient_L.ravel(), gradient_R.ravel(), -pull.sum(axis=0)])


def factors_at(
    point: np.ndarray, tasks: Tasks, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split a point into L (D x d), R (d x K) and b (K)."""
    n_dimensions, n_tasks = tasks.rows.shape[1], tasks.n_tasks
    end_L = n_dimensions * n_components
    end_R = end_L + n_components * n_tasks
    return (
        point[:end_L].reshape(n_dimensions, n_components),
        point[end_L:end_R].reshape(n_components, n_tasks),
        point[end_R:],
    )


def hinge_objective(L: np.ndarray, R: np.ndarray, b: np.ndarray, tasks: Tasks) -> float:
    """Return the objective (1) of the weights Omega = L R and biases b."""
    slack = 1.0 - tasks.signs * ((tasks.rows @ L) @ R + b)
    losses = np.vdot(tasks.bounds, np.maximum(slack, 0.0))
    return 0.5 * float(np.square(L @ R).sum()) + float(losses)


def balanced_factors(components: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Return the point (L, R, b) with L R = A^T W and L^T L = R R^T, the start of L-BFGS."""
    left, values, right = linalg.svd(coef, full_matrices=False)
    roots = np.sqrt(np.maximum(values, max(LEAST_WEIGHT * values[0], np.finfo(float).tiny)))
    L = components.T @ left * roots
    R = roots[:, None] * right
    return np.concatenate([L.ravel(), R.ravel(), intercept])
