"""The error of a model on rows that it was not trained on."""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from supred.app.comparison.prepared import make_folds
from supred.app.export.table_model import TableModel
from supred.app.tables.table import Table, TableError

# Up to this many rows a fit is cross-validated unless the user says otherwise.
MOST_ROWS = 5000
FOLDS = 5


def held_out_error(
    options: argparse.Namespace,
    model: TableModel,
    table: Table | None = None,
    labels: np.ndarray | None = None,
) -> tuple[float | None, str]:
    """Return the share of wrong labels on rows that were held out, and which rows they were.

    Parameters
    ----------
    options : Namespace
    model : TableModel
    table, labels
        What it was fitted to, if the rows are in memory.
    """
    estimator = model.estimator
    if table is not None and table.unlabelled is not None:
        return _hidden_labels_error(options.folds, estimator)
    small = table is not None and table.n_rows <= MOST_ROWS
    n_folds = options.folds if options.folds is not None else FOLDS if small else 0
    if n_folds and table is not None and labels is not None:
        class_index = np.unique(labels, return_inverse=True)[1]
        n_folds = min(n_folds, int(np.bincount(class_index).max()))
        fresh = make_pipeline(clone(model.transformer), clone(estimator))
        try:
            folds = make_folds(class_index, n_folds, options.seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what there is to warn of, the fit has said
                predicted = cross_val_predict(fresh, table.X, labels, cv=folds)
        except ValueError as error:
            if options.folds is not None:
                raise TableError(f"--folds {options.folds}: {error}") from None
            return None, f"not known: {error}"
        return float(np.mean(predicted != labels)), f"{n_folds}-fold cross-validation"
    history = getattr(estimator, "history_", None) or {}
    errors = [getattr(estimator, "validation_error_", np.nan)]
    errors += np.asarray(history.get("validation_error", []), dtype=float).tolist()
    finite = [error for error in errors if np.isfinite(error)]
    if not finite:
        return None, "not known: no rows were held out"
    best = finite[0] if np.isfinite(errors[0]) else min(finite)
    return float(best), "the validation part, which also chose when to stop"


def _hidden_labels_error(n_folds: int | None, fitted: Any) -> tuple[float | None, str]:
    """Hide labels in turn: folds without the other rows would say nothing of what these add."""
    if n_folds == 0:
        return None, "not known: no labels were hidden"
    try:
        error, standard_error = fitted.leave_labels_out(n_folds or FOLDS)
    except ValueError as problem:
        if n_folds is not None:
            raise TableError(f"--folds {n_folds}: {problem}") from None
        return None, f"not known: {problem}"
    return error, f"± {100 * standard_error:.2f}, labels hidden in {n_folds or FOLDS} parts in turn"
