"""The criteria of a category space and their gradients.

Each is convex in the axes W, so that it lies above its tangent: the polar step of
:mod:`supred.category_space.ascent` never lets it fall.

- squared (CQS): 1/2 sum_k w_k^T R_k w_k, R_k the scatter of class k about an origin;
- absolute (CAS): sum_k sum_i v_i sqrt((w_k . x_i - m_k)^2 + eps^2) over the rows i of class k;
- squared with a margin about the origin: 1/2 a^2 where |a| = |w_k . x_i| is at least the margin
  rho, rho |a| - rho^2 / 2 below it. This is 1/2 a^2 less the squared hinge loss
  1/2 max(0, rho - |a|)^2 of an SVM: rows near the origin are pushed away from it as strongly as
  those at the margin.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from supred.numerics.class_scatter import ClassRows, Scatters


def squared_pull(scatters: Scatters, W: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the squared criterion 1/2 sum_k w_k^T R_k w_k and its gradient [R_k w_k]."""
    B = scatters.apply(W)
    return 0.5 * float(np.sum(W * B)), B


def auxiliary_step(
    a: np.ndarray, weights: np.ndarray, eps: float, *, free_origin: bool
) -> tuple[float, np.ndarray]:
    """Return the origin m and z_i = (a_i - m) / sqrt((a_i - m)^2 + eps^2) of one class.

    With a free origin m is the root of sum_i v_i z_i = 0, the smoothed median of a: the z are
    then the exact maximisers of sum_i v_i (z_i a_i + eps sqrt(1 - z_i^2)) under the paper's
    constraint that they add up to zero. Else m = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.criteria import auxiliary_step
    >>> m, z = auxiliary_step(np.array([0.0, 1.0, 9.0]), np.ones(3), 1e-6, free_origin=True)
    >>> round(m, 5), z.round(5).tolist()
    (1.0, [-1.0, 0.0, 1.0])
    """

    def slopes(m: float) -> np.ndarray:
        return (a - m) / np.hypot(a - m, eps)

    if not free_origin:
        return 0.0, slopes(0.0)
    low, high = float(a.min()), float(a.max())
    if high == low:
        return low, np.zeros_like(a)
    m = brentq(lambda m: float(weights @ slopes(m)), low, high, xtol=1e-14 * (high - low))
    return float(m), slopes(m)


def heuristic_step(a: np.ndarray, weights: np.ndarray, eps: float) -> np.ndarray:
    """Return the paper's heuristic z of one class (eq. 26).

    z_i = a_i / sqrt(a_i^2 + eps^2), less its mean over the class: the sum is zero, as the
    constraint asks, but the z are not the maximisers, and steps by them may cycle.
    """
    z = a / np.hypot(a, eps)
    return z - weights @ z / weights.sum()


def absolute_pull(
    classes: Sequence[ClassRows],
    W: np.ndarray,
    eps: float,
    *,
    free_origin: bool,
    heuristic: bool = False,
) -> tuple[float, np.ndarray]:
    """Return the absolute criterion and its gradient [sum_i v_i z_i (x_i - o_k)].

    With ``heuristic=True`` the z are those of :func:`heuristic_step`.
    """
    objective, columns = 0.0, []
    for k, rows in enumerate(classes):
        a = rows.project(W[:, k])
        m, z = auxiliary_step(a, rows.weights, eps, free_origin=free_origin)
        objective += float(rows.weights @ np.hypot(a - m, eps))
        if heuristic:
            z = heuristic_step(a, rows.weights, eps)
        columns.append(rows.pull(rows.weights * z))
    return objective, np.column_stack(columns)


def margin_pull(
    classes: Sequence[ClassRows], W: np.ndarray, margin: float, eps: float
) -> tuple[float, np.ndarray]:
    """Return the squared criterion with a margin and its gradient.

    With h_i = sqrt((w_k . x_i)^2 + eps^2) it is the sum of v_i h_i^2 / 2 over the rows beyond the
    margin and of v_i (margin h_i - margin^2 / 2) over the others.
    """
    objective, columns = 0.0, []
    for k, rows in enumerate(classes):
        a = rows.project(W[:, k])
        h = np.hypot(a, eps)
        values = np.where(h >= margin, 0.5 * h**2, margin * h - 0.5 * margin**2)
        objective += float(rows.weights @ values)
        columns.append(rows.pull(rows.weights * np.maximum(h, margin) * a / h))
    return objective, np.column_stack(columns)
