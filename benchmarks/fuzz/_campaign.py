"""Draw cases, run them under a time limit, and tell distinct failures apart."""

import argparse
import faulthandler
import os
import re
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np

from benchmarks.fuzz import (
    arguments,
    checkpoints,
    command_line,
    comparisons,
    estimators,
    forms,
    kills,
    methods,
    mixtures,
    model_files,
    properties,
    refits,
    searches,
    source_properties,
    sources,
    table_files,
    tables,
)

# Draws the lines of a case; they run in a folder of their own.
Recipe = Callable[[np.random.Generator], str]

KINDS: dict[str, Recipe] = {
    "estimators": estimators.recipe,
    "properties": properties.recipe,
    "model_files": model_files.recipe,
    "tables": tables.recipe,
    "command_line": command_line.recipe,
    "kills": kills.recipe,
    "sources": sources.recipe,
    "forms": forms.recipe,
    "arguments": arguments.recipe,
    "table_files": table_files.recipe,
    "methods": methods.recipe,
    "comparisons": comparisons.recipe,
    "refits": refits.recipe,
    "checkpoints": checkpoints.recipe,
    "searches": searches.recipe,
    "source_properties": source_properties.recipe,
    "mixtures": mixtures.recipe,
}
# Of so many cases of the first kind one of this kind is run: they start processes or take long.
EVERY = {
    "kills": 1000,
    "command_line": 4,
    "tables": 4,
    "sources": 16,
    "table_files": 4,
    "comparisons": 2,
    "checkpoints": 2,
    "searches": 4,
    "source_properties": 8,
}
# Seconds of processor time that a case may take, of the clock's this many times more: other
# programs may use the machine.
CASE_SECONDS, PATIENCE = 60, 10
# A search fits some forty models.
SEARCH_SECONDS = 300
FAILURES_SHOWN, CASES_SHOWN = 50, 5


class TooSlowError(Exception):
    """A case did not end in time."""


@dataclass(frozen=True)
class Failure:
    """A case that failed: its lines, what was raised and where.

    Attributes
    ----------
    case : str
        ``KIND:NUMBER``.
    recipe : str
        The lines that reproduce it.
    error : str
        Type and text of the error.
    place : str
        File and function of the innermost frame inside supred.
    """

    case: str
    recipe: str
    error: str
    place: str

    @property
    def signature(self) -> tuple[str, str, str]:
        """What failures of one cause have in common: kind, error without numbers, and place."""
        text = re.sub(r"[\d.e+-]+", "#", self.error)
        return self.case.split(":")[0], text[:120], self.place


def run_case(kind: str, number: int, seed: int) -> Failure | None:
    """Run one case in an empty folder; return its failure, None if all is well."""
    recipe = draw(kind, number, seed)
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            # Warnings of scikit-learn's are of the cases' own doing: tables without names, say.
            seconds = SEARCH_SECONDS if kind == "searches" else CASE_SECONDS
            with time_limit(seconds), warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                warnings.simplefilter("ignore", UserWarning)
                exec(compile(recipe, f"<{kind}>", "exec"), {"__name__": "fuzz"})
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
            return Failure(f"{kind}:{number}", recipe, text, _place_of(error))
        finally:
            os.chdir(before)
    return None


def draw(kind: str, number: int, seed: int) -> str:
    """Return the lines of a case: they depend on its kind, its number and the seed alone."""
    place = list(KINDS).index(kind)
    return KINDS[kind](np.random.default_rng([seed, place, number]))


def schedule(kinds: list[str]) -> Iterator[tuple[str, int]]:
    """Yield kinds and numbers of cases without end, slow kinds more seldom."""
    counts: Counter[str] = Counter()
    turn = 0
    while True:
        for kind in kinds:
            if turn % EVERY.get(kind, 1) == 0:
                yield kind, counts[kind]
                counts[kind] += 1
        turn += 1


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TooSlowError if the block computes for longer (where the system has alarms).

    An alarm is heard between lines of Python. A block that does not come back from compiled code
    ends the program after a while, with the lines where it hangs.
    """
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"not finished after {seconds} s")

    timers = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}
    before = {number: signal.signal(number, ring) for number in timers.values()}
    for timer, limit in zip(timers, (seconds, PATIENCE * seconds), strict=True):
        signal.setitimer(timer, limit)
    faulthandler.dump_traceback_later(2 * PATIENCE * seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        for timer, number in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


def _place_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f"{os.sep}supred{os.sep}" in f.filename] or list(frames)
    last = ours[-1]
    return f"{Path(last.filename).name}:{last.name}"


def campaign(kinds: list[str], seed: int, *, seconds: float, cases: float) -> dict[str, Any]:
    """Run cases until the time is up, there were enough or Ctrl-C; return counts and failures.

    The first failure of its kind is printed at once.
    """
    began = perf_counter()
    counts: Counter[str] = Counter()
    failures: dict[tuple[str, str, str], list[Failure]] = {}
    for kind, number in schedule(kinds):
        if perf_counter() - began > seconds or sum(counts.values()) >= cases:
            break
        try:
            failure = run_case(kind, number, seed)
        except KeyboardInterrupt:
            print("interrupted; what was done until now:")
            break
        counts[kind] += 1
        if failure is not None:
            group = failures.setdefault(failure.signature, [])
            group.append(failure)
            if len(group) == 1 and len(failures) <= FAILURES_SHOWN:
                print(f"\n--- {failure.case}: {failure.error[:400]}\n    in {failure.place}")
                print(failure.recipe, flush=True)
    return {"counts": dict(counts), "failures": list(failures.values())}


def main(words: list[str] | None = None) -> int:
    """Run the campaign; the exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long (default: 120, or until --cases)")
    parser.add_argument("--cases", type=float, default=np.inf, help="at most this many cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--case", metavar="KIND:NUMBER", help="run one case and show its lines")
    parser.add_argument("--quick", action="store_true", help="20 s")
    options = parser.parse_args(words)
    if options.case:
        kind, _, number = options.case.partition(":")
        print(draw(kind, int(number), options.seed))
        failure = run_case(kind, int(number), options.seed)
        print("passed" if failure is None else f"FAILED: {failure.error} ({failure.place})")
        return failure is not None
    seconds = options.seconds or (
        20.0 if options.quick else np.inf if np.isfinite(options.cases) else 120.0
    )
    found = campaign(options.only, options.seed, seconds=seconds, cases=options.cases)
    for group in found["failures"]:
        cases = ", ".join(failure.case for failure in group[:CASES_SHOWN])
        print(f"{len(group)} x {group[0].error[:100]} in {group[0].place}: {cases}")
    total = sum(found["counts"].values())
    print(", ".join(f"{kind} {count}" for kind, count in found["counts"].items()))
    n_failed = sum(len(group) for group in found["failures"])
    print(f"\n{total - n_failed} passed, {n_failed} failed", flush=True)
    return 1 if n_failed else 0
