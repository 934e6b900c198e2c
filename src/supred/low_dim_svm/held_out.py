"""The validation part that is split off the training rows."""

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from supred.low_dim_svm.problem import HeldOut, cache_megabytes
from supred.rows.blocks import select

Rows = tuple[Any, np.ndarray, np.ndarray]


def wants_held_out(model: Any) -> bool:
    """Tell whether the parameters ask for a validation part."""
    if isinstance(model.early_stopping, str):
        return isinstance(model.centers, str) and model.centers == "learned"
    return bool(model.early_stopping)


def hold_out(
    model: Any, X: Any, codes: np.ndarray, weights: np.ndarray, rng: np.random.RandomState
) -> tuple[Rows, HeldOut | None]:
    """Split off a stratified validation part of the training rows.

    With ``early_stopping="auto"`` classes of one row stay in training, and where too few rows
    would be left there is no validation part; with True both are errors.
    """
    required = not isinstance(model.early_stopping, str)
    counts = np.bincount(codes)
    if required and counts.min() < 2:
        raise ValueError(
            f"early_stopping=True holds out rows of each class, but class(es) "
            f"{model.classes_[counts < 2].tolist()} have one row; set early_stopping=False or "
            "give X_val and y_val."
        )
    rows = np.flatnonzero(counts[codes] >= 2)
    n_classes = len(np.unique(codes[rows]))
    size = max(n_classes, round(model.validation_fraction * len(rows)))
    kept = rows[:0]
    if n_classes and size <= len(rows) - n_classes:
        kept, held = train_test_split(rows, test_size=size, stratify=codes[rows], random_state=rng)
    if len(np.unique(codes[kept])) < n_classes or not n_classes:
        if not required:
            return (X, codes, weights), None
        raise ValueError(
            f"validation_fraction={model.validation_fraction} of {len(rows)} rows leaves a "
            f"class without training rows; use a smaller one, or give X_val and y_val."
        )
    if len(rows) < len(codes):
        kept = np.append(kept, np.flatnonzero(counts[codes] < 2))
    # In the order of the rows, so that they can be read one after another.
    kept.sort()
    held.sort()
    part = HeldOut(select(X, held), codes[held], weights[held], cache_megabytes(model, X))
    return (select(X, kept), codes[kept], weights[kept]), part
