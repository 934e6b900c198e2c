"""Two spirals: linear F, and Gaussians with few, more and all centres."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.protocols import Rows, error_on_test, low_dim_svm, percent_wrong
from supred.datasets import make_spirals
from supred.low_dim_svm.classifier import LowDimSVC

N_ROWS = 1000
GAMMAS = (3.0, 10.0, 30.0, 100.0)
SETTINGS: dict[str, dict[str, Any]] = {
    "linear F": {"mapping": "linear"},
    "M = 20": {"n_centers": 20},
    "M = 100": {"n_centers": 100},
    "M = all": {"centers": "all"},
}


def spirals(seed: int) -> Rows:
    """Return three independent sets of rows: training, validation, test."""
    X, y = make_spirals(3 * N_ROWS, random_state=seed)
    parts = [slice(i * N_ROWS, (i + 1) * N_ROWS) for i in range(3)]
    return Rows(*(array[part] for part in parts for array in (X, y)))


def fit(name: str, rows: Rows, seed: int) -> LowDimSVC:
    """Fit one setting, gamma and C by the validation rows."""
    gammas = None if name == "linear F" else GAMMAS
    return low_dim_svm(rows, 1, gammas=gammas, Cs=(1.0, 10.0), seed=seed, **SETTINGS[name])


def measure(draw: Draw, name: str) -> dict[str, float]:
    """Return training and test error."""
    rows = spirals(draw.seed)
    model = fit(name, rows, draw.seed)
    wrong = percent_wrong(model.predict(rows.X), rows.y)
    return {"error": error_on_test(model, rows), "training": wrong}


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw boundaries in the plane above, histograms of the latent coordinate below."""
    rows = spirals(draw.seed)
    fig, axes = pictures.panels(2, len(SETTINGS))
    axis = np.linspace(-1.1, 1.1, 200)
    grid = np.array(np.meshgrid(axis, axis)).reshape(2, -1).T
    for (above, below), name in zip(axes.T, SETTINGS, strict=True):
        model = fit(name, rows, draw.seed)
        side = model.decision_function(grid).reshape(200, 200)
        above.contourf(
            axis, axis, side > 0, levels=[-0.5, 0.5, 1.5], colors=pictures.COLORS[:2], alpha=0.25
        )
        title = f"{name}: {percent_wrong(model.predict(rows.X), rows.y):.1f} % training error"
        pictures.scatter(above, rows.X, rows.y, title, size=3)
        above.set_aspect("equal")
        Z = model.transform(rows.X)[:, 0]
        bins = np.linspace(Z.min(), Z.max(), 40)
        for k in (0, 1):
            below.hist(Z[rows.y == k], bins, color=pictures.COLORS[k], alpha=0.7)
        below.axvline(-model.intercept_[0] / model.coef_[0, 0], color="k", linewidth=0.8)
        below.set_xlabel("latent coordinate", fontsize=8)
        below.set_yticks([])
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="two-spirals",
    paper="low_dim_svm",
    title="Two spirals: what the mapping must be able to do",
    unit="error %, L = 1",
    protocol="1000 training, 1000 validation and 1000 test rows; gamma and C by the validation "
    "rows.",
    parts=[Part(name, partial(measure, name=name)) for name in SETTINGS],
    rows=[
        Row("linear F: training", "linear F", "training"),
        Row("linear F: test", "linear F"),
        Row("M = 20: training", "M = 20", "training"),
        Row("M = 20: test", "M = 20"),
        Row("M = 100: training", "M = 100", "training", published=0.0, tolerance=0.1),
        Row("M = 100: test", "M = 100"),
        Row("all centres: training", "M = all", "training", published=0.0, tolerance=0.1),
        Row("all centres: test", "M = all"),
    ],
    draws=(2, 10),
    claims=[
        Claim(
            "A linear mapping cannot separate the spirals.",
            lambda m: m["linear F", "error"] > 20,
            "One latent dimension of a linear mapping is a half plane.",
        ),
        Claim(
            "With M = 100 and with all centres both classes become points in one dimension "
            "and no training row is misclassified.",
            lambda m: max(m["M = 100", "training"], m["M = all", "training"]) < 0.05,
        ),
    ],
    figure=figure,
)
