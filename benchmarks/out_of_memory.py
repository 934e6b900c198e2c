"""Rows in a file: memory of a fit, agreement with the fit in memory, and a fit resumed.

One million rows x 50 features in double precision (400 MB), M = 1000. The fits run one after
another in processes of their own. ``--quick`` takes 20 000 rows and M = 200.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._child import keep, run, write_rows
from benchmarks._report import Row, print_rows
from benchmarks.performance._record import Figure

MOST_BYTES = 1.5e9
AGREEMENT = 1e-6


def difference(one: Path, other: Path) -> float:
    """Return the largest relative difference of two models' numbers and latent coordinates."""
    with np.load(one) as a, np.load(other) as b:
        return max(
            float(np.abs(a[name] - b[name]).max() / np.abs(b[name]).max())
            for name in ("W", "coef", "Z")
        )


def changed_labels(one: Path, other: Path) -> int:
    """Return how many rows two models label differently."""
    with np.load(one) as a, np.load(other) as b:
        return int((a["labels"] != b["labels"]).sum())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks out_of_memory", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 000 rows, M = 200")
    parser.add_argument("--rows", type=int, help="number of rows (default: 1 000 000)")
    parser.add_argument("--centers", type=int, help="M (default: 1000)")
    parser.add_argument("--iterations", type=int, help="max_iter (default: the estimator's)")
    parser.add_argument("--folder", help="where to write the rows (default: a temporary folder)")
    parser.add_argument("--record", metavar="FILE", help="where to write the JSON record")
    options = parser.parse_args(arguments)
    n_rows = options.rows or (20_000 if options.quick else 1_000_000)
    centers = options.centers or (200 if options.quick else 1000)
    parameters: dict[str, Any] = {"n_centers": centers, "random_state": 0, "verbose": 1}
    if options.iterations or options.quick:
        parameters |= {"max_iter": options.iterations or 6}
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        write_rows(folder, n_rows)
        file_size = (folder / "X.npy").stat().st_size
        task = {"folder": name, "parameters": parameters}
        runs = {}
        for source in ("file", "map", "memory"):
            print(f"fit, rows in {source}", flush=True)
            runs[source] = run(task | {"source": source, "out": str(folder / f"{source}.npz")})
        resumable = {**parameters, "checkpoint": str(folder / "checkpoint")}
        again = task | {"source": "file", "parameters": resumable}
        print("fit, interrupted after iteration 2 and resumed", flush=True)
        interrupted = run(again | {"stop_after": 2})
        size = os.path.getsize(folder / "checkpoint")
        runs["resumed"] = run(again | {"out": str(folder / "resumed.npz")})
        apart = {
            source: difference(folder / f"{source}.npz", folder / "memory.npz")
            for source in ("file", "map")
        }
        labels = changed_labels(folder / "file.npz", folder / "memory.npz")
        resumed = difference(folder / "resumed.npz", folder / "file.npz")
    if not interrupted.get("interrupted"):
        raise RuntimeError("the fit came to its end before it was interrupted.")
    megabytes = {source: found["peak"] / 1e6 for source, found in runs.items()}
    title = f"{n_rows} rows x 50 ({file_size / 1e6:.0f} MB), M = {centers}"
    if "max_iter" in parameters:
        title += f", {parameters['max_iter']} iterations"
    ratio = runs["file"]["seconds"] / runs["memory"]["seconds"]
    rows = [
        Row(
            f"peak memory, rows in {source}",
            f"{megabytes[source]:.0f} MB",
            required=f"< {MOST_BYTES / 1e6:.0f} MB" if source != "memory" else "-",
            reached=runs[source]["peak"] < MOST_BYTES if source != "memory" else None,
        )
        for source in ("file", "map", "memory")
    ]
    rows += [
        Row(
            f"rows in {source}: largest relative difference from the fit in memory",
            f"{apart[source]:.1e}",
            required=f"<= {AGREEMENT:g}",
            reached=apart[source] <= AGREEMENT,
        )
        for source in ("file", "map")
    ]
    rows += [
        Row("labels that differ", f"{labels}"),
        Row(
            "interrupted and resumed: difference from the uninterrupted fit",
            f"{resumed:.1e}",
            required="<= 1e-12",
            reached=resumed <= 1e-12,
        ),
        Row("size of the checkpoint", f"{size / 1e6:.0f} MB"),
        Row("time of the fit, file / memory (which keeps 1 GB)", f"{ratio:.2f}"),
        Row(
            "training error, file beside memory",
            f"{100 * runs['file']['train_error']:.2f} %",
            f"{100 * runs['memory']['train_error']:.2f} %",
        ),
        Row("transform and predict from the file", f"{runs['file']['predict_seconds']:.1f} s"),
    ]
    if options.record or not options.quick:
        figures = [
            Figure("peak memory, rows in a file", megabytes["file"], "MB", MOST_BYTES / 1e6),
            Figure("peak memory, memory map", megabytes["map"], "MB", MOST_BYTES / 1e6),
            Figure("peak memory, rows in memory", megabytes["memory"], "MB"),
            Figure(
                "file: relative difference from the fit in memory", apart["file"], "", AGREEMENT
            ),
            Figure("map: relative difference from the fit in memory", apart["map"], "", AGREEMENT),
            Figure("interrupted and resumed: relative difference", resumed, "", 1e-12),
            Figure("time of the fit, file / memory", ratio, "x", note="in memory 1 GB is kept"),
        ]
        keep(options.record, "out_of_memory", f"Files beyond memory: {title}", figures, runs)
    return 0 if print_rows(f"out of memory: {title}", rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
