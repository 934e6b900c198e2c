"""Out-of-core rows as input of an estimator."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from supred.common.labels import check_no_label_missing, encode_labels
from supred.rows.blocks import RowSource
from supred.rows.files.reading import MemoryMap


def as_source(X: Any) -> RowSource | None:
    """Return `X` as a source of rows if it is one or a memory map, None for anything else."""
    if isinstance(X, RowSource):
        return X
    return MemoryMap(X) if MemoryMap.takes(X) else None


def refuse_source(model: Any, X: Any) -> None:
    """Raise a TypeError if `X` is a source, for an estimator that needs all rows at once."""
    if isinstance(X, RowSource):
        raise TypeError(
            f"{type(model).__name__} needs all rows in memory, but X is a {type(X).__name__}; "
            "give an array (RowBlocks.rows().whole() reads one), or use LowDimSVC, which reads "
            "rows block by block."
        )


def check_source(model: Any, X: RowSource, *, reset: bool) -> None:
    """Check number and names of the features, or note them if `reset`."""
    n_features, names = X.shape[1], X.feature_names
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
    check_no_label_missing(y, name=name)
    y = column_or_1d(y, warn=True)
    if len(y) != X.shape[0]:
        check_consistent_length(np.empty(X.shape[0]), y)
    return y


def check_rows_and_labels(
    model: Any, X: RowSource, y: Any
) -> tuple[RowSource, np.ndarray, np.ndarray]:
    """Return the source, the classes and the index of each row's class."""
    check_source(model, X, reset=True)
    return X, *encode_labels(source_labels(X, y))
