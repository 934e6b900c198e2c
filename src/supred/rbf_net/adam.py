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
# of small tables.
METRIC_RATE, SCALE_RATE, WEIGHT_RATE = 1.0, 0.3, 4.0


def adam_step(
    value: np.ndarray,
    slope: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    unit: np.ndarray,
    rate: Any,
    correction: Any,
) -> None:
    """Move `value` in place by one step of Adam; `slope` is used up.

    ``m <- b1 m + g``, ``v <- b2 v + g^2``, ``value <- value - rate unit m / (c sqrt(v))``: sums in
    place of means, the weights of which are in the correction c, see :func:`bias_correction`.

    Examples
    --------
    The first step has the length of the rate, whatever the slope.

    >>> import numpy as np
    >>> from supred.rbf_net.adam import adam_step, bias_correction
    >>> value, slope, unit = np.array([1.0]), np.array([1e-3]), np.ones(1)
    >>> adam_step(value, slope, np.zeros(1), np.zeros(1), unit, 0.1, bias_correction(1))
    >>> value.round(6)
    array([0.9])
    """
    xp = place_of(value).xp
    first *= MOMENTUM
    first += slope
    xp.square(slope, out=slope)
    second *= SECOND_MOMENT
    second += slope
    xp.sqrt(second, out=slope)
    slope += TINY
    xp.divide(first, slope, out=slope)
    slope *= unit
    slope *= rate / correction
    value -= slope


def bias_correction(step: int) -> float:
    """Return what m / sqrt(v) of a constant slope has come to after t steps.

    ``(1 - b1^t) / (1 - b1) sqrt((1 - b2) / (1 - b2^t))``.
    """
    means = (1.0 - MOMENTUM**step) / (1.0 - MOMENTUM)
    return means * ((1.0 - SECOND_MOMENT) / (1.0 - SECOND_MOMENT**step)) ** 0.5


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
    diagonal = nets.shape.rank is None
    units.metric[...] = SCALE_RATE if diagonal else METRIC_RATE * size(nets.metric)
    units.centers[...] = spread
    units.log_gammas[...] = 1.0
    W = size(nets.W)
    units.W[...] = WEIGHT_RATE * np.where(W > 0, W, 1.0)
    units.w0[...] = size(nets.w0) + 0.1
    coef = size(nets.coef)
    units.coef[...] = np.where(coef > 0, coef, 1.0)
    units.intercept[...] = size(nets.intercept) + 0.1
    return units.flat
