"""A picture of the latent space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.plotting.drawing import check_mask, draw_regions, draw_rows
from supred.plotting.latent_model import Regions, check_one_class, place_rows
from supred.plotting.style import EDGE, legend_beside, new_axes, plain, shown_name, zoom_out

# Above this number of classes each name is also written at its rows: no legend is read so far.
WRITTEN_CLASSES = 12


@dataclass(kw_only=True, eq=False, repr=False)
class LatentSpaceDisplay:
    """Rows in one to three latent dimensions, with colour and marker of their class.

    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
        Latent coordinates.
    y : ndarray of shape (n_rows,)
        Labels.
    wrong : ndarray of shape (n_rows,), optional
        Which rows are misclassified; they are circled.
    held_out : ndarray of shape (n_rows,), optional
        Which rows were not used in training; they are drawn full, the training rows pale.
    regions : Regions, optional
        Predicted class over a grid; drawn where both latent dimensions are shown.
    classes : ndarray of shape (n_classes,), optional
        All classes, sorted; by default those of `y`.
    title : str, optional

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    MapDisplay : Two dimensions with the names of the classes.
    decision_regions : The regions alone.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.plotting import LatentSpaceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LowDimSVC(n_centers=20, random_state=0).fit(X[::2], y[::2])
    >>> display = LatentSpaceDisplay.from_estimator(model, X=X[1::2], y=y[1::2])
    >>> display.ax_.get_xlabel()
    'latent dimension 1'
    """

    Z: np.ndarray
    y: np.ndarray
    wrong: np.ndarray | None = None
    held_out: np.ndarray | None = None
    regions: Regions | None = None
    classes: np.ndarray | None = None
    title: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        X: Any,
        y: Any,
        held_out: Any = None,
        dimensions: Sequence[int] | None = None,
        regions: bool = True,
        title: str | None = None,
        ax: Any = None,
    ) -> "LatentSpaceDisplay":
        """Project rows with a fitted estimator and plot them.

        Parameters
        ----------
        estimator : fitted classifier with `transform`, or Pipeline
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        held_out : array-like of bool of shape (n_rows,), optional
            Which rows were not used in training.
        dimensions : sequence of one to three ints, optional
            Which latent dimensions to show, by default the first two. With one, the second axis
            is jitter; three give three-dimensional axes.
        regions : bool, default=True
            Shade the predicted class where the latent space has two dimensions and the
            estimator can classify latent coordinates.
        title : str, optional
        ax : matplotlib Axes, optional
        """
        y = np.asarray(y)
        found = place_rows(estimator, X, y, regions=regions)
        return cls(
            Z=found.Z,
            y=y,
            wrong=None if found.predicted is None else found.predicted != y,
            held_out=check_mask(held_out, len(y)),
            regions=found.regions,
            classes=found.classes,
            title=title,
        ).plot(ax=ax, dimensions=dimensions)

    @classmethod
    def from_predictions(
        cls,
        *,
        Z: Any,
        y: Any,
        y_pred: Any = None,
        held_out: Any = None,
        dimensions: Sequence[int] | None = None,
        title: str | None = None,
        ax: Any = None,
    ) -> "LatentSpaceDisplay":
        """Plot latent coordinates that are at hand.

        Parameters
        ----------
        Z : array-like of shape (n_rows, n_components)
        y : array-like of shape (n_rows,)
            True labels.
        y_pred : array-like of shape (n_rows,), optional
            Predicted labels; rows where they differ are circled.
        held_out : array-like of bool of shape (n_rows,), optional
            Which rows were not used in training.
        dimensions : sequence of one to three ints, optional
        title : str, optional
        ax : matplotlib Axes, optional
        """
        Z, y = np.asarray(Z), np.asarray(y)
        if Z.ndim != 2 or len(Z) != len(y):
            raise ValueError(
                f"Z has shape {Z.shape} and y {len(y)} labels; Z must be (n_rows, n_components) "
                "with one row for each label."
            )
        check_one_class("y", y, len(Z))
        if y_pred is not None:
            check_one_class("y_pred", y_pred, len(Z))
        wrong = None if y_pred is None else np.asarray(y_pred) != y
        return cls(Z=Z, y=y, wrong=wrong, held_out=check_mask(held_out, len(y)), title=title).plot(
            ax=ax, dimensions=dimensions
        )

    def plot(
        self, *, ax: Any = None, dimensions: Sequence[int] | None = None
    ) -> "LatentSpaceDisplay":
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Three-dimensional if three dimensions are shown.
        dimensions : sequence of one to three ints, optional
            Which latent dimensions to show, by default the first two.
        """
        shown = self._check_dimensions(dimensions)
        deep = len(shown) == 3
        size = (8.0, 6.0) if deep else (7.0, 5.5)
        ax = new_axes(ax, projection="3d" if deep else None, size=size)
        coordinates = [self.Z[:, d] for d in shown]
        if len(shown) == 1:
            coordinates.append(np.random.RandomState(0).uniform(-1, 1, size=len(self.Z)))
        classes = np.unique(self.y) if self.classes is None else np.asarray(self.classes)
        if self.regions is not None and list(shown) == [0, 1]:
            draw_regions(ax, self.regions, len(classes))
        draw_rows(ax, coordinates, self.y, classes, held_out=self.held_out, wrong=self.wrong)
        if len(classes) > WRITTEN_CLASSES:
            _write_classes(ax, coordinates, self.y, classes)
        self._label(ax, shown)
        legend_beside(ax, title="class")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _check_dimensions(self, dimensions: Sequence[int] | None) -> tuple[int, ...]:
        n_components = self.Z.shape[1]
        if dimensions is None or n_components == 1:
            return tuple(range(min(2, n_components)))
        shown = dimensions if isinstance(dimensions, Sequence | np.ndarray) else ()
        if not 1 <= len(shown) <= 3 or not all(
            isinstance(d, int | np.integer) and 0 <= d < n_components for d in shown
        ):
            raise ValueError(
                f"dimensions={dimensions!r} must be a list of one to three of the {n_components} "
                "latent dimensions, counted from 0."
            )
        return tuple(shown)

    def _label(self, ax: Any, shown: tuple[int, ...]) -> None:
        for axis, d in zip("xyz", shown, strict=False):
            ax.set(**{f"{axis}label": f"latent dimension {d + 1}"})
        if len(shown) == 1:
            ax.set_yticks([])
        if len(shown) == 3:
            zoom_out(ax)
        else:
            plain(ax)
        if self.title:
            ax.set_title(self.title)


def _write_classes(
    ax: Any, coordinates: list[np.ndarray], y: np.ndarray, classes: np.ndarray
) -> None:
    """Write each class's name at the median of its rows."""
    for label in classes:
        rows = y == label
        if rows.any():
            ax.text(
                *(float(np.median(values[rows])) for values in coordinates),
                shown_name(label),
                fontsize="small",
                ha="center",
                va="center",
                zorder=5,
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": EDGE, "alpha": 0.75},
            )
