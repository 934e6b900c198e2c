"""Figure 1b: two tasks trained together."""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.max_margin_projection import Task, alternate_as_printed, draw_digits
from supred import MaxMarginProjection, stack_tasks

PAIRS = ((2, 3), (3, 8))
FOLDS = 5
COUNTS = (10, 40, 200)  # training samples of a task
METHODS = (
    "apart, as printed, d = 10",
    "together, as printed, d = 10",
    "apart, d = 10",
    "together, d = 10",
    "together, d = 1",
)


def measure(draw: Draw, count: int) -> dict[str, float]:
    """Return the mean accuracy of both tasks over the five folds, trained together and apart.

    Each of five disjoint folds trains once, with `count` samples of each task; the official test
    rows judge.
    """
    X, y, X_test, y_test = draw.data.mnist()
    rows = [
        draw_digits(y, pair, FOLDS * count // 2, 10 * draw.seed + k) for k, pair in enumerate(PAIRS)
    ]
    tests = []
    for pair in PAIRS:
        own = np.isin(y_test, pair)
        tests.append((X_test[own].astype(float), y_test[own] == pair[1]))
    found: dict[str, list[float]] = {name: [] for name in METHODS}
    for fold in range(FOLDS):
        tasks = []
        for chosen, pair in zip(rows, PAIRS, strict=True):
            own = chosen.reshape(2, -1)[:, fold::FOLDS].ravel()
            tasks.append((X[own].astype(float), np.where(y[own] == pair[1], 1, -1)))
        for name, value in _accuracies(tasks, tests, seed=draw.seed).items():
            found[name].append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def _accuracies(tasks: list[Task], tests: list[Task], seed: int) -> dict[str, float]:
    together = alternate_as_printed(tasks, 10, seed=seed).components
    apart = [alternate_as_printed([task], 10, seed=seed).components for task in tasks]
    found: dict[str, list[float]] = {name: [] for name in METHODS}
    stacked = stack_tasks(tasks)
    shared = {d: MaxMarginProjection(d).fit(*stacked) for d in (10, 1)}
    for k, ((rows, signs), (new, truth)) in enumerate(zip(tasks, tests, strict=True)):
        for name, A in ((METHODS[0], apart[k]), (METHODS[1], together)):
            svm = SVC(kernel="linear").fit(rows @ A.T, signs)
            found[name].append(np.mean((svm.decision_function(new @ A.T) > 0) == truth))
        alone = MaxMarginProjection(10).fit(rows, signs)
        found[METHODS[2]].append(np.mean((alone.predict(new) > 0) == truth))
        for name, d in ((METHODS[3], 10), (METHODS[4], 1)):
            scores = shared[d].decision_function(new)[:, k]
            found[name].append(np.mean((scores > 0) == truth))
    return {name: 100 * float(np.mean(values)) for name, values in found.items()}


def figure(values: Values, path: Path) -> None:
    """Draw accuracies over the samples of a task."""
    fig, axes = pictures.panels(1, 1, size=(6.0, 3.8))
    lines = {name: [[v[name] for v in values[f"{n} samples"]] for n in COUNTS] for name in METHODS}
    pictures.curves(
        axes[0, 0], COUNTS, lines, xlabel="training samples of each task", ylabel="accuracy %"
    )
    axes[0, 0].set_xscale("log")
    axes[0, 0].set_xticks(COUNTS, [str(count) for count in COUNTS])
    axes[0, 0].minorticks_off()
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="two-tasks",
    paper="max_margin_projection",
    title="Two tasks together (figure 1b)",
    unit="accuracy %, mean of both tasks",
    protocol="MNIST 2 against 3 and 3 against 8, d = 10, 10 training samples of each binary task; "
    "the mean over five folds, each of which trains once, C = 1; the official test rows judge. "
    "More samples and d = 1 beside it.",
    difference="test rows are the official ones, not the other folds; C is chosen here",
    covers=(("004:33", "figure 1b: accuracy of (2,3) and (3,8) trained separately and jointly"),),
    parts=[Part(f"{n} samples", partial(measure, count=n)) for n in COUNTS],
    rows=[
        Row(f"{n} samples: {name}", f"{n} samples", name, better="higher")
        for n in COUNTS
        for name in METHODS
    ],
    draws=(2, 10),
    claims=[
        Claim(
            "Learning two tasks jointly with d = 10 improves accuracy when samples are few.",
            lambda m: m["10 samples", METHODS[1]] > m["10 samples", METHODS[0]] + 0.5,
            "004:33, 004:37",
            lambda m: (
                f"With 10 samples {m['10 samples', METHODS[1]]:.1f} together and "
                f"{m['10 samples', METHODS[0]]:.1f} apart as printed; by supred's solver "
                f"{m['10 samples', METHODS[3]]:.1f} and {m['10 samples', METHODS[2]]:.1f}. With d "
                "at least the number of tasks the optimum is the independent SVMs, so nothing is "
                "shared."
            ),
        ),
        Claim(
            "It does with fewer dimensions than tasks (d = 1).",
            lambda m: m["10 samples", METHODS[4]] > m["10 samples", METHODS[2]],
            why=lambda m: (
                "Together with d = 1 and apart: "
                + ", ".join(
                    f"{m[f'{n} samples', METHODS[4]]:.1f} and {m[f'{n} samples', METHODS[2]]:.1f} "
                    f"with {n} samples"
                    for n in COUNTS
                )
                + "."
            ),
        ),
    ],
    figure=figure,
)
