"""Descent of networks by Adam over blocks of rows that are known beforehand.

Which rows and which noise a step sees depends on a seed and the number of the step alone. So a
descent that was interrupted goes on to the same networks, and rows that are not in memory can be
fetched for many steps at once.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from supred.common.arrays import Place, copied, on_host, place_of, recorded, type_name
from supred.common.threads import map_in_threads, one_blas_thread
from supred.numerics.compiled import worthwhile
from supred.rbf_net.adam import adam_step, bias_correction
from supred.rbf_net.compiled import CompiledNetwork
from supred.rbf_net.draws import Draws
from supred.rbf_net.network import Networks, Noise, RowLoss, log_slopes, mean_loss, noise_width

# Steps over which the learning rate rises to its full size.
WARM_UP = 50


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

    Networks do not depend on each other. Where compiled loops do the steps, two threads share the
    rows of one network, or of three: one of two threads would have two of them to itself.
    """
    n_nets = len(state.nets)
    shared = takes_loops(state.nets, problem) and 2 * -(-n_nets // n_threads) > n_nets
    if n_threads == 1 or n_nets == 1 or shared or problem.steps_at_once > 1:
        return descend(state, problem, draws, course, units, until, n_threads)

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
    n_threads : int
        With more than one, two of them share the rows of a step that compiled loops do.

    Returns
    -------
    state : State
    losses : ndarray of shape (n_networks,)
        Mean loss of the rows seen.
    """
    state = state.take(slice(None))
    nets, place, precision = state.nets, state.nets.place, type_name(state.nets.flat)
    until = course.end if until is None else min(until, course.end)
    gradient = Networks.zeros(nets.shape, len(nets), precision, place)
    levels = place.put(course.levels.astype(precision))
    losses, first_step = place.zeros((len(nets),), float), state.step

    def step(rows: Any, targets: Any, shares: Any, rates: Any, *normals: Any) -> None:
        nonlocal losses
        noise = Noise(levels, normals[0]) if normals else None
        losses += mean_loss(nets, rows, targets, shares, problem.row_loss, gradient, noise)
        if problem.decay:
            gradient.W[...] += problem.decay * nets.W
            gradient.coef[...] += problem.decay * nets.coef
        adam_step(nets.flat, gradient.flat, state.first, state.second, rates[0] * units, rates[1])

    width = noise_width(nets.shape) if np.any(course.levels > 0) else 0
    inputs = _inputs(problem, draws, course, first_step, until, width)
    with one_blas_thread():
        if takes_loops(nets, problem):
            memory = state.first, state.second, units
            room = np.empty((2, 2, (draws.size + 1) // 2, nets.shape.n_centers), precision)
            losses += _run_loops(nets, memory, problem.decay, levels, room, inputs, n_threads)
        else:
            quick_step = recorded(step, place)
            for arrays in inputs:
                quick_step(*arrays)
    state.step = max(first_step, until)
    return state, on_host(losses) / max(1, until - first_step)


def takes_loops(nets: Networks, problem: Problem) -> bool:
    """Tell whether compiled loops do the steps: where rows are many, and for the log-loss."""
    single = nets.place.is_host and nets.flat.dtype == np.float32 and nets.shape.rank is not None
    return single and problem.row_loss is log_slopes and worthwhile(len(problem.weights))


def _run_loops(
    nets: Networks,
    memory: tuple[np.ndarray, ...],
    decay: float,
    levels: np.ndarray,
    room: np.ndarray,
    inputs: Iterator[tuple[Any, ...]],
    n_threads: int,
) -> np.ndarray:
    """Do steps by compiled loops, two threads side by side; return the sums of the losses."""
    moved = [CompiledNetwork(nets, k, memory, level, decay) for k, level in enumerate(levels)]

    def add_up(half: int, *arrays: Any) -> np.ndarray:
        return np.array([net.add_up(half, room[half], *arrays) for net in moved])

    def move(rate: float, correction: float) -> None:
        for net in moved:
            net.move(rate, correction)

    losses, coming = np.zeros(len(nets)), next(inputs, None)
    with ThreadPoolExecutor(1) if n_threads > 1 else nullcontext() as pool:
        while coming is not None:
            rows, targets, shares, rates, *normals = coming
            arrays = (rows, targets, shares, *normals)
            first, second = _both(partial(add_up, 0, *arrays), partial(add_up, 1, *arrays), pool)
            losses += first + second
            # the other thread draws the rows and the noise of the next step meanwhile
            _, coming = _both(partial(move, *rates), partial(next, inputs, None), pool)
    return losses


def _both(
    first: Callable[[], Any], second: Callable[[], Any], pool: ThreadPoolExecutor | None
) -> tuple[Any, Any]:
    """Return what two functions return; the second runs in another thread if there is one."""
    if pool is None:
        return first(), second()
    later = pool.submit(second)
    return first(), later.result()


def _inputs(
    problem: Problem, draws: Draws, course: Course, first_step: int, until: int, width: int
) -> Iterator[tuple[Any, ...]]:
    """Yield what each step needs; that of several steps is fetched together.

    Yields
    ------
    rows, targets, shares : arrays
        Of the block of the step. Shares are weights in units of what a block has on average: in
        units of what it has itself, a heavy row would count no more than a light one that is alone
        in its block.
    rates : array of shape (2,) or tuple
        Learning rate and bias correction.
    normals : array
        If there is noise: `width` standard normal numbers per row.
    """
    place = place_of(problem.targets)
    steps, normals = draws.blocks(first_step), draws.normals(first_step, width)
    means = [float(problem.weights[place.put(part)].mean()) for part in draws.parts]
    units = place.put(np.array(means, dtype=np.float32)[:, None] * draws.size)
    for first in range(first_step, until, problem.steps_at_once):
        numbers = range(first, min(first + problem.steps_at_once, until))
        chosen = np.stack([next(steps) for _ in numbers])
        rates = [(course.rate(number), bias_correction(number + 1)) for number in numbers]
        there = place.put(chosen)
        arrays = [
            problem.take(chosen),
            problem.targets[there],
            problem.weights[there] / units,
            rates if place.is_host else place.put(np.array(rates, dtype=np.float32)),
        ]
        if width:
            arrays.append(place.put(np.stack([next(normals) for _ in numbers])))
        yield from zip(*arrays, strict=True)
