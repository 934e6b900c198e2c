"""Run the contenders of a benchmark under the same conditions.

In a full run each contender has a process of its own: the same number of threads, the data
loaded and the BLAS warmed up before the clock starts. In a quick run the contenders take turns
in one process, round by round, with one thread, and the clock is the processor time: what else
runs on the machine hardly shows.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.performance._record import Figure, Record, conditions, load_average
from supred.datasets.real import DataNotFoundError

ROOT = Path(__file__).parent.parent.parent
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Rounds of a quick run; the median of the ratios counts.
ROUNDS = 3
# A contender's process ends with this code where its data are not there.
NO_DATA = 3

Run = dict[str, Any]

_clock = perf_counter


@dataclass(frozen=True)
class Contender:
    """One method in a benchmark.

    Attributes
    ----------
    run : callable (data, threads) -> dict
        Measures once: ``{"seconds": {"fit": 1.2, ..}, "error": percent, ..}``.
    repeats : int
        How often a full run measures it.
    package : str
        What must be installed for it.
    in_quick : bool
        Whether it takes part in a quick run.
    """

    run: Callable[[Any, int], Run]
    repeats: int = 3
    package: str = ""
    in_quick: bool = True


@dataclass(frozen=True)
class Benchmark:
    """A comparison of supred with its peers.

    Attributes
    ----------
    name, title : str
    load : callable (quick) -> data
        Makes or reads what all contenders get.
    contenders : dict of Contender
    figures : callable (runs, quick) -> list of Figure
    tables : callable (runs) -> dict, optional
    seeds : tuple of int
    threads : tuple of int
        Numbers of threads it runs with; the first is what the figures are asked for.
    """

    name: str
    title: str
    load: Callable[[bool], Any]
    contenders: Mapping[str, Contender]
    figures: Callable[[dict[str, Run], bool], list[Figure]]
    tables: Callable[[dict[str, Run]], dict[str, Any]] | None = None
    seeds: tuple[int, ...] = (0,)
    in_quick: bool = True
    data: str = "MNIST"
    peers: tuple[str, ...] = field(default=())


def measure(benchmark: Benchmark, *, threads: int, quick: bool) -> Record:
    """Run a benchmark and return its record."""
    began = perf_counter()
    runs: dict[str, Run] = {}
    if quick:
        runs = _in_subprocess(benchmark.name, "all", threads, quick)
    else:
        for name in benchmark.contenders:
            print(f"  {name} ..", end="", flush=True)
            result = _in_subprocess(benchmark.name, name, threads, quick)
            runs.update(result)
            print(f" {_short(result[name])}", flush=True)
    option = "--quick" if quick else f"--only {benchmark.name}"
    return Record(
        benchmark.name,
        f"{benchmark.name} on few generated rows" if quick else benchmark.title,
        benchmark.figures(runs, quick),
        runs,
        benchmark.tables(runs) if benchmark.tables and not quick else {},
        conditions(
            threads,
            seeds=list(benchmark.seeds),
            data="generated" if quick else benchmark.data,
            command=f"python -m benchmarks performance {option} --threads {threads}",
            seconds_in_all=round(perf_counter() - began, 1),
        ),
    )


def environment(threads: int) -> dict[str, str]:
    """Return the environment of a contender's process."""
    own = dict.fromkeys(THREAD_VARIABLES, str(threads))
    return {**os.environ, **own, "PYTHONWARNINGS": "ignore"}


def _in_subprocess(name: str, contender: str, threads: int, quick: bool) -> dict[str, Run]:
    """Run one contender, or all in turn, in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "result.json")
        command = [sys.executable, "-m", "benchmarks.performance._worker", name, contender]
        command += [str(threads), str(out), *(["--quick"] if quick else [])]
        done = subprocess.run(command, env=environment(threads), cwd=ROOT, check=False)
        if done.returncode == NO_DATA:
            raise DataNotFoundError(f"{name} needs the data folder in SUPRED_DATA.")
        if done.returncode or not out.exists():
            raise RuntimeError(
                f"{name}: the process of {contender!r} ended with code {done.returncode}."
            )
        return json.loads(out.read_text(encoding="utf-8"))


def run_here(benchmark: Benchmark, contender: str, threads: int, quick: bool) -> dict[str, Run]:
    """Load the data, warm up and measure one contender, or all of them in turn."""
    chosen = {
        name: item
        for name, item in benchmark.contenders.items()
        if contender == name or (contender == "all" and item.in_quick)
    }
    if not chosen:
        raise ValueError(
            f"{benchmark.name} has no contender {contender!r}; use one of "
            f"{', '.join(benchmark.contenders)} or 'all'."
        )
    global _clock
    _clock = process_time if quick else perf_counter
    load = load_average()
    data = benchmark.load(quick)
    warm_up()
    runs: dict[str, list[Run]] = {name: [] for name in chosen}
    for turn in range(ROUNDS if quick else 1):
        # Every other round goes backwards: no one is always the first.
        for name, item in list(chosen.items())[:: -1 if turn % 2 else 1]:
            for _ in range(1 if quick else item.repeats):
                runs[name].append(_measure_once(item, data, threads))
    return {name: {**merge(found), "load_before": load} for name, found in runs.items()}


def _measure_once(contender: Contender, data: Any, threads: int) -> Run:
    try:
        return contender.run(data, threads)
    except ImportError as error:
        if not contender.package:
            raise
        return {"seconds": {}, "skipped": f"pip install {contender.package} ({error})"}


def warm_up() -> None:
    """Start the BLAS threads and wake the processor up."""
    for dtype in (np.float32, np.float64):
        A = np.ones((800, 800), dtype=dtype)
        for _ in range(5):
            A = A @ A / 800


def merge(runs: list[Run]) -> Run:
    """Put the seconds of several measurements into lists; the rest is the last one's."""
    merged = dict(runs[-1])
    merged["seconds"] = {
        part: [run["seconds"][part] for run in runs if part in run["seconds"]]
        for part in runs[-1]["seconds"]
    }
    return merged


def median(run: Run, part: str = "fit") -> float:
    """Return the median of the seconds that a part took."""
    return float(np.median(run["seconds"][part]))


def ratio(first: Run, second: Run, part: str = "fit", *, quick: bool = False) -> float:
    """Return how many times longer the first took: of medians, or round by round if quick."""
    if quick:
        a, b = np.array(first["seconds"][part]), np.array(second["seconds"][part])
        return float(np.median(a / b))
    return median(first, part) / median(second, part)


def seconds(call: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """Return how long a call takes, and what it returns."""
    began = now()
    result = call(*arguments, **options)
    return now() - began, result


def now() -> float:
    """Return the time of the clock that counts: the wall's, or the processor's if quick."""
    return _clock()


def _short(run: Run) -> str:
    if "skipped" in run:
        return f"skipped: {run['skipped']}"
    parts = [f"{part} {np.median(times):.4g} s" for part, times in run["seconds"].items()]
    if run.get("error") is not None:
        parts.append(f"error {run['error']:.2f} %")
    return ", ".join(parts)
