"""Out-of-core rows as input of an estimator."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from supred.common.arguments import check_at_hand, largest_magnitude
from supred.common.labels import EncodedLabels, as_they_are, check_no_label_missing
from supred.rows.blocks import LARGEST_NUMBER, RowSource
from supred.rows.cluster.collections import is_dask
from supred.rows.files.reading import MemoryMap, ReadSource

# Rows of a source that are looked at before all others.
FEW_ROWS = 100


def as_source(X: Any) -> RowSource | None:
    """Return `X` as a source of rows if it is one or a memory map, None for anything else."""
    if isinstance(X, RowSource):
        return X
    return MemoryMap(X) if MemoryMap.takes(X) else None


def refuse_out_of_core(model: Any, X: Any) -> None:
    """Raise a TypeError if `X` is out-of-core, for an estimator that needs all rows at once."""
    check_at_hand("X", X)
    if is_dask(X):
        what, whole = "Dask collection", "X.compute() makes one"
    elif isinstance(X, RowSource):
        what, whole = type(X).__name__, "RowBlocks.rows().whole() reads one"
    else:
        return
    raise TypeError(
        f"{type(model).__name__} needs all rows in memory, but X is a {what}: it looks at pairs of "
        f"rows or at folds, not at sums over blocks of rows; give an array ({whole}), or use "
        "RBFNetClassifier or LowDimSVC, which read rows block by block."
    )


def check_source(model: Any, X: RowSource, *, reset: bool) -> None:
    """Check number and names of the features, or note them if `reset`."""
    if reset and X.shape[0] == 0:
        raise ValueError("X has no rows; give rows of at least two classes.")
    n_features, names = X.shape[1], X.feature_names
    if reset and n_features == 0:
        raise ValueError("X has no columns; give at least one feature.")
    known = getattr(model, "feature_names_in_", None)
    if reset:
        model.n_features_in_ = n_features
        if names is not None:
            model.feature_names_in_ = names
        elif known is not None:
            del model.feature_names_in_
        return
    if n_features != model.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    if names is not None and known is not None and not np.array_equal(names, known):
        other = next(k for k in range(n_features) if names[k] != known[k])
        raise ValueError(
            f"The feature names should match those that were passed during fit: feature {other} "
            f"is {names[other]!r}, but was {known[other]!r}; name the columns in `columns`."
        )


def source_labels(X: RowSource, y: Any, *, name: str = "y") -> np.ndarray:
    """Return the labels that the user gave, or those that come with the rows."""
    if y is None:
        y = X.labels()
        if y is None:
            raise ValueError(
                f"{name}=None: this estimator requires y to be passed, or a RowBlocks with "
                "target=, the column of the labels."
            )
    if not isinstance(y, EncodedLabels):
        check_no_label_missing(y, name=name)
        y = column_or_1d(as_they_are(y), warn=True)
    if len(y) != X.shape[0]:
        check_consistent_length(np.empty(X.shape[0]), y)
    return y


def check_not_vanishing(X: RowSource) -> None:
    """Raise a ValueError if all numbers of a source are so small that their squares vanish.

    Numbers that are too large are found as blocks are read. A few rows tell nearly always that
    not all are too small; only if they do not are all rows looked at.
    """
    least = 1.0 / LARGEST_NUMBER[X.dtype]
    n_few = min(FEW_ROWS, X.shape[0])
    few = X.read(0, n_few) if isinstance(X, ReadSource) else X.rows().take(np.arange(n_few))
    if not largest_magnitude(few) < least:  # rows of zeros tell nothing
        return
    largest = float(X.rows().map(_largest_of_rows).max())
    if 0 < largest < least:
        raise ValueError(
            f"the largest number in X is {largest:.2g}; among rows that are read block by block "
            f"one must reach {least:.2g}: multiply the columns by a constant."
        )


def _largest_of_rows(block: Any) -> np.ndarray:
    largest = abs(block).max(axis=1)
    return np.asarray(largest.todense() if sparse.issparse(largest) else largest).ravel()
