"""Figure 1c: a projection learned on one task, used for another."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.max_margin_projection import alternate_as_printed, draw_digits
from supred import MaxMarginProjection

SETS = 5
COUNTS = (4, 10, 20, 50, 100, 200)  # training samples of 3 against 8
METHODS = (
    "3 and 8 only (all pixels)",
    "A_23 as printed",
    "A_23, supred's solver",
    "PCA(10) of 2 and 3",
)


def measure(draw: Draw, count: int) -> dict[str, float]:
    """Return the mean over five sets of the accuracy of 3 against 8; C = 1 for all."""
    X, y, X_test, y_test = draw.data.mnist()
    own = np.isin(y_test, (3, 8))
    new, truth = X_test[own].astype(float), y_test[own] == 8
    found: dict[str, list[float]] = {name: [] for name in METHODS}
    for number in range(SETS):
        seed = SETS * draw.seed + number
        source = draw_digits(y, (2, 3), 50, 2 * seed)
        X_source, signs = X[source].astype(float), np.where(y[source] == 3, 1, -1)
        A = alternate_as_printed([(X_source, signs)], 10, seed=seed).components
        maps: tuple[Any, ...] = (
            lambda Z: Z,
            lambda Z, A=A: Z @ A.T,
            MaxMarginProjection(10).fit(X_source, signs).transform,
            PCA(10, random_state=0).fit(X_source).transform,
        )
        rows = draw_digits(y, (3, 8), count // 2, 2 * seed + 1)
        for name, project in zip(METHODS, maps, strict=True):
            svm = SVC(kernel="linear").fit(project(X[rows].astype(float)), y[rows] == 8)
            found[name].append(100 * float(np.mean(svm.predict(project(new)) == truth)))
    return {name: float(np.mean(values)) for name, values in found.items()}


def figure(values: Values, path: Path) -> None:
    """Draw accuracies over the number of samples."""
    fig, axes = pictures.panels(1, 1, size=(6.0, 3.8))
    lines = {name: [[v[name] for v in values[f"{n} samples"]] for n in COUNTS] for name in METHODS}
    pictures.curves(
        axes[0, 0], COUNTS, lines, xlabel="training samples of 3 and 8", ylabel="accuracy %"
    )
    axes[0, 0].set_xscale("log")
    axes[0, 0].set_xticks(COUNTS, [str(count) for count in COUNTS])
    axes[0, 0].minorticks_off()
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="transfer",
    paper="max_margin_projection",
    title="A projection for another task (figure 1c)",
    unit="accuracy %, 3 against 8",
    protocol="A projection to d = 10 learned on 100 digits of 2 and 3 (50 of each), fixed, then a "
    "linear SVM for 3 against 8 on it, beside one on all pixels (with one task the MMDR trained on "
    "3 and 8 only is that SVM); means over five sets, C = 1; the official test rows judge.",
    difference="the numbers of samples and C are chosen here",
    covers=(
        ("004:33", "figure 1c: 3 against 8 over the number of samples, with A_23 and without"),
    ),
    parts=[Part(f"{n} samples", partial(measure, count=n)) for n in COUNTS],
    rows=[
        Row(f"{n} samples: {name}", f"{n} samples", name, better="higher")
        for n in COUNTS
        for name in METHODS
    ],
    draws=(1, 10),
    claims=[
        Claim(
            "A projection learned on 2 and 3 facilitates learning 3 against 8 with very few "
            "examples.",
            lambda m: (
                max(
                    m[f"{n} samples", METHODS[1]] - m[f"{n} samples", METHODS[0]]
                    for n in (4, 10, 20)
                )
                > 0.5
            ),
            "004:33, 004:37",
            lambda m: (
                "As printed "
                + ", ".join(f"{m[f'{n} samples', METHODS[1]]:.1f}" for n in (4, 10, 20))
                + ", on all pixels "
                + ", ".join(f"{m[f'{n} samples', METHODS[0]]:.1f}" for n in (4, 10, 20))
                + " with 4, 10 and 20 samples. One task has rank one: nine of the ten directions "
                "are arbitrary and know nothing of 8; principal directions in their place "
                "(supred's solver) are better, and do no better than PCA alone."
            ),
        )
    ],
    figure=figure,
)
