"""How long one row waits: decision_function beside the bare NumPy expression."""

import cProfile
import pstats
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.performance._data import mixture
from benchmarks.performance._harness import Benchmark, Contender, Run
from benchmarks.performance._record import Figure
from supred import LowDimSVC

# Features, centres and precision of the models.
SIZES = ((10, 100, "float64"), (64, 300, "float32"), (784, 1000, "float32"), (784, 2500, "float32"))
QUICK_SIZES = SIZES[:2]
CALLS = 2000

Model = tuple[str, LowDimSVC, np.ndarray]


def load(quick: bool) -> list[Model]:
    """Fit models of several sizes; what they learned does not matter here."""
    models = []
    for n_features, n_centers, dtype in QUICK_SIZES if quick else SIZES:
        rows = mixture(3000, n_features, n_test=200)
        model = LowDimSVC(
            n_centers=n_centers,
            centers="random",
            gamma=0.5 / n_features,
            max_iter=1,
            random_state=0,
        )
        model.fit(rows.X.astype(dtype), rows.y)
        name = f"{n_features} features, {n_centers} centres, {dtype}"
        models.append((name, model, np.ascontiguousarray(rows.X_test.astype(dtype))))
    return models


def bare(model: LowDimSVC) -> Callable[[np.ndarray], np.ndarray]:
    """Return the model as one NumPy expression, with no checks at all."""
    dtype = model.mapping_.gaussians.centers.dtype
    C = np.ascontiguousarray(model.centers_, dtype=dtype)
    norms, gamma = np.einsum("ij,ij->i", C, C), dtype.type(model.gamma_)
    W, w0 = model.mapping_.W.astype(dtype), model.mapping_.w0.astype(dtype)
    V, b = model.coef_.T.astype(dtype), model.intercept_.astype(dtype)

    def decide(x: np.ndarray) -> np.ndarray:  # of a single row, shape (1, n_features)
        return (np.exp(-gamma * ((x * x).sum() - 2 * (x @ C.T) + norms)) @ W + w0) @ V + b

    return decide


def both(models: list[Model], threads: int) -> Run:
    """Call the two in turn, row by row, so that both meet the same caches and the same load."""
    times: dict[str, Any] = {}
    ratios, differences = {}, {}
    for name, model, rows in models:
        expression = bare(model)
        took = np.empty((CALLS, 2))
        for i in range(CALLS):
            x = rows[i % len(rows)][None]
            for column, call in enumerate((model.decision_function, expression)):
                began = perf_counter()
                call(x)
                took[i, column] = perf_counter() - began
        times[f"{name}: decision_function"] = float(np.median(took[:, 0]))
        times[f"{name}: NumPy expression"] = float(np.median(took[:, 1]))
        ratios[name] = float(np.median(took[:, 0]) / np.median(took[:, 1]))
        scores = model.decision_function(rows)
        plain = np.vstack([expression(row[None]) for row in rows])
        differences[name] = float(np.abs(scores - plain).max() / np.abs(scores).max())
    calls = {name: calls_of(model, rows[:1]) for name, model, rows in models}
    return {"seconds": times, "ratios": ratios, "differences": differences, "calls": calls}


def calls_of(model: LowDimSVC, x: np.ndarray) -> int:
    """Count the function calls that one decision takes: the same in every run."""
    profile = cProfile.Profile()
    model.decision_function(x)
    profile.enable()
    model.decision_function(x)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def figures(runs: dict[str, Run], quick: bool) -> list[Figure]:
    run = runs["both in turn"]
    found = []
    for name, value in run["ratios"].items():
        mine = run["seconds"][f"{name}: decision_function"]
        theirs = run["seconds"][f"{name}: NumPy expression"]
        note = f"{1e6 * np.median(mine):.0f} to {1e6 * np.median(theirs):.0f} microseconds, "
        note += f"scores differ by {run['differences'][name]:.0e}"
        found.append(
            Figure(f"{name}: time / expression's", value, "x", None if quick else 2.0, note=note)
        )
    name, count = next(iter(run["calls"].items()))
    note = "a count, the same in every run; 435 with scikit-learn's checks"
    found.append(Figure("function calls of one decision", count, "calls", note=note))
    return found


BENCHMARK = Benchmark(
    name="single_row",
    title="Single-row decision_function beside the bare NumPy expression",
    load=load,
    contenders={"both in turn": Contender(both, repeats=1)},
    figures=figures,
    data="generated",
)
