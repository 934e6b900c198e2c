"""Figure 2: Isomap, Laplacian eigenmaps and the class constrained embedding."""

from pathlib import Path

import numpy as np
from sklearn.manifold import Isomap

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from supred.class_embedding.classifier import ClassConstrainedEmbedding
from supred.datasets import make_classes_on_swiss_roll

N_ROWS = 800
BETA = 1.0
NO_LABELS = 1e6
METHODS = ("Isomap", "Laplacian eigenmaps", "class constrained")


def embeddings(seed: int) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the rows, their classes and their two coordinates by each method."""
    X, y = make_classes_on_swiss_roll(N_ROWS, random_state=seed)
    found = (
        Isomap(n_neighbors=12, n_components=2).fit_transform(X),
        ClassConstrainedEmbedding(2, beta=NO_LABELS).fit(X, y).embedding_,
        ClassConstrainedEmbedding(2, beta=BETA).fit(X, y).embedding_,
    )
    return X, y, dict(zip(METHODS, found, strict=True))


def measure(draw: Draw) -> dict[str, float]:
    """Return how well one straight line separates the classes, and how far apart they lie."""
    _, y, found = embeddings(draw.seed)
    values = {}
    for name, Z in found.items():
        means = np.array([Z[y == k].mean(axis=0) for k in (0, 1)])
        within = np.sqrt(np.mean(np.square(Z - means[y]).sum(axis=1)))
        values[name] = float(np.linalg.norm(means[1] - means[0]) / within)
    return values


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw the roll from its side and the three embeddings."""
    X, y, found = embeddings(draw.seed)
    fig, axes = pictures.panels(1, 4, size=(3.2, 3.1))
    pictures.scatter(axes[0, 0], X[:, [0, 2]], y, "swiss roll from its side")
    axes[0, 0].set_aspect("equal")
    for ax, (name, Z) in zip(axes[0, 1:], found.items(), strict=True):
        pictures.scatter(ax, Z, y, name)
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="embeddings",
    paper="class_constrained_embedding",
    title="Isomap, Laplacian eigenmaps and the class constrained embedding (figure 2)",
    unit="distance of the class means / rms distance to them",
    protocol="800 rows of the swiss roll with two classes in six bands, all labelled, 12 "
    "neighbours, two dimensions, beta 1. "
    "The numbers tell how far the embedding draws the classes apart; the paper has pictures only.",
    parts=[Part("embeddings", measure)],
    rows=[Row(name, "embeddings", name, better="higher") for name in METHODS],
    draws=(2, 10),
    claims=[
        Claim(
            "Only the class constrained embedding draws the classes apart.",
            lambda m: (
                m["embeddings", METHODS[2]]
                > 2 * max(m["embeddings", METHODS[0]], m["embeddings", METHODS[1]])
            ),
        )
    ],
    figure=figure,
)
