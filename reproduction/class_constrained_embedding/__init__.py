"""Experiments of the class constrained embedding."""

from typing import Any

import numpy as np

from supred import ClassConstrainedEmbedding
from supred.datasets import make_classes_on_swiss_roll

# A graph this heavy leaves the labels no influence: Laplacian eigenmaps.
NO_LABELS = 1e6


def balanced_roll(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of the swiss roll, as many of each class, with their places on the sheet.

    The first n rows are balanced too, for every even n.
    """
    X, y, position = make_classes_on_swiss_roll(3 * n_rows, random_state=seed, return_position=True)
    order = np.column_stack([np.flatnonzero(y == k)[: n_rows // 2] for k in (0, 1)]).ravel()
    return X[order], y[order], position[order]


def as_printed(n_components: int, beta: float, **options: Any) -> ClassConstrainedEmbedding:
    """Return the embedding of the paper: eigenvectors, 12 neighbours, its width of the weights."""
    settings = {"coordinates": "spectral", "n_neighbors": 12, "classifier": "knn", **options}
    return ClassConstrainedEmbedding(n_components, beta=beta, **settings)
