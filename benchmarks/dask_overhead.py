"""LowDimSVC on a Dask cluster: overhead over the plain run, memory per worker, what travels.

    python -m benchmarks dask_overhead [--quick] [--part PART] [--model]

`--part client` compares the client's memory on two numbers of rows that the workers make.

With ``--model`` it measures the constants of docs/cluster.md and fills its tables from them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks._report import Row, print_rows
from supred import LowDimSVC
from supred.datasets import load_mnist
from supred.rows.cluster.local import local_client

MEGABYTE = 1e6
# What a worker of the memory check may take.
LIMIT = 600 * MEGABYTE


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks dask_overhead", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows, centres and iterations")
    parser.add_argument("--model", action="store_true", help="measure the model of docs/cluster.md")
    parser.add_argument("--part", choices=("overhead", "memory", "client"), help="only this part")
    parser.add_argument("--rows", type=int, nargs=2, help="rows of the two fits of `client`")
    parser.add_argument("--centers", type=int, default=500, help="M of `client`")
    parser.add_argument("--iterations", type=int, default=10, help="iterations of `client`")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    if options.model:
        from benchmarks._dask_model import print_model

        with local_client(2) as client:
            print_model(client, quick=options.quick)
        return 0
    repeats = 1 if options.quick else options.repeats
    reached = True
    if options.part == "client":
        sizes = options.rows or ([100_000, 400_000] if options.quick else [10**6, 10**7])
        found = client_memory(sizes, options.centers, options.iterations)
        return 0 if print_rows("Rows made on the workers, 50 features", found) else 1
    if options.part != "memory":
        rows = overhead(options.quick, repeats)
        reached &= print_rows("LowDimSVC on a Dask cluster of two workers", rows)
    if options.part != "overhead":
        reached &= print_rows("Rows of four times a worker's memory", memory(options.quick))
    return 0 if reached else 1


def training_rows(quick: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """Return MNIST if it is there, else rows of the same size."""
    n_rows = 6000 if quick else 60_000
    try:
        X, y = load_mnist()[:2]
        return np.asarray(X[:n_rows], dtype=np.float32), y[:n_rows], "MNIST"
    except FileNotFoundError:
        rng = np.random.default_rng(0)
        y = np.arange(n_rows) % 10
        X = 0.4 * rng.random((10, 784))[y] + 0.2 * rng.random((n_rows, 784))
        return X.astype(np.float32), y, "made-up rows"


def in_files(X: np.ndarray, folder: str, n_files: int) -> Any:
    """Write rows to files and return the Dask array that reads them."""
    import dask
    import dask.array as da

    blocks = []
    for k, part in enumerate(np.array_split(X, n_files)):
        path = Path(folder, f"rows{k:03d}.npy")
        np.save(path, part)
        block = dask.delayed(np.load)(str(path))
        blocks.append(da.from_delayed(block, shape=part.shape, dtype=part.dtype))
    return da.concatenate(blocks)


def fitted(model: LowDimSVC, X: Any, y: np.ndarray) -> float:
    """Fit a model and return the seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = perf_counter()
        model.fit(X, y)
        return perf_counter() - began


def overhead(quick: bool, repeats: int) -> list[Row]:
    """Compare a fit on two workers with the plain one on the same two cores, taken in turn."""
    from supred.rows.cluster.rows import DaskSource

    X, y, name = training_rows(quick)
    make: dict[str, Any] = {
        "n_centers": 200 if quick else 2500,
        "gamma": 1 / 32,
        "C": 10.0,
        "alpha": 1e-2,
        "random_state": 0,
        "n_jobs": 2,
    }
    if quick:
        make["max_iter"] = 5
    plain, on_cluster = LowDimSVC(**make), LowDimSVC(**make)
    seconds: dict[str, list[float]] = {"plain": [], "cluster": []}
    with tempfile.TemporaryDirectory() as folder, local_client(2) as client:
        collection = in_files(X, folder, 20)
        fitted(LowDimSVC(n_centers=10, max_iter=0, random_state=0), collection[:500], y[:500])
        for _ in range(repeats):
            seconds["plain"].append(fitted(plain, X, y))
            source = DaskSource(collection)
            seconds["cluster"].append(fitted(on_cluster, source, y))
            traffic = source.store.traffic
        passes = [empty_pass(source) for _ in range(20)]
        del client
    few = slice(None, None, 10)
    difference = np.abs(plain.decision_function(X[few]) - on_cluster.decision_function(X[few]))
    ratio = np.median(seconds["cluster"]) / np.median(seconds["plain"])
    errors = [100 * (1 - model.score(X, y)) for model in (plain, on_cluster)]
    title = f"{name} {len(X)} x {X.shape[1]}, M = {make['n_centers']}"
    steps = 2 * (on_cluster.n_iter_ + 1)
    return [
        Row(
            f"{title}: fit on the cluster / plain fit",
            f"{ratio:.2f} ({np.median(seconds['cluster']):.1f} s / "
            f"{np.median(seconds['plain']):.1f} s, n={repeats})",
            # In the quick form the fit is over before the overhead has paid off.
            required="-" if quick else "<= 1.25",
            reached=None if quick else bool(ratio <= 1.25),
        ),
        Row(
            "training error %, plain and on the cluster",
            f"{errors[0]:.2f}, {errors[1]:.2f}",
            required="equal",
            reached=bool(abs(errors[0] - errors[1]) < 0.005),
        ),
        Row(
            "largest difference of decision values (float32)",
            f"{difference.max() / np.abs(plain.decision_function(X[few])).max():.1e}",
        ),
        Row("tasks per pass over the rows", f"{traffic.tasks / traffic.passes:.1f}", required="2"),
        Row("seconds of a pass that computes nothing", f"{np.median(passes):.3f}"),
        Row(
            "MB sent and received per iteration",
            f"{2 * traffic.bytes_sent / steps / MEGABYTE:.1f}, "
            f"{2 * traffic.bytes_received / steps / MEGABYTE:.1f} (set-up included)",
        ),
    ]


def empty_pass(source: Any) -> float:
    """Return the seconds of a sum that computes nothing."""
    began = perf_counter()
    source.rows().sum(nothing)
    return perf_counter() - began


def nothing(block: np.ndarray) -> float:
    return 0.0


def made_rows(seed: int, n_rows: int, n_features: int) -> np.ndarray:
    """Return rows that can be made again at any time, cheaper than drawing each number."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((250, n_features), dtype=np.float32)
    rows = np.tile(base, (n_rows // 250, 1))
    rows[:, 0] = rng.standard_normal(len(rows), dtype=np.float32)
    return rows


def memory(quick: bool) -> list[Row]:
    """Fit rows of four times a worker's limit; see what the workers took at most."""
    import dask
    import dask.array as da

    n_features, per_block = 1000, 5000
    n_blocks = int(4 * LIMIT / (4 * n_features * per_block))
    with local_client(2, LIMIT) as client:
        X = da.concatenate(
            [
                da.from_delayed(
                    dask.delayed(made_rows)(k, per_block, n_features),
                    shape=(per_block, n_features),
                    dtype=np.float32,
                )
                for k in range(n_blocks)
            ]
        )
        # Made here, so that what the workers take is what the fit takes.
        firsts = [made_rows(k, per_block, n_features)[:, 0] for k in range(n_blocks)]
        y = (np.concatenate(firsts) > 0).astype(int)
        before = client.run(os.getpid)
        model = LowDimSVC(
            n_centers=10 if quick else 50,
            centers="random",
            gamma=1e-3,
            max_iter=1 if quick else 3,
            cache_size=0,
            random_state=0,
        )
        seconds = fitted(model, X, y)
        after = client.run(os.getpid)
        peaks = [peak / MEGABYTE for peak in client.run(peak_memory).values()]
    size = X.nbytes / MEGABYTE
    return [
        Row(
            f"{size:.0f} MB of rows, workers limited to {LIMIT / MEGABYTE:.0f} MB: peak MB",
            f"{max(peaks):.0f} ({seconds:.0f} s)",
            required=f"<= {LIMIT / MEGABYTE:.0f}",
            reached=bool(max(peaks) <= LIMIT / MEGABYTE and before == after),
        )
    ]


def client_memory(sizes: list[int], n_centers: int, iterations: int) -> list[Row]:
    """Fit rows that are made on two workers; see what the client takes, in its own process."""
    task = {"n_centers": n_centers, "max_iter": iterations, "tol": 0.0, "random_state": 0}
    peaks, rows = [], []
    for size in sizes:
        command = [sys.executable, "-m", "benchmarks.dask_overhead", json.dumps([size, task])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        peaks.append(found["peak"] / MEGABYTE)
        rows.append(
            Row(
                f"{size:,} rows, M = {n_centers}, {found['n_iter']} iterations: client's peak MB",
                f"{peaks[-1]:.0f} (workers {found['workers'] / MEGABYTE:.0f}, "
                f"{found['seconds']:.0f} s, training error {100 * found['error']:.2f} %)",
                required="<= 500",
                reached=peaks[-1] <= 500,
            )
        )
    more = peaks[1] - peaks[0]
    rows.append(Row("difference, MB", f"{more:.0f}", required="<= 50", reached=more <= 50))
    return rows


def one_client(size: int, parameters: dict[str, Any]) -> dict[str, float]:
    """Fit `size` rows of ten classes that two workers make, and return what it took."""
    import dask.array as da

    per_block = 50_000
    numbers = da.arange(-(-size // per_block), chunks=1)
    chunks = (per_block,) * (size // per_block)
    with local_client(2) as client:
        made = numbers.map_blocks(labelled_rows, per_block, dtype=np.float32, new_axis=1,
                                  chunks=(chunks, (51,)))  # fmt: skip
        model = LowDimSVC(**parameters)
        seconds = fitted(model, made[:, :50], made[:, 50].astype(np.int8))
        workers = max(client.run(peak_memory).values())
    return {
        "peak": peak_memory(),
        "workers": workers,
        "seconds": seconds,
        "n_iter": model.n_iter_,
        "error": float(model.history_["train_error"][model.best_iter_]),
    }


def labelled_rows(number: np.ndarray, n_rows: int) -> np.ndarray:
    """Return rows of ten classes, each a mixture of three Gaussians, with their labels."""
    means = 1.2 * np.random.default_rng(0).normal(size=(30, 50))
    rng = np.random.default_rng(1 + int(number[0]))
    sources = rng.integers(0, 30, n_rows)
    rows = means[sources] + 2.0 * rng.standard_normal((n_rows, 50), dtype=np.float32)
    return np.column_stack([rows, sources % 10]).astype(np.float32)


def peak_memory() -> float:
    """Return the most memory that this process has taken, in bytes."""
    import resource

    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(one_client(*json.loads(sys.argv[1]))))
