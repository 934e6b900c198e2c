"""A primal-dual interior point method for linear SVMs of few dimensions, many at a time.

The optimality conditions of each SVM, with slacks r >= 0 of the margins and xi >= 0 of the hinge,

    y_n (w . z_n + b) + xi_n - r_n = 1,
    w = pull + sum_n a_n y_n z_n,    charge + sum_n a_n y_n = 0,
    a_n r_n = 0,    (u_n - a_n) xi_n = 0,

are followed along ``a r = (u - a) xi = q mu -> 0`` with Mehrotra's predictor and corrector. With
q = u a row of weight k takes the same path as k copies of it. Rows that stand for many get a
smaller q: they lie far from the margin and would do nothing but push it, on a long path.
`pull` and `charge` are what rows outside this problem, with their a held fixed, contribute.
Eliminating all that belongs to a row leaves a linear system in (w, b):

    (diag(1, .., 1, 0) + sum_n theta_n (z_n, 1)(z_n, 1)^T) d(w, b) = right-hand side,
    1 / theta_n = xi_n / (u_n - a_n) + r_n / a_n.

Several SVMs, each with its own rows, go through the same array operations, each with its own step
lengths. The last axis of every array runs over the rows of an SVM; for sums over many rows on a
device the rows lie in chunks.
"""

from dataclasses import replace

import numpy as np

from supred.common.arrays import (
    at_least,
    at_most,
    copied,
    on_host,
    place_of,
    positive_part,
    recorded,
    solver,
    write_better,
)
from supred.common.threads import in_order
from supred.numerics.compiled import compiled
from supred.numerics.svm_central_path import (
    CENTERING,
    INSIDE,
    MAX_ITER,
    PATIENCE,
    TO_BOUNDARY,
    follow_path,
)
from supred.numerics.svm_starts import (
    Paths,
    along,
    chunks,
    over_chunks,
    scores,
    start,
    start_at,
    sums,
)

# A path that ends at a larger relative gap is begun again from the best point on it.
LOST_GAP = 1e-3
# Steps on a device after which the host looks whether there are paths that have not ended.
TURNS = 2


# Numbers that are out of range end a path at the best point so far, and need no warning.
@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def interior_point(
    Z: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    pull: np.ndarray,
    charge: np.ndarray,
    tol: float,
    *,
    offset: np.ndarray | None = None,
    guess: np.ndarray | None = None,
    most_mu: float = np.inf,
    heavy: np.ndarray | None = None,
    fast: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Follow the central path of each SVM until its relative duality gap is at most `tol`.

    Parameters
    ----------
    Z : ndarray of shape (n_svms, n_dimensions, n_rows)
        The rows of each SVM, as columns.
    y : ndarray of shape (n_svms, n_rows)
        -1.0 and 1.0, both present in each SVM.
    u : ndarray of shape (n_svms, n_rows)
        Positive upper bounds of the dual variables.
    pull : ndarray of shape (n_svms, n_dimensions)
        sum a_n y_n z_n over rows outside this problem.
    charge : ndarray of shape (n_svms,)
        sum a_n y_n over rows outside this problem.
    tol : float
        Relative duality gap at which to stop.
    offset : ndarray of shape (n_svms,), optional
        Sum of a_n over rows outside this problem: the constant that their hinge losses,
        linear there, add to the objective.
    guess : ndarray of shape (n_svms, n_dimensions + 1), optional
        w and b from which to start.
    most_mu : float
        A path that begins at a guess begins with at most this mu.
    heavy : ndarray of shape (n_svms,), optional
        Rows with a larger bound stand for many, and have this q.
    fast : bool
        Follow compiled paths on the host, each in a thread.

    Returns
    -------
    w : ndarray of shape (n_svms, n_dimensions)
    b : ndarray of shape (n_svms,)
    a : ndarray of shape (n_svms, n_rows)
        Dual variables, strictly inside their box.
    n_iter : ndarray of shape (n_svms,)
    """
    n_svms, place, rows = len(y), place_of(Z), chunks(Z)
    ridge = place.put(np.append(np.ones(Z.shape[1]), 0.0))
    shift = place.put(np.column_stack([pull, charge]))
    offset = place.put(np.zeros(n_svms) if offset is None else offset)
    guess = None if guess is None else place.put(guess)
    q = u if heavy is None else place.xp.minimum(u, place.put(heavy)[:, None])
    if guess is None:
        paths = start(rows, ridge, y, u, q, shift, offset)
    else:
        paths = start_at(guess, rows, y, u, q, shift, offset, most_mu)
    best_v, best_a = copied(paths.v), copied(paths.a)
    n_iter = place.zeros((n_svms,), int)
    if fast:
        path = y, u, q, shift, offset, paths.a, paths.r, paths.xi, paths.v
        calls = ((rows[k, 0], *(each[k] for each in path), tol) for k in range(n_svms))
        for k, found in enumerate(in_order(compiled(follow_path), calls)):
            best_v[k], best_a[k], paths.upper[k], paths.lower[k], n_iter[k] = found
    elif place.is_host:
        for iteration in range(MAX_ITER + 1):
            slack, open_paths = _look(paths, tol, best_v, best_a)
            n_iter[paths.which] = iteration
            if not open_paths.any():
                break
            if not open_paths.all():
                paths, slack = paths.keep(open_paths), slack[open_paths]
            _step(paths, ridge, slack)
    else:
        n_iter += _follow_together(paths, ridge, tol, best_v, best_a)
    lost = paths.which[paths.upper - paths.lower > max(tol, LOST_GAP) * abs(paths.upper)]
    if guess is None and len(lost):
        # Bounds that differ by a factor of thousands can lead astray; a point on the central path
        # of what was found leads back.
        outside = pull[on_host(lost)], charge[on_host(lost)]
        w, b, a, more = interior_point(
            Z[lost],
            y[lost],
            u[lost],
            *outside,
            tol,
            offset=offset[lost],
            guess=best_v[lost],
            heavy=None if heavy is None else heavy[on_host(lost)],
            fast=fast,
        )
        best_v[lost], best_a[lost] = place.xp.concatenate([w, b[:, None]], axis=1), a
        n_iter[lost] += more
    return best_v[:, :-1], best_v[:, -1], best_a, n_iter


def _follow_together(
    paths: Paths, ridge: np.ndarray, tol: float, best_v: np.ndarray, best_a: np.ndarray
) -> int:
    """Take the steps of all paths on a device; return how many.

    Paths that have ended go on with the others, so that nothing waits for which they are; the
    host waits for one number after a few steps.
    """
    place, moved = place_of(paths.y), ("a", "r", "xi", "v", "upper", "lower", "least_gap", "waited")
    some_open = place.zeros((1,), bool)

    def turn() -> None:
        new = replace(paths)
        slack, open_paths = _look(new, tol, best_v, best_a)
        some_open[...] = open_paths.any()
        _step(new, ridge, slack)
        for name in moved:
            getattr(paths, name)[...] = getattr(new, name)

    quick_turn = recorded(turn, place, plain_calls=1)
    n_turns = 0
    while n_turns <= MAX_ITER:
        for _ in range(TURNS):
            quick_turn()
        n_turns += TURNS
        if not bool(some_open[0]):
            break
    return n_turns


def _look(
    paths: Paths, tol: float, best_v: np.ndarray, best_a: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slacks of the rows, and which paths have not come to their end."""
    slack = 1.0 - paths.y * scores(paths.rows, paths.v)
    _note_bounds(paths, slack, best_v, best_a)
    open_paths = paths.upper - paths.lower > tol * abs(paths.upper)
    return slack, open_paths & (paths.waited < PATIENCE)


def _note_bounds(paths: Paths, slack: np.ndarray, best_v: np.ndarray, best_a: np.ndarray) -> None:
    """Keep the best primal and dual points so far, and count iterations without progress."""
    xp, w = place_of(slack).xp, paths.v[:, :-1]
    losses = (paths.u * positive_part(slack)).sum(axis=1)
    primal = 0.5 * xp.square(w).sum(axis=1) + losses + paths.offset
    primal -= (paths.shift * paths.v).sum(axis=1)
    better = primal < paths.upper
    paths.upper = xp.where(better, primal, paths.upper)
    write_better(best_v, better, paths.v, paths.which)

    force = sums(paths.rows, paths.y * paths.a) + paths.shift
    dual = paths.a.sum(axis=1) + paths.offset - 0.5 * xp.square(force[:, :-1]).sum(axis=1)
    # A dual that is not balanced is made so in the end, which costs about this much.
    dual -= xp.abs(force[:, -1]) * (1.0 + xp.abs(paths.v[:, -1]))
    better = dual > paths.lower
    paths.lower = xp.where(better, dual, paths.lower)
    write_better(best_a, better, paths.a, paths.which)

    gap = paths.upper - paths.lower
    paths.waited = (paths.waited + 1) * ~(gap < 0.9 * paths.least_gap)
    paths.least_gap = xp.minimum(gap, paths.least_gap)


def _step(paths: Paths, ridge: np.ndarray, slack: np.ndarray) -> None:
    """Take one predictor-corrector step of every SVM."""
    rows, y, u, a, r, xi, v = (paths.rows, paths.y, paths.u, paths.a, paths.r, paths.xi, paths.v)
    xp, nu = place_of(y).xp, u - a
    r_over_a, xi_over_nu = r / a, xi / nu
    theta = 1.0 / (xi_over_nu + r_over_a)
    system = over_chunks((rows * along(rows, theta)) @ rows.swapaxes(2, 3))
    # The last term only matters where the bias is not determined.
    diagonal = system.reshape(len(system), -1)[:, :: system.shape[1] + 1]
    diagonal += ridge + 1e-14 * diagonal.sum(axis=1, keepdims=True)

    solved = solver(system)

    def newton(
        residual: np.ndarray, target_r: np.ndarray | float, target_xi: np.ndarray | float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Step towards a r = a target_r and nu xi = nu target_xi; e, with their difference."""
        right = sums(rows, y * (a + theta * residual)) + paths.shift - ridge * v
        step_v = solved(right[:, :, None])[:, :, 0]
        step_a = theta * (residual - y * scores(rows, step_v))
        step_r = target_r - r - r_over_a * step_a
        step_xi = target_xi - xi + xi_over_nu * step_a
        return step_v, step_a, step_r, step_xi

    total = 2.0 * paths.q.sum(axis=1)
    mu = (a * r + nu * xi).sum(axis=1) / total
    step_v, step_a, step_r, step_xi = newton(slack, 0.0, 0.0)
    primal = _longest(step_r / r, step_xi / xi)
    dual = _longest(step_a / a, -step_a / nu)
    predicted = (a + dual * step_a) * (r + primal * step_r)
    predicted += (nu - dual * step_a) * (xi + primal * step_xi)
    left = (predicted.sum(axis=1) / total / mu)[:, None]
    center = paths.q * (mu[:, None] * left**CENTERING)
    target_r, target_xi = (center - step_a * step_r) / a, (center + step_a * step_xi) / nu
    step_v, step_a, step_r, step_xi = newton(slack + target_r - target_xi, target_r, target_xi)
    reach = xp.clip(1.0 - left, *TO_BOUNDARY)
    primal = reach * _longest(step_r / r, step_xi / xi)
    dual = reach * _longest(step_a / a, -step_a / nu)
    paths.v = v + primal * step_v
    paths.r = at_least(r + primal * step_r, 1e-300)
    paths.xi = at_least(xi + primal * step_xi, 1e-300)
    paths.a = xp.clip(a + dual * step_a, INSIDE * u, (1.0 - INSIDE) * u)


def _longest(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return per SVM the longest step in [0, 1] that keeps all values from going negative.

    Both are steps as parts of the values.
    """
    xp = place_of(first).xp
    return (-1.0 / at_most(xp.min(xp.minimum(first, second), axis=1), -1.0))[:, None]
