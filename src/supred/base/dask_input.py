"""Dask collections given to estimators: rows to train on, rows to predict."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from supred.common.arguments import check_unmasked
from supred.common.arrays import on_host
from supred.rows.cluster.collections import is_dask


def unpacked(X: Any, *values: Any, encode: bool = False) -> tuple[Any, ...]:
    """Return rows as a source if they are a Dask collection, and labels or weights on the host.

    Parameters
    ----------
    X : array-like, sparse matrix, RowSource or Dask collection
    *values : pairs (name, values) of labels or weights
    encode : bool
        Encode `y` on the cluster if it lies there with the rows.
    """
    from supred.rows.cluster.collections import (
        cancelled_in_words,
        connected_client,
        encoded,
        gathered,
    )

    if not is_dask(X):
        return X, *(on_host(gathered(value, name)) for name, value in values)
    from supred.rows.cluster.rows import DaskSource

    client = connected_client()
    X, found = DaskSource(X), []
    with cancelled_in_words(client):
        for name, value in values:
            there = encode and name == "y" and is_dask(value)
            found.append(encoded(value, name) if there else on_host(gathered(value, name)))
    return X, *found


def lazily(model: Any, X: Any, answer: str | None = None) -> Any:
    """Return the Dask array of an answer about each row, not yet computed.

    Parameters
    ----------
    model : fitted estimator
    X : Dask array or dataframe
    answer : str, optional
        Name of the model's method that answers for latent coordinates; None asks for these.
    """
    import dask

    from supred.rows.cluster.collections import as_row_chunks, example_rows

    check_is_fitted(model)
    chunks = as_row_chunks(X, known=False)
    few = model._validate_rows(example_rows(X), reset=False)
    example = _answered(model, few, answer)
    options: dict[str, Any] = {"meta": example[:0], "chunks": (chunks.chunks[0],)}
    if example.ndim == 1:
        options["drop_axis"] = 1
    else:
        options["chunks"] += ((example.shape[1],),)
    # One task holds the model; it is not written into the task of each block.
    return chunks.map_blocks(
        _answer_block,
        model=dask.delayed(_without_input_names(model), pure=True),
        answer=answer,
        empty=example[:0],
        **options,
    )


def _without_input_names(model: Any) -> Any:
    """Return the model as it treats arrays: the names of the columns were checked before."""
    import copy

    plain = copy.copy(model)
    plain.__dict__.pop("feature_names_in_", None)
    return plain


def _answer_block(block: Any, *, model: Any, answer: str | None, empty: np.ndarray) -> np.ndarray:
    check_unmasked("a block of X", block)
    dense = block.toarray() if sparse.issparse(block) else np.asarray(block)
    if dense.ndim == 2 and not len(dense):
        return empty
    rows = model._validate_rows(dense, reset=False, far=True)
    return _answered(model, rows, answer)


def _answered(model: Any, rows: Any, answer: str | None) -> np.ndarray:
    Z = model._place(rows)
    return Z if answer is None else np.asarray(getattr(model, answer)(Z))
