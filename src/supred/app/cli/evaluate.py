"""Measure a saved model on a table with known classes."""

import argparse

import numpy as np
from sklearn.metrics import confusion_matrix

from supred.app.cli._input import read_model_and_table
from supred.app.cli._output import aligned, print_json, print_lines
from supred.app.tables.table import TableError


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.stream:
        raise TableError("evaluate reads the whole table; use predict --stream.")
    model, table = read_model_and_table(options, labelled=True)
    classes = [str(label) for label in model.classes.tolist()]
    truth = np.array([str(label) for label in table.labels.tolist()])
    predicted = np.array([str(label) for label in model.predict(table.X).tolist()])
    counts = confusion_matrix(truth, predicted, labels=classes)
    error = float(np.mean(predicted != truth))
    rows_of, right = counts.sum(axis=1), counts.diagonal()
    errors = [None if not n else float(1 - k / n) for k, n in zip(right, rows_of, strict=True)]
    known = [value for value in errors if value is not None]
    if options.json:
        print_json(
            {
                "rows": table.n_rows,
                "error": error,
                "balanced_error": float(np.mean(known)),
                "classes": classes,
                "class_errors": errors,
                "confusion": counts.tolist(),
            }
        )
        return 0
    rows = [["class", "rows", "error %", *(f"as {name}" for name in classes)]]
    for name, n, value, line in zip(classes, rows_of, errors, counts, strict=True):
        shown = "-" if value is None else f"{100 * value:.2f}"
        rows.append([name, str(n), shown, *(str(count) for count in line)])
    total = [str(count) for count in counts.sum(axis=0)]
    rows.append(["all", str(table.n_rows), f"{100 * error:.2f}", *total])
    print_lines(aligned(rows))
    return 0
