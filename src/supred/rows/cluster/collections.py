"""Dask collections as the library wants them: a matrix in blocks of rows, labels, weights."""

import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite

from supred.common.arguments import check_unmasked
from supred.common.labels import EncodedLabels, check_no_label_missing, is_missing, sorted_classes

HOW_TO_CONNECT = "from dask.distributed import Client; client = Client(ADDRESS)"


def is_dask(X: Any) -> bool:
    """Tell whether `X` is a Dask array, dataframe or series, without importing Dask.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.rows.cluster.collections import is_dask
    >>> is_dask(np.zeros((2, 2)))
    False
    """
    # Asked of the class: a Delayed object says yes to every attribute.
    kind = type(X)
    return "dask" in sys.modules and hasattr(kind, "__dask_graph__") and hasattr(kind, "ndim")


def is_frame(X: Any) -> bool:
    """Tell whether a collection has named columns or a name: a dataframe or a series."""
    return hasattr(X, "npartitions") and hasattr(X, "map_partitions")


def connected_client() -> Any:
    """Return the Client that the user is connected with, or raise an error that says how."""
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:
        client = None
    if client is None or client.status != "running":
        found = "no Client" if client is None else f"a Client that is {client.status}"
        raise ValueError(
            f"X is a Dask collection, but there is {found}: connect one before fit "
            f"({HOW_TO_CONNECT}; without an address it starts workers on this machine), or call "
            "X.compute() if the rows fit into memory."
        )
    _make_room()
    return client


def check_connection(client: Any) -> None:
    """Raise a ConnectionError if the scheduler cannot be reached any more."""
    if client.status != "running":
        raise ConnectionError(
            f"the connection to the Dask scheduler was lost during the fit (the Client is "
            f"{client.status}); connect a new Client and fit again. A fit with checkpoint= goes on "
            "from its last iteration."
        )


@contextmanager
def cancelled_in_words(client: Any) -> Iterator[None]:
    """Say what to do where tasks were cancelled, or the connection was closed."""
    try:
        yield
    except CancelledError:
        check_connection(client)
        raise RuntimeError(
            "the tasks of the fit were cancelled, as by client.restart(); fit again. A fit "
            "with checkpoint= goes on from its last iteration."
        ) from None
    except ValueError:  # Dask finds no client where this one was closed meanwhile
        check_connection(client)
        raise


def _make_room() -> None:
    """Have a fit that is itself a task leave its worker's threads, which the fit's tasks need."""
    from distributed import secede

    with suppress(ValueError, AttributeError, KeyError):  # no task, or one that left before
        secede()


def feature_names(X: Any) -> np.ndarray | None:
    """Return the names of the columns of a dataframe; None for an array, or if one is no text."""
    if not is_frame(X) or not all(isinstance(name, str) for name in X.columns):
        return None
    return np.asarray(X.columns, dtype=object)


def example_rows(X: Any) -> Any:
    """Return a few rows with the columns and types of the collection, without computing it."""
    check_matrix(X)
    if is_frame(X):
        return _numpy_types(X)._meta.reindex([0, 1]).fillna(0)
    return np.zeros((2, X.shape[1]), dtype=float_type(X.dtype))


def float_type(dtype: Any) -> np.dtype:
    """Return the type that numbers are treated in: float32 stays, all else is float64."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def check_matrix(X: Any, name: str = "X") -> None:
    """Raise a ValueError if a collection is not a matrix of numbers in two dimensions."""
    if X.ndim != 2:
        raise ValueError(
            f"{name} is a Dask collection of {X.ndim} dimension(s); give a matrix with one row "
            "per sample (X.reshape(-1, 1) for a single feature)."
        )
    if is_frame(X):
        wrong = [str(name) for name, kind in X.dtypes.items() if not _is_number(kind)]
        if wrong:
            raise ValueError(
                f"{name} has column(s) {wrong[:5]} that do not hold numbers; encode or drop them."
            )
    elif not _is_number(X.dtype):
        raise ValueError(f"{name} holds {X.dtype}, not numbers; convert it with {name}.astype.")


def _is_number(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", "O")
    return kind in "fiub"


def as_row_chunks(X: Any, name: str = "X", *, known: bool = True) -> Any:
    """Return the collection as a Dask array whose chunks hold whole rows.

    A dataframe's partitions become chunks of unknown length; those of an array must be known,
    unless `known` is False.

    Raises
    ------
    ValueError
        If it is no matrix of numbers, or a chunk's size is not known.
    """
    check_matrix(X, name)
    if is_frame(X):
        checked = X.map_partitions(_with_columns, columns=list(X.columns), meta=X._meta)
        return _numpy_types(checked).to_dask_array()
    sizes = X.chunks[1] if not known else (*X.chunks[0], *X.chunks[1])
    if any(np.isnan(size) for size in sizes):
        raise ValueError(
            f"{name} has chunks of unknown size (shape {X.shape}); call "
            f"{name}.compute_chunk_sizes() first."
        )
    return X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X


def _with_columns(part: Any, columns: list[Any]) -> Any:
    """Return a partition of X, or raise an error if it has other columns than the collection."""
    if list(part.columns) != columns:
        raise ValueError(
            f"a partition of X has columns {list(part.columns)[:8]}, but the collection has "
            f"{columns[:8]}; give every partition the same columns in the same order."
        )
    return part


def _numpy_types(X: Any) -> Any:
    """Return a dataframe whose nullable columns are numbers of NumPy's, NaN where one is missing.

    Of nullable columns Dask would make an array of objects.
    """
    nullable = {
        name: float_type(getattr(kind, "numpy_dtype", float))
        for name, kind in X.dtypes.items()
        if not isinstance(kind, np.dtype)
    }
    return X.astype(nullable) if nullable else X


def gathered(values: Any, name: str) -> Any:
    """Return labels or weights on the client: an array of what a collection holds."""
    if not is_dask(values):
        return values
    _check_one_column(values, name)
    if is_frame(values):
        return _plain(values.compute(), name)
    import dask

    return _joined([_plain(block, name) for block in dask.compute(*_blocks_of(values))], name)


def encoded(values: Any, name: str) -> EncodedLabels:
    """Encode labels where they lie: classes, and a byte or two of each row come to the client."""
    import dask

    _check_one_column(values, name)
    (kept,) = dask.persist(values.to_dask_array() if is_frame(values) else values)
    blocks = _blocks_of(kept)
    found = dask.compute(*(dask.delayed(_classes_of)(block, name) for block in blocks))
    if not any(len(part) for part in found):
        raise ValueError(f"{name} has no rows; give rows of at least two classes.")
    classes = sorted_classes(_joined(found, name), name)[0]
    codes = dask.compute(*(dask.delayed(_index_of)(block, classes, name) for block in blocks))
    return EncodedLabels(classes, np.concatenate(codes))


def _blocks_of(values: Any) -> np.ndarray:
    # Optimised, Dask 2025.1 would hand out the keys of the blocks in the place of the blocks.
    return values.to_delayed(optimize_graph=False).ravel()


def _joined(parts: list[np.ndarray], name: str) -> np.ndarray:
    """Return labels of blocks as one array; NumPy would make texts of numbers beside texts."""
    held = [part for part in parts if len(part)] or parts[:1]
    kinds = {part.dtype.kind for part in held}
    if kinds & {*"US"} and kinds - {*"USO"}:
        raise TypeError(
            f"{name} holds labels that cannot be sorted (numbers in some blocks, text in others); "
            "use numbers or strings."
        )
    return np.concatenate(held)


def _classes_of(block: Any, name: str) -> np.ndarray:
    labels = _plain(block, name)
    check_no_label_missing(labels, name=f"a block of {name}")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name=name)
    return sorted_classes(labels, name)[0]


def _plain(block: Any, name: str) -> np.ndarray:
    """Return the labels of a block; those of nullable columns are numbers like others."""
    check_unmasked(f"a block of {name}", block)
    labels = np.asarray(block).reshape(-1)
    if labels.dtype == object and not is_missing(labels).any():
        numbers = np.asarray(labels.tolist())
        return numbers if numbers.dtype.kind in "iufb" else labels
    return labels


def _index_of(block: Any, classes: np.ndarray, name: str) -> np.ndarray:
    index = np.searchsorted(classes, _plain(block, name))
    return index.astype(np.min_scalar_type(max(len(classes) - 1, 0)))


def _check_one_column(values: Any, name: str) -> None:
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(
            f"{name} is a Dask collection with {values.shape[1]} columns; give one value a row."
        )
