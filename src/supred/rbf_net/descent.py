"""Descent of networks by Adam over blocks of rows that are known beforehand.

(D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.)

Which rows and which noise a step sees depends on a seed and the number of the step alone. So a
descent that was interrupted goes on to the same networks, and rows that are not in memory can be
fetched for many steps at once.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from supred.common.arrays import Place, copied, on_host, place_of, recorded, type_name
from supred.common.threads import map_in_threads, one_blas_thread
from supred.rbf_net.draws import Draws
from supred.rbf_net.network import Networks, Noise, RowLoss, mean_loss, noise_width

# Adam's memory of gradients and of their squares.
MOMENTUM, SECOND_MOMENT = 0.9, 0.999
TINY = 1e-12
# Steps over which the learning rate rises to its full size.
WARM_UP = 50
# Steps of the parameters, in units of their typical sizes; found on validation rows of MNIST and
# of small tables.
METRIC_RATE, SCALE_RATE, GAMMA_RATE, WEIGHT_RATE = 1.0, 0.3, 0.3, 4.0
# A block of at least this many values of Gaussians is worked on in halves, so that two threads
# can share it; in halves also if there is one thread, for the same bits.
HALVED = 60_000


@dataclass(frozen=True)
class Problem:
    """What a descent looks at; rows, targets and weights are where the networks are.

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
    steps_at_once : int
        Steps whose rows are fetched together: 1 in memory, many for rows in files and on devices.
    """

    take: Callable[[np.ndarray], np.ndarray]
    targets: np.ndarray
    weights: np.ndarray
    row_loss: RowLoss
    decay: float = 0.0
    steps_at_once: int = 1


@dataclass
class State:
    """Where a descent is: enough to go on from there.

    Attributes
    ----------
    nets : Networks
    first, second : ndarrays of shape (n_networks, n_numbers)
        Adam's means of gradients and of their squares.
    step : int
        Steps done.
    """

    nets: Networks
    first: np.ndarray
    second: np.ndarray
    step: int = 0

    @classmethod
    def joined(cls, states: Sequence["State"]) -> "State":
        """Return the state of all networks of several."""
        flat = np.concatenate([state.nets.flat for state in states])
        return cls(
            Networks(states[0].nets.shape, flat),
            np.concatenate([state.first for state in states]),
            np.concatenate([state.second for state in states]),
            states[0].step,
        )

    @classmethod
    def begin(cls, nets: Networks) -> "State":
        """Return the state before the first step."""
        return cls(nets, nets.place.xp.zeros_like(nets.flat), nets.place.xp.zeros_like(nets.flat))

    def take(self, indices: Any) -> "State":
        """Return the state of some of the networks."""
        return State(
            self.nets.take(indices),
            copied(self.first[indices]),
            copied(self.second[indices]),
            self.step,
        )

    def to(self, place: Place) -> "State":
        """Return the state at another place."""
        if place == self.nets.place:
            return self
        first, second = (place.put(on_host(values)) for values in (self.first, self.second))
        return State(self.nets.to(place), first, second, self.step)


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
    first_step : int
        Steps that were done in earlier descents.
    """

    n_steps: int
    learning_rate: float
    levels: np.ndarray
    first_step: int = 0

    @property
    def end(self) -> int:
        """The step at which the rate is zero."""
        return self.first_step + self.n_steps

    def rate(self, step: int) -> float:
        """Return the learning rate of a step: up quickly, then down to zero."""
        done = step - self.first_step
        warm_up = min(WARM_UP, 1 + self.n_steps // 8)
        return self.learning_rate * (1.0 - done / self.n_steps) * min(1.0, (done + 1) / warm_up)


def descend_side_by_side(
    state: State,
    problem: Problem,
    draws: Draws,
    course: Course,
    units: np.ndarray,
    until: int | None = None,
    n_threads: int = 1,
) -> tuple[State, np.ndarray]:
    """Return what :func:`descend` does, the same bits, with the networks in several threads.

    Networks do not depend on each other. Two threads share the rows of a single network.
    """
    n_nets = len(state.nets)
    if n_threads == 1 or n_nets == 1 or problem.steps_at_once > 1:
        halved = n_nets == 1 and draws.size * state.nets.shape.n_centers >= HALVED
        n_halves = 2 if halved and state.nets.place.is_host else 1
        return descend(state, problem, draws, course, units, until, n_halves, n_threads)

    def of_some(chosen: np.ndarray) -> tuple[State, np.ndarray]:
        parts = draws.parts if len(draws.parts) == 1 else tuple(draws.parts[k] for k in chosen)
        return descend(
            state.take(chosen),
            problem,
            replace(draws, parts=parts),
            replace(course, levels=course.levels[chosen]),
            units[chosen],
            until,
        )

    chunks = np.array_split(np.arange(n_nets), min(n_threads, n_nets))
    groups = [(chosen,) for chosen in chunks]
    found = map_in_threads(of_some, groups, n_threads)
    return State.joined([one for one, _ in found]), np.concatenate([loss for _, loss in found])


def descend(
    state: State,
    problem: Problem,
    draws: Draws,
    course: Course,
    units: np.ndarray,
    until: int | None = None,
    n_slices: int = 1,
    n_threads: int = 1,
) -> tuple[State, np.ndarray]:
    """Move networks by Adam along a course.

    Parameters
    ----------
    state : State
        Where to begin; it is left as it is.
    problem : Problem
    draws : Draws
    course : Course
    units : ndarray of shape (n_networks, n_numbers)
        Unit of a step of each parameter, see :func:`units_of`.
    until : int, optional
        Step to stop at, by default the end of the course; a further call goes on from there as
        if there had been no stop.
    n_slices : int
        Parts of equal size in which the rows of a block are worked on, 1 or 2. The last digits
        depend on it.
    n_threads : int
        With more than one, two of them share the parts.

    Returns
    -------
    state : State
    losses : ndarray of shape (n_networks,)
        Mean loss of the rows seen.
    """
    state = state.take(slice(None))
    nets, place, precision = state.nets, state.nets.place, type_name(state.nets.flat)
    until = course.end if until is None else min(until, course.end)
    slices, parts = _slices(draws.size, n_slices), _slices(nets.shape.n_numbers, n_slices)
    gradients = [Networks.zeros(nets.shape, len(nets), precision, place) for _ in slices]
    gradient = gradients[0]
    levels = place.put(course.levels.astype(precision))
    losses, first_step = place.zeros((len(nets),), float), state.step

    def step(rows: Any, targets: Any, weights: Any, rates: Any, *normals: Any) -> None:
        nonlocal losses
        shares = weights / weights.sum(axis=1)[:, None]
        calls = [
            (
                nets,
                rows[:, some],
                targets[:, some],
                shares[:, some],
                problem.row_loss,
                of_some,
                Noise(levels, normals[0][:, some]) if normals else None,
            )
            for some, of_some in zip(slices, gradients, strict=True)
        ]
        for loss in _at_once(mean_loss, calls, pool):
            losses += loss
        for other in gradients[1:]:
            gradient.flat[...] += other.flat
        if problem.decay:
            gradient.W[...] += problem.decay * nets.W
            gradient.coef[...] += problem.decay * nets.coef
        arrays = nets.flat, gradient.flat, state.first, state.second, rates[0] * units
        _at_once(adam_step, [(*(a[:, some] for a in arrays), rates[1]) for some in parts], pool)

    width = noise_width(nets.shape) if np.any(course.levels > 0) else 0
    quick_step = recorded(step, place)
    threads = ThreadPoolExecutor(1) if n_threads > 1 and n_slices > 1 else nullcontext()
    with one_blas_thread(), threads as pool:
        for inputs in _inputs(problem, draws, course, first_step, until, width):
            quick_step(*inputs)
    state.step = max(first_step, until)
    return state, on_host(losses) / max(1, until - first_step)


def _slices(size: int, n_slices: int) -> list[slice]:
    cuts = np.linspace(0, size, n_slices + 1).astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(cuts)]


def _at_once(
    function: Callable[..., Any], calls: Sequence[tuple], pool: ThreadPoolExecutor | None
) -> list[Any]:
    """Return ``function(*call)`` of each call; the last one in another thread if there is one."""
    if pool is None:
        return [function(*call) for call in calls]
    later = pool.submit(function, *calls[-1])
    return [*(function(*call) for call in calls[:-1]), later.result()]


def _inputs(
    problem: Problem, draws: Draws, course: Course, first_step: int, until: int, width: int
) -> Iterator[tuple[Any, ...]]:
    """Yield what each step needs; that of several steps is fetched together.

    Yields
    ------
    rows, targets, weights : arrays
        Of the block of the step.
    rates : array of shape (2,) or tuple
        Learning rate and bias correction.
    normals : array
        If there is noise: `width` standard normal numbers per row.
    """
    place = place_of(problem.targets)
    steps, normals = draws.blocks(first_step), draws.normals(first_step, width)
    for first in range(first_step, until, problem.steps_at_once):
        numbers = range(first, min(first + problem.steps_at_once, until))
        chosen = np.stack([next(steps) for _ in numbers])
        rates = [(course.rate(number), bias_correction(number + 1)) for number in numbers]
        there = place.put(chosen)
        arrays = [
            problem.take(chosen),
            problem.targets[there],
            problem.weights[there],
            rates if place.is_host else place.put(np.array(rates, dtype=np.float32)),
        ]
        if width:
            arrays.append(place.put(np.stack([next(normals) for _ in numbers])))
        yield from zip(*arrays, strict=True)


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
    >>> from supred.rbf_net.descent import adam_step, bias_correction
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
    diagonal = nets.shape.rank is None
    units.metric[...] = SCALE_RATE if diagonal else METRIC_RATE * size(nets.metric)
    units.centers[...] = spread
    units.log_gammas[...] = GAMMA_RATE
    W = size(nets.W)
    units.W[...] = WEIGHT_RATE * np.where(W > 0, W, 1.0)
    units.w0[...] = size(nets.w0) + 0.1
    coef = size(nets.coef)
    units.coef[...] = np.where(coef > 0, coef, 1.0)
    units.intercept[...] = size(nets.intercept) + 0.1
    return units.flat
