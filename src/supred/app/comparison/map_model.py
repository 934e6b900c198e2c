"""The network of a map as data for the page, so that a reader can place a row on the map."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supred.app.export.conversion import finite_form_of
from supred.app.export.finite_form import ExportError, FiniteForm
from supred.app.export.javascript_writer import javascript_model
from supred.app.export.table_model import TableModel
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Column

# A larger network is left out of the page.
MOST_NUMBERS = 80_000
# Typical rows are given per class up to this many values, and of all rows beyond.
MOST_TYPICAL = 20_000


def model_of_map(
    network: Any,
    columns: Sequence[Column],
    transformer: Any,
    X: Any,
    class_index: np.ndarray,
    weights: Mapping[str, float],
) -> dict[str, Any] | None:
    """Return the network and what its columns hold, as JSON-able values; None if too large.

    Parameters
    ----------
    network : fitted RBFNetClassifier
        Its classes are class indices.
    columns : sequence of Column
    transformer : fitted transformer
        What prepared the rows of the network.
    X : ndarray of shape (n_rows, n_columns)
        The training rows as the table holds them.
    class_index : ndarray of int of shape (n_rows,)
    weights : mapping of str to float
        How much the columns count; a page shows the largest first.
    """
    if hasattr(X, "tocsr"):
        return None
    model = TableModel(network, list(columns), "", Preparation(), transformer)
    try:
        form = finite_form_of(model)
    except ExportError:
        return None
    if form.numbers() > MOST_NUMBERS:
        return None
    n_classes = int(class_index.max()) + 1
    if n_classes * len(columns) > MOST_TYPICAL:
        n_classes, class_index = 1, np.zeros_like(class_index)
    used = {*form.inputs.numbers, *form.inputs.texts}
    described = [
        {
            "name": column.name,
            "weight": float(weights.get(column.name, 0.0)),
            **_described(column, X[:, k], class_index, n_classes, form),
        }
        for k, column in enumerate(columns)
        if column.name in used
    ]
    return {"network": javascript_model(form), "columns": described}


def _described(
    column: Column, values: np.ndarray, class_index: np.ndarray, n_classes: int, form: FiniteForm
) -> dict[str, Any]:
    """Return the range or the texts of a column, and a typical value of each class."""
    members = [values[class_index == k] for k in range(n_classes)]
    if column.kind == "text":
        texts = form.inputs.categories[form.inputs.texts.index(column.name)]
        known = [v[v >= 0].astype(int) for v in members]
        frequent = [column.values[np.bincount(v).argmax()] if v.size else None for v in known]
        return {"values": list(texts), "typical": frequent}
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    known = [v[np.isfinite(v)] for v in members]
    return {
        "low": low,
        "high": high,
        "typical": [float(f"{np.median(v):.5g}") if v.size else None for v in known],
    }
