"""Descent of networks by Adam over blocks of rows that are known beforehand.

(D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.)

Which rows and which noise a step sees depends on a seed and the number of the step alone. So a
descent that was interrupted goes on to the same networks, and rows that are not in memory can be
fetched for many steps at once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supred.rbf_net.network import Networks, Noise, RowLoss, mean_loss, noise_width

# Adam's memory of gradients and of their squares.
MOMENTUM, SECOND_MOMENT = 0.9, 0.999
TINY = 1e-12
# Steps over which the learning rate rises to its full size.
WARM_UP = 50
# Steps of the parameters, in units of their typical sizes; found on validation rows of MNIST and
# of small tables.
METRIC_RATE, SCALE_RATE, WEIGHT_RATE = 1.0, 0.3, 4.0
# Noise is drawn for this many steps from one generator.
NOISE_GROUP = 64


@dataclass(frozen=True)
class Draws:
    """Which rows each step sees: a shuffled pass after the other.

    Attributes
    ----------
    parts : tuple of ndarrays of int
        Rows that may be drawn, one array per network, or one for all networks. All of one length.
    size : int
        Rows of a block.
    seed : int
    """

    parts: tuple[np.ndarray, ...]
    size: int
    seed: int

    @property
    def per_pass(self) -> int:
        """Blocks of a pass."""
        return max(1, len(self.parts[0]) // self.size)

    def of_pass(self, number: int) -> np.ndarray:
        """Return the rows of the blocks of a pass, shape (n_blocks, n_parts, size)."""
        rng = np.random.default_rng((self.seed, number))
        n_rows = len(self.parts[0])
        order = rng.permutation(n_rows)[: self.per_pass * self.size]
        blocks = order.reshape(self.per_pass, -1)
        return np.stack([part[blocks] for part in self.parts], axis=1)

    def blocks(self, first_step: int) -> Iterator[np.ndarray]:
        """Yield the rows of each step's block from `first_step` on, shape (n_parts, size)."""
        number, skip = divmod(first_step, self.per_pass)
        while True:
            yield from self.of_pass(number)[skip:]
            number, skip = number + 1, 0


@dataclass(frozen=True)
class Problem:
    """What a descent looks at.

    Attributes
    ----------
    take : callable
        Sorted or unsorted indices (any shape) to dense rows in single precision, with one more
        axis.
    targets : ndarray of shape (n_rows, n_scores)
    weights : ndarray of shape (n_rows,)
        Mean about 1.
    row_loss : callable
    decay : float
        Slope of the regulariser per unit of W and of V.
    """

    take: Callable[[np.ndarray], np.ndarray]
    targets: np.ndarray
    weights: np.ndarray
    row_loss: RowLoss
    decay: float = 0.0


@dataclass
class State:
    """Where a descent is: enough to go on from there.

    Attributes
    ----------
    nets : Networks
    first, second : ndarrays of shape (n_networks, n_numbers)
        Adam's means of gradients and of their squares.
    step : int
        Steps done in this descent.
    losses : list of float
        Mean loss of each network since the last check: the sum, and the number of steps.
    """

    nets: Networks
    first: np.ndarray
    second: np.ndarray
    step: int = 0

    @classmethod
    def begin(cls, nets: Networks) -> "State":
        """Return the state before the first step."""
        return cls(nets, np.zeros_like(nets.flat), np.zeros_like(nets.flat))

    def take(self, indices: Any) -> "State":
        """Return the state of some of the networks."""
        return State(
            self.nets.take(indices),
            self.first[indices].copy(),
            self.second[indices].copy(),
            self.step,
        )


@dataclass(frozen=True)
class Course:
    """How far and how fast to go.

    Attributes
    ----------
    n_steps : int
        Steps until the rate is zero.
    learning_rate : float
        Largest step, in units of the parameters.
    levels : ndarray of shape (n_networks,)
        Standard deviations of the noise.
    check_every : int
    """

    n_steps: int
    learning_rate: float
    levels: np.ndarray
    check_every: int = field(default=10**9)

    def rate(self, step: int) -> float:
        """Return the learning rate of a step: up quickly, then down to zero."""
        return self.learning_rate * (1.0 - step / self.n_steps) * min(1.0, (step + 1) / WARM_UP)


def descend(
    state: State,
    problem: Problem,
    draws: Draws,
    course: Course,
    units: np.ndarray,
    on_check: Callable[[State, np.ndarray], bool] | None = None,
) -> State:
    """Move networks by Adam until the rate is zero.

    Parameters
    ----------
    state : State
        Where to begin; its arrays are overwritten.
    problem : Problem
    draws : Draws
    course : Course
    units : ndarray of shape (n_networks, n_numbers)
        Unit of a step of each parameter, see :func:`units_of`.
    on_check : callable, optional
        Called with the state and the mean loss of each network since the last call, every
        `check_every` steps and after the last one; True ends the descent.

    Returns
    -------
    state : State
    """
    nets, shape = state.nets, state.nets.shape
    gradient = Networks.zeros(shape, len(nets), nets.flat.dtype)
    noisy = bool(np.any(course.levels > 0))
    levels = course.levels.astype(nets.flat.dtype)
    losses, n_losses = np.zeros(len(nets)), 0
    blocks = draws.blocks(state.step)
    normals = _normals(draws, state.step, noise_width(shape)) if noisy else None
    while state.step < course.n_steps:
        chosen = next(blocks)
        noise = None if normals is None else Noise(levels, next(normals))
        losses += mean_loss(
            nets,
            problem.take(chosen),
            problem.targets[chosen],
            problem.weights[chosen],
            problem.row_loss,
            gradient,
            noise,
        )
        n_losses += 1
        if problem.decay:
            gradient.W[...] += problem.decay * nets.W
            gradient.coef[...] += problem.decay * nets.coef
        adam_step(
            nets.flat,
            gradient.flat,
            state.first,
            state.second,
            course.rate(state.step) * units,
            state.step + 1,
        )
        state.step += 1
        if state.step % course.check_every == 0 or state.step == course.n_steps:
            if on_check is not None and on_check(state, losses / n_losses):
                break
            losses, n_losses = np.zeros(len(nets)), 0
    return state


def _normals(draws: Draws, first_step: int, width: int) -> Iterator[np.ndarray]:
    """Yield standard normal numbers for the rows of each step's block."""
    shape = (len(draws.parts), draws.size, width)
    group, skip = divmod(first_step, NOISE_GROUP)
    while True:
        rng = np.random.Generator(np.random.SFC64((draws.seed, 1, group)))
        for step in range(NOISE_GROUP):
            values = rng.standard_normal(shape, dtype=np.float32)
            if step >= skip:
                yield values
        group, skip = group + 1, 0


def adam_step(
    value: np.ndarray,
    slope: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    rate: np.ndarray,
    step: int,
) -> None:
    """Move `value` in place by one step of Adam; `slope` and `rate` are used up.

    ``m <- b1 m + (1 - b1) g``, ``v <- b2 v + (1 - b2) g^2``,
    ``value <- value - rate (m / (1 - b1^t)) / sqrt(v / (1 - b2^t))``.

    Examples
    --------
    The first step has the length of the rate, whatever the slope.

    >>> import numpy as np
    >>> from supred.rbf_net.descent import adam_step
    >>> value, slope = np.array([1.0]), np.array([1e-3])
    >>> adam_step(value, slope, np.zeros(1), np.zeros(1), rate=np.array([0.1]), step=1)
    >>> value.round(6)
    array([0.9])
    """
    first *= MOMENTUM
    first += (1.0 - MOMENTUM) * slope
    rate *= first
    np.square(slope, out=slope)
    second *= SECOND_MOMENT
    slope *= 1.0 - SECOND_MOMENT
    second += slope
    np.sqrt(second, out=slope)
    slope *= (1.0 - MOMENTUM**step) / np.sqrt(1.0 - SECOND_MOMENT**step)
    slope += TINY
    rate /= slope
    value -= rate


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
