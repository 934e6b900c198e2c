"""Linear SVMs with their own rows each, solved together where these are, with a certificate."""

from typing import Any

import numpy as np

from supred.common.arrays import (
    at_least,
    at_most,
    on_host,
    place_of,
    positive_part,
    tall_product,
)
from supred.numerics.svm_interior_point import interior_point

# A row that only pads its SVM's rows to the size of the others has this part of its bound.
PADDING = 1e-30
# Bounds below this part of the largest are padding.
LEAST_BOUND = 1e-20
# With this mu paths begin at most: the mean slack is that of merged rows far from the margin.
MOST_MU = 0.05
# A sum of hinge losses whose slope is at most this part of all bounds is flat.
FLAT = 1e-9
# No dual variable is larger than twice the objective of any w and b; bounds are cut at twice that.
MOST_DUAL = 4.0
# While nothing is known bounds are cut here, for rows of unit size: far above most objectives.
MOST_COLD = 1e8


def solve_batch(
    y: Any,
    u: Any,
    Z: Any,
    guess: np.ndarray | None,
    tol: float,
    *,
    cold: bool = False,
    heavy: Any | None = None,
    fast: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve linear SVMs in coordinates in which the rows of each have mean zero and unit size.

    Parameters
    ----------
    y : array of shape (n_svms, n_rows)
        -1.0 and 1.0, both present in each SVM.
    u : array of shape (n_svms, n_rows)
        Upper bounds of the dual variables, all positive.
    Z : array of shape (n_svms, n_rows, n_dimensions)
    guess : ndarray of shape (n_svms, n_dimensions + 1), optional
        w and b from which to start.
    tol : float
        Relative duality gap.
    cold : bool
        Begin in the middle all the same: the guess only tells how large dual variables can be.
    heavy : array of shape (n_svms,), optional
        Rows with a larger bound are merged ones, see
        :func:`supred.numerics.svm_interior_point.interior_point`.
    fast : bool
        Follow compiled paths, on the host.

    Returns
    -------
    v : ndarray of shape (n_svms, n_dimensions + 1)
        w and b; of all b that are optimal for w the middle.
    primal, dual : ndarrays of shape (n_svms,)
        The objective of v, and a lower bound of the least one.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.svm_batch import solve_batch
    >>> Z = np.array([[[-1.0], [1.0]]])
    >>> v, primal, dual = solve_batch(np.sign(Z[:, :, 0]), np.ones((1, 2)), Z, None, 1e-9)
    >>> v.round(4), primal.round(4)
    (array([[1., 0.]]), array([0.5]))
    """
    xp, put = place_of(Z).xp, place_of(Z).put
    total = u.sum(axis=1)
    center = tall_product(u[:, :, None], Z)[:, 0] / total[:, None]
    points = Z - center[:, None]
    spread = on_host(tall_product(u[:, :, None], xp.square(points))[:, 0].sum(axis=1) / total)
    scale = np.sqrt(np.where(spread > 0, spread / Z.shape[2], 1.0))[:, None]
    points /= put(scale)[:, :, None]
    bounds = u * put(scale) ** 2
    moved = None
    if guess is not None:
        bias = guess[:, -1] + (guess[:, :-1] * on_host(center)).sum(axis=1)
        moved = np.column_stack([guess[:, :-1] * scale, bias])
    most = None if heavy is None else on_host(heavy) * scale[:, 0] ** 2
    begin = None if cold else moved
    v, primal, dual = _certified(points, y, bounds, begin, moved, tol, most, fast)
    # A guess is no guide where the z step has put many rows on its margin: the path that
    # begins there may end far from the optimum. What was found tells more of the bounds.
    again_otherwise = np.full(len(v), guess is not None)
    if place_of(Z).is_host:
        again_otherwise |= bounds.max(axis=1) > np.minimum(MOST_DUAL * primal, MOST_COLD)
    lost = np.flatnonzero((primal - dual > 2.0 * tol * primal) & again_otherwise)
    if len(lost):
        there = put(lost)
        most = None if most is None else most[lost]
        again = _certified(points[there], y[there], bounds[there], None, v[lost], tol, most, fast)
        v[lost] = np.where((again[1] < primal[lost])[:, None], again[0], v[lost])
        dual[lost] = np.maximum(dual[lost], again[2])
    coef = v[:, :-1] / scale
    scores = (Z @ put(coef)[:, :, None])[:, :, 0]
    bias = best_biases(y, u, scores)
    losses = (u * positive_part(1.0 - y * (scores + bias[:, None]))).sum(axis=1)
    primal = 0.5 * np.square(coef).sum(axis=1) + on_host(losses)
    return np.column_stack([coef, on_host(bias)]), primal, dual / scale[:, 0] ** 2


def best_biases(y: Any, u: Any, scores: Any) -> Any:
    """Return for each SVM the b with the least sum of hinge losses, the middle if there are many.

    The sum is convex and piecewise linear in b, with a corner at ``y_n - w . z_n`` where its slope
    rises by u_n. Often it is flat between two corners: without a rule for this case b would depend
    on which rows are merged.

    Parameters
    ----------
    y, u : arrays of shape (n_svms, n_rows)
        Signs and bounds of the rows.
    scores : array of shape (n_svms, n_rows)
        ``w . z_n``.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.svm_batch import best_biases
    >>> best_biases(np.array([[-1.0, 1.0]]), np.ones((1, 2)), np.array([[-2.0, 3.0]]))
    array([-0.5])
    """
    place = place_of(u)
    xp, svms = place.xp, place.arange(len(u))
    least = LEAST_BOUND * xp.max(u, axis=1)[:, None]
    corners = xp.where(u < least, np.inf, y - scores)
    order = xp.argsort(corners, axis=1)
    corners, bounds = corners[svms[:, None], order], u[svms[:, None], order]
    # The slope right of each corner.
    slope = xp.cumsum(bounds, axis=1) - (u * (y > 0)).sum(axis=1)[:, None]
    nothing = FLAT * u.sum(axis=1)
    first = (slope < -nothing[:, None]).sum(axis=1)
    second = at_most(first + 1, u.shape[1] - 1)
    here, there = corners[svms, first], corners[svms, second]
    # Beyond the last corner there is padding, and the sum is as flat.
    ends = (slope[svms, first] > nothing) | (there == np.inf)
    return 0.5 * (here + xp.where(ends, here, there))


def _certified(
    Z: Any,
    y: Any,
    u: Any,
    guess: np.ndarray | None,
    known: np.ndarray | None,
    tol: float,
    heavy: np.ndarray | None,
    fast: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return w and b of each SVM, its objective and a lower bound of that, on the host.

    With P the objective of any `known` w and b, ``sum_n a_n = P* + 1/2 ||w||^2 <= 2 P`` at the
    optimum P*. Bounds far above that make no difference but to the path, which they lead astray.
    """
    xp, nothing = place_of(Z).xp, np.zeros((len(Z), Z.shape[2]))
    columns = Z.swapaxes(1, 2)
    # A problem on a device that is solved as a whole begins at the last SVMs, which may be far.
    near = place_of(Z).is_host or heavy is not None
    most_mu = MOST_MU if near else np.inf
    box = u
    if known is None and place_of(Z).is_host:
        box = np.minimum(u, MOST_COLD)
    elif known is not None and place_of(Z).is_host:
        box = np.minimum(u, MOST_DUAL * _objectives(Z, y, u, known[:, :-1], known[:, -1])[:, None])
    options: dict[str, Any] = {"guess": guess, "most_mu": most_mu, "heavy": heavy, "fast": fast}
    w, b, a, _ = interior_point(columns, y, box, nothing, nothing[:, 0], tol, **options)
    primal = _objectives(Z, y, u, w, b)
    # Shrink the heavier side so that sum a_n y_n = 0 holds: then the dual objective is a bound.
    for _ in range(2):
        sides = xp.stack([(a * (y == sign)).sum(axis=1) for sign in (-1.0, 1.0)])
        share = xp.min(sides, axis=0) / at_least(sides, 1e-300)
        a = a * xp.where(y < 0, share[0][:, None], share[1][:, None])
    force = tall_product((a * y)[:, :, None], Z)[:, 0]
    dual = a.sum(axis=1) - 0.5 * xp.square(force).sum(axis=1)
    return np.column_stack([on_host(w), on_host(b)]), on_host(primal), on_host(dual)


def _objectives(Z: Any, y: Any, u: Any, w: Any, b: Any) -> Any:
    """Return ``1/2 ||w||^2 + sum_n u_n max(0, 1 - y_n (w . z_n + b))`` of each SVM."""
    slack = 1.0 - y * ((Z @ w[:, :, None])[:, :, 0] + b[:, None])
    return 0.5 * place_of(Z).xp.square(w).sum(axis=1) + (u * positive_part(slack)).sum(axis=1)
