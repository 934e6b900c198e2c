"""Figure 1c: a projection learned on one task, used for another."""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.max_margin_projection import draw_digits
from supred.max_margin.classifier import MaxMarginProjection

COUNTS = (5, 20, 100)
METHODS = ("all pixels", "MMDR of 2/3", "PCA of 2/3")


def measure(draw: Draw, count: int) -> dict[str, float]:
    """Return the accuracy of 3 against 8 on all pixels and on projections learned on 2/3."""
    X, y, X_test, y_test = draw.data.mnist()
    source = draw_digits(y, (2, 3), 200, 10 * draw.seed + 5)
    learned = MaxMarginProjection(10).fit(X[source].astype(float), y[source])
    reduced = PCA(10, random_state=0).fit(X[source])
    rows = draw_digits(y, (3, 8), count, 10 * draw.seed + 1)
    own = np.isin(y_test, (3, 8))
    found = {}
    for name, project in zip(
        METHODS, (lambda Z: Z, learned.transform, reduced.transform), strict=True
    ):
        svm = GridSearchCV(SVC(kernel="linear"), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=5)
        svm.fit(project(X[rows].astype(float)), y[rows])
        found[name] = 100 * float(svm.score(project(X_test[own].astype(float)), y_test[own]))
    return found


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw accuracies over rows a class."""
    fig, axes = pictures.panels(1, 1, size=(5.0, 3.6))
    lines = {
        name: [[v[name] for v in values[f"{count} a class"]] for count in COUNTS]
        for name in METHODS
    }
    pictures.curves(axes[0, 0], COUNTS, lines, xlabel="rows a class", ylabel="accuracy %")
    axes[0, 0].set_xscale("log")
    axes[0, 0].set_xticks(COUNTS, [str(count) for count in COUNTS])
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="transfer",
    paper="max_margin_projection",
    title="A projection for another task (figure 1c)",
    unit="accuracy %, 3 against 8",
    protocol="A projection to d = 10 learned on 2 against 3 (200 rows a class), then a linear "
    "SVM for 3 against 8 with few rows on it, C by 5-fold "
    "cross-validation. The source pair and the numbers of rows are choices made here; the "
    "paper's numbers are not at hand.",
    parts=[Part(f"{count} a class", partial(measure, count=count)) for count in COUNTS],
    rows=[
        Row(f"{count} rows a class: {name}", f"{count} a class", name, better="higher")
        for count in COUNTS
        for name in METHODS
    ],
    draws=(2, 10),
    claims=[
        Claim(
            "A projection learned on a related task helps with few rows.",
            lambda m: m["5 a class", METHODS[1]] > m["5 a class", METHODS[0]],
            "One task has rank one, so all but one of the ten directions are principal "
            "directions of the source, which know nothing of 8.",
        )
    ],
    figure=figure,
)
