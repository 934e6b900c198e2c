"""K spirals: error and shape of the latent space over the number of dimensions."""

from functools import partial
from pathlib import Path

import numpy as np

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.protocols import Rows, low_dim_svm, percent_wrong
from supred.datasets import make_spirals

CLASSES = range(2, 7)
DIMENSIONS = range(1, 11)
GAMMAS = (30.0, 100.0, 300.0)


def spirals(K: int, draw: Draw) -> Rows:
    """Return training, validation and test rows of K spirals."""
    n_rows = (100 if draw.quick else 300) * K
    X, y = make_spirals(3 * n_rows, n_classes=K, random_state=draw.seed)
    parts = [slice(i * n_rows, (i + 1) * n_rows) for i in range(3)]
    return Rows(*(array[part] for part in parts for array in (X, y)))


def measure(draw: Draw, K: int) -> dict[str, float | list[float]]:
    """Return the test error for each number of dimensions, and how far classes collapse."""
    rows = spirals(K, draw)
    chosen = low_dim_svm(rows, K - 1, gammas=GAMMAS, seed=draw.seed, centers="all")
    errors, training, collapses, unevens = [], [], [], []
    for L in DIMENSIONS:
        model = low_dim_svm(rows, L, gammas=(chosen.gamma_,), seed=draw.seed, centers="all")
        errors.append(percent_wrong(model.predict(rows.X_test), rows.y_test))
        training.append(percent_wrong(model.predict(rows.X), rows.y))
        Z = model.transform(rows.X)
        means = np.array([Z[rows.y == k].mean(axis=0) for k in range(K)])
        between = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)]
        within = np.sqrt(np.mean(np.square(Z - means[rows.y]).sum(axis=1)))
        collapses.append(float(within / between.min()))
        unevens.append(float(between.max() / between.min()))
    return {
        "errors": errors,
        "error": errors[K - 2],
        "training": training[K - 2],
        "error at L = 1": errors[0],
        "within": collapses[K - 2],
        "uneven": unevens[K - 2],
    }


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw error curves over L, and the latent space of three spirals in two dimensions."""
    fig, axes = pictures.panels(1, 3, size=(4.2, 3.6))
    lines = {
        part: list(zip(*(v["errors"] for v in found), strict=True))
        for part, found in values.items()
    }
    pictures.curves(
        axes[0, 0], list(DIMENSIONS), lines, xlabel="latent dimensions L", ylabel="test error %"
    )
    rows = spirals(3, draw)
    model = low_dim_svm(rows, 2, gammas=GAMMAS, seed=draw.seed, centers="all")
    pictures.scatter(axes[0, 1], rows.X, rows.y, "K = 3, training rows")
    axes[0, 1].set_aspect("equal")
    pictures.scatter(
        axes[0, 2], model.transform(rows.X_test), rows.y_test, "test rows in L = 2 dimensions"
    )
    axes[0, 2].set_aspect("equal", adjustable="datalim")
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="many-spirals",
    paper="low_dim_svm",
    title="K spirals: how many dimensions the classes need",
    unit="K classes in L dimensions",
    protocol="300 training rows a class, as many validation and test rows; all rows are centres; "
    "gamma by "
    "the validation rows at L = K - 1, then the same for all L. Errors for every L = 1..10 are "
    "in the "
    "JSON file and in the figure.",
    quick_note="100 training rows a class.",
    parts=[Part(f"K = {K}", partial(measure, K=K)) for K in CLASSES],
    rows=[
        row
        for K in CLASSES
        for row in (
            Row(f"K = {K}, L = 1: test error %", f"K = {K}", "error at L = 1"),
            Row(f"K = {K}, L = K - 1: test error %", f"K = {K}"),
            Row(
                f"K = {K}, L = K - 1: training error %", f"K = {K}", "training", 0.0, tolerance=0.1
            ),
            Row(
                f"K = {K}, L = K - 1: rms distance to the class mean / least between means",
                f"K = {K}",
                "within",
                digits=3,
            ),
            Row(
                f"K = {K}, L = K - 1: largest / least distance between means",
                f"K = {K}",
                "uneven",
                digits=3,
            ),
        )
    ],
    draws=(1, 5),
    claims=[
        Claim(
            "In L = K - 1 dimensions each class collapses and the class means form a simplex.",
            lambda m: all(
                m[f"K = {K}", "within"] < 0.2 and m[f"K = {K}", "uneven"] < 1.1 for K in CLASSES
            ),
            "The codes of the start are the corners of a simplex, and all rows as centres can "
            "reach them.",
        ),
        Claim(
            "K - 1 dimensions are enough.",
            lambda m: all(m[f"K = {K}", "error"] < 2 for K in CLASSES),
        ),
    ],
    figure=figure,
)
