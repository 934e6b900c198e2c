"""The labels of a table: to learn from, or to compare with what a model says."""

from typing import Any

import numpy as np

from supred.app.tables.sources import Source
from supred.app.tables.table import TableError
from supred.rows.files.label_texts import labels_among, labels_of


def labels_to_learn(
    source: Source, goal: str, drop: bool
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the labels, the rows that have one, and what was left out."""
    texts = source.texts(goal)
    labelled = _labelled(texts, source.title, goal)
    n_missing = int((~labelled).sum())
    if not drop:
        _check_all_labelled(labelled, source.title, goal, "pass --drop-unlabelled")
    try:
        y = labels_of(texts.drop_null())
    except ValueError as error:
        raise TableError(f"{source.title}: {error}") from None
    notes = [f"{n_missing} row(s) without a label were left out."] if n_missing else []
    return y, labelled, notes


def known_labels(source: Source, goal: str, classes: np.ndarray) -> np.ndarray:
    """Return the labels of all rows, each of them one of the classes of a model."""
    if goal not in (source.target, *source.names):
        raise TableError(f"{source.title} has no column {goal!r}, the model's target.")
    texts = source.texts(goal)
    labelled = _labelled(texts, source.title, goal)
    _check_all_labelled(labelled, source.title, goal, "leave these rows out of the table")
    try:
        return labels_among(texts, classes)
    except ValueError as error:
        raise TableError(f"{source.title}: {error}") from None


def _labelled(texts: Any, title: str, goal: str) -> np.ndarray:
    """Return which rows have a label; an error if none has."""
    if not len(texts):
        raise TableError(f"{title} has no rows.")
    labelled = np.asarray(texts.is_valid())
    if not labelled.any():
        raise TableError(f"{title}: the target {goal!r} is empty in all rows.")
    return labelled


def _check_all_labelled(labelled: np.ndarray, title: str, goal: str, advice: str) -> None:
    n_missing = int((~labelled).sum())
    if n_missing:
        raise TableError(
            f"{title}: {n_missing} row(s) have no value of the target {goal!r}, the first is row "
            f"{int(np.argmin(labelled)) + 1}; fill them in or {advice}."
        )
