"""The central path of one SVM, written for Numba: what `interior_point` does for many at a time.

:mod:`supred.numerics.svm_interior_point` has the equations and is the reference. A compiled path
lets other threads run, so that the SVMs of a g step share out the cores.
"""

import numpy as np

MAX_ITER = 200
# Least and greatest part of the way to the boundary that a step may go: between them, by as much
# as the predictor takes of mu. Long steps far from the end come nearer to the boundary than to the
# path: with 0.995 throughout the slowest of 300 SVMs took 92 steps, with 0.9 it took 37.
TO_BOUNDARY = (0.9, 0.999)
# What is left of mu after a step is the part that the predictor leaves, to this power.
CENTERING = 4
# No progress of the gap over this many iterations ends the iteration: the last digits are gone.
PATIENCE = 40
# Nothing comes nearer to its bound than this, relatively.
INSIDE = 1e-15


def follow_path(
    rows: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    q: np.ndarray,
    shift: np.ndarray,
    offset: float,
    a: np.ndarray,
    r: np.ndarray,
    xi: np.ndarray,
    v: np.ndarray,
    tol: float,
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Follow the path of one SVM from a point until its relative duality gap is at most `tol`.

    Parameters
    ----------
    rows : ndarray of shape (n_dimensions + 1, n_rows)
        (z_n, 1), as columns.
    y, u, q : ndarrays of shape (n_rows,)
        Signs, upper bounds of the dual variables, and weights of the rows along the path.
    shift : ndarray of shape (n_dimensions + 1,)
        `pull` and `charge` of :func:`supred.numerics.svm_interior_point.interior_point`.
    offset, tol : float
        As there.
    a, r, xi : ndarrays of shape (n_rows,)
        Dual variables and slacks of the point.
    v : ndarray of shape (n_dimensions + 1,)
        w and b of the point.

    Returns
    -------
    v, a : ndarrays
        The best w and b, and the best dual variables.
    upper, lower : float
        Their objectives.
    n_iter : int
    """
    ridge = np.ones(len(v))
    ridge[-1] = 0.0
    best_v, best_a, n_iter = v, a, 0
    upper, lower, least_gap, waited = np.inf, -np.inf, np.inf, 0
    total = 2.0 * q.sum()
    for iteration in range(MAX_ITER + 1):
        n_iter = iteration
        slack = 1.0 - y * np.dot(v, rows)
        primal = offset + 0.5 * (v * ridge * v).sum() - (shift * v).sum()
        primal += (u * np.maximum(slack, 0.0)).sum()
        if primal < upper:
            upper, best_v = primal, v
        force = np.dot(rows, y * a) + shift
        dual = a.sum() + offset - 0.5 * (force * ridge * force).sum()
        # A dual that is not balanced is made so in the end, which costs about this much.
        dual -= abs(force[-1]) * (1.0 + abs(v[-1]))
        if dual > lower:
            lower, best_a = dual, a
        waited = 0 if upper - lower < 0.9 * least_gap else waited + 1
        least_gap = min(upper - lower, least_gap)
        if upper - lower <= tol * abs(upper) or waited >= PATIENCE:
            break

        nu = u - a
        r_over_a, xi_over_nu = r / a, xi / nu
        theta = 1.0 / (xi_over_nu + r_over_a)
        system = np.dot(rows * theta, rows.T)
        trace = np.trace(system)
        for i in range(len(v)):
            system[i, i] += ridge[i] + 1e-14 * trace
        mu = ((a * r).sum() + (nu * xi).sum()) / total
        target_r, target_xi = np.zeros(len(y)), np.zeros(len(y))
        step_v, step_a, step_r, step_xi = v, a, r, xi
        primal_step, dual_step, reach = 0.0, 0.0, 0.0
        for corrector in range(2):
            residual = slack + target_r - target_xi
            right = np.dot(rows, y * (a + theta * residual)) + shift - ridge * v
            step_v = np.linalg.solve(system, right)
            step_a = theta * (residual - y * np.dot(step_v, rows))
            step_r = target_r - r - r_over_a * step_a
            step_xi = target_xi - xi + xi_over_nu * step_a
            nearest = min((step_r / r).min(), (step_xi / xi).min())
            primal_step = -1.0 / min(nearest, -1.0)
            nearest = min((step_a / a).min(), (-step_a / nu).min())
            dual_step = -1.0 / min(nearest, -1.0)
            if corrector == 0:
                left = ((a + dual_step * step_a) * (r + primal_step * step_r)).sum()
                left += ((nu - dual_step * step_a) * (xi + primal_step * step_xi)).sum()
                left /= total * mu
                reach = min(max(1.0 - left, TO_BOUNDARY[0]), TO_BOUNDARY[1])
                center = q * (mu * left**CENTERING)
                target_r = (center - step_a * step_r) / a
                target_xi = (center + step_a * step_xi) / nu
        primal_step, dual_step = reach * primal_step, reach * dual_step
        v = v + primal_step * step_v
        r = np.maximum(r + primal_step * step_r, 1e-300)
        xi = np.maximum(xi + primal_step * step_xi, 1e-300)
        a = np.minimum(np.maximum(a + dual_step * step_a, INSIDE * u), (1.0 - INSIDE) * u)
    return best_v, best_a, upper, lower, n_iter
