"""Where the descent starts: principal directions, centres at rows, a ridge regression to codes."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve
from sklearn.utils.extmath import randomized_svd

from supred.numerics.eigen import eigh
from supred.numerics.leave_one_out import LeaveOneOutScore, RidgePath, choose_ridge
from supred.numerics.shifted_cholesky import shifted_cholesky
from supred.rbf_net.network import Networks, gaussians

# Covariances of up to this many features are made; of more, directions by random projections.
MOST_COVARIANCE = 2000
# Ridge per unit of weight: weights that cancel each other would be a poor start for descent.
START_RIDGE = 1e-4
# Widths and ridges that leave-one-out chooses from.
RIDGE_WIDTHS = 2.0 ** np.arange(-3, 4)
# The ridges are shares of the total variance of the Gaussians.
RIDGES = 10.0 ** np.arange(-7, -0.5)
# Coordinates without spread, as of one row, tell no width: further rows may differ by about one.
LEAST_VARIANCE = 1e-12
# The logarithm of a width needs a number.
LEAST_GAMMA = 1e-300


@dataclass(frozen=True)
class Sample:
    """Some of the training rows, enough to start with.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features)
        In single precision, shifted and scaled.
    index : ndarray of int, shape (n_rows,)
        Class indices.
    weights : ndarray of shape (n_rows,)
    """

    rows: np.ndarray
    index: np.ndarray
    weights: np.ndarray


def principal_directions(rows: np.ndarray, weights: np.ndarray, rank: int) -> np.ndarray:
    """Return the first principal directions of weighted rows, shape (n_features, rank).

    Examples
    --------
    >>> import numpy as np
    >>> from supred.rbf_net.start import principal_directions
    >>> rows = np.array([[0.0, 3.0], [0.0, -3.0], [0.1, 0.0]])
    >>> principal_directions(rows, np.ones(3), 1).ravel()
    array([0., 1.])
    """
    n_features = rows.shape[1]
    mean = weights @ rows / weights.sum()
    spread = (rows - mean) * np.sqrt(weights / weights.sum())[:, None]
    if n_features <= MOST_COVARIANCE:
        covariance = spread.T @ spread
        _, vectors = eigh(covariance, subset_by_index=(n_features - rank, n_features - 1))
        directions = vectors[:, ::-1]
    else:
        _, _, right = randomized_svd(spread, min(rank, *spread.shape), random_state=0)
        directions = right.T
    # the sign of an eigenvector is arbitrary: make the largest entry positive
    largest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[largest, np.arange(directions.shape[1])])
    return directions * np.where(signs == 0, 1, signs)


def centers_among(
    u: np.ndarray, weights: np.ndarray, n_centers: int, rng: np.random.Generator
) -> np.ndarray:
    """Return rows drawn at random, moved by one k-means step.

    Parameters
    ----------
    u : ndarray of shape (n_rows, rank)
    weights : ndarray of shape (n_rows,)
    n_centers : int
        At most `n_rows`.
    rng : Generator
    """
    chosen = rng.choice(len(u), n_centers, replace=False, p=weights / weights.sum())
    centers = u[chosen]
    nearest = np.argmin(np.square(centers).sum(axis=1) - 2 * (u @ centers.T), axis=1)
    total = np.bincount(nearest, weights=weights, minlength=n_centers)
    moved = np.zeros((n_centers, u.shape[1]))
    np.add.at(moved, nearest, u * weights[:, None])
    filled = total > 0
    centers = centers.astype(float)
    centers[filled] = moved[filled] / total[filled, None]
    return centers


def width_rule(u: np.ndarray, weights: np.ndarray) -> float:
    """Return the width ``gamma="scale"``: one over twice the total variance of the coordinates."""
    mean = weights @ u / weights.sum()
    variance = float(weights @ np.square(u - mean).sum(axis=1) / weights.sum())
    return 0.5 / (variance if variance > LEAST_VARIANCE else 1.0)


def ridge_to_codes(
    phi: np.ndarray, targets: np.ndarray, weights: np.ndarray, ridge: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return W and w0 with the least ``sum_n s_n ||t_n - W^T phi_n - w0||^2 + ridge ||W||^2``.

    `ridge` is per unit of weight.
    """
    total = weights.sum()
    mean, target_mean = weights @ phi / total, weights @ targets / total
    centred = phi - mean
    scaled = centred * (weights / total)[:, None]
    factor, _ = shifted_cholesky(scaled.T @ centred, ridge)
    W = cho_solve((factor, True), scaled.T @ (targets - target_mean))
    return W, target_mean - mean @ W


def start_networks(
    sample: Sample,
    codes: np.ndarray,
    rank: int | None,
    n_centers: int,
    widths: np.ndarray,
    rng: np.random.Generator,
    *,
    ridge: float = START_RIDGE,
    centers: np.ndarray | None = None,
) -> tuple[Networks, float]:
    """Return networks that differ in their widths, and the spread of their coordinates.

    Parameters
    ----------
    sample : Sample
    codes : ndarray of shape (n_classes, n_components)
        Points that the classes are regressed to.
    rank : int or None
        Columns of the metric; None for one scale per feature.
    n_centers : int
    widths : ndarray of shape (n_networks,)
        Factors of the width rule.
    rng : Generator
    ridge : float
    centers : ndarray of shape (n_centers, rank), optional
        Drawn from the rows if not given.

    Returns
    -------
    nets : Networks
    spread : float
        Root mean square of the coordinates u.
    """
    n_features = sample.rows.shape[1]
    weights = sample.weights / sample.weights.mean()
    metric = np.zeros(n_features)
    u = sample.rows
    if rank is not None:
        metric = principal_directions(sample.rows, weights, rank)
        u = sample.rows @ metric.astype(np.float32)
    if centers is None:
        centers = centers_among(u, weights, n_centers, rng)
    gammas = widths * width_rule(u, weights)
    targets = codes[sample.index]
    parts = []
    for gamma in gammas:
        log_gammas = np.full((1, n_centers), np.log(max(gamma, LEAST_GAMMA)))
        phi = gaussians(u[None].astype(float), centers[None], log_gammas)[0]
        W, w0 = ridge_to_codes(phi, targets, weights, ridge)
        coef = codes[1:] if len(codes) == 2 else codes
        factor = _sharpness((phi @ W + w0) @ coef.T, sample.index, weights)
        parts.append((metric, centers, log_gammas[0], W, w0, factor * coef, np.zeros(len(coef))))
    names = ("metric", "centers", "log_gammas", "W", "w0", "coef", "intercept")
    stacked = {
        name: np.stack(values) for name, values in zip(names, zip(*parts, strict=True), strict=True)
    }
    spread = float(np.sqrt(max(np.mean(np.square(u)), LEAST_VARIANCE)))
    return Networks.of(**stacked), spread


def _sharpness(scores: np.ndarray, index: np.ndarray, weights: np.ndarray) -> float:
    """Return the factor of the scores, out of a few, with the least log-loss."""
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    best, least = 1.0, np.inf
    for factor in 2.0 ** np.arange(-1, 6):
        scaled = factor * scores
        scaled -= scaled.max(axis=1, keepdims=True)
        losses = np.log(np.exp(scaled).sum(axis=1)) - scaled[np.arange(len(index)), index]
        loss = float(weights @ losses)
        if loss < least:
            best, least = float(factor), loss
    return best


def ridge_networks(
    sample: Sample,
    codes: np.ndarray,
    rank: int | None,
    n_centers: int,
    rng: np.random.Generator,
) -> Networks:
    """Return a network without descent, its width and ridge by leave-one-out.

    Every width costs one decomposition, and every ridge little more; see
    :mod:`supred.numerics.leave_one_out`.
    """
    weights = sample.weights / sample.weights.mean()
    rows = sample.rows.astype(float)
    if rank is not None:
        rows = rows @ principal_directions(sample.rows, weights, rank)
    centers = centers_among(rows, weights, n_centers, rng)
    rule = width_rule(rows, weights)
    members = np.eye(len(codes))[sample.index]
    best = LeaveOneOutScore(np.inf, np.inf)
    chosen, ridge = RIDGE_WIDTHS[:1], START_RIDGE
    for width in RIDGE_WIDTHS:
        log_gammas = np.full((1, n_centers), np.log(max(width * rule, LEAST_GAMMA)))
        phi = gaussians(rows[None], centers[None], log_gammas)[0]
        path = RidgePath.of_features(phi, members, weights)
        share, score = choose_ridge(path, RIDGES)
        if score.beats(best):
            best, chosen, ridge = score, np.array([width]), share * path.spread / weights.sum()
    nets, _ = start_networks(
        sample, codes, rank, n_centers, chosen, rng, ridge=ridge, centers=centers
    )
    return nets
