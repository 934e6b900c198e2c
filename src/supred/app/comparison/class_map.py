"""The map of the classes: all rows in two dimensions, by a network that saw the training rows."""

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import supred
from supred.app.comparison.result import ClassMap
from supred.plotting.latent_model import decision_regions

GRID = 150
MAP_NEIGHBORS = 5


def make_map(
    X_train: Any,
    X_test: Any,
    class_index: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    *,
    columns: list[str],
    seed: int,
) -> ClassMap:
    """Fit a two-dimensional network to the training rows and place all rows with it.

    Parameters
    ----------
    X_train, X_test : {ndarray, sparse matrix}
        Prepared rows.
    class_index : ndarray of int of shape (n_rows,)
    train, test : ndarray of int
        Which rows these are.
    columns : list of str
        The table's column behind each prepared feature.
    seed : int
    """
    began = perf_counter()
    network = supred.RBFNetClassifier(2, n_centers=min(100, len(train) // 2), random_state=seed)
    network.fit(X_train, class_index[train])
    seconds = perf_counter() - began
    latent = np.empty((len(class_index), 2))
    predicted = np.empty(len(class_index), dtype=int)
    for rows, X in ((train, X_train), (test, X_test)):
        latent[rows] = network.transform(X)
        predicted[rows] = network.classify_latent(latent[rows])
    held_out = np.zeros(len(class_index), dtype=bool)
    held_out[test] = True
    neighbors = KNeighborsClassifier(min(MAP_NEIGHBORS, len(train)))
    neighbors.fit(latent[train], class_index[train])
    return ClassMap(
        latent,
        held_out,
        predicted,
        float(np.mean(predicted[test] != class_index[test])),
        1.0 - float(neighbors.score(latent[test], class_index[test])),
        decision_regions(
            network.classify_latent, latent, np.arange(class_index.max() + 1), resolution=GRID
        ),
        {},
        seconds,
    )


def _column_weights(weights: np.ndarray, columns: list[str]) -> dict[str, float]:
    """Add up the weights of the features that were made of one column."""
    found: dict[str, float] = {}
    for name, weight in zip(columns, np.asarray(weights, dtype=float), strict=True):
        found[name] = found.get(name, 0.0) + float(weight)
    return found
