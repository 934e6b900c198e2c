"""Several linear SVMs in one piece, where all their rows are few and at hand.

The SVMs of :mod:`supred.numerics.linear_svm`: in closed form if every row lies on its margin, and
else by :func:`supred.numerics.svm_batch.solve_batch`.
"""

import numpy as np

from supred.numerics.svm_batch import PADDING, solve_batch
from supred.numerics.svm_over_blocks import SVMs

# A violation of a margin that is this small is rounding.
ROUNDING = 1e-9
# Where the mean slack is less, the z step has put most rows on the margins of the last SVMs: these
# are no guess of the next ones.
LEAST_SLACK = 0.5


def solve_on_rows(
    Z: np.ndarray, signs: np.ndarray, u: np.ndarray, *, tol: float, start: np.ndarray | None = None
) -> SVMs:
    """Solve one linear SVM per row of `signs`.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_dimensions)
    signs : ndarray of shape (n_svms, n_rows)
        -1.0 and 1.0; 0.0 where an SVM does not see a row.
    u : ndarray of shape (n_rows,)
        Positive upper bounds of the dual variables.
    tol : float
        Relative duality gap.
    start : ndarray of shape (n_svms, n_dimensions + 1), optional
        A guess of w and b. An SVM that does not become better than that stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.svm_together import solve_on_rows
    >>> Z, signs = np.array([[-1.0], [1.0], [1.5]]), np.array([[-1.0, 1.0, 1.0]])
    >>> svms = solve_on_rows(Z, signs, np.full(3, 10.0), tol=1e-8)
    >>> svms.coef.round(4), bool(svms.gap[0] < 1e-8)
    (array([[1.]]), True)
    """
    if len(Z) <= Z.shape[1] + 1 and (exact := on_the_margins(Z, signs, u)) is not None:
        return exact
    y, bounds, points = signs, np.tile(u, (len(signs), 1)), Z[None]
    if not signs.all():
        # Each SVM has rows of its own, as many as another by repetition.
        counts = (signs != 0).sum(axis=1)[:, None]
        places = np.arange(counts.max())
        members = np.argsort(signs == 0, axis=1, kind="stable")
        members = np.take_along_axis(members, np.minimum(places, counts - 1), axis=1)
        y, points = np.take_along_axis(signs, members, axis=1), Z[members]
        bounds = np.where(places < counts, 1.0, PADDING) * u[members]
    points = np.broadcast_to(points, (*y.shape, Z.shape[1]))
    cold = start is None or _mean_slack(signs, u, Z, start) < LEAST_SLACK
    solved, _, lower = solve_batch(y, bounds, points, start, 0.5 * tol, cold=cold)
    constants = np.zeros((2, *solved.shape))
    constants[:, :, -1] = np.array([[-1.0], [1.0]])
    candidates = np.stack([solved, *constants] + ([] if start is None else [start]))
    slack = (1.0 - signs * (candidates[:, :, :-1] @ Z.T + candidates[:, :, -1:])) * (signs != 0)
    primal = 0.5 * np.square(candidates[:, :, :-1]).sum(axis=2) + np.maximum(slack, 0.0) @ u
    every = np.arange(len(signs))
    best = np.argmin(primal, axis=0)
    found, upper = candidates[best, every], primal[best, every]
    return SVMs(found[:, :-1], found[:, -1], upper, upper - np.maximum(lower, 0.0))


def _mean_slack(signs: np.ndarray, u: np.ndarray, Z: np.ndarray, v: np.ndarray) -> float:
    """Return the mean distance of weighted rows from the margins of SVMs, as parts of these."""
    slack = np.abs(1.0 - signs * (v[:, :-1] @ Z.T + v[:, -1:])) * (signs != 0)
    return float(np.median(slack @ u / ((signs != 0) @ u)))


def on_the_margins(Z: np.ndarray, signs: np.ndarray, u: np.ndarray) -> SVMs | None:
    """Return the SVMs with every row on its margin, or None if one of them is not optimal.

    Of the w and b with ``w . z_n + b = y_n`` the one of least ||w|| is ``w = sum_n a_n y_n z_n``
    with ``sum_n a_n y_n = 0``: linear equations in a y and b. It is the SVM if ``0 <= a <= u``.
    Rows at the corners of a simplex, one for each class, are such a case.

    Parameters
    ----------
    Z, signs, u
        As in :func:`solve_on_rows`.
    """
    n_svms, n_rows = signs.shape
    part = signs != 0
    system = np.ones((n_svms, n_rows + 1, n_rows + 1))
    system[:, :-1, :-1], system[:, -1, -1] = Z @ Z.T, 0.0
    # A row that an SVM does not see has a = 0.
    system[:, :-1] *= part[:, :, None]
    system[:, :, :-1] *= part[:, None]
    system[:, range(n_rows), range(n_rows)] += ~part
    wanted = np.column_stack([signs, np.zeros(n_svms)])
    try:
        solved = np.linalg.solve(system, wanted[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return None
    a, coef, bias = solved[:, :-1] * signs, solved[:, :-1] @ Z, solved[:, -1]
    slack = (1.0 - signs * (coef @ Z.T + bias[:, None])) * part
    if not ((a >= 0.0) & (a <= u) & (np.abs(slack) < ROUNDING)).all():
        return None
    objective = 0.5 * np.square(coef).sum(axis=1) + np.maximum(slack, 0.0) @ u
    return SVMs(coef, bias, objective, np.abs(2.0 * objective - a.sum(axis=1)))
