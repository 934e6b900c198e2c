"""Metric, noise and width by validation: a race of candidates.

All candidates run for a few steps, the better ones for more, and so on (successive halving).
Candidates whose networks have the same shape run together, for all folds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from supred.common.arrays import HOST, on_host
from supred.rbf_net.adam import units_of
from supred.rbf_net.descent import Course, Problem, State, descend_side_by_side
from supred.rbf_net.draws import Draws
from supred.rbf_net.journal import Journal
from supred.rbf_net.network import Networks, coordinates, scores
from supred.rbf_net.parts import Part
from supred.rbf_net.problem import Table
from supred.rbf_net.start import Sample, start_networks
from supred.rbf_net.verdict import Verdict, verdict_of

# A metric of this rank where features are many; of all dimensions where they are at most this.
LOW_RANK, MOST_FULL = 39, 100
# What is offered to validation: widths, wider ones where rows are few, and noise. Noise of all
# dimensions is as long as the rows themselves are: it must be weaker than in a low rank, and
# narrow Gaussians do not see the rows for it.
WIDTHS, WIDTHS_OF_FEW = (1.0, 4.0), (0.3, 1.0)
NOISES, WEAK_NOISES, NARROW_NOISES = (0.0, 0.3, 1.25), (0.0, 0.3, 0.6), (0.0, 0.3)
NARROW = 2.0
# One scale per feature is offered if its Gaussians cost at most this many times those of a low
# rank.
MOST_COSTLY = 4.0
# Steps of each round, as shares of a training: a round of n candidates takes this over n each,
# but never fewer than can tell candidates apart.
ROUND_COST, LEAST_ROUND = 0.3, 50
# A round looks at as many rows as its steps visit this often: what noise is good for shows when
# rows are seen again and again, as they will be in the end.
ROUND_PASSES, LEAST_ROUND_ROWS = 32, 2000
# Shares of the candidates that go on to the next round.
KEPT = 0.4
EVALUATED_ROWS = 2000


@dataclass(frozen=True)
class Candidate:
    """What may differ between networks of one size.

    Attributes
    ----------
    rank : int or None
        Columns of the metric; None for one scale per feature.
    noise : float
        Standard deviation of the noise of a feature.
    width : float
        Factor of the width rule at the start.
    """

    rank: int | None
    noise: float
    width: float


@dataclass(frozen=True)
class Training:
    """What all trainings share.

    Attributes
    ----------
    table : Table
    problem : Problem
    codes : ndarray of shape (n_classes, n_components)
    n_centers, n_steps, batch : int
    learning_rate : float
    seed : int
    held_table : Table
        The table that held-out rows are of: the same, or one that the user gave.
    n_threads : int
    journal : Journal
        Remembers what was done, for a fit that is interrupted.
    """

    table: Table
    problem: Problem
    codes: np.ndarray
    n_centers: int
    n_steps: int
    batch: int
    learning_rate: float
    seed: int
    held_table: Table
    n_threads: int = 1
    journal: Journal = field(default_factory=Journal)


def candidates_of(
    metric: Any, noise: Any, width: Any, n_features: int, n_centers: int, *, few_rows: bool = False
) -> list[Candidate]:
    """Return what to try, the likelier first.

    Parameters
    ----------
    metric : "auto", "diagonal", "full" or int
    noise : "auto" or float
    width : "auto" or float
        Factor of the width rule.
    n_features, n_centers : int
    few_rows : bool
    """
    low = n_features if n_features <= MOST_FULL else LOW_RANK
    ranks: list[int | None] = [low]
    if isinstance(metric, str) and metric == "auto":
        costly = n_centers * n_features / (low * (n_features + n_centers))
        if costly <= MOST_COSTLY:
            ranks.append(None)
    else:
        given = {"diagonal": None, "full": n_features}
        ranks = [given[metric] if isinstance(metric, str) else min(int(metric), n_features)]
    automatic = WIDTHS_OF_FEW[::-1] if few_rows else WIDTHS[::-1]
    widths = automatic if isinstance(width, str) else (float(width),)
    found = []
    for r in ranks:
        for w in widths:
            offered: tuple[float, ...] = NOISES
            if r is None or 2 * r > n_features:
                offered = WEAK_NOISES if w < NARROW else NARROW_NOISES
            noises = offered if isinstance(noise, str) else (float(noise),)
            found += [Candidate(r, s, w) for s in noises]
    return found


class Runners:
    """Networks of candidates of one rank, one for each candidate and part, in training.

    Parameters
    ----------
    training : Training
    candidates : sequence of Candidate
        All of one rank.
    parts : sequence of Part
    """

    def __init__(
        self, training: Training, candidates: Sequence[Candidate], parts: Sequence[Part]
    ) -> None:
        self.training, self.parts = training, tuple(parts)
        self.trained = tuple(part.train for part in parts)
        self.candidates = list(candidates)
        widths = np.array([candidate.width for candidate in candidates])
        started = [start_on(training, candidates[0].rank, widths, part.train) for part in parts]
        # candidate by candidate, all parts of each
        flat = np.stack([nets.flat for nets, _ in started], axis=1)
        nets = Networks(started[0][0].shape, flat.reshape(-1, flat.shape[2]))
        units = units_of(nets, float(np.mean([spread for _, spread in started])))
        self.units = training.table.place.put(units)
        self.state = State.begin(nets.to(training.table.place))
        self.rate = training.learning_rate

    @classmethod
    def of_network(
        cls, training: Training, candidate: Candidate, parts: Sequence[Part], nets: Networks
    ) -> "Runners":
        """Return a runner that goes on from a network."""
        runners = cls.__new__(cls)
        runners.training, runners.parts, runners.candidates = training, tuple(parts), [candidate]
        runners.trained = tuple(part.train for part in parts)
        some = parts[0].train[:: max(1, len(parts[0].train) // 1000)]
        place = training.table.place
        nets = nets.to(place)
        u = on_host(coordinates(nets, training.table.take(some[None])))
        spread = float(np.sqrt(np.mean(np.square(u)))) or 1.0
        runners.units = place.put(units_of(nets.to(HOST), spread))
        runners.state = State.begin(nets)
        runners.rate = training.learning_rate
        return runners

    def run(self, n_steps: int, n_checks: int = 1) -> Iterator[np.ndarray]:
        """Train on for some steps, with a rate that falls to zero; yield losses at each check."""
        training, n_parts = self.training, len(self.parts)
        trained = list(self.trained)
        if n_parts > 1:
            trained = trained * len(self.candidates)
        levels = np.repeat([candidate.noise for candidate in self.candidates], n_parts)
        draws = Draws(tuple(trained), min(training.batch, len(trained[0])), training.seed)
        course = Course(n_steps, self.rate, levels, self.state.step)
        checks = np.linspace(self.state.step, course.end, n_checks + 1)[1:].round()
        for until in checks.astype(int).tolist():
            on = partial(
                descend_side_by_side,
                self.state,
                training.problem,
                draws,
                course,
                self.units,
                until,
                training.n_threads,
            )
            state, losses = training.journal.record(on, self.state, until)
            self.state = state.to(training.table.place)
            yield losses

    def look_at(self, n_rows: int) -> None:
        """Train on some of the rows of each part for now."""
        rng = np.random.default_rng((self.training.seed, 4))
        self.trained = tuple(
            part.train
            if len(part.train) <= n_rows
            else np.sort(rng.permutation(part.train)[:n_rows])
            for part in self.parts
        )

    def keep(self, candidates: Sequence[Candidate]) -> None:
        """Go on with some of the candidates."""
        n_parts = len(self.parts)
        chosen = [self.candidates.index(candidate) for candidate in candidates]
        rows = (np.array(chosen)[:, None] * n_parts + np.arange(n_parts)).ravel()
        self.state, self.units = self.state.take(rows), self.units[rows]
        self.candidates = list(candidates)

    def go_on_with(self, part: Part, rate: float) -> None:
        """Train the networks of one part on other rows from now on, at another rate."""
        self.parts, self.trained, self.rate = (part,), (part.train,), rate

    def verdicts(self) -> list[Verdict]:
        """Return how each candidate does on the held-out rows of all parts."""
        values = self.held_out_scores()
        held = np.concatenate([part.held_out for part in self.parts])
        table = self.training.held_table
        return [verdict_of(v, table.index[held], table.weights[held]) for v in values]

    def held_out_scores(self) -> np.ndarray:
        """Return the scores of the held-out rows, shape (n_candidates, n_rows, n_scores)."""
        n_parts, found = len(self.parts), []
        for number, part in enumerate(self.parts):
            nets = self.state.nets.take(slice(number, None, n_parts))
            found.append(scores_in_blocks(nets, self.training.held_table, part.held_out))
        return np.concatenate(found, axis=1)


def start_on(
    training: Training, rank: int | None, widths: np.ndarray, train: np.ndarray
) -> tuple[Networks, float]:
    """Return networks that start on some of the rows, one per width."""
    rng = np.random.default_rng((training.seed, 2))
    most = max(2000, 10 * training.n_centers)
    some = np.sort(rng.permutation(train)[:most]) if len(train) > most else train
    table = training.table
    sample = Sample(on_host(table.take(some)), table.index[some], table.weights[some].astype(float))
    unique, which = np.unique(widths, return_inverse=True)
    n_centers = min(training.n_centers, len(some))
    nets, spread = start_networks(sample, training.codes, rank, n_centers, unique, rng)
    return nets.take(which), spread


def scores_in_blocks(nets: Networks, table: Table, rows: np.ndarray) -> np.ndarray:
    """Return the scores of some rows of a table, shape (n_networks, n_rows, n_scores).

    A network that has diverged knows nothing of a row: its scores are zero.
    """
    blocks = np.array_split(rows, max(1, -(-len(rows) // EVALUATED_ROWS)))
    with np.errstate(over="ignore", invalid="ignore"):
        found = [on_host(scores(nets, table.take(block[None]))) for block in blocks]
    values = np.concatenate(found, axis=1)
    return np.where(np.isfinite(values), values, 0.0).astype(values.dtype, copy=False)


@dataclass(frozen=True)
class Choice:
    """What the race found.

    Attributes
    ----------
    candidate : Candidate
    runners : Runners
        The networks of the winner, as far as they have come.
    tried : list of dict
        Each candidate with its steps, validation error and log-loss when it left the race.
    """

    candidate: Candidate
    runners: Runners
    tried: list[dict[str, Any]]


def race(
    training: Training,
    candidates: Sequence[Candidate],
    parts: Sequence[Part],
    on_round: Callable[[int, list[dict[str, Any]]], None] | None = None,
) -> Choice:
    """Let candidates compete on held-out rows; the better ones train on.

    Parameters
    ----------
    training : Training
    candidates : sequence of Candidate
    parts : sequence of Part
    on_round : callable, optional
        Told of each round.
    """
    ranks = list(dict.fromkeys(candidate.rank for candidate in candidates))
    groups = [Runners(training, [c for c in candidates if c.rank == rank], parts) for rank in ranks]
    tried: list[dict[str, Any]] = []
    alive = len(candidates)
    number = 0
    while alive > 1:
        # a round costs the same however many run: in units of a step of the cheapest network
        costs = np.array([group.state.nets.shape.flops_per_row for group in groups], dtype=float)
        counts = np.array([len(group.candidates) for group in groups])
        n_steps = round(ROUND_COST * training.n_steps * costs.min() / float(costs @ counts))
        found: list[tuple[float, Candidate, Verdict]] = []
        n_steps = max(n_steps, min(LEAST_ROUND, training.n_steps // 2))
        n_rows = (groups[0].state.step + n_steps) * training.batch // ROUND_PASSES
        for group in groups:
            group.look_at(max(LEAST_ROUND_ROWS, n_rows))
            for _ in group.run(n_steps):
                pass
            verdicts = group.verdicts()
            found += [
                (verdict.merit, candidate, verdict)
                for candidate, verdict in zip(group.candidates, verdicts, strict=True)
            ]
        # of equals the first, which is the likelier
        found.sort(key=lambda entry: entry[0])
        alive = max(1, int(KEPT * alive))
        stay = {candidate for _, candidate, _ in found[:alive]}
        steps = groups[0].state.step
        tried += [_told(candidate, verdict, steps) for _, candidate, verdict in found[alive:][::-1]]
        if alive == 1:
            tried.append(_told(found[0][1], found[0][2], steps))
        groups = [group for group in groups if stay.intersection(group.candidates)]
        for group in groups:
            group.keep([c for c in group.candidates if c in stay])
        number += 1
        if on_round is not None:
            on_round(number, tried)
    groups[0].look_at(training.table.n_rows)
    return Choice(groups[0].candidates[0], groups[0], tried[::-1])


def _told(candidate: Candidate, verdict: Verdict, steps: int) -> dict[str, Any]:
    return {
        "metric": "diagonal" if candidate.rank is None else candidate.rank,
        "noise": candidate.noise,
        "width": candidate.width,
        "steps": steps,
        "validation_error": verdict.error,
        "validation_log_loss": verdict.log_loss,
    }
