"""Centres, widths, weights and classifier of a Gaussian mapping, learned together.

The nested objective, in which everything is a parameter,

    J = alpha ||W||^2 + 1/2 ||V||^2 + C sum_n s_n l(y_n; V F(x_n) + b),
    F(x) = W^T phi(x) + w0,    phi_m(x) = exp(-gamma_m sum_d q_d^2 (x_d - c_md)^2),

is descended by Adam (D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR
2015) over shuffled blocks of rows. The loss l is the hinge loss of several SVMs or the logistic
loss; q holds one scale per feature.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import expit

# Adam's memory of gradients and of their squares.
MOMENTUM, SECOND_MOMENT = 0.9, 0.999
TINY = 1e-12
# Steps over which the learning rate rises to its full size.
WARM_UP = 50
# Steps of W, in units of its size; measured on MNIST.
WEIGHT_RATE = 4.0

# A loss of scores (n_rows, n_scores) and targets: the loss of each row and its slope.
RowLoss = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Network:
    """The parameters that are learned; also the shape of a gradient.

    Attributes
    ----------
    centers : ndarray of shape (n_centers, n_features)
        c_m, minus whatever the rows are shifted by.
    log_gammas : ndarray of shape (n_centers,)
    log_scales : ndarray of shape (n_features,)
        ``log q_d``.
    W : ndarray of shape (n_centers, n_components)
    w0 : ndarray of shape (n_components,)
    coef : ndarray of shape (n_scores, n_components)
        V.
    intercept : ndarray of shape (n_scores,)
        b.
    """

    centers: np.ndarray
    log_gammas: np.ndarray
    log_scales: np.ndarray
    W: np.ndarray
    w0: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def astype(self, dtype: Any) -> "Network":
        """Return a copy in another precision."""
        return Network(*(np.array(value, dtype=dtype) for value in self.parts()))

    def parts(self) -> list[np.ndarray]:
        """Return the arrays, in the order of the fields."""
        return [getattr(self, field.name) for field in fields(self)]


def hinge_slopes(scores: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``sum_k max(0, 1 - y_k f_k)`` of each row and its slope; a sign 0 is no task.

    Parameters
    ----------
    scores, signs : ndarrays of shape (n_rows, n_svms)
    """
    slack = 1.0 - signs * scores
    active = (slack > 0) & (signs != 0)
    return (slack * active).sum(axis=1), np.where(active, -signs, signs.dtype.type(0))


def log_slopes(scores: np.ndarray, one_hot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``-log p_y`` of each row and its slope; one score is that of the second class.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes), or (n_rows, 1) for two classes
    one_hot : ndarray of the same shape
        1 at the class of the row; for two classes, 1 in rows of the second. Targets that are
        less sure, such as 0.91 and nine times 0.01, are welcome.
    """
    if scores.shape[1] == 1:
        losses = np.logaddexp(0, scores) - one_hot * scores
        return losses[:, 0], expit(scores) - one_hot
    shifted = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(shifted)
    totals = p.sum(axis=1, keepdims=True)
    p /= totals
    losses = np.log(totals[:, 0]) - np.einsum("ij,ij->i", shifted, one_hot)
    return losses, p - one_hot


def features_of(net: Network, X: np.ndarray) -> np.ndarray:
    """Return phi(x) of each row, shape (n_rows, n_centers)."""
    q = np.exp(net.log_scales)
    return _gaussians(X * q, net.centers * q, np.exp(net.log_gammas))[1]


def scores_of(net: Network, X: np.ndarray) -> np.ndarray:
    """Return ``V F(x) + b`` of each row."""
    return (features_of(net, X) @ net.W + net.w0) @ net.coef.T + net.intercept


def mean_loss(
    net: Network, X: np.ndarray, targets: np.ndarray, weights: np.ndarray, row_loss: RowLoss
) -> tuple[float, Network]:
    """Return ``sum_n s_n l_n / sum_n s_n`` of a block of rows and its gradient.

    Parameters
    ----------
    net : Network
    X : ndarray of shape (n_rows, n_features)
    targets : ndarray of shape (n_rows, n_scores)
        What `row_loss` compares the scores with.
    weights : ndarray of shape (n_rows,)
        s_n.
    row_loss : callable
        :func:`hinge_slopes` or :func:`log_slopes`.
    """
    q, gammas = np.exp(net.log_scales), np.exp(net.log_gammas)
    rows, centers = X * q, net.centers * q
    distances, phi = _gaussians(rows, centers, gammas)
    F = phi @ net.W + net.w0
    losses, slopes = row_loss(F @ net.coef.T + net.intercept, targets)
    total = weights.sum()
    slopes = slopes * (weights / total)[:, None].astype(X.dtype)

    dF = slopes @ net.coef
    # a_nm = -dJ/d(gamma_m d_nm), then times gamma_m; every other gradient is a sum over it.
    pull = dF @ net.W.T
    pull *= phi
    distances *= pull
    d_log_gammas = -gammas * distances.sum(axis=0)
    pull *= gammas
    column_sums, row_sums = pull.sum(axis=0), pull.sum(axis=1)
    moved = pull.T @ rows
    spread = row_sums @ np.square(rows) + column_sums @ np.square(centers)
    spread -= 2.0 * np.einsum("md,md->d", moved, centers)
    moved -= column_sums[:, None] * centers
    moved *= 2.0 * q
    gradient = Network(
        centers=moved,
        log_gammas=d_log_gammas,
        log_scales=-2.0 * spread,
        W=phi.T @ dF,
        w0=dF.sum(axis=0),
        coef=slopes.T @ F,
        intercept=slopes.sum(axis=0),
    )
    return float(weights @ losses / total), gradient


def _gaussians(
    rows: np.ndarray, centers: np.ndarray, gammas: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared distances of rows and centres and the Gaussians of them."""
    distances = rows @ centers.T
    distances *= -2.0
    distances += np.einsum("ij,ij->i", centers, centers)
    distances += np.einsum("ij,ij->i", rows, rows)[:, None]
    np.maximum(distances, 0.0, out=distances)
    phi = distances * -gammas
    return distances, np.exp(phi, out=phi)


@dataclass(frozen=True)
class Batches:
    """Shuffled blocks of rows, in single precision.

    Attributes
    ----------
    take : callable
        Indices of rows to a dense array of them.
    targets : ndarray of shape (n_rows, n_scores)
    weights : ndarray of shape (n_rows,)
    size : int
        Rows in a block.
    """

    take: Callable[[np.ndarray], np.ndarray]
    targets: np.ndarray
    weights: np.ndarray
    size: int

    def forever(
        self, rng: np.random.RandomState
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield rows, targets and weights of block after block; each pass is shuffled anew."""
        n_rows = len(self.weights)
        n_blocks = max(1, n_rows // self.size)
        while True:
            for chosen in np.array_split(rng.permutation(n_rows), n_blocks):
                yield self.take(chosen), self.targets[chosen], self.weights[chosen]


@dataclass(frozen=True)
class Refinement:
    """What the descent found.

    Attributes
    ----------
    network : Network
        The parameters that were kept.
    history : dict of lists
        step, loss (mean over the rows seen since the last entry) and merit, at each check; the
        first entry is the start.
    best_step : int
        The step that they are of.
    merit : float
        Their merit, NaN without one.
    stopped : str
        "steps" when all were done, "callback" when it was asked to stop.
    """

    network: Network
    history: dict[str, list[float]]
    best_step: int
    merit: float
    stopped: str


class _Latest:
    """The latest parameters whose merit is within a tolerance of the best."""

    def __init__(self, tolerance: Callable[[float], float] | None) -> None:
        self.tolerance = tolerance
        # merits rise along the list: an earlier one that is no better is of no use
        self.candidates: list[tuple[float, int, Network]] = []

    def add(self, merit: float, step: int, net: Network) -> None:
        kept = [candidate for candidate in self.candidates if candidate[0] < merit]
        kept.append((merit, step, net))
        best = kept[0][0]
        limit = best + (self.tolerance(best) if self.tolerance is not None else 0.0)
        self.candidates = [candidate for candidate in kept if candidate[0] <= limit]


def refine(
    start: Network,
    batches: Batches,
    row_loss: RowLoss,
    rng: np.random.RandomState,
    *,
    decay_W: float = 0.0,
    decay_coef: float = 0.0,
    center_scale: float = 1.0,
    learning_rate: float = 0.1,
    scale_rate: float = 0.3,
    n_steps: int = 4000,
    n_checks: int = 20,
    merit: Callable[[Network], float] | None = None,
    tolerance: Callable[[float], float] | None = None,
    on_check: Callable[[int, dict[str, list[float]]], bool] | None = None,
) -> Refinement:
    """Descend the nested objective from `start` by Adam, with a rate that falls to zero.

    Parameters
    ----------
    start : Network
        In the precision to work in.
    batches : Batches
    row_loss : callable
    rng : RandomState
        Shuffles the rows.
    decay_W, decay_coef : float
        Slopes of the regularisers per unit of W and V: ``2 alpha / (C sum_n s_n)`` and
        ``1 / (C sum_n s_n)``.
    center_scale : float
        Typical spread of a feature, the unit in which centres move.
    learning_rate : float
        Largest step, in units of the start: `center_scale` for centres, 1 for log gammas, the
        root mean square of the others (four times that for W).
    scale_rate : float
        Steps of the log scales are smaller by this factor; 0 keeps the features as they are.
    n_steps : int
    n_checks : int
        How often to ask for the merit.
    merit : callable, optional
        What must be small, such as the error on held-out rows; the parameters of the check with
        the least are kept, the latest of several. Without it, the last are kept.
    tolerance : callable, optional
        Takes the least merit and returns by how much a later one may exceed it and be kept all
        the same: the later have settled more, and small differences may be chance.
    on_check : callable, optional
        Called with the step and the history; True ends the descent.

    Returns
    -------
    Refinement
    """
    net = start.astype(start.centers.dtype)  # a copy
    units = _units(net, center_scale, scale_rate)
    firsts = [np.zeros_like(value) for value in net.parts()]
    seconds = [np.zeros_like(value) for value in net.parts()]
    history: dict[str, list[float]] = {"step": [], "loss": [], "merit": []}
    latest, stopped = _Latest(tolerance), "steps"
    checks = set(np.linspace(0, n_steps, n_checks + 1).round().astype(int).tolist())
    blocks = batches.forever(rng)
    losses: list[float] = []
    for step in range(n_steps + 1):
        if step in checks:
            found = merit(net) if merit is not None else np.nan
            history["step"].append(step)
            history["loss"].append(float(np.mean(losses)) if losses else np.nan)
            history["merit"].append(found)
            losses = []
            latest.add(found if merit is not None else -float(step), step, net.astype(net.W.dtype))
            if on_check is not None and on_check(step, history):
                stopped = "callback"
                break
            if step == n_steps:
                break
        loss, gradient = mean_loss(net, *next(blocks), row_loss)
        losses.append(loss)
        np.add(gradient.W, decay_W * net.W, out=gradient.W)
        np.add(gradient.coef, decay_coef * net.coef, out=gradient.coef)
        rate = learning_rate * (1.0 - step / n_steps) * min(1.0, (step + 1) / WARM_UP)
        for value, slope, first, second, unit in zip(
            net.parts(), gradient.parts(), firsts, seconds, units, strict=True
        ):
            if unit:
                adam_step(value, slope, first, second, rate * unit, step + 1)
    final, best_step, best = latest.candidates[-1]
    return Refinement(best, history, best_step, final if merit is not None else np.nan, stopped)


def adam_step(
    value: np.ndarray,
    slope: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    rate: float,
    step: int,
) -> None:
    """Move `value` in place by one step of Adam; `slope` is used up.

    ``m <- b1 m + (1 - b1) g``, ``v <- b2 v + (1 - b2) g^2``,
    ``value <- value - rate (m / (1 - b1^t)) / sqrt(v / (1 - b2^t))``.

    Examples
    --------
    The first step has the length of the rate, whatever the slope.

    >>> import numpy as np
    >>> from supred.rbf_net.refinement import adam_step
    >>> value, slope = np.array([1.0]), np.array([1e-3])
    >>> adam_step(value, slope, np.zeros(1), np.zeros(1), rate=0.1, step=1)
    >>> value.round(6)
    array([0.9])
    """
    first *= MOMENTUM
    first += (1.0 - MOMENTUM) * slope
    np.square(slope, out=slope)
    second *= SECOND_MOMENT
    slope *= 1.0 - SECOND_MOMENT
    second += slope
    np.sqrt(second, out=slope)
    slope *= 1.0 / np.sqrt(1.0 - SECOND_MOMENT**step)
    slope += TINY
    np.divide(first, slope, out=slope)
    slope *= rate / (1.0 - MOMENTUM**step)
    value -= slope


def _units(net: Network, center_scale: float, scale_rate: float) -> list[float]:
    """Return the unit of a step of each parameter."""

    def size(value: np.ndarray) -> float:
        return float(np.sqrt(np.mean(np.square(value, dtype=float))))

    sizes = replace(
        net,
        centers=np.array(center_scale),
        log_gammas=np.array(1.0),
        log_scales=np.array(scale_rate),
        W=np.array(WEIGHT_RATE * size(net.W) or 1.0),
        w0=np.array(size(net.w0) + 0.1),
        coef=np.array(size(net.coef) or 1.0),
        intercept=np.array(size(net.intercept) + 0.1),
    )
    return [float(value) for value in sizes.parts()]
