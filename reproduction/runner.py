"""Run experiments: draws, seeds, progress, resuming; then tables, claims and figures."""

import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._report import Row as Told
from benchmarks._report import compared_with, spread
from reproduction.base import CannotMeasureError, Claim, Data, Draw, Experiment, Part, Row
from reproduction.store import Store
from supred.base.progress import progress_bar
from supred.datasets import DataNotFoundError

QUICK = "quick run"


@dataclass(frozen=True)
class Judged:
    """A claim and its verdict: "holds", "does not hold" or "not measured"."""

    claim: Claim
    verdict: str
    why: str


@dataclass
class Outcome:
    """What came out of an experiment.

    Attributes
    ----------
    experiment : Experiment
    values : dict of lists
        By part, what each draw measured.
    quick : set of str
        The parts whose values are those of a quick run.
    seconds : float
        Processor time of the measurements, in this run or an earlier one.
    missing : dict
        By part, the sentence that says what data is missing or what else prevents it.
    failed : dict
        By part, the error.
    warned : list of str
        Distinct warnings.
    figure : str
        File name of the figure, empty if there is none.
    rows : list of benchmarks._report.Row
    claims : list of Judged
    """

    experiment: Experiment
    values: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    quick: set[str] = field(default_factory=set)
    seconds: float = 0.0
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    figure: str = ""
    rows: list[Told] = field(default_factory=list)
    claims: list[Judged] = field(default_factory=list)

    @property
    def measured(self) -> bool:
        """Whether anything was measured."""
        return any(self.values.values())


def measure(
    experiment: Experiment, store: Store, data: Data, *, quick: bool, progress: bool = True
) -> Outcome:
    """Measure every draw of every part that is not yet finished, and judge what is found."""
    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    # The first draw of every part comes first: an interrupted run then has a little of all.
    work = [
        (part, number)
        for number in range(max(experiment.n_draws(part, quick) for part in experiment.parts))
        for part in experiment.parts
        if number < experiment.n_draws(part, quick)
    ]
    with progress_bar(len(work), experiment.name, shown=progress) as step:
        for part, number in work:
            known = store.get(experiment, part, number, quick) is not None
            if not known and part.name not in missing and part.name not in failed:
                try:
                    record = _measured(part, Draw(number, quick, data))
                    store.put(experiment, part, number, quick, record)
                except (DataNotFoundError, CannotMeasureError) as error:
                    missing[part.name] = str(error)
                except Exception as error:  # one broken part must not take the others along
                    traceback.print_exc()
                    failed[part.name] = f"{type(error).__name__}: {error}"
            step(part.name)
    outcome = collect(experiment, store, (quick,))
    outcome.missing, outcome.failed = missing, failed
    for kind, found in (("left out", missing), ("failed", failed)):
        for part_name, sentence in found.items():
            print(f"{experiment.name}: {part_name} {kind}: {sentence}", file=sys.stderr)
    return outcome


def _measured(part: Part, draw: Draw) -> dict[str, Any]:
    """Return what one draw of a part measures, with its time and its warnings."""
    began = time.process_time()  # the clock would count what else runs on the machine
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = dict(part.measure(draw))
    return {
        "seconds": time.process_time() - began,
        "warnings": sorted({_first_line(warning) for warning in caught}),
        "values": values,
    }


def _first_line(warning: warnings.WarningMessage) -> str:
    text = str(warning.message).strip().splitlines() or [""]
    return f"{warning.category.__name__}: {text[0]}"


def collect(experiment: Experiment, store: Store, sizes: Sequence[bool] = (False, True)) -> Outcome:
    """Gather finished draws and judge them: for each part those of the first size that has any.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    sizes : sequence of bool
        Whether quick, in the order of preference; by default full draws before quick ones.
    """
    outcome = Outcome(experiment)
    for part in experiment.parts:
        for quick in sizes:
            numbers = range(experiment.n_draws(part, quick))
            found = [store.get(experiment, part, number, quick) for number in numbers]
            finished = [record for record in found if record is not None]
            if not finished:
                continue
            outcome.values[part.name] = [record["values"] for record in finished]
            outcome.seconds += sum(record["seconds"] for record in finished)
            texts = [text for record in finished for text in record["warnings"]]
            outcome.warned += [t for t in dict.fromkeys(texts) if t not in outcome.warned]
            if quick:
                outcome.quick.add(part.name)
            break
    outcome.rows = [judge_row(row, outcome) for row in experiment.rows]
    means = _Means(outcome)
    outcome.claims = [judge_claim(claim, means) for claim in experiment.claims]
    return outcome


def judge_row(row: Row, outcome: Outcome) -> Told:
    """Return a line of the table."""
    draws = outcome.values.get(row.part, [])
    found = [float(draw[row.key]) for draw in draws if row.key in draw]
    published = "-" if row.published is None else f"{row.published:g}"
    if row.spread is not None:
        published += f" ({row.spread:g})"
    if not found:
        return Told(row.label, "-", published, compared="not measured")
    word, quick = "", row.part in outcome.quick
    if row.published is not None and (outcome.experiment.quick_compares or not quick):
        word = compared_with(row.published, found, tolerance=row.tolerance, better=row.better)
    if quick:
        word = f"{word} ({QUICK})" if word else QUICK
    return Told(row.label, spread(found, row.digits), published, compared=word)


class _Means(dict[tuple[str, str], float]):
    """Means over the draws by (part, key); it knows which parts were asked for.

    `mixes` tells whether quick and full parts may stand beside each other.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.quick, self.asked = outcome.quick, set[str]()
        self.mixes = outcome.experiment.quick_compares
        for part, draws in outcome.values.items():
            for key, value in draws[0].items():
                if isinstance(value, float | int):
                    self[part, key] = float(np.mean([draw[key] for draw in draws]))

    def __getitem__(self, key: tuple[str, str]) -> float:
        self.asked.add(key[0])
        return super().__getitem__(key)


def judge_claim(claim: Claim, means: _Means) -> Judged:
    """Check a claim on the means over the draws."""
    means.asked.clear()
    try:
        verdict = "holds" if claim.holds(means) else "does not hold"
        why = claim.why if isinstance(claim.why, str) else claim.why(means)
    except KeyError:
        return Judged(claim, "not measured", "")
    if not means.mixes and means.asked & means.quick and means.asked - means.quick:
        return Judged(claim, "not measured", "Some of it is of a quick run, on fewer rows.")
    return Judged(claim, verdict + (f" ({QUICK})" if means.asked & means.quick else ""), why)


def draw_figure(outcome: Outcome, folder: Path) -> None:
    """Draw the figure of an experiment from what was measured."""
    experiment = outcome.experiment
    if experiment.figure is None or not outcome.measured:
        return
    try:
        import matplotlib
    except ImportError:
        print("No figures: matplotlib is missing (pip install supred[plot]).", file=sys.stderr)
        return
    matplotlib.use("Agg")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            experiment.figure(outcome.values, folder / f"{experiment.name}.png")
        outcome.figure = f"{experiment.name}.png"
    except Exception as error:  # a figure that lacks a part must not take the tables along
        traceback.print_exc()
        outcome.failed["figure"] = f"{type(error).__name__}: {error}"
