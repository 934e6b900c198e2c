"""A linear mapping to nine dimensions: LowDimSVC beside neighbourhood components analysis.

Both are judged on the test rows by nearest neighbours in the latent space, as NCA is used;
LowDimSVC also by its own classifier. What each leaves open (alpha and C; the number of
neighbours) is chosen by the error on validation rows that neither was trained on, outside the
clock, which runs for one `fit` with the chosen values. Defaults are shown beside.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from benchmarks.performance._data import Split, mixture, mnist
from benchmarks.performance._harness import Benchmark, Contender, Run, median, ratio, seconds
from benchmarks.performance._record import Figure
from supred import LowDimSVC

SEED = 0
NEIGHBORS = (1, 3, 5, 9)
ALPHAS = (1e-3, 1e-1, 1e1, 1e2, 1e3, 1e4)
CS = (0.1, 1.0, 10.0)
REPEATS = 3
OURS, DEFAULT, PEER = "LowDimSVC(linear), alpha and C chosen", "LowDimSVC(linear)", "NCA"


@dataclass(frozen=True)
class Task:
    """Rows to train on, to choose on and to test on."""

    rows: Split
    X_validation: np.ndarray
    y_validation: np.ndarray
    n_components: int
    alphas: tuple[float, ...]
    Cs: tuple[float, ...]


def load(quick: bool) -> Task:
    n_train, n_validation = (1200, 400) if quick else (5000, 2000)
    n_rows = n_train + n_validation
    drawn = mixture(n_rows, 50, n_modes=1) if quick else mnist(n_rows)
    rows = Split(drawn.X[:n_train], drawn.y[:n_train], drawn.X_test, drawn.y_test)
    grid = ((1e-3, 10.0), (0.1,)) if quick else (ALPHAS, CS)
    return Task(rows, drawn.X[n_train:], drawn.y[n_train:], 9, *grid)


def chosen_neighbors(task: Task, model: Any) -> tuple[float, KNeighborsClassifier]:
    """Return the validation error and the classifier with the best number of neighbours."""
    train, held = model.transform(task.rows.X), model.transform(task.X_validation)
    found = []
    for k in NEIGHBORS:
        classifier = KNeighborsClassifier(k).fit(train, task.rows.y)
        found.append((1 - classifier.score(held, task.y_validation), k, classifier))
    error, _, classifier = min(found, key=lambda item: item[:2])
    return error, classifier


def judged(task: Task, model: Any, took: float) -> Run:
    """Return the time and the errors of a fitted mapping."""
    validation, neighbors = chosen_neighbors(task, model)
    run = {
        "seconds": {"fit": took},
        "error": task.rows.error(neighbors.predict(model.transform(task.rows.X_test))),
        "validation_error": 100 * validation,
        "neighbors": neighbors.n_neighbors,
        "n_iter": int(model.n_iter_),
    }
    if hasattr(model, "predict"):
        run["own_error"] = task.rows.error(model.predict(task.rows.X_test))
    return run


def default(task: Task, threads: int) -> Run:
    model = LowDimSVC(task.n_components, mapping="linear", random_state=SEED, n_jobs=threads)
    took, _ = seconds(model.fit, task.rows.X, task.rows.y)
    return judged(task, model, took)


def ours(task: Task, threads: int) -> Run:
    def make(alpha: float, C: float) -> LowDimSVC:
        return LowDimSVC(
            task.n_components,
            mapping="linear",
            alpha=alpha,
            C=C,
            random_state=SEED,
            n_jobs=threads,
        )

    X, y = task.rows.X, task.rows.y
    tried = {
        (alpha, C): chosen_neighbors(task, make(alpha, C).fit(X, y))[0]
        for alpha in task.alphas
        for C in task.Cs
    }
    alpha, C = min(tried, key=lambda key: tried[key])
    times = []
    for _ in range(REPEATS):
        model = make(alpha, C)
        times.append(seconds(model.fit, X, y)[0])
    return {**judged(task, model, float(np.median(times))), "alpha": alpha, "C": C}


def peer(task: Task, threads: int) -> Run:
    model = NeighborhoodComponentsAnalysis(task.n_components, random_state=SEED)
    took, _ = seconds(model.fit, task.rows.X, task.rows.y)
    return judged(task, model, took)


def figures(runs: dict[str, Run], quick: bool) -> list[Figure]:
    mine, theirs = runs[OURS], runs[PEER]
    note = f"{median(mine):.4g} s to {median(theirs):.4g} s; alpha={mine['alpha']:g}, "
    note += f"C={mine['C']:g}"
    found = [
        Figure(
            "fit: NCA's time / ours",
            ratio(theirs, mine, quick=quick),
            at_least=None if quick else 20,
            note=note,
            better="more",
        ),
        Figure(
            "held-out error, nearest neighbours in both spaces: ours / NCA's",
            mine["error"] / theirs["error"],
            "(ratio)" if not quick else "x",
            at_most=None if quick else 1.0,
            note=f"{mine['error']:.2f} % and {theirs['error']:.2f} %",
        ),
    ]
    if not quick:
        other = runs[DEFAULT]
        own = f"own SVMs {other['own_error']:.2f} %, neighbours {other['error']:.2f} %"
        found += [
            Figure("its own SVMs: held-out error", mine["own_error"], "%"),
            Figure(
                "defaults: NCA's time / ours",
                ratio(theirs, other),
                note=f"{median(other):.4g} s; {own}",
                better="more",
            ),
        ]
    return found


BENCHMARK = Benchmark(
    name="linear_mapping",
    title="Linear mapping, L = 9, MNIST 5000 rows, beside NCA",
    load=load,
    contenders={
        OURS: Contender(ours, repeats=1),
        DEFAULT: Contender(default, repeats=3, in_quick=False),
        PEER: Contender(peer, repeats=1),
    },
    figures=figures,
)
