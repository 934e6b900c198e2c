"""LowDimSVC on MNIST beside its floor, SVC, LinearSVC, Nystroem and LDA: fit and prediction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from benchmarks.performance._data import Split, mixture, mnist
from benchmarks.performance._harness import Benchmark, Contender, Run, median, now, ratio, seconds
from benchmarks.performance._record import Figure
from benchmarks.performance._steps import clocked, flops_of_fit
from supred import LowDimSVC

SEED = 0
# Rows of a block of Phi that the floor tries; the fastest counts.
BLOCKS = (800, 4000)
OURS, FLOOR, KERNEL_SVC = "LowDimSVC", "floor", "SVC"


@dataclass(frozen=True)
class Task:
    """Rows, and the parameters that all contenders share."""

    rows: Split
    n_centers: int
    gamma: float
    svc_gamma: float


def load(quick: bool) -> Task:
    if quick:
        return Task(mixture(3000, 30), n_centers=300, gamma=1 / 120, svc_gamma=1 / 80)
    return Task(mnist(), n_centers=2500, gamma=1 / (2 * 5.0**2), svc_gamma=1 / 32)


def floor(task: Task, threads: int, sizes: tuple[int, ...] = BLOCKS) -> Run:
    """Make Phi once in single and Phi^T Phi once in double precision, with NumPy's products."""
    X = task.rows.X
    rng = np.random.default_rng(SEED)
    C = X[np.sort(rng.choice(len(X), task.n_centers, replace=False))]
    norms, shift = np.einsum("ij,ij->i", C, C), np.float32(task.gamma)
    best: dict[str, float] = {}
    for size in sizes * (3 if len(X) < 10_000 else 1):
        took = {"phi": 0.0, "gram": 0.0}
        gram = np.zeros((len(C), len(C)))
        for start in range(0, len(X), size):
            began = now()
            block = X[start : start + size]
            phi = block @ C.T
            phi *= -2
            phi += norms
            phi += np.einsum("ij,ij->i", block, block)[:, None]
            phi *= -shift
            np.exp(phi, out=phi)
            middle = now()
            wide = phi.astype(np.float64)
            gram += wide.T @ wide
            took["phi"] += middle - began
            took["gram"] += now() - middle
        took["fit"] = took["phi"] + took["gram"]
        if not best or took["fit"] < best["fit"]:
            best = took
    return {"seconds": best}


def ours(task: Task, threads: int) -> Run:
    rows = task.rows
    model = LowDimSVC(n_centers=task.n_centers, gamma=task.gamma, random_state=SEED, n_jobs=threads)
    with clocked() as watch:
        took, _ = seconds(model.fit, rows.X, rows.y)
    steps = {**watch.seconds, "all else": took - sum(watch.seconds.values())}
    n, d = rows.X.shape
    flops = flops_of_fit(n, d, task.n_centers, model.coef_.shape[1], model.n_iter_)
    return {
        **_predicted(model, rows, took, repeats=5),
        "bytes": model.model_size_.bytes,
        "numbers": model.model_size_.numbers,
        "steps": steps,
        "calls": watch.calls,
        "flops": flops,
        "n_iter": model.n_iter_,
        "stopping_reason": model.stopping_reason_,
    }


def kernel_svc(task: Task, threads: int) -> Run:
    model = SVC(C=10, gamma=task.svc_gamma)
    took, _ = seconds(model.fit, task.rows.X, task.rows.y)
    kept = (model.support_vectors_, model.dual_coef_, model.intercept_)
    return {**_predicted(model, task.rows, took), **_size(*kept), "n_support": len(kept[0])}


def linear_svc(task: Task, threads: int) -> Run:
    model = LinearSVC(random_state=SEED)
    took, _ = seconds(model.fit, task.rows.X, task.rows.y)
    return {**_predicted(model, task.rows, took), **_size(model.coef_, model.intercept_)}


def nystroem(task: Task, threads: int) -> Run:
    model = make_pipeline(
        Nystroem(gamma=task.gamma, n_components=task.n_centers, random_state=SEED, n_jobs=threads),
        LinearSVC(random_state=SEED),
    )
    took, _ = seconds(model.fit, task.rows.X, task.rows.y)
    first, last = model[0], model[-1]
    size = _size(first.components_, first.normalization_, last.coef_, last.intercept_)
    return {**_predicted(model, task.rows, took), **size}


def discriminant(task: Task, threads: int) -> Run:
    model = LinearDiscriminantAnalysis()
    took, _ = seconds(model.fit, task.rows.X, task.rows.y)
    return {**_predicted(model, task.rows, took), **_size(model.coef_, model.intercept_)}


def _predicted(model: Any, rows: Split, fit_seconds: float, repeats: int = 1) -> Run:
    """Predict the test rows and return times and error."""
    times = []
    for _ in range(repeats):
        took, labels = seconds(model.predict, rows.X_test)
        times.append(took)
    return {
        "seconds": {"fit": fit_seconds, "predict": float(np.median(times))},
        "error": rows.error(labels),
    }


def _size(*arrays: np.ndarray) -> Run:
    return {"bytes": sum(a.nbytes for a in arrays), "numbers": sum(a.size for a in arrays)}


def figures(runs: dict[str, Run], quick: bool) -> list[Figure]:
    mine, bottom, svc = runs[OURS], runs[FLOOR], runs[KERNEL_SVC]
    errors = f"error {mine['error']:.2f} %, SVC {svc['error']:.2f} %"
    fits = f"{median(mine):.4g} s to {median(bottom):.4g} s; {mine['n_iter']} iterations"
    speed = f"{median(mine):.4g} s to {median(svc):.4g} s; {errors}"
    times = f"{median(mine, 'predict'):.4g} s to {median(svc, 'predict'):.4g} s; {errors}"
    size = f"{mine['bytes']:,} to {svc['bytes']:,} bytes"

    def asked(value: float) -> float | None:
        return None if quick else value

    found = [
        Figure("fit: time / floor", ratio(mine, bottom, quick=quick), "x", asked(2.5), note=fits),
        Figure(
            "fit: SVC's time / ours",
            ratio(svc, mine, quick=quick),
            at_least=asked(15),
            note=speed,
            better="more",
        ),
        Figure("test error", mine["error"], "%", asked(2.2), note=f"SVC {svc['error']:.2f} %"),
        Figure(
            f"prediction of {1000 if quick else 10_000:,} rows: SVC's time / ours",
            ratio(svc, mine, "predict", quick=quick),
            at_least=asked(50),
            note=times,
            better="more",
        ),
        Figure(
            "model: SVC's bytes / ours",
            svc["bytes"] / mine["bytes"],
            at_least=asked(5),
            note=size,
            better="more",
        ),
    ]
    if not quick:
        same = svc["numbers"] / mine["numbers"]
        note = "SVC keeps double precision; this counts numbers"
        found.append(Figure("model: SVC's numbers / ours", same, note=note, better="more"))
    return found


def tables(runs: dict[str, Run]) -> dict[str, Any]:
    methods = [
        [
            name,
            f"{run['error']:.2f}",
            f"{median(run):.4g}",
            f"{median(run) / median(runs[OURS]):.3g}",
            f"{median(run, 'predict'):.3g}",
            f"{median(run, 'predict') / median(runs[OURS], 'predict'):.3g}",
            f"{run['bytes']:,}",
        ]
        for name, run in runs.items()
        if "error" in run
    ]
    mine = runs[OURS]
    total = sum(mine["steps"].values())
    steps = []
    for step, took in sorted(mine["steps"].items(), key=lambda item: -item[1]):
        flops = mine["flops"].get(step)
        speed = f"{flops / took / 1e9:.0f}" if flops and took > 0 else "-"
        count = f"{flops / 1e9:,.0f}" if flops else "-"
        calls = str(mine["calls"].get(step, "-"))
        steps.append([step, f"{took:.2f}", f"{100 * took / total:.0f}", calls, count, speed])
    return {
        "Every method on the same rows": {
            "columns": [
                "method",
                "test error %",
                "fit s",
                "fit / ours",
                "predict s",
                "predict / ours",
                "model bytes",
            ],
            "rows": methods,
        },
        "Where the time of a fit goes": {
            "columns": ["step", "s", "% of the fit", "calls", "Gflop", "Gflop/s"],
            "rows": steps,
        },
    }


BENCHMARK = Benchmark(
    name="low_dim_svc",
    title="LowDimSVC, MNIST 60 000 x 784, 2500 centres, default schedule",
    load=load,
    contenders={
        FLOOR: Contender(floor),
        OURS: Contender(ours),
        KERNEL_SVC: Contender(kernel_svc, repeats=1),
        "LinearSVC": Contender(linear_svc, repeats=1, in_quick=False),
        "Nystroem + LinearSVC": Contender(nystroem, repeats=1, in_quick=False),
        "LDA": Contender(discriminant, repeats=1, in_quick=False),
    },
    figures=figures,
    tables=tables,
)
