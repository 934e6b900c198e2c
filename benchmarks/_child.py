"""Fits in a process of their own, with the most memory that they took."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks._memory import peak_bytes
from benchmarks.performance._record import RECORDS, Figure, Record, conditions, load_average, write
from supred.numerics.compiled import MANY_ROWS

N_FEATURES, N_CLASSES = 50, 10


def write_rows(folder: Path, n_rows: int, seed: int = 0) -> None:
    """Write X.npy, `n_rows` x 50 in double precision, and y.npy block by block.

    Each of the ten classes is a mixture of three Gaussians.
    """
    rng = np.random.default_rng(seed)
    means = 1.2 * rng.normal(size=(3 * N_CLASSES, N_FEATURES))
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=np.float64, shape=(n_rows, N_FEATURES)
    )
    y = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, 50_000):
        part = slice(start, min(start + 50_000, n_rows))
        sources = rng.integers(0, len(means), part.stop - part.start)
        X[part] = means[sources] + 2.0 * rng.normal(size=(len(sources), N_FEATURES))
        y[part] = sources % N_CLASSES
    X.flush()
    np.save(folder / "y.npy", y)


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Do a task of :func:`fit` in a new process and return what it found."""
    load = load_average()
    command = [sys.executable, "-m", "benchmarks._child", json.dumps(task)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {**json.loads(done.stdout.splitlines()[-1]), "load_before": load}


def fit(task: dict[str, Any]) -> dict[str, Any]:
    """Fit a LowDimSVC to the rows of a folder.

    Parameters
    ----------
    task : dict
        `folder`, `parameters` of the estimator, `source` ("file", "map" or "memory"); with `out`
        the model's numbers are saved there, with `stop_after` the fit is interrupted after that
        iteration.
    """
    from supred import LowDimSVC, RowBlocks

    warnings.simplefilter("ignore")
    folder = Path(task["folder"])
    y = np.load(folder / "y.npy")
    sources = {
        "file": lambda: RowBlocks(folder / "X.npy"),
        "map": lambda: np.load(folder / "X.npy", mmap_mode="r"),
        "memory": lambda: np.load(folder / "X.npy"),
    }
    X = sources[task["source"]]()
    if len(y) >= MANY_ROWS:
        _load_loops()
    before = peak_bytes()
    model = LowDimSVC(**task["parameters"])
    if "stop_after" in task:
        _stop_after(task["stop_after"])
    began, began_cpu = perf_counter(), process_time()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        return {"interrupted": True}
    result = {"seconds": perf_counter() - began, "cpu_seconds": process_time() - began_cpu}
    result |= {"before": before, "peak": peak_bytes(), "n_iter": model.n_iter_}
    result["train_error"] = float(model.history_["train_error"][model.best_iter_])
    if "out" in task:
        began = perf_counter()
        Z, labels = model.transform(X), model.predict(X)
        result["predict_seconds"] = perf_counter() - began
        result["peak"] = peak_bytes()
        np.savez(task["out"], W=model.mapping_.W, coef=model.coef_, Z=Z, labels=labels)
    return result


def _load_loops() -> None:
    """Load the compiled loops: two seconds of a process, whatever the number of its rows."""
    from supred import LowDimSVC

    y = np.arange(MANY_ROWS) % N_CLASSES
    rows = np.random.default_rng(0).normal(size=(MANY_ROWS, N_FEATURES)) + y[:, None]
    LowDimSVC(n_centers=10, max_iter=2, random_state=0).fit(rows, y)


def _stop_after(iteration: int) -> None:
    """Press Ctrl-C in the F step that follows an iteration."""
    from supred.low_dim_svm.mappings.basis import BasisMapping

    regress, calls = BasisMapping.regress, []

    def interrupted(self: Any, coordinates: Any, mu: float) -> float:
        calls.append(mu)
        if len(calls) == iteration + 2:  # the start is the first
            raise KeyboardInterrupt
        return regress(self, coordinates, mu)

    BasisMapping.regress = interrupted  # type: ignore[method-assign]


def keep(
    path: str | None, command: str, title: str, figures: list[Figure], runs: dict[str, Any]
) -> None:
    """Write the figures with the conditions they were taken under, as JSON."""
    name = command.split()[0]
    threads = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))
    found = conditions(
        threads, seeds=[0], data="generated", command=f"python -m benchmarks {command}"
    )
    record = Record(name, title, figures, runs, conditions=found)
    write([record], Path(path) if path else RECORDS / f"{name}.json")


if __name__ == "__main__":
    print(json.dumps(fit(json.loads(sys.argv[1]))))
