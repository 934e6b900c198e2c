"""45 tasks with fewer dimensions than tasks: where sharing does help."""

from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.max_margin_projection import draw_digits
from supred.max_margin.classifier import MaxMarginProjection
from supred.max_margin.projection import refit, start_from_svd
from supred.max_margin.task_svms import Tasks, solve_task_svms
from supred.max_margin.tasks import stack_tasks

PAIRS = list(combinations(range(10), 2))
COUNT = 10
D = 9
METHODS = ("independent SVMs", "PCA(9) + SVMs", "SVD start, d = 9", "MMDR, d = 9")


def measure(draw: Draw) -> dict[str, float]:
    """Return the mean accuracy over the pairs."""
    X_train, y_train, X_test, y_test = draw.data.mnist()
    tasks = []
    for k, pair in enumerate(PAIRS):
        rows = draw_digits(y_train, pair, COUNT, 1000 * draw.seed + k)
        tasks.append((X_train[rows].astype(float), y_train[rows]))
    X, Y = stack_tasks(tasks)
    mean = X.mean(axis=0)
    stacked = Tasks(X - mean, Y.astype(float), np.abs(Y).astype(float))
    new = X_test - mean
    alone = solve_task_svms(stacked.rows, stacked)
    scores = [new @ alone.coef + alone.intercept]
    for A in (PCA(D, random_state=0).fit(X).components_, start_from_svd(alone, D)):
        svms = refit(A, stacked)
        scores.append(new @ A.T @ svms.coef + svms.intercept)
    scores.append(MaxMarginProjection(D).fit(X, Y).decision_function(X_test.astype(float)))
    return {name: _accuracy(s, y_test) for name, s in zip(METHODS, scores, strict=True)}


def _accuracy(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the mean over the pairs of the accuracy in % on their test rows."""
    right = [
        ((scores[:, k] > 0) == (y == second))[(y == first) | (y == second)].mean()
        for k, (first, second) in enumerate(PAIRS)
    ]
    return 100 * float(np.mean(right))


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw the accuracies, one dot a draw."""
    fig, axes = pictures.panels(1, 1, size=(5.5, 3.4))
    pictures.dots(axes[0, 0], {name: [v[name] for v in values["pairs"]] for name in METHODS})
    axes[0, 0].set_ylabel("accuracy %, mean of 45 pairs")
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="all-pairs",
    paper="max_margin_projection",
    title="45 pairs of digits, fewer dimensions than tasks (not in the paper)",
    unit="accuracy %, mean of 45 pairs",
    protocol="Each pair of MNIST's digits is a task with its own 10 training rows a class; C = 1 "
    "for all; the official test rows.",
    parts=[Part("pairs", measure)],
    rows=[Row(name, "pairs", name, better="higher") for name in METHODS],
    draws=(1, 8),
    claims=[
        Claim(
            "With d = 9 for 45 tasks, sharing a projection is better than independent SVMs.",
            lambda m: m["pairs", METHODS[3]] > m["pairs", METHODS[0]],
        ),
        Claim(
            "It is better than principal components of the same number.",
            lambda m: m["pairs", METHODS[3]] > m["pairs", METHODS[1]],
        ),
    ],
    figure=figure,
)
