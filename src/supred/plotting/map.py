"""The map of the classes as a picture for a paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.plotting.drawing import (
    check_mask,
    class_places,
    draw_regions,
    draw_rows,
    write_names,
)
from supred.plotting.latent_model import Regions, place_rows, robust_limits, take_apart
from supred.plotting.style import EDGE, class_style, new_axes

NEW_MARKER = "*"


@dataclass(kw_only=True, eq=False, repr=False)
class MapDisplay:
    """Rows in two dimensions with the regions and the names of the classes.

    Limits follow nearly all rows; the few far ones are triangles at the border. Use
    `from_estimator` to make one.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, 2)
    y : ndarray of shape (n_rows,)
        Labels.
    classes : sequence of labels
        All classes, sorted.
    regions : Regions, optional
    held_out : ndarray of bool of shape (n_rows,), optional
        Which rows were not used in training; the others are drawn faint.
    error : float, optional
        Share of the held-out rows that the map's own classifier misclassifies; written below.
    Z_new : ndarray of shape (n_new_rows, 2), optional
        New rows, drawn as stars.
    title : str, optional

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    names_ : list of matplotlib Text
        The names that found room.

    See Also
    --------
    LatentSpaceDisplay : One to three dimensions, errors circled.
    supred.RBFNetClassifier : With ``n_components=2``, the maker of maps.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.plotting import MapDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> held_out = np.arange(len(y)) % 3 == 0
    >>> network = LowDimSVC(2, n_centers=20, random_state=0).fit(X[~held_out], y[~held_out])
    >>> display = MapDisplay.from_estimator(network, X=X, y=y, held_out=held_out)
    >>> sorted(name.get_text() for name in display.names_)
    ['0', '1', '2']
    """

    Z: np.ndarray
    y: np.ndarray
    classes: Sequence[Any]
    regions: Regions | None = None
    held_out: np.ndarray | None = None
    error: float | None = None
    Z_new: np.ndarray | None = None
    title: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        X: Any,
        y: Any,
        held_out: Any = None,
        X_new: Any = None,
        title: str | None = None,
        ax: Any = None,
    ) -> "MapDisplay":
        """Place rows with a fitted estimator of two latent dimensions and draw them.

        Parameters
        ----------
        estimator : fitted classifier with `transform`, or Pipeline
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        held_out : array-like of bool of shape (n_rows,), optional
            Which rows were not used in training; all by default. The error is theirs.
        X_new : array-like of shape (n_new_rows, n_features), optional
            Rows without labels, drawn as stars.
        title : str, optional
        ax : matplotlib Axes, optional
        """
        y = np.asarray(y)
        found = place_rows(estimator, X, y)
        if found.Z.shape[1] != 2:
            raise ValueError(
                f"estimator={type(estimator).__name__} has {found.Z.shape[1]} latent dimensions; "
                "a map needs n_components=2."
            )
        held = check_mask(held_out, len(y))
        shown = slice(None) if held is None else held
        error = None
        if found.predicted is not None and np.size(y[shown]):
            error = float(np.mean(found.predicted[shown] != y[shown]))
        return cls(
            Z=found.Z,
            y=y,
            classes=found.classes.tolist(),
            regions=found.regions,
            held_out=held,
            error=error,
            Z_new=None if X_new is None else np.asarray(take_apart(estimator).project(X_new)),
            title=title,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "MapDisplay":
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        ax = new_axes(ax, size=(6.5, 5.5))
        classes = list(self.classes)
        limits = np.array([robust_limits(values, self.y) for values in self.Z.T])  # (2, 2)
        margin = 0.05 * (limits[:, 1] - limits[:, 0])
        low, high = limits[:, 0] - margin, limits[:, 1] + margin
        if self.regions is not None:
            draw_regions(ax, self.regions, len(classes))
        inside = ((low <= self.Z) & (high >= self.Z)).all(axis=1)
        held = np.ones(len(self.y), dtype=bool) if self.held_out is None else self.held_out
        held_inside = None if self.held_out is None else held[inside]
        draw_rows(ax, list(self.Z[inside].T), self.y[inside], classes, held_out=held_inside)
        self._draw_far(ax, classes, inside, low, high)
        if self.Z_new is not None:
            place = np.clip(self.Z_new, low + margin / 4, high - margin / 4)
            ax.scatter(*place.T, s=90, marker=NEW_MARKER, c="white", edgecolors="black", zorder=5)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
        if self.error is not None:
            rows = "held-out rows" if self.held_out is not None else "rows"
            ax.set_xlabel(f"error of the map on {held.sum():,} {rows}: {100 * self.error:.1f} %")
        if self.title:
            ax.set_title(self.title)
        shown = held & inside if (held & inside).any() else inside
        places = class_places(self.Z[shown], self.y[shown], classes)
        self.names_ = write_names(ax, places, classes)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_far(
        self,
        ax: Any,
        classes: list[Any],
        inside: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
    ) -> None:
        """Draw rows beyond the limits as triangles at the border that point to them."""
        step = 0.012 * (high - low)
        for row in np.flatnonzero(~inside & np.isfinite(self.Z).all(axis=1)):
            place = np.clip(self.Z[row], low + step, high - step)
            beyond = np.sign(self.Z[row] - place)
            angle = float(np.degrees(np.arctan2(beyond[1], beyond[0]))) - 90
            color = class_style(classes.index(self.y[row])).color
            ax.plot(
                *place, marker=(3, 0, angle), ms=6, mfc=color, mec=EDGE, mew=0.5, ls="none",
                zorder=4,
            )  # fmt: skip
