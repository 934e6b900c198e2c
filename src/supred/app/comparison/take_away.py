"""The best method, fitted to all rows and written to a file."""

import os
import pickle
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

import supred
from supred.app.comparison.method import Facts
from supred.app.comparison.methods import METHODS
from supred.app.comparison.result import Comparison
from supred.app.comparison.scores import best_method
from supred.app.export.model_file import TableModel, save_model
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Table, TableError
from supred.common.files import atomic_write


def save_best_model(
    comparison: Comparison,
    table: Table,
    preparation: Preparation,
    path: str | os.PathLike[str],
    *,
    n_components: int | None = None,
    overwrite: bool = False,
) -> str:
    """Fit the most accurate method to all rows, with the setting chosen most often, and save it.

    Parameters
    ----------
    comparison : Comparison
    table : Table
        The one that was compared on.
    preparation : Preparation
    path : path
    n_components : int, optional
        As it was given to `compare`.
    overwrite : bool

    Returns
    -------
    sentence : str
        What was saved and how it is used: a model file for `supred predict` if the method is
        supred's own, else a pickled scikit-learn pipeline.
    """
    best = best_method(comparison.methods, comparison.metric)
    if best is None:
        raise TableError("no method finished, so there is no model to save.")
    labels = table.labels
    transformer = preparation.pipeline(table.columns, sparse=table.is_sparse)
    X = transformer.fit_transform(table.X)
    class_index = np.unique(labels, return_inverse=True)[1]
    facts = Facts.of(X, class_index, n_components, comparison.seed)
    made: Any = METHODS[best.name].make(best.parameters, facts)
    if hasattr(supred, best.name):
        partial = METHODS[best.name].uses_unlabelled
        model = TableModel.fit(made, table, preparation, partly_labelled=partial)
        save_model(model, path, overwrite=overwrite)
        return f"Model: {path} ({best.name}, fitted to all rows; use it with supred predict)"
    pipeline = Pipeline([("prepare", transformer), ("classify", made.fit(X, labels))])
    with atomic_write(path, overwrite=overwrite) as file:
        pickle.dump(pipeline, file)
    return (
        f"Model: {path} ({best.name} of scikit-learn, fitted to all rows; a pickled pipeline, "
        "read it with pickle.load)"
    )
