"""Adam's steps, and the units in which parameters move.

(D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.)
"""

from typing import Any

import numpy as np

from supred.common.arrays import place_of
from supred.rbf_net.network import Networks

# Adam's memory of gradients and of their squares.
MOMENTUM, SECOND_MOMENT = 0.9, 0.999
TINY = 1e-12
# Steps of the parameters, in units of their typical sizes; found on validation rows of MNIST and
# of small tables. A metric of some of the directions moves more slowly.
METRIC_RATE, LOW_RANK_RATE, SCALE_RATE, GAMMA_RATE, WEIGHT_RATE = 1.0, 0.5, 0.3, 0.3, 4.0
# Weights of Gaussians that are smaller, beside codes of unit length, are what rounding leaves of
# nothing, as of rows of one class: in a unit like that they would never move.
LEAST_WEIGHT = 1e-9


@np.errstate(over="ignore", invalid="ignore")  # a network that diverges is not taken
def adam_step(
    value: np.ndarray,
    slope: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    rate: np.ndarray,
    correction: Any,
) -> None:
    """Move `value` in place by one step of Adam; `slope` and `rate` are used up.

    ``m <- b1 m + (1 - b1) g``, ``v <- b2 v + (1 - b2) g^2``,
    ``value <- value - rate m / (correction sqrt(v))``, see :func:`bias_correction`.

    Examples
    --------
    The first step has the length of the rate, whatever the slope.

    >>> import numpy as np
    >>> from supred.rbf_net.adam import adam_step, bias_correction
    >>> value, slope = np.array([1.0]), np.array([1e-3])
    >>> first = bias_correction(1)
    >>> adam_step(value, slope, np.zeros(1), np.zeros(1), rate=np.array([0.1]), correction=first)
    >>> value.round(6)
    array([0.9])
    """
    xp = place_of(value).xp
    first *= MOMENTUM
    first += (1.0 - MOMENTUM) * slope
    rate *= first
    xp.square(slope, out=slope)
    second *= SECOND_MOMENT
    slope *= 1.0 - SECOND_MOMENT
    second += slope
    xp.sqrt(second, out=slope)
    slope *= correction
    slope += TINY
    rate /= slope
    value -= rate


def bias_correction(step: int) -> np.float64:
    """Return ``(1 - b1^t) / sqrt(1 - b2^t)`` of step t: the memory of the first steps is short."""
    return (1.0 - MOMENTUM**step) / np.sqrt(1.0 - SECOND_MOMENT**step)


def units_of(nets: Networks, spread: float) -> np.ndarray:
    """Return the unit of a step of each parameter, shape (n_networks, n_numbers).

    Parameters
    ----------
    nets : Networks
        At the start.
    spread : float
        Root mean square of the coordinates u of the rows, the unit in which centres move.
    """

    def size(values: np.ndarray) -> np.ndarray:
        flat = values.reshape(len(values), -1)
        found = np.sqrt(np.mean(np.square(flat, dtype=float), axis=1))
        return found.reshape(-1, *[1] * (values.ndim - 1))

    units = Networks.zeros(nets.shape, len(nets), nets.flat.dtype)
    rank, n_features = nets.shape.rank, nets.shape.n_features
    if rank is None:
        units.metric[...] = SCALE_RATE
    else:
        rate = METRIC_RATE if rank == n_features else LOW_RANK_RATE
        units.metric[...] = rate * size(nets.metric)
    units.centers[...] = spread
    units.log_gammas[...] = GAMMA_RATE
    W = size(nets.W)
    units.W[...] = WEIGHT_RATE * np.where(W > LEAST_WEIGHT, W, 1.0)
    units.w0[...] = size(nets.w0) + 0.1
    coef = size(nets.coef)
    units.coef[...] = np.where(coef > 0, coef, 1.0)
    units.intercept[...] = size(nets.intercept) + 0.1
    return units.flat
