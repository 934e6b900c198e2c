"""`supred fit --stream` of a CSV file, beside reading it with pandas and fitting in memory.

900 000 rows x 20 features of nine classes (135 MB), default settings, each fit in a process of its
own: seconds, peak memory, training error, and after how long the first estimate of the time that
is left was printed. ``--quick`` takes 20 000 rows and LowDimSVC.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks._memory import peak_bytes
from benchmarks._report import Row, print_rows

N_FEATURES, N_CLASSES = 20, 9
MOST_RATIO, MOST_BYTES = 1.5, 1e9


def write_csv(path: Path, n_rows: int) -> None:
    """Write rows of overlapping Gaussians, one block after the other."""
    rng = np.random.default_rng(0)
    means = 0.8 * rng.normal(size=(N_CLASSES, N_FEATURES))
    names = ",".join([f"feature {k}" for k in range(N_FEATURES)] + ["label"])
    with path.open("w", encoding="utf-8") as file:
        file.write(names + "\n")
        for start in range(0, n_rows, 50_000):
            labels = rng.integers(0, N_CLASSES, min(50_000, n_rows - start))
            rows = means[labels] + rng.normal(size=(len(labels), N_FEATURES))
            np.savetxt(file, np.column_stack([rows, labels]), "%.4f," * N_FEATURES + "%d")


def fit_in_memory(path: str, method: str) -> float:
    """Read the file with pandas, fit and return the training error."""
    import pandas as pd
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import supred

    frame = pd.read_csv(path)
    X, y = frame.drop(columns="label").to_numpy(), frame["label"].to_numpy()
    model = make_pipeline(StandardScaler(), getattr(supred, method)(random_state=0))
    return 1.0 - model.fit(X, y).score(X, y)


def fit_streamed(path: str, method: str) -> float:
    """Run the command and return the training error that it tells."""
    from supred.app.cli.main import main as command

    words = ["fit", path, "--target", "label", "--method", method, "--stream", "--seed", "0"]
    with redirect_stdout(StringIO()) as told:
        if command([*words, "--json", "--out", f"{path}.{method}.supred"]):
            raise RuntimeError("supred fit --stream failed.")
    return float(json.loads(told.getvalue())["training_error"])


def child(way: str, path: str, method: str) -> None:
    """Fit in this process and print what it took."""
    began, began_cpu = perf_counter(), process_time()
    error = (fit_streamed if way == "stream" else fit_in_memory)(path, method)
    print(perf_counter() - began, process_time() - began_cpu, peak_bytes(), error)


def run(way: str, path: Path, method: str) -> dict[str, Any]:
    """Fit in a process of its own; note when it first told how much time is left."""
    command = [sys.executable, "-m", "benchmarks.stream", "--child", way, str(path), method]
    began, told = perf_counter(), np.nan
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if np.isnan(told) and " left" in line:
                told = perf_counter() - began
        out = process.stdout.read().split()
    if process.returncode:
        raise RuntimeError("".join(lines))
    names = ("seconds", "cpu_seconds", "peak", "error")
    return dict(zip(names, map(float, out[-4:]), strict=True)) | {"told": told}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks stream", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 000 rows, LowDimSVC")
    parser.add_argument("--rows", type=int, help="number of rows (default: 900 000)")
    parser.add_argument("--methods", nargs="+", help="estimators that read rows block by block")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        child(*options.child)
        return 0
    n_rows = options.rows or (20_000 if options.quick else 900_000)
    methods = options.methods or ["LowDimSVC", *(() if options.quick else ["RBFNetClassifier"])]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        write_csv(path, n_rows)
        size = path.stat().st_size
        for method in methods:
            streamed, whole = (run(way, path, method) for way in ("stream", "memory"))
            ratio = streamed["seconds"] / whole["seconds"]
            errors = f"{100 * streamed['error']:.2f} % and {100 * whole['error']:.2f} %"
            rows += [
                Row(
                    f"{method}: time, stream / memory; training errors {errors}",
                    f"{ratio:.2f} ({streamed['seconds']:.1f} s / {whole['seconds']:.1f} s)",
                    required="-" if options.quick else f"<= {MOST_RATIO}",
                    reached=None if options.quick else ratio <= MOST_RATIO,
                ),
                Row(
                    f"{method}: processor time, stream / memory",
                    f"{streamed['cpu_seconds'] / whole['cpu_seconds']:.2f}",
                ),
                Row(
                    f"{method}: peak memory, stream beside memory",
                    f"{streamed['peak'] / 1e6:.0f} MB, {whole['peak'] / 1e6:.0f} MB",
                    required=f"<= {MOST_BYTES / 1e6:.0f} MB",
                    reached=streamed["peak"] <= MOST_BYTES,
                ),
                Row(f"{method}: first estimate of the time left", f"{streamed['told']:.1f} s"),
            ]
    title = f"fit --stream of {n_rows} rows x {N_FEATURES} ({size / 1e6:.0f} MB)"
    return 0 if print_rows(title, rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
