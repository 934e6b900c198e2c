"""Descent of networks by Adam over blocks of rows that are known beforehand.

Which rows and which noise a step sees depends on a seed and the number of the step alone. So a
descent that was interrupted goes on to the same networks, and rows that are not in memory can be
fetched for many steps at once.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from supred.common.arrays import Place, copied, on_host, place_of, recorded, type_name
from supred.common.threads import map_in_threads, one_blas_thread
from supred.rbf_net.adam import adam_step, bias_correction
from supred.rbf_net.draws import Draws
from supred.rbf_net.gradient import Gradient, noise_width
from supred.rbf_net.network import Networks, RowLoss

# Steps over which the learning rate rises to its full size.
WARM_UP = 50
# This many values of Gaussians stay in the cache of a core. Small networks are worked on together
# as far as they fit; a block of rows with more is worked on in halves, which two threads can share.
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
    """Return what :func:`descend` does, the same bits, in several threads.

    Networks do not depend on each other. Where they cannot be dealt out evenly, two threads share
    the rows of each.
    """
    n_nets = len(state.nets)
    shared = n_nets % n_threads > 0 and len(_slices(draws.size, state.nets)) > 1
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
        With more than one, two of them share the rows of large networks.

    Returns
    -------
    state : State
    losses : ndarray of shape (n_networks,)
        Mean loss of the rows seen.
    """
    state = state.take(slice(None))
    place, first_step = state.nets.place, state.step
    until = course.end if until is None else min(until, course.end)
    width = noise_width(state.nets.shape) if np.any(course.levels > 0) else 0
    slices = _slices(draws.size, state.nets)
    with one_blas_thread():
        groups = _groups(state, problem, course.levels if width else None, units, draws.size)
    losses = place.zeros((len(state.nets),), float)
    inputs = _inputs(problem, draws, course, first_step, until, width)

    def look_at(part: int, *arrays: Any) -> list[Any]:
        return [group.look_at(part, slices[part], *arrays) for group in groups]

    def add(found: list[Any]) -> None:
        for group, loss in zip(groups, found, strict=True):
            losses[group.which] += loss

    def move(metric: bool, rates: Any) -> None:
        for group in groups:
            group.move(metric, *rates)

    def step(rates: Any, *arrays: Any) -> None:
        for part in range(len(slices)):
            add(look_at(part, *arrays))
        move(True, rates)
        move(False, rates)

    with one_blas_thread():
        if n_threads > 1 and len(slices) > 1:
            with ThreadPoolExecutor(1) as other:
                values = next(inputs, None)
                while values is not None:
                    rates, *arrays = values
                    later = other.submit(look_at, 1, *arrays)
                    add(look_at(0, *arrays))
                    add(later.result())
                    later = other.submit(move, True, rates)
                    move(False, rates)
                    values = next(inputs, None)
                    later.result()
        else:
            quick_step = recorded(step, place)
            for values in inputs:
                quick_step(*values)
    state.step = max(first_step, until)
    return state, on_host(losses) / max(1, until - first_step)


def _slices(size: int, nets: Networks) -> list[slice]:
    """Return the parts in which the rows of a block are worked on."""
    n_slices = 2 if nets.place.is_host and size * nets.shape.n_centers >= HALVED else 1
    cuts = np.linspace(0, size, n_slices + 1).astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(cuts)]


@dataclass(frozen=True)
class _Group:
    """Networks that are worked on together.

    Attributes
    ----------
    which : slice
        Networks of the state.
    gradient : Gradient
    arrays : tuple of ndarrays of shape (n_networks, n_numbers)
        Views: parameters, slopes, Adam's memory of slopes and squares, units.
    decay : float
    """

    which: slice
    gradient: Gradient
    arrays: tuple[np.ndarray, ...]
    decay: float

    def look_at(self, part: int, some: slice, *arrays: Any) -> np.ndarray:
        """Return the losses of some rows of a block, and keep what the gradient needs of them."""
        own = (values if len(values) == 1 else values[self.which] for values in arrays)
        return self.gradient.add_up(part, *(values[:, some] for values in own))

    def move(self, metric: bool, rate: Any, correction: Any) -> None:
        """Move the metric, or all else, by one step of Adam."""
        gradient = self.gradient
        size = gradient.nets.shape.metric_numbers
        if metric:
            gradient.finish_metric()
            adam_step(*(values[:, :size] for values in self.arrays), rate, correction)
            gradient.prepare_metric()
        else:
            gradient.finish_centers(self.decay)
            adam_step(*(values[:, size:] for values in self.arrays), rate, correction)
            gradient.prepare_centers()


def _groups(
    state: State, problem: Problem, levels: np.ndarray | None, units: np.ndarray, size: int
) -> list[_Group]:
    """Return the networks in groups whose Gaussians fit the cache; on a device all in one."""
    nets, n_nets, place = state.nets, len(state.nets), state.nets.place
    per_group = max(1, HALVED // (size * nets.shape.n_centers)) if place.is_host else n_nets
    n_parts = len(_slices(size, nets))
    groups = []
    for first in range(0, n_nets, per_group):
        which = slice(first, first + per_group)
        some = Networks(nets.shape, nets.flat[which])
        noise = None if levels is None else place.put(levels[which].astype(type_name(nets.flat)))
        gradient = Gradient(some, problem.row_loss, noise, n_parts)
        own = (values[which] for values in (state.first, state.second, units))
        arrays = (some.flat, gradient.slopes.flat, *own)
        groups.append(_Group(which, gradient, arrays, problem.decay))
    return groups


def _inputs(
    problem: Problem, draws: Draws, course: Course, first_step: int, until: int, width: int
) -> Iterator[tuple[Any, ...]]:
    """Yield what each step needs; that of several steps is fetched together.

    Yields
    ------
    rates : array of shape (2,) or tuple
        Learning rate and bias correction.
    rows, targets, shares : arrays
        Of the block of the step; the shares of the rows in its weight.
    normals : array
        If there is noise: `width` standard normal numbers per row.
    """
    place = place_of(problem.targets)
    steps, normals = draws.blocks(first_step), draws.normals(first_step, width)
    for first in range(first_step, until, problem.steps_at_once):
        numbers = range(first, min(first + problem.steps_at_once, until))
        chosen = _stacked([next(steps) for _ in numbers])
        rates = [(course.rate(number), bias_correction(number + 1)) for number in numbers]
        there = place.put(chosen)
        weights = problem.weights[there]
        arrays = [
            rates if place.is_host else place.put(np.array(rates, dtype=np.float32)),
            problem.take(chosen),
            problem.targets[there],
            weights / weights.sum(axis=-1)[..., None],
        ]
        if width:
            arrays.append(place.put(_stacked([next(normals) for _ in numbers])))
        yield from zip(*arrays, strict=True)


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)
