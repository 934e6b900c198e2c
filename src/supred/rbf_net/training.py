"""The training of a network as a plan: race, a validated training, a refit on all rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.common.arrays import on_host
from supred.rbf_net.choices import (
    Candidate,
    Choice,
    Runners,
    Training,
    race,
    scores_in_blocks,
)
from supred.rbf_net.descent import Problem, State
from supred.rbf_net.network import Networks, RowLoss, hinge_slopes, log_slopes
from supred.rbf_net.parts import Part, other_parts
from supred.rbf_net.problem import Table
from supred.rbf_net.start import Sample, ridge_networks
from supred.rbf_net.verdict import Verdict, verdict_of

# Checks of a validated training, and how many without progress end it.
N_CHECKS, PATIENCE = 10, 6
# A refit of many rows goes on from the validated training: steps as a share of its, and rate.
REFIT_SHARE, REFIT_RATE = 0.6, 0.3
# If the standard error of the validation error is larger than this, the scores are calibrated by
# the held-out rows of so many more networks.
MOST_CHANCE, N_CROSS_FITTED = 0.01, 3
# A block holds a quarter of the rows of a small table, a sixteenth of larger ones'.
MOST_SHARE, LARGE_SHARE = 4, 16
BATCH_ROWS, LARGEST_BATCH = 256, 512
# Steps if none are given: almost one per row of a small table; by passes over larger ones.
LEAST_STEPS, MOST_STEPS, STEPS_PER_ROW = 300, 1600, 0.8
PASSES, PASSES_STEPS = 160, 4000
LARGE_PASSES, LARGEST_STEPS = 51, 8000

# Told of the phase, state, mean loss and validation error of each check; True ends the fit.
Report = Callable[[str, State, float, float], bool]


@dataclass(frozen=True)
class Result:
    """What a training found.

    Attributes
    ----------
    nets : Networks
        One network, for scaled rows; scores calibrated.
    candidate : Candidate
    descends : bool
        False if the start alone did best.
    tried : list of dict
        The race.
    history : dict of lists
        step, loss and validation_error at each check.
    n_iter : int
        Steps of the network that was kept.
    verdict : Verdict or None
        On held-out rows.
    stopping_reason : str
        "max_iter", "validation" or "callback".
    validated : tuple of Networks
        The networks that have not seen the held-out rows of each part.
    """

    nets: Networks
    candidate: Candidate
    descends: bool
    tried: list[dict[str, Any]]
    history: dict[str, list[float]]
    n_iter: int
    verdict: Verdict | None
    stopping_reason: str
    validated: tuple[Networks, ...]


def default_steps(n_rows: int) -> int:
    """Return the steps of a training if none are given."""
    passes = n_rows // max(BATCH_ROWS, default_batch(n_rows))
    by_rows = min(MOST_STEPS, max(LEAST_STEPS, int(STEPS_PER_ROW * n_rows)))
    by_passes = min(PASSES_STEPS, PASSES * passes)
    return max(by_rows, by_passes, min(LARGEST_STEPS, LARGE_PASSES * passes))


def default_batch(n_rows: int) -> int:
    """Return the rows of a block."""
    large = min(LARGEST_BATCH, max(BATCH_ROWS, n_rows // LARGE_SHARE))
    return max(1, min(n_rows // MOST_SHARE, large))


def default_centers(n_rows: int) -> int:
    """Return the number of centres if none is given: 200 or more, at most half the rows."""
    return max(1, min(n_rows // 2, max(200, min(500, int(2 * np.sqrt(n_rows))))))


def problem_of(table: Table, loss: str, alpha: float, smoothing: float) -> Problem:
    """Return what the descent looks at: rows, targets, weights and the loss."""
    one_hot = np.eye(table.n_classes, dtype=np.float32)[table.index]
    row_loss: RowLoss = hinge_slopes if loss == "hinge" else log_slopes
    targets = (1 - smoothing) * one_hot + smoothing / table.n_classes
    if loss == "hinge":
        targets = 2 * one_hot - 1
    if table.n_classes == 2:
        targets = targets[:, 1:]
    targets = np.ascontiguousarray(targets, dtype=np.float32)
    return Problem(
        table.take,
        table.place.put(targets),
        table.place.put(table.weights),
        row_loss,
        alpha / table.n_rows,
        table.steps_at_once(default_batch(table.n_rows)),
    )


def train(
    training: Training,
    candidates: Sequence[Candidate],
    parts: Sequence[Part],
    *,
    refit: bool = True,
    report: Report | None = None,
    start: Networks | None = None,
    shorten: Callable[[Runners, dict[str, list[float]], Report | None], Runners] | None = None,
) -> Result:
    """Choose by validation, train, and train again on all rows.

    Parameters
    ----------
    training : Training
    candidates : sequence of Candidate
    parts : sequence of Part
        One held-out part, several folds, or none: then the first candidate is trained on all
        rows.
    refit : bool
        False keeps the network that has not seen the held-out rows (of the first fold).
    report : callable, optional
        Told of each check; True ends the fit.
    start : Networks, optional
        A network to go on from; there is no race then.
    shorten : callable, optional
        Makes a smaller network of the one that was trained with a held-out part.
    """
    history: dict[str, list[float]] = {"step": [], "loss": [], "validation_error": []}
    ranks = [candidate.rank for candidate in candidates]
    simplest = None if None in ranks else ranks[0]
    everything = Part(np.arange(training.table.n_rows), np.arange(0))
    if not parts:
        runners = begin(training, candidates[0], [everything], start)
        reason = run_checked(runners, training.n_steps, history, report, "training")
        nets = runners.state.nets
        return Result(nets, candidates[0], True, [], history, runners.state.step, None, reason, ())
    if len(candidates) > 1 and start is None:
        choice = race(training, candidates, parts)
    else:
        choice = Choice(candidates[0], begin(training, candidates[0], parts, start), [])
    runners, candidate = choice.runners, choice.candidate
    done = runners.state.step
    reason = run_checked(
        runners, max(training.n_steps - done, training.n_steps // 4), history, report, "training"
    )
    if shorten is not None:
        runners = shorten(runners, history, report)
    verdict, descends = runners.verdicts()[0], True
    validated = tuple(runners.state.nets.take([k]) for k in range(len(parts)))
    if len(parts) > 1 and start is None:
        plain = [ridge_on(training, simplest, part.train) for part in parts]
        ridge_verdict = out_of_fold(training, plain, parts)
        choice.tried.append(
            {
                "metric": "diagonal" if simplest is None else simplest,
                "noise": 0.0,
                "width": np.nan,
                "steps": 0,
                "validation_error": ridge_verdict.error,
                "validation_log_loss": ridge_verdict.log_loss,
            }
        )
        if ridge_verdict.merit <= verdict.merit:
            verdict, descends, validated = ridge_verdict, False, tuple(plain)
    elif start is None and shorten is None and reason != "callback":
        verdict = cross_fitted(runners, candidate, verdict)
    nets, n_iter = validated[0], runners.state.step
    if refit and reason != "callback":
        if not descends:
            nets = ridge_on(training, simplest, everything.train)
        elif len(parts) > 1:
            again = begin(training, candidate, [everything], start)
            run_checked(again, runners.state.step, history, report, "refit")
            nets = again.state.nets
        else:
            runners.go_on_with(everything, REFIT_RATE * training.learning_rate)
            n_steps = max(1, round(REFIT_SHARE * runners.state.step))
            run_checked(runners, n_steps, history, report, "refit")
            nets, n_iter = runners.state.nets, runners.state.step
    nets = calibrated(nets, verdict.factor) if training.problem.row_loss is log_slopes else nets
    return Result(
        nets, candidate, descends, choice.tried, history, n_iter, verdict, reason, validated
    )


def cross_fitted(runners: Runners, candidate: Candidate, verdict: Verdict) -> Verdict:
    """Return the verdict on a candidate by more rows than those held out, if these are few.

    The share of errors among few hundred rows is largely chance, and so would be the factor that
    calibrates the scores: networks that other rows were held out of have a say, too.
    """
    training, part = runners.training, runners.parts[0]
    is_probable = training.problem.row_loss is log_slopes
    few = standard_error(verdict.error, len(part.held_out)) > MOST_CHANCE
    # rows that the user gave to validate by are the judges that were asked for
    if not (few and is_probable and training.held_table is training.table):
        return verdict
    table = training.table
    parts = other_parts(table.index, part, N_CROSS_FITTED, training.seed, table.places)
    if not parts:
        return verdict
    others = Runners(training, [candidate], parts)
    for _ in others.run(runners.state.step):
        pass
    nets = [runners.state.nets, *(others.state.nets.take([k]) for k in range(len(parts)))]
    return out_of_fold(training, nets, [part, *parts])


def begin(
    training: Training, candidate: Candidate, parts: Sequence[Part], start: Networks | None
) -> Runners:
    """Return the networks of one candidate before their first step."""
    if start is None:
        return Runners(training, [candidate], parts)
    copies = start.take([0] * len(parts))
    return Runners.of_network(training, candidate, parts, copies)


def run_checked(
    runners: Runners,
    n_steps: int,
    history: dict[str, list[float]],
    report: Report | None,
    phase: str,
) -> str:
    """Train the networks of one candidate; keep the best check and return why it ended.

    The latest check whose merit is within one standard error of the best is kept: later ones
    have settled more, and small differences may be chance.
    """
    held = sum(len(part.held_out) for part in runners.parts)
    found: list[tuple[float, float, State]] = []
    reason = "max_iter"
    for losses in runners.run(n_steps, N_CHECKS):
        error = np.nan
        if held:
            verdict = runners.verdicts()[0]
            error = verdict.error
            found.append((verdict.merit, error, runners.state))
        history["step"].append(runners.state.step)
        history["loss"].append(float(losses.mean()))
        history["validation_error"].append(error)
        if report is not None and report(phase, runners.state, float(losses.mean()), error):
            reason = "callback"
            break
        merits = [merit for merit, _, _ in found]
        if merits and len(merits) - 1 - int(np.argmin(merits)) >= PATIENCE:
            reason = "validation"
            break
    if found:
        best = min(found, key=lambda entry: entry[0])
        runners.state = [
            entry for entry in found if entry[0] <= best[0] + standard_error(best[1], held)
        ][-1][2]
    return reason


def standard_error(share: float, n_rows: int) -> float:
    """Return the standard error of an error measured on some rows."""
    return float(np.sqrt(max(share * (1 - share), 1.0 / n_rows) / n_rows))


def ridge_on(training: Training, rank: int | None, train: np.ndarray) -> Networks:
    """Return the best start without descent: width and ridge by leave-one-out."""
    table = training.table
    sample = Sample(
        on_host(table.take(train)), table.index[train], table.weights[train].astype(float)
    )
    rng = np.random.default_rng((training.seed, 3))
    n_centers = min(training.n_centers, len(train))
    return ridge_networks(sample, training.codes, rank, n_centers, rng).to(table.place)


def out_of_fold(training: Training, nets: Sequence[Networks], parts: Sequence[Part]) -> Verdict:
    """Return how networks, one per part, do on the rows held out of each."""
    table = training.table
    values = [
        scores_in_blocks(net, table, part.held_out)[0]
        for net, part in zip(nets, parts, strict=True)
    ]
    held = np.concatenate([part.held_out for part in parts])
    return verdict_of(np.concatenate(values), table.index[held], table.weights[held])


def calibrated(nets: Networks, factor: float) -> Networks:
    """Return networks whose scores are multiplied by a factor."""
    nets = nets.take(slice(None))
    nets.coef[...] *= factor
    nets.intercept[...] *= factor
    return nets
