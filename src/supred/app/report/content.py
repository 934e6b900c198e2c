"""What the page's script needs of a comparison."""

from typing import Any

import numpy as np

from supred.app.comparison.result import Comparison, MethodResult
from supred.app.comparison.scores import confusion_of, most_confused
from supred.app.report.packing import ArrayStore, quantise, smallest_type
from supred.plotting.latent_model import Regions, robust_limits
from supred.plotting.style import COLORS, class_style

# A larger confusion matrix is no longer read; its largest entries are listed in its place.
MATRIX_CLASSES = 60
LISTED_CONFUSIONS = 8
MAP_NAME = "map of the classes"


def check_comparison(comparison: Comparison) -> None:
    """Raise a ValueError if the parts of a comparison do not fit together."""
    n_rows, n_classes = len(comparison.y), len(comparison.classes)
    _check_class_index("y", comparison.y, n_rows, n_classes)
    if len(comparison.row_names) != n_rows:
        raise ValueError(
            f"row_names has {len(comparison.row_names)} entries for {n_rows} rows; "
            "give one per row."
        )
    if comparison.held_out is not None:
        _check_held_out("held_out", comparison.held_out, n_rows)
    pictures: list[tuple[str, Any, Any, Any]] = [
        (method.name, method.predicted, method.latent, method.regions)
        for method in comparison.methods
    ]
    if comparison.class_map is not None:
        found = comparison.class_map
        if not isinstance(found.model, dict | None):
            raise ValueError(f"model of the map is {type(found.model).__name__}, needs a dict.")
        _check_held_out("held_out of the map", found.held_out, n_rows)
        pictures.append(("the map", found.predicted, found.latent, found.regions))
    for name, predicted, latent, regions in pictures:
        if predicted is not None:
            _check_class_index(f"predicted of {name}", predicted, n_rows, n_classes)
        shape = np.shape(latent) if latent is not None else (n_rows, 1)
        if len(shape) != 2 or shape[0] != n_rows or not 1 <= shape[1] <= 3:
            raise ValueError(
                f"latent of {name} has shape {shape}, needs ({n_rows}, 1 to 3): "
                "one row for each row of the table, at most three coordinates."
            )
        if regions is not None:
            shape, sides = np.shape(regions.class_index), (len(regions.y), len(regions.x))
            if shape != sides:
                raise ValueError(
                    f"regions of {name}: the classes have shape {shape}, the grids {sides[0]} and "
                    f"{sides[1]} points."
                )
            flat = np.ravel(regions.class_index)
            _check_class_index(f"regions of {name}", flat, flat.size, n_classes)


def _check_held_out(name: str, values: Any, n_rows: int) -> None:
    values = np.asarray(values)
    if values.shape != (n_rows,) or values.dtype.kind != "b":
        raise ValueError(
            f"{name} must tell of {n_rows} rows, true or false, got {values.dtype} of shape "
            f"{values.shape}."
        )


def _check_class_index(name: str, values: Any, length: int, n_classes: int) -> None:
    values = np.asarray(values)
    if values.shape != (length,) or values.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold {length} class indices, got {values.dtype} of shape {values.shape}."
        )
    if length and not (values.min() >= 0 and values.max() < n_classes):
        raise ValueError(
            f"{name} holds {values.min()} to {values.max()}; class indices go from 0 to "
            f"{n_classes - 1}."
        )


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
    n_classes = len(comparison.classes)
    y = np.asarray(comparison.y)
    pack = _Packer(y, rows, n_classes, bits)
    held = np.ones(len(y), bool) if comparison.held_out is None else comparison.held_out
    found = comparison.class_map
    views = []
    if found is not None:
        # The network has seen the labels of the other rows: there its answers say nothing.
        answers = np.where(found.held_out, found.predicted, y)
        view = pack.view(MAP_NAME, found.latent, found.regions, 2)
        views.append({**view, "shift": pack.shift(answers)})
    for k, method in enumerate(comparison.methods):
        if method.latent is not None:
            name = f"latent space of {method.name}"
            dimensions = method.n_components or np.shape(method.latent)[1]
            view = pack.view(name, method.latent, method.regions, dimensions)
            views.append({**view, "method": k})
    description = {
        "classes": [str(name) for name in comparison.classes],
        "markers": [class_style(k).marker for k in range(n_classes)],
        "colors": [k % len(COLORS) for k in range(n_classes)],
        "counts": np.bincount(y, minlength=n_classes).tolist(),
        "n_new": 0 if found is None else int(found.n_new),
        "y": pack.class_index(y[rows]),
        "held": pack.store.add(np.asarray(held, dtype=bool)[rows].astype(np.uint8)),
        "rows": pack.names(comparison.row_names),
        "n_rows": len(y),
        "target": str(comparison.target),
        "bits": bits,
        "model": None if found is None else found.model,
        "views": views,
        "methods": [pack.method(method) for method in comparison.methods],
    }
    return description, pack.store.packed()


class _Packer:
    """Packs what is drawn of some rows into one store of arrays."""

    def __init__(self, y: np.ndarray, rows: np.ndarray, n_classes: int, bits: int) -> None:
        self.y, self.rows, self.n_classes, self.bits = y, rows, n_classes, bits
        self.store = ArrayStore()

    def class_index(self, values: np.ndarray) -> dict[str, int]:
        return self.store.add(values.astype(smallest_type(self.n_classes)))

    def names(self, names: list[str]) -> Any:
        """Row numbers cost nothing; other names are kept as they are."""
        texts = [str(names[row]) for row in self.rows]
        for first in (0, 1):
            if texts == [str(first + k) for k in range(len(texts))]:
                return {"first": first}
        return {"names": self.store.add_text(texts)}

    def view(
        self, name: str, latent: np.ndarray, regions: Regions | None, dimensions: int
    ) -> dict[str, Any]:
        """Pack coordinates: rounded inside robust limits, as they are for the few rows outside."""
        axes = []
        for column in np.asarray(latent, dtype=float)[self.rows].T:
            low, high = robust_limits(column, self.y[self.rows])
            outside = np.flatnonzero((column < low) | (column > high))
            axes.append(
                {
                    "low": low,
                    "high": high,
                    "steps": self.store.add(quantise(column, self.bits, low, high)),
                    "outside": [outside.tolist(), [float(f"{v:.6g}") for v in column[outside]]],
                }
            )
        view: dict[str, Any] = {"name": name, "dimensions": int(dimensions), "axes": axes}
        if regions is not None and len(axes) == 2:
            view["regions"] = {
                "x": [float(regions.x[0]), float(regions.x[-1])],
                "y": [float(regions.y[0]), float(regions.y[-1])],
                "shape": list(np.shape(regions.class_index)),
                "classes": self.class_index(np.asarray(regions.class_index)),
            }
        return view

    def shift(self, predicted: np.ndarray) -> dict[str, int]:
        """Pack predictions as what is to be added to the true class: mostly zeros."""
        shift = predicted[self.rows].astype(np.int64) - self.y[self.rows]
        return self.class_index(shift % self.n_classes)

    def method(self, method: MethodResult) -> dict[str, Any]:
        packed: dict[str, Any] = {"name": str(method.name)}
        if method.predicted is None:
            return packed
        predicted = np.asarray(method.predicted)
        packed["shift"] = self.shift(predicted)
        matrix = confusion_of(self.y, predicted, self.n_classes)
        packed["found"] = self.store.add(matrix.diagonal().astype(np.uint32))
        packed["predictions"] = self.store.add(matrix.sum(axis=0).astype(np.uint32))
        packed["confused"] = most_confused(matrix, LISTED_CONFUSIONS)
        if self.n_classes <= MATRIX_CLASSES:
            packed["confusion"] = self.store.add(matrix.toarray().astype(np.uint32))
        return packed
