"""Figures 1 and 2: Isomap, Laplacian eigenmaps and the class constrained embedding."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import Isomap
from sklearn.preprocessing import StandardScaler

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.class_constrained_embedding import NO_LABELS, as_printed, balanced_roll
from reproduction.protocols import percent_wrong

METHODS = ("the roll itself", "Isomap", "Laplacian eigenmaps", "class constrained")


def measure(draw: Draw) -> dict[str, Any]:
    """Return how well one straight line separates the classes in each embedding."""
    X, y, position = balanced_roll(800, draw.seed)
    found = (
        X,
        Isomap(n_neighbors=8, n_components=2).fit_transform(X),
        as_printed(2, NO_LABELS).fit(X, y).embedding_,
        as_printed(2, 1.0).fit(X, y).embedding_,
    )
    values: dict[str, Any] = {"y": y}
    for name, Z in zip(METHODS, found, strict=True):
        means = np.array([Z[y == k].mean(axis=0) for k in (0, 1)])
        within = np.sqrt(np.mean(np.square(Z - means[y]).sum(axis=1)))
        values[f"{name}: apart"] = float(np.linalg.norm(means[1] - means[0]) / within)
        scaled = StandardScaler().fit_transform(Z)
        line = LogisticRegression(C=1e6, max_iter=2000).fit(scaled, y)
        values[f"{name}: error"] = percent_wrong(line.predict(scaled), y)
        values[f"{name}: coordinates"] = Z.round(4)
    values["isometry"] = float(np.corrcoef(pdist(found[1]), pdist(position))[0, 1])
    values["arc"] = float(abs(spearmanr(found[2][:, 0], position[:, 0]).statistic))
    return values


def figure(values: Values, path: Path) -> None:
    """Draw the roll from its side and the three embeddings."""
    found = values["embeddings"][0]
    y = np.array(found["y"])
    fig, axes = pictures.panels(1, 4, size=(3.2, 3.1))
    for ax, name in zip(axes[0], METHODS, strict=True):
        Z = np.array(found[f"{name}: coordinates"])
        Z = Z[:, [0, 2]] if Z.shape[1] == 3 else Z
        pictures.scatter(ax, Z, y, f"{name}: a line errs on {found[f'{name}: error']:.1f} %")
    axes[0, 0].set_aspect("equal")
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="embeddings",
    paper="class_constrained_embedding",
    title="Isomap, Laplacian eigenmaps and the class constrained embedding (figures 1 and 2)",
    unit="two dimensions",
    protocol="400 rows of each class on the swiss roll, in six bands, all labelled; Isomap with 8 "
    "neighbours, the others with 12, beta 1. The line is a logistic regression without penalty, "
    "judged on the rows it is fitted to: 0 % is linearly separable.",
    difference="as printed, but for the layout of the classes, which the text shows only in figure "
    "1: six bands along the roll",
    covers=(
        ("001:85", "figure 1: the swiss roll with 400 rows of each class"),
        ("001:103, 001:127", "figure 2: Isomap, Laplacian eigenmaps, CCDR"),
    ),
    parts=[Part("embeddings", measure)],
    rows=[
        *(
            Row(f"{name}: error % of the best line", "embeddings", f"{name}: error")
            for name in METHODS
        ),
        *(
            Row(
                f"{name}: distance of the class means / rms distance to them",
                "embeddings",
                f"{name}: apart",
                better="higher",
            )
            for name in METHODS
        ),
        Row(
            "Isomap: correlation of its distances with those on the sheet",
            "embeddings",
            "isometry",
            better="higher",
            digits=3,
        ),
        Row(
            "Laplacian: rank correlation of the first coordinate with the arc length",
            "embeddings",
            "arc",
            better="higher",
            digits=3,
        ),
    ],
    draws=(3, 20),
    claims=[
        Claim(
            "No linear projection separates the classes.",
            lambda m: m["embeddings", f"{METHODS[0]}: error"] > 20,
            "001:101",
            "A hyperplane in the space of the roll cannot. Seen along its axis the bands do not "
            "overlap, but no line divides them.",
        ),
        Claim(
            "Isomap recovers an isometric embedding but no simple separation.",
            lambda m: m["embeddings", "isometry"] > 0.99 and m["embeddings", "Isomap: error"] > 20,
            "001:112",
        ),
        Claim(
            "Laplacian eigenmaps give similar results, with an arc-length parameterisation.",
            lambda m: (
                m["embeddings", "arc"] > 0.9 and m["embeddings", "Laplacian eigenmaps: error"] > 20
            ),
            "001:112",
        ),
        Claim(
            "In the class constrained embedding the classes are almost linearly separable.",
            lambda m: m["embeddings", "class constrained: error"] < 5,
            "001:112",
            lambda m: (
                f"A line errs on {m['embeddings', 'class constrained: error']:.1f} % of the rows, "
                f"on {m['embeddings', 'Laplacian eigenmaps: error']:.1f} % without the labels."
            ),
        ),
    ],
    figure=figure,
)
