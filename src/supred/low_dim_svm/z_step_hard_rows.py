"""The z step of hard rows: one small interior point problem per row, all rows together.

Coordinate ascent finishes most rows in a few sweeps and creeps on the others. Those are solved
here by the method of :mod:`supred.numerics.svm_interior_point`, in which the SVMs w_k take the
place of the rows: with slacks ``e_k = xi_k - r_k`` and ``0 <= t_k <= c``,

    (2 I + sum_k theta_k w_k w_k^T) dz = sum_k (t_k + theta_k q_k) y_k w_k - 2 (z - F),
    1 / theta_k = xi_k / (c - t_k) + r_k / t_k.
"""

from typing import Any

import numpy as np

from supred.common.arrays import (
    at_least,
    at_most,
    copied,
    inverses,
    place_of,
    positive_part,
    write_better,
)

MAX_ITER = 40
# Fraction of the way to the boundary that a step may go.
TO_BOUNDARY = 0.995
# A gap of this many times c is none: the loss of a hinge of 1e-10.
NOTHING = 1e-10


def solve_hard_rows(
    F: np.ndarray,
    y: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    tol: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Solve the z step of each row to a relative duality gap of `tol`.

    Parameters
    ----------
    F : ndarray of shape (n_rows, n_dimensions)
    y : ndarray of shape (n_rows, n_svms)
        +1.0, -1.0 or 0.0 (no part of the row's problem).
    coef : ndarray of shape (n_svms, n_dimensions)
    intercept : ndarray of shape (n_svms,)
    c : float
        2 C / mu.
    tol : float

    Returns
    -------
    z : ndarray of shape (n_rows, n_dimensions)
    t : ndarray of shape (n_rows, n_svms)
    """
    n_rows, n_dimensions = F.shape
    place = place_of(F)
    xp, put = place.xp, place.put
    norms = np.einsum("kl,kl->k", coef, coef)
    y = y * put(norms > 0)  # a zero w_k moves nothing
    part = y != 0
    limit = 1e12 / max(float(norms.max()), 1e-300)
    outer = put(np.einsum("ki,kj->kij", coef, coef).reshape(len(coef), -1))  # (K, L * L)
    coef, intercept = put(coef), put(intercept)
    t = 0.0 * y + 0.5 * c
    z = F + 0.5 * ((t * y) @ coef)
    slack = _slack(z, y, coef, intercept)
    spread = xp.abs(slack).mean(axis=1, keepdims=True) + 0.1
    xi = positive_part(slack) + spread
    r = xi - slack
    result_z, result_t = copied(z), t * part
    rows, nothing = place.arange(n_rows), place.zeros((n_rows,), float)
    lower, upper = nothing - np.inf, nothing + np.inf

    def cost_of(point: np.ndarray, slack: np.ndarray) -> np.ndarray:
        """Return ||z - F||^2 + c sum_k max(0, e_k)."""
        return xp.square(point - F).sum(axis=1) + c * (positive_part(slack) * part).sum(axis=1)

    for _ in range(MAX_ITER):
        # What rounds to the boundary stays a hair inside it.
        t = xp.clip(t, 1e-15 * c, (1.0 - 1e-15) * c)
        nu = c - t
        # Beyond the limit the system would be singular to working precision.
        theta = part * at_most(1.0 / (xi / nu + r / t), limit)
        system = theta @ outer
        system[:, :: n_dimensions + 1] += 2.0
        # well conditioned from below by the 2 I
        inverse = inverses(system.reshape(-1, n_dimensions, n_dimensions))

        def newton(target_r: np.ndarray | float, target_xi: np.ndarray | float) -> tuple:
            residual = slack + target_r - target_xi  # noqa: B023
            right = ((t + theta * residual) * y) @ coef - 2.0 * (z - F)  # noqa: B023
            step_z = xp.einsum("nij,nj->ni", inverse, right)  # noqa: B023
            step_t = theta * (residual - y * (step_z @ coef.T))  # noqa: B023
            step_r = target_r - r - (r / t) * step_t  # noqa: B023
            step_xi = target_xi - xi + (xi / nu) * step_t  # noqa: B023
            return step_z, step_t, step_r, step_xi

        mu = ((t * r + nu * xi) * part).sum(axis=1)
        step_z, step_t, step_r, step_xi = newton(0.0, 0.0)
        primal = _longest((r, step_r), (xi, step_xi), part)
        dual = _longest((t, step_t), (nu, -step_t), part)
        after = (t + dual * step_t) * (r + primal * step_r)
        after += (nu - dual * step_t) * (xi + primal * step_xi)
        ratio = (after * part).sum(axis=1) / mu
        center = (mu * ratio**3 / (2 * at_least(part.sum(axis=1), 1)))[:, None]
        step_z, step_t, step_r, step_xi = newton(
            (center - step_t * step_r) / t, (center + step_t * step_xi) / nu
        )
        primal = TO_BOUNDARY * _longest((r, step_r), (xi, step_xi), part)
        dual = TO_BOUNDARY * _longest((t, step_t), (nu, -step_t), part)
        z, t = z + primal * step_z, t + dual * step_t * part
        r = xp.where(part, at_least(r + primal * step_r, 1e-30), 1.0)
        xi = xp.where(part, at_least(xi + primal * step_xi, 1e-30), 1.0)
        slack = _slack(z, y, coef, intercept)

        # The point that belongs to t gives a lower bound, and is a candidate itself.
        from_dual = F + 0.5 * ((t * y) @ coef)
        dual_slack = _slack(from_dual, y, coef, intercept)
        bound = cost_of(from_dual, dual_slack)
        bound -= ((c * positive_part(dual_slack) - t * dual_slack) * part).sum(axis=1)
        lower = xp.where(bound > lower, bound, lower)
        for candidate, candidate_slack in ((z, slack), (from_dual, dual_slack)):
            cost = cost_of(candidate, candidate_slack)
            better = cost < upper
            upper = xp.where(better, cost, upper)
            write_better(result_z, better, candidate, rows)
            write_better(result_t, better, t * part, rows)
        unfinished = upper - lower > tol * upper + NOTHING * c
        if not unfinished.any():
            break
        if place.is_host and not unfinished.all():
            rows = rows[unfinished]
            F, y, part, z, t, r, xi, slack, lower, upper = (
                array[unfinished] for array in (F, y, part, z, t, r, xi, slack, lower, upper)
            )
    return result_z, result_t


def _slack(z: np.ndarray, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Return e_k = 1 - y_k (w_k . z + b_k)."""
    return 1.0 - y * (z @ coef.T + intercept)


def _longest(*pairs_and_part) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Return per row the longest step in [0, 1] that keeps all values positive."""
    *pairs, part = pairs_and_part
    xp = place_of(part).xp
    worst: Any = None
    for values, step in pairs:
        ratio = at_most(xp.min(xp.where(part, step / values, 0.0), axis=1), -1.0)
        worst = ratio if worst is None else xp.minimum(worst, ratio)
    return (-1.0 / worst)[:, None]
