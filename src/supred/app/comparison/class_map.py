"""The map of the classes: all rows in two dimensions, by a network that saw the training rows."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import supred
from supred.app.comparison.map_model import model_of_map
from supred.app.comparison.picture import GRID, source_columns
from supred.app.comparison.prepared import make_folds
from supred.app.comparison.result import ClassMap, Comparison
from supred.app.tables.assemble import stratified_part
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Column, Table
from supred.plotting.latent_model import decision_regions

MAP_NEIGHBORS = 5
# Training rows of a map: more cost time and change little on a picture.
MAP_ROWS = 10_000
NEW_ROWS = "new rows"


def make_map(
    X: Any,
    columns: list[Column],
    transformer: Any,
    class_index: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    *,
    seed: int,
    X_new: Any = None,
) -> ClassMap:
    """Fit a two-dimensional network to the training rows and place all rows with it.

    Parameters
    ----------
    X : {ndarray, sparse matrix}
        All rows, as the table holds them. Of very many training rows a part is used.
    columns : list of Column
    transformer : transformer
        Fitted to the training rows; prepares rows for the network.
    class_index : ndarray of int of shape (n_rows,)
    train, test : ndarray of int
        The training rows and the held-out ones.
    seed : int
    X_new : {ndarray, sparse matrix}, optional
        Rows without a class; they come last in the map.
    """
    began = perf_counter()
    network = supred.RBFNetClassifier(n_components=2, n_jobs=-1, random_state=seed)
    seen = train[stratified_part(class_index[train], MAP_ROWS, seed)]
    network.fit(transformer.transform(X[seen]), class_index[seen])
    seconds = perf_counter() - began
    n_rows, n_new = len(class_index), 0 if X_new is None else X_new.shape[0]
    parts = [X] if X_new is None else [X, X_new]
    latent = np.vstack([network.transform(transformer.transform(part)) for part in parts])
    predicted = network.classify_latent(latent)
    held_out = np.ones(n_rows + n_new, dtype=bool)
    held_out[train] = False
    neighbors = KNeighborsClassifier(min(MAP_NEIGHBORS, len(seen)))
    neighbors.fit(latent[seen], class_index[seen])
    names = source_columns(transformer, columns)  # several features may be made of one column
    weights = dict.fromkeys(names, 0.0)
    for name, weight in zip(names, network.feature_importances_, strict=True):
        weights[name] += float(weight)
    return ClassMap(
        latent,
        held_out,
        predicted,
        float(np.mean(predicted[test] != class_index[test])),
        1.0 - float(neighbors.score(latent[test], class_index[test])),
        decision_regions(
            network.classify_latent,
            latent[:n_rows],
            np.arange(class_index.max() + 1),
            y=class_index,
            resolution=GRID,
        ),
        weights,
        seconds,
        n_new,
        model_of_map(network, columns, transformer, X[seen], class_index[seen], weights),
    )


def map_of_table(
    table: Table,
    *,
    preparation: Preparation | None = None,
    new: Table | None = None,
    seed: int = 0,
    command: str = "",
) -> Comparison:
    """Make the map alone: a comparison without methods, for the page and the picture.

    Parameters
    ----------
    table : Table
        A fifth of its rows is held out.
    preparation : Preparation, optional
        Learnt from the training rows.
    new : Table, optional
        Rows to place on the map; their classes are not looked at.
    seed : int
    command : str
        What the user typed, for the page.

    Examples
    --------
    >>> from supred.app.comparison.class_map import map_of_table
    >>> from supred.app.tables.assemble import training_table
    >>> from supred.app.tables.reading import read_builtin
    >>> found = map_of_table(training_table(read_builtin("iris")))
    >>> found.class_map.latent.shape, found.class_map.error < 0.2
    ((150, 2), True)
    """
    preparation = preparation or Preparation()
    preparation.check(table)
    preparation.check_size(table)
    classes, class_index = np.unique(table.labels, return_inverse=True)
    n_folds = min(5, int(np.bincount(class_index).max()))
    train, test = make_folds(class_index, n_folds, seed)[0]
    transformer = preparation.pipeline(table.columns, sparse=table.is_sparse)
    found = make_map(
        table.X,
        table.columns,
        transformer.fit(table.X[train]),
        class_index,
        train,
        test,
        seed=seed,
        X_new=None if new is None else new.X,
    )
    comparison = Comparison.of(
        table,
        preparation,
        classes,
        class_index,
        methods=[],
        seed=seed,
        command=command,
        held_out=found.held_out,
        class_map=found,
    )
    if new is None:
        return comparison
    # On the page new rows are a class of their own, the last.
    return replace(
        comparison,
        classes=[*comparison.classes, NEW_ROWS],
        y=np.r_[class_index, np.full(new.n_rows, len(classes))],
        row_names=[*table.row_names, *(f"new {name}" for name in new.row_names)],
    )
