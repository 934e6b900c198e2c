"""Figure 1b: two tasks trained together."""

from functools import partial
from pathlib import Path

import numpy as np

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.max_margin_projection import draw_digits
from supred.max_margin.classifier import MaxMarginProjection
from supred.max_margin.tasks import stack_tasks

PAIRS = ((2, 3), (3, 8))
COUNTS = (5, 20, 100)
D = 10


def measure(draw: Draw, count: int) -> dict[str, float]:
    """Return the mean accuracy of both tasks, trained together and apart."""
    X, y, X_test, y_test = draw.data.mnist()
    tasks, tests = [], []
    for k, pair in enumerate(PAIRS):
        rows = draw_digits(y, pair, count, 10 * draw.seed + k)
        tasks.append((X[rows].astype(float), y[rows]))
        own = np.isin(y_test, pair)
        tests.append((X_test[own].astype(float), y_test[own] == pair[1]))
    found = {}
    stacked = stack_tasks(tasks)
    for name, d in (("together", D), ("together, d = 1", 1)):
        model = MaxMarginProjection(d).fit(*stacked)
        found[name] = 100 * float(
            np.mean(
                [
                    ((model.decision_function(rows)[:, k] > 0) == truth).mean()
                    for k, (rows, truth) in enumerate(tests)
                ]
            )
        )
    apart = [
        (MaxMarginProjection(D).fit(rows, labels == pair[1]).predict(new) == truth).mean()
        for (rows, labels), pair, (new, truth) in zip(tasks, PAIRS, tests, strict=True)
    ]
    found["apart"] = 100 * float(np.mean(apart))
    found["difference"] = abs(found["together"] - found["apart"])
    return found


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw accuracies over rows a class."""
    fig, axes = pictures.panels(1, 1, size=(5.0, 3.6))
    lines = {
        label: [[v[name] for v in values[f"{count} a class"]] for count in COUNTS]
        for label, name in (
            ("together, d = 10 (hidden by the next)", "together"),
            ("apart", "apart"),
            ("together, d = 1", "together, d = 1"),
        )
    }
    pictures.curves(axes[0, 0], COUNTS, lines, xlabel="rows a class", ylabel="accuracy %")
    axes[0, 0].set_xscale("log")
    axes[0, 0].set_xticks(COUNTS, [str(count) for count in COUNTS])
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="two-tasks",
    paper="max_margin_projection",
    title="Two tasks together (figure 1b)",
    unit="accuracy %, mean of both tasks",
    protocol="MNIST 2 against 3 and 3 against 8, each with rows of its own, d = 10 as in the "
    "paper, C = 1 for all; the numbers of rows "
    "are a choice made here. The paper shows curves; its numbers are not at hand.",
    parts=[Part(f"{count} a class", partial(measure, count=count)) for count in COUNTS],
    rows=[
        Row(f"{count} rows a class: {label}", f"{count} a class", key, better="higher")
        for count in COUNTS
        for label, key in (
            ("together, d = 10", "together"),
            ("apart", "apart"),
            ("together, d = 1", "together, d = 1"),
        )
    ],
    draws=(2, 10),
    claims=[
        Claim(
            "Training two related tasks together with d = 10 is better than training each alone.",
            lambda m: max(m[f"{count} a class", "difference"] for count in COUNTS) > 0.05,
            "It cannot be: with d at least the number of tasks the optimum is the independent "
            "SVMs, so together and apart are the same "
            "problem. Sharing needs d below the number of tasks (see all-pairs).",
        )
    ],
    figure=figure,
)
