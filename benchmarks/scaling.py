"""Scaling in the number of rows and of cores.

Seconds per row, and how peak memory grows: rows are read from a file, so that nothing of them is
kept; every size runs the same number of iterations in a process of its own (``--converge``: to
convergence), once this has loaded the compiled loops. ``--quick`` takes small sizes and judges
memory only.

``--serial`` takes the processor time that a one-core fit spends outside of what threads share:
blocks of rows, blocks of the f step's matrix, SVMs. Other work on the machine does not change it.

``--cores`` takes each step of a fit with one and with two threads. Of a step that took T1 and T2
seconds the part 2 T2 / T1 - 1 is not shared out, and Amdahl's law says what more cores would give.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time, thread_time
from typing import Any

import numpy as np

from benchmarks._child import N_CLASSES, keep, run, write_rows
from benchmarks._report import Row, print_rows
from benchmarks.performance import low_dim_svc
from benchmarks.performance._data import mixture
from benchmarks.performance._harness import seconds
from benchmarks.performance._record import Figure
from benchmarks.performance._steps import clocked
from supred import LowDimSVC
from supred.common.threads import in_order
from supred.low_dim_svm.mappings import band_form
from supred.numerics import svm_interior_point
from supred.numerics.compiled import MANY_ROWS
from supred.rows import blocks, values

# Modules that share work out by `in_order`.
SHARING = (blocks, values, band_form, svm_interior_point)
# Rows of a block of the floor.
BLOCKS = (4000,)
SIZES = (50_000, 100_000, 200_000, 400_000)
# Rows and centres of fits to convergence.
CONVERGED = (50_000, 200_000, 800_000, 3_000_000), 300
QUICK_SIZES = (25_000, 60_000)
# Numbers of a row in latent space and per class, and arrays of that kind at a time: coordinates,
# their last values, signs, the pulls of the Z step, hinge losses, targets and temporaries.
NUMBERS = (N_CLASSES - 1) + N_CLASSES
MOST_COPIES = 6.0
MOST_SPREAD = 1.25


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks scaling", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, M = 100, memory only")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of rows")
    parser.add_argument("--centers", type=int, help="M (default: 1000, or 300 to convergence)")
    parser.add_argument("--iterations", type=int, default=5, help="iterations (default: 5)")
    parser.add_argument("--repeats", type=int, default=1, help="fits of each size; the best counts")
    parser.add_argument("--converge", action="store_true", help="iterate to convergence")
    parser.add_argument("--cores", action="store_true", help="one and two threads, step by step")
    parser.add_argument("--serial", action="store_true", help="the part that is not shared out")
    parser.add_argument("--record", metavar="FILE", help="where to write the JSON record")
    options = parser.parse_args(arguments)
    if options.serial:
        found = serial(options.quick, options.centers)
        return 0 if print_rows("The part of a fit that is not shared out", found) else 1
    if options.cores:
        return 0 if print_rows("One and two cores", cores(options.quick, options.repeats)) else 1
    usual = CONVERGED if options.converge else (SIZES, 1000)
    sizes = options.sizes or (QUICK_SIZES if options.quick else usual[0])
    iterations = 2 if options.quick else options.iterations
    parameters: dict[str, Any] = {
        "n_centers": options.centers or (100 if options.quick else usual[1]),
        "max_iter": iterations,
        "tol": 0.0,
        "random_state": 0,
    }
    if options.converge:
        parameters |= {"max_iter": 50, "tol": 1e-2}
    runs = {}
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_rows(Path(folder), n_rows)
            task = {"folder": folder, "source": "file", "parameters": parameters}
            repeats = [run(task) for _ in range(options.repeats)]
            runs[n_rows] = min(repeats, key=lambda found: found["seconds"])
    counts = np.array(list(runs))
    per_row = np.array([found["seconds"] for found in runs.values()]) / counts
    processor = np.array([found["cpu_seconds"] for found in runs.values()]) / counts
    peaks = np.array([found["peak"] for found in runs.values()])
    slope = float(np.polyfit(counts, peaks, 1)[0])
    copies = slope / (8 * NUMBERS)
    ratio = float(per_row.max() / per_row.min())
    rows = [
        Row(
            f"{n_rows} rows: time per row and iteration",
            f"{1e6 * took / runs[n_rows]['n_iter']:.1f} us, {runs[n_rows]['n_iter']} iterations",
        )
        for n_rows, took in zip(counts, per_row, strict=True)
    ]
    rows += [
        Row(f"{n_rows} rows: peak memory", f"{peak / 1e6:.0f} MB")
        for n_rows, peak in zip(counts, peaks, strict=True)
    ]
    rows += [
        Row(
            "time per row, most / least",
            f"{ratio:.2f}",
            required="-" if options.quick else f"<= {MOST_SPREAD}",
            reached=None if options.quick else ratio <= MOST_SPREAD,
        ),
        Row("processor time per row, most / least", f"{processor.max() / processor.min():.2f}"),
        Row(
            "memory per row",
            f"{slope:.0f} bytes = {copies:.1f} (L + K) doubles",
            required=f"<= {MOST_COPIES:g} (L + K) doubles",
            reached=copies <= MOST_COPIES,
        ),
        Row("a row of Phi would take", f"{8 * parameters['n_centers']} bytes"),
    ]
    length = "to convergence" if options.converge else f"{iterations} iterations"
    title = f"Scaling in N, M = {parameters['n_centers']}, {length}"
    if options.record or not options.quick:
        times = ", ".join(f"{1e6 * took:.0f}" for took in per_row)
        sizes_text = f"{', '.join(map(str, counts))} rows: {times} us a row"
        figures = [
            Figure("time per row, most / least", ratio, "x", MOST_SPREAD, note=sizes_text),
            Figure(
                "memory per row, in units of (L + K) doubles",
                copies,
                "",
                MOST_COPIES,
                note=f"{slope:.0f} bytes a row; a row of Phi has {8 * parameters['n_centers']}",
            ),
        ]
        named = {str(n_rows): found for n_rows, found in runs.items()}
        command = "scaling --converge" if options.converge else "scaling"
        keep(options.record, command, title, figures, named)
    return 0 if print_rows(title, rows) else 1


def cores(quick: bool, repeats: int) -> list[Row]:
    """Return the time of each step with one and two threads, and what follows for more."""
    task = low_dim_svc.load(quick)
    rows = task.rows
    warm = mixture(MANY_ROWS, 5, n_classes=10)  # compiled loops are compiled now
    LowDimSVC(n_centers=10, max_iter=2, tol=0.0, random_state=0).fit(warm.X, warm.y)
    found: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    for _ in range(repeats):
        for n_jobs in found:
            model = LowDimSVC(
                n_centers=task.n_centers, gamma=task.gamma, random_state=0, n_jobs=n_jobs
            )
            with clocked() as watch:
                took, _ = seconds(model.fit, rows.X, rows.y)
            found[n_jobs].append({**watch.seconds, "all": took})
    best = {n_jobs: min(runs, key=lambda steps: steps["all"]) for n_jobs, runs in found.items()}
    floor = min(low_dim_svc.floor(task, 2)["seconds"]["fit"] for _ in range(repeats))
    one, two = best[1]["all"], best[2]["all"]
    lines, serial = [], 0.0
    for step in (*[name for name in best[1] if name != "all"], "all else"):
        times = [
            run.get(step, run["all"] - sum(value for name, value in run.items() if name != "all"))
            for run in best.values()
        ]
        part = min(1.0, max(0.0, 2.0 * times[1] / times[0] - 1.0)) if times[0] > 0 else 0.0
        serial += part * times[0]
        lines.append(
            Row(
                f"{step}: one and two threads",
                f"{times[0]:.2f} s, {times[1]:.2f} s ({times[0] / max(times[1], 1e-9):.2f} x)",
            )
        )
    share = serial / one
    speed_up = {n: 1.0 / (share + (1.0 - share) / n) for n in (12, 16)}
    error = rows.error(model.predict(rows.X_test))
    return [
        *lines,
        Row(
            f"fit, {model.n_iter_} iterations, test error {error:.2f} %: one core / two cores",
            f"{one / two:.2f} ({one:.1f} s / {two:.1f} s)",
            required="-" if quick else ">= 1.85",
            reached=None if quick else one / two >= 1.85,
        ),
        Row(
            "part of a one-core fit that is not shared out",
            f"{100 * share:.1f} %",
            required="-" if quick else "<= 5 %",
            reached=None if quick else share <= 0.05,
        ),
        Row(
            "Amdahl: 12 and 16 cores",
            f"{speed_up[12]:.1f} x, {speed_up[16]:.1f} x",
            required="-" if quick else ">= 8 on 12",
            reached=None if quick else speed_up[12] >= 8,
        ),
        Row(
            "fit on two cores / floor",
            f"{two / floor:.2f} ({two:.1f} s / {floor:.1f} s)",
            required="-" if quick else "<= 1.5",
            reached=None if quick else two / floor <= 1.5,
        ),
    ]


def serial(quick: bool, n_centers: int | None) -> list[Row]:
    """Return the processor time of a one-core fit by step, in what threads share and outside."""
    task = low_dim_svc.load(quick)
    task = replace(task, n_centers=n_centers or task.n_centers)
    rows, shared = task.rows, "shared out"
    model = LowDimSVC(n_centers=task.n_centers, gamma=task.gamma, random_state=0, n_jobs=1)
    warm = mixture(MANY_ROWS, 5, n_classes=10)  # compiled loops are compiled now
    LowDimSVC(n_centers=10, max_iter=2, tol=0.0, random_state=0).fit(warm.X, warm.y)
    with clocked(clock=thread_time) as watch:

        def timed(function: Callable[..., Any], calls: Iterable[tuple]) -> Iterator[Any]:
            return in_order(watch.timed(shared, function), calls)

        for place in SHARING:
            place.in_order = timed  # type: ignore[attr-defined]
        try:
            began = process_time()
            model.fit(rows.X, rows.y)
            total = process_time() - began
        finally:
            for place in SHARING:
                place.in_order = in_order  # type: ignore[attr-defined]
    began = process_time()
    low_dim_svc.floor(task, 1, BLOCKS)
    floor = process_time() - began
    spent = watch.seconds.pop(shared)
    share = 1.0 - spent / total
    speed_up = {n: 1.0 / (share + (1.0 - share) / n) for n in (2, 12, 16)}
    error = rows.error(model.predict(rows.X_test))
    text = ", ".join(f"{n} cores {value:.1f} x" for n, value in speed_up.items())
    watch.seconds["all else"] = total - spent - sum(watch.seconds.values())
    return [
        Row(
            f"{len(rows.X)} rows, M = {len(model.centers_)}, {model.n_iter_} iterations, test "
            f"error {error:.2f} %: processor time",
            f"{total:.1f} s, {spent:.1f} s of it shared out",
        ),
        *(Row(f"not shared out: {step}", f"{s:.2f} s") for step, s in watch.seconds.items()),
        Row(
            "not shared out",
            f"{100 * share:.1f} %",
            required="-" if quick else "<= 5 %",
            reached=None if quick else share <= 0.05,
        ),
        Row("Amdahl's law", text),
        Row("processor time / that of the floor", f"{total / floor:.2f} ({floor:.1f} s)"),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
