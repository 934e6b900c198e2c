"""What the page's script needs of a comparison."""

from typing import Any

import numpy as np

from supred.app.comparison.result import Comparison, MethodResult
from supred.app.report.packing import ArrayStore, quantise, smallest_type
from supred.plotting.style import class_style

# A larger confusion matrix is no longer read; its largest entries are listed in its place.
MATRIX_CLASSES = 60
LISTED_CONFUSIONS = 8


def check_comparison(comparison: Comparison) -> None:
    """Raise a ValueError if the parts of a comparison do not fit together."""
    n_rows, n_classes = len(comparison.y), len(comparison.classes)
    _check_codes("y", comparison.y, n_rows, n_classes)
    if len(comparison.row_names) != n_rows:
        raise ValueError(
            f"row_names has {len(comparison.row_names)} entries for {n_rows} rows; give one a row."
        )
    for method in comparison.methods:
        if method.predicted is not None:
            _check_codes(f"predicted of {method.name}", method.predicted, n_rows, n_classes)
        shape = np.shape(method.latent) if method.latent is not None else (n_rows, 1)
        if len(shape) != 2 or shape[0] != n_rows or not 1 <= shape[1] <= 3:
            raise ValueError(
                f"latent of {method.name} has shape {shape}, needs ({n_rows}, 1 to 3): "
                "one row for each row of the table, at most three coordinates."
            )
        if method.regions is not None:
            x, y, codes = method.regions
            if np.shape(codes) != (len(y), len(x)):
                raise ValueError(
                    f"regions of {method.name}: the classes have shape {np.shape(codes)}, "
                    f"the grids {len(y)} and {len(x)} points."
                )
            _check_codes(f"regions of {method.name}", np.ravel(codes), np.size(codes), n_classes)


def _check_codes(name: str, codes: Any, length: int, n_classes: int) -> None:
    codes = np.asarray(codes)
    if codes.shape != (length,) or codes.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold {length} class indices, got {codes.dtype} of shape {codes.shape}."
        )
    if length and not (codes.min() >= 0 and codes.max() < n_classes):
        raise ValueError(
            f"{name} holds {codes.min()} to {codes.max()}; class indices go from 0 to "
            f"{n_classes - 1}."
        )


def choose_rows(y: np.ndarray, n_shown: int, seed: int) -> np.ndarray:
    """Return the rows that are drawn: all, or a random part with every class in it."""
    if len(y) <= n_shown:
        return np.arange(len(y))
    rng = np.random.RandomState(seed % 2**32)
    order = rng.permutation(len(y))
    _, first = np.unique(y[order], return_index=True)  # one row of each class comes first
    rest = np.setdiff1d(np.arange(len(y)), first)
    return np.sort(order[np.concatenate([first, rest])[:n_shown]])


def pack_comparison(comparison: Comparison, rows: np.ndarray, bits: int) -> tuple[Any, str]:
    """Return what the script reads: a JSON-able description and the packed arrays.

    Parameters
    ----------
    comparison : Comparison
    rows : ndarray of int
        The rows that are drawn.
    bits : int
        Precision of the coordinates.
    """
    store = ArrayStore()
    n_classes = len(comparison.classes)
    narrow = smallest_type(n_classes)
    y = np.asarray(comparison.y)
    description = {
        "classes": [str(name) for name in comparison.classes],
        "markers": [class_style(k).marker for k in range(n_classes)],
        "y": store.add(y[rows].astype(narrow)),
        "rows": _pack_names(comparison.row_names, rows, store),
        "bits": bits,
        "methods": [
            _pack_method(method, y, rows, n_classes, bits, store) for method in comparison.methods
        ],
    }
    return description, store.packed()


def _pack_names(names: list[str], rows: np.ndarray, store: ArrayStore) -> Any:
    """Row numbers cost nothing; other names are kept as they are."""
    texts = [str(names[row]) for row in rows]
    for first in (0, 1):
        if texts == [str(first + k) for k in range(len(texts))]:
            return {"first": first}
    return {"names": store.add_text(texts)}


def _pack_method(
    method: MethodResult,
    y: np.ndarray,
    rows: np.ndarray,
    n_classes: int,
    bits: int,
    store: ArrayStore,
) -> dict[str, Any]:
    narrow = smallest_type(n_classes)
    packed: dict[str, Any] = {"name": str(method.name), "components": method.n_components or 0}
    if method.latent is not None:
        columns = np.asarray(method.latent, dtype=float)[rows].T
        axes = []
        for column in columns:
            codes, low, high = quantise(column, bits)
            axes.append({"low": low, "high": high, "codes": store.add(codes)})
        packed["latent"] = axes
    if method.predicted is not None:
        predicted = np.asarray(method.predicted)
        # Mostly zeros, which compress to nothing.
        shift = (predicted[rows].astype(np.int64) - y[rows]) % n_classes
        packed["shift"] = store.add(shift.astype(narrow))
        counts = confusion_counts(y, predicted, n_classes)
        packed["confused"] = most_confused(counts)
        if n_classes <= MATRIX_CLASSES:
            packed["confusion"] = store.add(counts.astype(np.uint32))
    if method.regions is not None and len(packed.get("latent", ())) == 2:
        x, up, codes = method.regions
        packed["regions"] = {
            "x": [float(x[0]), float(x[-1])],
            "y": [float(up[0]), float(up[-1])],
            "shape": [len(up), len(x)],
            "codes": store.add(np.asarray(codes).astype(narrow)),
        }
    return packed


def confusion_counts(y: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how often each class (row) was predicted as each class (column)."""
    pairs = np.asarray(y, dtype=np.int64) * n_classes + predicted
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def most_confused(counts: np.ndarray) -> list[list[int]]:
    """Return the largest entries off the diagonal: true class, predicted class, rows."""
    errors = counts - np.diag(np.diag(counts))
    order = np.argsort(-errors, axis=None, kind="stable")[:LISTED_CONFUSIONS]
    pairs = zip(*np.unravel_index(order, errors.shape), strict=True)
    return [[int(i), int(j), int(errors[i, j])] for i, j in pairs if errors[i, j] > 0]
