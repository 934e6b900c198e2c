"""A linear mapping to nine dimensions: LowDimSVC beside neighbourhood components analysis.

Both are judged by nearest neighbours in the latent space, as NCA is used; LowDimSVC also by its
own classifier. What is left open (alpha, C and the number of iterations of the one, the number
of neighbours of both) is chosen by the error on validation rows that neither was trained on,
outside the clock, which runs for one `fit`. Two choices are told: the setting with the least
validation error, and the fastest one whose validation error is no more than NCA's. Errors are
those on the test rows, which take no part in any choice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors, NeighborhoodComponentsAnalysis

from benchmarks.performance._data import Split, mixture, mnist
from benchmarks.performance._harness import Benchmark, Contender, Run, median, seconds
from benchmarks.performance._record import Figure
from supred import LowDimSVC

SEED = 0
NEIGHBORS = (1, 3, 5, 9)
# (alpha, C, max_iter)
Setting = tuple[float, float, int]
SETTINGS: tuple[Setting, ...] = tuple(
    (alpha, C, max_iter)
    for alpha in (1e2, 3e2, 1e3, 3e3)
    for C in (0.1, 0.3, 1.0)
    for max_iter in (5, 50)
)
QUICK_SETTINGS: tuple[Setting, ...] = ((1e-3, 0.1, 50), (10.0, 0.1, 50))
DEFAULT: Setting = (1e-3, 1.0, 50)
OURS, PEER = "LowDimSVC(linear)", "NCA"


@dataclass(frozen=True)
class Task:
    """Rows to train on, to choose on and to test on."""

    rows: Split
    X_validation: np.ndarray
    y_validation: np.ndarray
    settings: tuple[Setting, ...]
    n_components: int = 9
    repeats: int = 3


def load(quick: bool) -> Task:
    n_train, n_validation = (1200, 400) if quick else (5000, 10_000)
    n_rows = n_train + n_validation
    drawn = mixture(n_rows, 50, n_modes=1) if quick else mnist(n_rows)
    rows = Split(drawn.X[:n_train], drawn.y[:n_train], drawn.X_test, drawn.y_test)
    settings = QUICK_SETTINGS if quick else (DEFAULT, *SETTINGS)
    return Task(rows, drawn.X[n_train:], drawn.y[n_train:], settings)


def neighbor_errors(
    train: np.ndarray, y_train: np.ndarray, new: np.ndarray, y_new: np.ndarray
) -> dict[int, float]:
    """Return the error in % of the vote of each number of neighbours."""
    classes, codes = np.unique(y_train, return_inverse=True)
    nearest = codes[NearestNeighbors(n_neighbors=max(NEIGHBORS)).fit(train).kneighbors(new)[1]]
    errors = {}
    for k in NEIGHBORS:
        votes = (nearest[:, :k, None] == np.arange(len(classes))).sum(axis=1)
        errors[k] = 100 * float(np.mean(classes[votes.argmax(axis=1)] != y_new))
    return errors


def judged(task: Task, model: Any) -> Run:
    """Return the errors of a fitted mapping; the validation rows choose the neighbours."""
    rows = task.rows
    train = model.transform(rows.X)
    held = model.transform(task.X_validation), task.y_validation
    test = model.transform(rows.X_test), rows.y_test
    validation = neighbor_errors(train, rows.y, *held)
    k = min(validation, key=lambda count: validation[count])
    run = {
        "error": neighbor_errors(train, rows.y, *test)[k],
        "validation_error": validation[k],
        "neighbors": k,
        "n_iter": int(model.n_iter_),
    }
    if hasattr(model, "predict"):
        run["own_error"] = rows.error(model.predict(rows.X_test))
    return run


def ours(task: Task, threads: int) -> Run:
    """Fit with every setting; the choice is made when NCA's validation error is known."""
    tried = []
    for alpha, C, max_iter in task.settings:
        model = LowDimSVC(
            task.n_components,
            mapping="linear",
            alpha=alpha,
            C=C,
            max_iter=max_iter,
            random_state=SEED,
            n_jobs=threads,
        )
        times = [seconds(model.fit, task.rows.X, task.rows.y)[0] for _ in range(task.repeats)]
        setting = {"alpha": alpha, "C": C, "max_iter": max_iter}
        tried.append({**setting, "fit": float(np.median(times)), **judged(task, model)})
    best = min(tried, key=lambda item: item["validation_error"])
    return {"seconds": {"fit": best["fit"]}, "error": best["error"], "tried": tried}


def peer(task: Task, threads: int) -> Run:
    model = NeighborhoodComponentsAnalysis(task.n_components, random_state=SEED)
    took, _ = seconds(model.fit, task.rows.X, task.rows.y)
    return {"seconds": {"fit": took}, **judged(task, model)}


def figures(runs: dict[str, Run], quick: bool) -> list[Figure]:
    theirs, tried = runs[PEER], runs[OURS]["tried"]
    best = min(tried, key=lambda item: item["validation_error"])
    if quick:
        speed = float(np.median(np.divide(theirs["seconds"]["fit"], runs[OURS]["seconds"]["fit"])))
        return [
            Figure("fit: NCA's time / ours", speed, note=_told(best, theirs), better="more"),
            Figure("held-out error: ours / NCA's", best["error"] / theirs["error"]),
        ]
    limit = theirs["validation_error"]
    good = [item for item in tried if item["validation_error"] <= limit]
    found = []
    if good:
        fast = min(good, key=lambda item: item["fit"])
        found += [
            Figure(
                "fit: NCA's time / ours (fastest setting no worse on the validation rows)",
                median(theirs) / fast["fit"],
                at_least=20,
                note=_told(fast, theirs),
            ),
            Figure(
                "its held-out error / NCA's",
                fast["error"] / theirs["error"],
                "",
                at_most=1.0,
                note=f"{fast['error']:.2f} % and {theirs['error']:.2f} %",
            ),
        ]
    else:
        note = f"no setting is as good as NCA on the validation rows ({limit:.2f} %)"
        found.append(Figure("fit: NCA's time / ours", None, at_least=20, note=note))
    default = tried[0]
    for label, item in (("least validation error", best), ("defaults", default)):
        value = median(theirs) / item["fit"]
        note = _told(item, theirs)
        found.append(Figure(f"fit: NCA's time / ours ({label})", value, note=note, better="more"))
    return found


def _told(item: dict[str, Any], theirs: Run) -> str:
    return (
        f"{item['fit']:.3g} s to {median(theirs):.3g} s; alpha={item['alpha']:g}, "
        f"C={item['C']:g}, {item['n_iter']} iterations; error {item['error']:.2f} % "
        f"(own SVMs {item['own_error']:.2f} %) and {theirs['error']:.2f} %"
    )


BENCHMARK = Benchmark(
    name="linear_mapping",
    title="Linear mapping, L = 9, MNIST 5000 rows, beside NCA",
    load=load,
    contenders={OURS: Contender(ours, repeats=1), PEER: Contender(peer, repeats=3)},
    figures=figures,
)
