"""Run experiments: draws, seeds, progress, resuming, results as JSON, Markdown and PNG."""

import json
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.base import CannotMeasureError, Data, Draw, Experiment, Part
from reproduction.store import Store, versions
from reproduction.tables import ClaimResult, RowResult, judge_claims, judge_rows, write_page
from supred.base.progress import progress_bar
from supred.datasets import DataNotFoundError


@dataclass
class Outcome:
    """What came out of an experiment.

    Attributes
    ----------
    experiment : Experiment
    quick : bool
    values : dict of lists
        By part, what each draw measured.
    seconds : float
        Time of the measurements, in this run or an earlier one.
    missing : dict
        By part, the sentence that says what data is missing or what else stands against it.
    failed : dict
        By part, the error.
    warned : list of str
        Distinct warnings.
    reused : int
        Draws that were found finished.
    figure : str
        File name of the figure, empty if there is none.
    """

    experiment: Experiment
    quick: bool
    values: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    seconds: float = 0.0
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    reused: int = 0
    figure: str = ""
    rows: list[RowResult] = field(default_factory=list)
    claims: list[ClaimResult] = field(default_factory=list)

    @property
    def measured(self) -> bool:
        """Whether anything was measured."""
        return any(self.values.values())


def run_experiments(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    quick: bool,
    data_dir: str | None = None,
    progress: bool = True,
) -> list[Outcome]:
    """Run experiments one after the other and write their results.

    Parameters
    ----------
    experiments : sequence of Experiment
    out : Path
        Folder for ``NAME.json``, ``NAME.md``, ``NAME.png``, ``reproduction.md`` and the finished
        draws (``draws/``).
    quick : bool
        Few draws and smaller settings.
    data_dir : str, optional
        Folder with the data; the environment variable ``SUPRED_DATA`` if not given.
    progress : bool, default=True
        Show a progress bar for each experiment.

    Returns
    -------
    list of Outcome
    """
    out.mkdir(parents=True, exist_ok=True)
    data, store = Data(data_dir), Store(out / "draws", quick)
    outcomes = []
    for experiment in experiments:
        outcome = run_experiment(experiment, store, data, quick=quick, progress=progress)
        outcomes.append(outcome)
        draw_figure(outcome, data, out)
        write_json(outcome, out)
        write_page([outcome], out / f"{experiment.name}.md")
        for sentence in dict.fromkeys(outcome.missing.values()):
            print(f"{experiment.name}: left out: {sentence}", file=sys.stderr)
        for part, error in outcome.failed.items():
            print(f"{experiment.name}: {part} failed: {error}", file=sys.stderr)
    write_page(outcomes, out / "reproduction.md", whole=True)
    return outcomes


def run_experiment(
    experiment: Experiment, store: Store, data: Data, *, quick: bool, progress: bool
) -> Outcome:
    """Measure every draw of every part that is not yet finished, and judge the rows."""
    outcome = Outcome(experiment, quick)
    work = [
        (part, number)
        for part in experiment.parts
        for number in range(experiment.n_draws(part, quick))
    ]
    with progress_bar(len(work), experiment.name, shown=progress) as bar:
        for part, number in work:
            if part.name not in outcome.missing and part.name not in outcome.failed:
                _measure(outcome, store, part, Draw(number, quick, data))
            bar.step(part.name)
    outcome.rows = judge_rows(experiment, outcome.values, outcome.missing, outcome.failed)
    outcome.claims = judge_claims(experiment, outcome.values)
    return outcome


def _measure(outcome: Outcome, store: Store, part: Part, draw: Draw) -> None:
    """Add one draw of a part to the outcome: the stored one, or measured now and stored."""
    experiment = outcome.experiment
    record = store.get(experiment, part, draw.seed)
    if record is not None:
        outcome.reused += 1
    else:
        began = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                values = dict(part.measure(draw))
        except (DataNotFoundError, CannotMeasureError) as error:
            outcome.missing[part.name] = str(error)
            return
        except Exception as error:  # one broken part must not take the others along
            traceback.print_exc()
            outcome.failed[part.name] = f"{type(error).__name__}: {error}"
            return
        record = {
            "experiment": experiment.name,
            "part": part.name,
            "seed": draw.seed,
            "quick": draw.quick,
            "versions": versions(),
            "seconds": time.perf_counter() - began,
            "warnings": sorted({_first_line(w) for w in caught}),
            "values": {name: _plain(value) for name, value in values.items()},
        }
        store.put(experiment, part, draw.seed, record)
    outcome.values.setdefault(part.name, []).append(record["values"])
    outcome.seconds += record["seconds"]
    outcome.warned += [w for w in record["warnings"] if w not in outcome.warned]


def _first_line(warning: warnings.WarningMessage) -> str:
    text = str(warning.message).strip().splitlines() or [""]
    return f"{warning.category.__name__}: {text[0]}"


def _plain(value: Any) -> Any:
    """Return numbers and arrays as JSON has them."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def draw_figure(outcome: Outcome, data: Data, out: Path) -> None:
    """Draw the figure of an experiment from what was measured, unless it is there already."""
    experiment = outcome.experiment
    if experiment.figure is None or not outcome.measured:
        return
    try:
        import matplotlib
    except ImportError:
        print(
            "No figures: matplotlib is not installed (pip install supred[plot]).", file=sys.stderr
        )
        return
    path = out / f"{experiment.name}.png"
    if path.is_file() and _is_of_these_values(out / f"{experiment.name}.json", outcome):
        outcome.figure = path.name  # nothing new to draw
        return
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            experiment.figure(outcome.values, Draw(0, outcome.quick, data), path)
        outcome.figure = path.name
    except DataNotFoundError as error:
        outcome.missing["figure"] = str(error)
    except Exception as error:
        traceback.print_exc()
        outcome.failed["figure"] = f"{type(error).__name__}: {error}"
    finally:
        matplotlib.use(backend)


def _is_of_these_values(path: Path, outcome: Outcome) -> bool:
    """Whether the result of an earlier run has the values of this one."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["values"] == outcome.values
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return False


def write_json(outcome: Outcome, out: Path) -> None:
    """Write what was measured, with versions and seeds."""
    experiment = outcome.experiment
    result = {
        "experiment": experiment.name,
        "paper": experiment.paper,
        "title": experiment.title,
        "unit": experiment.unit,
        "protocol": experiment.protocol,
        "quick": outcome.quick,
        "versions": versions(),
        "seeds": {name: list(range(len(draws))) for name, draws in outcome.values.items()},
        "seconds": outcome.seconds,
        "warnings": outcome.warned,
        "rows": [vars(row) for row in outcome.rows],
        "claims": [vars(claim) for claim in outcome.claims],
        "missing": outcome.missing,
        "failed": outcome.failed,
        "figure": outcome.figure,
        "values": outcome.values,
    }
    text = json.dumps(result, indent=1)
    (out / f"{experiment.name}.json").write_text(text, encoding="utf-8")
