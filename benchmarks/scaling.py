"""Scaling in the number of rows: seconds per row, and how peak memory grows.

Rows are read from a file, so that nothing of them is kept; every size runs the same number of
iterations in a process of its own. ``--quick`` takes small sizes and judges memory only.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._child import N_CLASSES, keep, run, write_rows
from benchmarks._report import Row, print_rows
from benchmarks.performance._record import Figure

SIZES = (50_000, 100_000, 200_000, 400_000)
QUICK_SIZES = (25_000, 60_000)
# Numbers of a row in latent space and per class, and arrays of that kind at a time: coordinates,
# their last values, signs, the pulls of the Z step, hinge losses, targets and temporaries.
NUMBERS = (N_CLASSES - 1) + N_CLASSES
MOST_COPIES = 6.0
MOST_SPREAD = 1.2


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks scaling", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, M = 100, memory only")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of rows")
    parser.add_argument("--centers", type=int, help="M (default: 1000)")
    parser.add_argument("--iterations", type=int, default=5, help="iterations (default: 5)")
    parser.add_argument("--repeats", type=int, default=1, help="fits of each size; the best counts")
    parser.add_argument("--record", metavar="FILE", help="where to write the JSON record")
    options = parser.parse_args(arguments)
    sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    iterations = 2 if options.quick else options.iterations
    parameters: dict[str, Any] = {
        "n_centers": options.centers or (100 if options.quick else 1000),
        "max_iter": iterations,
        "tol": 0.0,
        "random_state": 0,
    }
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
            f"{1e6 * seconds / iterations:.1f} us",
        )
        for n_rows, seconds in zip(counts, per_row, strict=True)
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
    title = f"Scaling in N, M = {parameters['n_centers']}, {iterations} iterations"
    if options.record or not options.quick:
        sizes_text = f"{counts[0]} to {counts[-1]} rows"
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
        keep(options.record, "scaling", title, figures, named)
    return 0 if print_rows(title, rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
