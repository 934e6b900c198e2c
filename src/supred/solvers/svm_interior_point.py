"""A primal-dual interior point method for one linear SVM of few dimensions.

The optimality conditions, with slacks r >= 0 of the margins and xi >= 0 of the hinge,

    y_n (w . z_n + b) + xi_n - r_n = 1,
    w = pull + sum_n a_n y_n z_n,    charge + sum_n a_n y_n = 0,
    a_n r_n = 0,    (u_n - a_n) xi_n = 0,

are followed along ``a r = (u - a) xi = u mu -> 0`` with Mehrotra's predictor and corrector; the
factor u makes a row of weight k take the same path as k copies of it. `pull` and `charge` are
what rows outside this problem, with their a held fixed, contribute.
Eliminating all that belongs to a row leaves a linear system in (w, b):

    (diag(1, .., 1, 0) + sum_n theta_n (z_n, 1)(z_n, 1)^T) d(w, b) = right-hand side,
    1 / theta_n = xi_n / (u_n - a_n) + r_n / a_n.
"""

import numpy as np

MAX_ITER = 200
# Fraction of the way to the boundary that a step may go.
TO_BOUNDARY = 0.995
# No progress of the gap over this many iterations ends the iteration: the last digits are gone.
PATIENCE = 40


def interior_point(
    Z: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    pull: np.ndarray,
    charge: float,
    tol: float,
    *,
    offset: float = 0.0,
) -> tuple[np.ndarray, float, np.ndarray, int]:
    """Follow the central path until the relative duality gap is at most `tol`.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_dimensions)
    y : ndarray of shape (n_rows,)
        -1.0 and 1.0, both present.
    u : ndarray of shape (n_rows,)
        Positive upper bounds of the dual variables.
    pull : ndarray of shape (n_dimensions,)
        sum a_n y_n z_n over rows outside this problem.
    charge : float
        sum a_n y_n over rows outside this problem.
    tol : float
        Relative duality gap at which to stop.
    offset : float
        Sum of a_n over rows outside this problem: the constant that their hinge losses,
        linear there, add to the objective.

    Returns
    -------
    w : ndarray of shape (n_dimensions,)
    b : float
    a : ndarray of shape (n_rows,)
        Dual variables, strictly inside their box.
    n_iter : int
    """
    n_rows, n_dimensions = Z.shape
    rows = np.empty((n_rows, n_dimensions + 1))  # (z_n, 1)
    rows[:, :-1], rows[:, -1] = Z, 1.0
    shift = np.append(pull, charge)
    ridge = np.append(np.ones(n_dimensions), 0.0)

    a = _starting_dual(y, u, charge)
    force = rows.T @ (y * a) + shift  # (sum a y z, sum a y), with what is outside
    # Shrink a start that is far too long: the dual is quadratic along the ray.
    length = float(force[:-1] @ force[:-1])
    if charge == 0.0 and length > 0:
        factor = float(np.clip(a.sum() / length, 1e-3, 1.0))
        a *= factor
        force *= factor
    v = force * ridge  # (w, b)
    scores = rows @ v
    total = float(u.sum())
    sides = [float(u[y == sign] @ scores[y == sign] / u[y == sign].sum()) for sign in (-1.0, 1.0)]
    v[-1] = -0.5 * sum(sides)
    slack = 1.0 - y * (scores + v[-1])
    spread = float(u @ np.abs(slack)) / total + 0.1
    xi = np.maximum(slack, 0.0) + spread
    r = xi - slack

    best_v, best_objective = v, np.inf
    best_a, best_bound = a, -np.inf
    least_gap, waited = np.inf, 0
    for n_iter in range(MAX_ITER + 1):  # noqa: B007 - returned after the loop
        nu = u - a
        objective = _primal(v, shift, u, slack, offset)
        bound = a.sum() + offset - 0.5 * float(force[:-1] @ force[:-1])
        if objective < best_objective:
            best_v, best_objective = v, objective
        # A dual that is not balanced is made so in the end, which costs about this much.
        bound -= abs(float(force[-1])) * (1.0 + abs(float(v[-1])))
        if bound > best_bound:
            best_a, best_bound = a, bound
        gap = best_objective - best_bound
        if gap <= tol * abs(best_objective):
            break
        waited = 0 if gap < 0.9 * least_gap else waited + 1
        least_gap = min(gap, least_gap)
        if waited >= PATIENCE:
            break

        mu = float(a @ r + nu @ xi) / (2 * total)
        theta = 1.0 / (xi / nu + r / a)
        system = (rows * theta[:, None]).T @ rows
        # The last term only matters where the bias is not determined.
        system[np.diag_indices_from(system)] += ridge + 1e-14 * np.trace(system)

        def newton(
            target_r: np.ndarray | float, target_xi: np.ndarray | float
        ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
            """Step towards a r = a target_r and nu xi = nu target_xi."""
            residual = slack + target_r - target_xi  # noqa: B023
            right = rows.T @ (y * (a + theta * residual)) + shift - ridge * v  # noqa: B023
            step_v = np.linalg.solve(system, right)  # noqa: B023
            step_a = theta * (residual - y * (rows @ step_v))  # noqa: B023
            step_r = target_r - r - (r / a) * step_a  # noqa: B023
            step_xi = target_xi - xi + (xi / nu) * step_a  # noqa: B023
            return step_v, step_a, step_r, step_xi

        step_v, step_a, step_r, step_xi = newton(0.0, 0.0)
        primal = min(_longest(r, step_r), _longest(xi, step_xi))
        dual = min(_longest(a, step_a), _longest(nu, -step_a))
        predicted = float(
            (a + dual * step_a) @ (r + primal * step_r)
            + (nu - dual * step_a) @ (xi + primal * step_xi)
        ) / (2 * total)
        center = mu * (predicted / mu) ** 3
        step_v, step_a, step_r, step_xi = newton(
            (u * center - step_a * step_r) / a, (u * center + step_a * step_xi) / nu
        )
        primal = TO_BOUNDARY * min(_longest(r, step_r), _longest(xi, step_xi))
        dual = TO_BOUNDARY * min(_longest(a, step_a), _longest(nu, -step_a))
        v = v + primal * step_v
        r = r + primal * step_r
        xi = xi + primal * step_xi
        a = a + dual * step_a
        slack = 1.0 - y * (rows @ v)
        force = rows.T @ (y * a) + shift
    return best_v[:-1].copy(), float(best_v[-1]), best_a, n_iter


def _primal(
    v: np.ndarray, shift: np.ndarray, u: np.ndarray, slack: np.ndarray, offset: float
) -> float:
    """Return 1/2 ||w||^2 - (pull, charge) . (w, b) + offset + sum u_n max(0, e_n)."""
    w = v[:-1]
    return float(0.5 * (w @ w) - shift @ v + offset + u @ np.maximum(slack, 0.0))


def _starting_dual(y: np.ndarray, u: np.ndarray, charge: float) -> np.ndarray:
    """Return a strictly inside its box with charge + sum a_n y_n = 0."""
    positive, negative = float(u[y > 0].sum()), float(u[y < 0].sum())
    # a = p u on the positive rows and q u on the negative ones: p positive - q negative = -charge.
    low = max(0.0, charge / negative)
    high = min(1.0, (positive + charge) / negative)
    q = low + 0.5 * (high - low)
    p = (q * negative - charge) / positive
    return u * np.where(y > 0, p, q)


def _longest(values: np.ndarray, step: np.ndarray) -> float:
    """Return the longest step in [0, 1] that keeps ``values + step`` from going negative."""
    worst = float((step / values).min())
    return 1.0 if worst >= -1.0 else -1.0 / worst
