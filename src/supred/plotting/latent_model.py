"""What a fitted estimator says about its latent space."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from supred.base.latent_classifier import LatentClassifier
from supred.base.state import register
from supred.common.labels import sorted_classes


class LatentParts(NamedTuple):
    """A classifier taken apart at its latent space."""

    project: Callable[[Any], np.ndarray]
    classify: Callable[[np.ndarray], np.ndarray] | None  # latent coordinates to labels


@register
@dataclass(frozen=True, eq=False)
class Regions:
    """Predicted class over a grid of two latent dimensions.

    Attributes
    ----------
    x, y : ndarrays of shape (nx,) and (ny,)
        The sides of the grid.
    class_index : ndarray of int of shape (ny, nx)

    See Also
    --------
    decision_regions : Makes one.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.plotting import decision_regions
    >>> regions = decision_regions(lambda Z: Z[:, 0] > 0, np.eye(2) - 0.5, np.array([False, True]))
    >>> regions.x.shape, regions.class_index.shape
    ((200,), (200, 200))
    """

    x: np.ndarray  # (nx,)
    y: np.ndarray  # (ny,)
    class_index: np.ndarray  # (ny, nx)


def take_apart(fitted: Any) -> LatentParts:
    """Return how a fitted estimator projects rows, and how it classifies what it projected.

    Parameters
    ----------
    fitted : fitted estimator or Pipeline
        The latent space of a pipeline is that of its last step; if that is a plain classifier,
        the space it works in.
    """
    if isinstance(fitted, Pipeline):
        last = fitted[-1]
        if hasattr(last, "transform"):
            return LatentParts(fitted.transform, take_apart(last).classify)
        if len(fitted.steps) > 1:
            return LatentParts(fitted[:-1].transform, last.predict)
    if not hasattr(fitted, "transform"):
        raise ValueError(
            f"estimator={type(fitted).__name__} has no transform, so no latent space; give a "
            "supred estimator or a pipeline of a transformer and a classifier."
        )
    if not isinstance(fitted, LatentClassifier):
        return LatentParts(fitted.transform, None)
    return LatentParts(fitted.transform, fitted.classify_latent)


class PlacedRows(NamedTuple):
    """Rows where a fitted estimator places them."""

    Z: np.ndarray  # (n_rows, n_components)
    predicted: np.ndarray | None  # (n_rows,); None without `predict`
    classes: np.ndarray  # sorted labels of the estimator and of the rows
    regions: "Regions | None"  # of two latent dimensions, where the estimator classifies in them


def check_one_class(name: str, labels: Any, n_rows: int) -> None:
    """Raise a ValueError if there is not one class for each row."""
    if np.shape(labels) != (n_rows,):
        raise ValueError(
            f"{name} has the shape {np.shape(labels)} for {n_rows} rows; a picture shows one class "
            "per row, so of several labels or tasks give one, with from_predictions."
        )


def place_rows(fitted: Any, X: Any, y: np.ndarray, *, regions: bool = True) -> PlacedRows:
    """Project rows with a fitted estimator, and shade the plane if it decides there.

    Parameters
    ----------
    fitted : fitted estimator or Pipeline
    X : array-like of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    regions : bool, default=True
        Whether regions are wanted.
    """
    project, classify = take_apart(fitted)
    Z = np.asarray(project(X))
    check_one_class("y", y, len(Z))
    predicted = np.asarray(fitted.predict(X)) if hasattr(fitted, "predict") else None
    if predicted is not None:
        check_one_class("predict(X)", predicted, len(Z))
    known = getattr(fitted, "classes_", y)
    classes = sorted_classes(np.concatenate([known, y]), "y")[0]
    shaded = None
    # A shade that disagrees with `predict` would be a lie: compare them on the rows.
    if (
        regions
        and Z.shape[1] == 2
        and classify is not None
        and predicted is not None
        and np.array_equal(classify(Z), predicted)
    ):
        shaded = decision_regions(classify, Z, classes, y=y)
    return PlacedRows(Z, predicted, classes, shaded)


# A class with fewer rows has no limits of its own.
LEAST_ROWS = 5


def robust_limits(values: np.ndarray, y: np.ndarray | None = None) -> tuple[float, float]:
    """Return limits that show nearly all values, and do not give way to a few far ones.

    The range of the middle nine tenths, half as much again on each side, but no further than the
    values reach. With labels, those that show nearly all values of each class: one that holds
    most of the rows does not push the others out of the picture.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    y : ndarray of shape (n_rows,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from supred.plotting.latent_model import robust_limits
    >>> robust_limits(np.array([*range(100), 1e6]))
    (0.0, 140.0)
    """
    if y is not None:
        labels, counts = np.unique(y, return_counts=True)
        parts = [values[y == label] for label in labels[counts >= LEAST_ROWS]]
        if parts:
            limits = np.array([robust_limits(part) for part in parts])
            return float(limits[:, 0].min()), float(limits[:, 1].max())
    values = values[np.isfinite(values)]
    if not values.size:
        return -1.0, 1.0
    low, high = np.quantile(values, [0.05, 0.95])
    margin = 0.5 * (high - low) if high > low else np.inf
    least, greatest = max(values.min(), low - margin), min(values.max(), high + margin)
    if not greatest > least:
        return float(least) - 1.0, float(least) + 1.0
    return float(least), float(greatest)


def decision_regions(
    classify: Callable[[np.ndarray], np.ndarray],
    Z: np.ndarray,
    classes: np.ndarray,
    *,
    y: np.ndarray | None = None,
    resolution: int = 200,
) -> Regions:
    """Return the class predicted at each point of a grid around the rows, but for far ones.

    Parameters
    ----------
    classify : callable
        Latent coordinates to labels.
    Z : ndarray of shape (n_rows, 2)
    classes : ndarray of shape (n_classes,)
        Sorted labels; the result holds indices into it.
    y : ndarray of shape (n_rows,), optional
        Labels of the rows, so that the grid reaches around every class.
    resolution : int, default=200
        Points along each side.

    See Also
    --------
    MapDisplay : Draws rows and regions.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.plotting import decision_regions
    >>> Z = np.array([[-1.0, 0.0], [1.0, 2.0]])
    >>> regions = decision_regions(lambda Z: (Z[:, 0] > 0).astype(int), Z, np.array([0, 1]))
    >>> regions.class_index.shape, regions.class_index[0, [0, -1]].tolist()
    ((200, 200), [0, 1])
    """
    sides = []
    for values in Z.T:
        low, high = robust_limits(values, y)
        margin = 0.06 * (high - low)
        sides.append(np.linspace(low - margin, high + margin, resolution))
    x, y = sides
    grid = np.column_stack([a.ravel() for a in np.meshgrid(x, y)]).astype(Z.dtype)
    labels = np.asarray(classify(grid))
    return Regions(x, y, np.searchsorted(classes, labels).reshape(len(y), len(x)))
