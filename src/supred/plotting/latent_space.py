"""A picture of the latent space."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from supred.plotting.latent_model import Regions, decision_regions, take_apart
from supred.plotting.style import (
    COLORS,
    EDGE,
    class_style,
    legend_beside,
    marker_size,
    new_axes,
    plain,
    shown_name,
    zoom_out,
)

# Above this number of classes each name is also written at its rows: no legend is read so far.
WRITTEN_CLASSES = 12
# Above this number of rows a vector file holds the rows as a bitmap.
BITMAP_ROWS = 5_000


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

    def __init__(
        self,
        *,
        Z: np.ndarray,
        y: np.ndarray,
        wrong: np.ndarray | None = None,
        held_out: np.ndarray | None = None,
        regions: Regions | None = None,
        classes: np.ndarray | None = None,
        title: str | None = None,
    ) -> None:
        self.Z = Z
        self.y = y
        self.wrong = wrong
        self.held_out = held_out
        self.regions = regions
        self.classes = classes
        self.title = title

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
        project, classify = take_apart(estimator)
        Z = np.asarray(project(X))
        predicted = np.asarray(estimator.predict(X)) if hasattr(estimator, "predict") else None
        classes = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        shaded = None
        # A shade that disagrees with `predict` would be a lie: compare them on the rows.
        if (
            regions
            and Z.shape[1] == 2
            and classify is not None
            and predicted is not None
            and np.array_equal(classify(Z), predicted)
        ):
            shaded = decision_regions(classify, Z, classes)
        return cls(
            Z=Z,
            y=y,
            wrong=None if predicted is None else predicted != y,
            held_out=check_mask(held_out, len(y)),
            regions=shaded,
            classes=np.union1d(classes, y) if shaded is None else classes,
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
        if deep and ax.name != "3d":
            raise ValueError(
                f"dimensions={shown} needs three-dimensional axes; make ax with projection='3d'."
            )
        coordinates = [self.Z[:, d] for d in shown]
        if len(shown) == 1:
            coordinates.append(np.random.RandomState(0).uniform(-1, 1, size=len(self.Z)))
        classes = np.unique(self.y) if self.classes is None else np.asarray(self.classes)
        if self.regions is not None and list(shown) == [0, 1]:
            draw_regions(ax, self.regions, len(classes))
        self._draw_rows(ax, coordinates, classes)
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
        shown = tuple(dimensions)
        if not 1 <= len(shown) <= 3 or not all(0 <= d < n_components for d in shown):
            raise ValueError(
                f"dimensions={shown} must name one to three of the {n_components} latent "
                f"dimensions, counted from 0."
            )
        return shown

    def _draw_rows(self, ax: Any, coordinates: list[np.ndarray], classes: np.ndarray) -> None:
        size = marker_size(len(self.y))
        bitmap = len(self.y) > BITMAP_ROWS
        training = None if self.held_out is None else ~self.held_out
        for k, label in enumerate(classes):
            color, marker = class_style(k)
            of_class = self.y == label
            if training is not None:
                scatter_rows(
                    ax,
                    coordinates,
                    of_class & training,
                    0.7 * size,
                    color,
                    marker,
                    bitmap,
                    alpha=0.3,
                    linewidths=0,
                )
                of_class = of_class & ~training
            scatter_rows(
                ax,
                coordinates,
                of_class,
                size,
                color,
                marker,
                bitmap,
                alpha=0.8,
                label=shown_name(label),
                edgecolors=EDGE,
                linewidths=0.3 if size > 4 else 0.0,
            )
        if training is not None:
            for name, alpha in (("training row", 0.3), ("held-out row", 0.8)):
                ax.scatter([], [], s=30, color=COLORS[6], alpha=alpha, linewidths=0, label=name)
        if self.wrong is not None and self.wrong.any():
            scatter_rows(
                ax,
                coordinates,
                self.wrong,
                4 * size + 12,
                "none",
                "o",
                bitmap,
                edgecolors=EDGE,
                linewidths=0.9,
                label="misclassified",
            )

    def _label(self, ax: Any, shown: tuple[int, ...]) -> None:
        names = [f"latent dimension {d + 1}" for d in shown]
        ax.set_xlabel(names[0])
        if len(shown) == 1:
            ax.set_yticks([])
        else:
            ax.set_ylabel(names[1])
        if len(shown) == 3:
            ax.set_zlabel(names[2])
            zoom_out(ax)
        else:
            plain(ax)
        if self.title:
            ax.set_title(self.title)


def check_mask(held_out: Any, n_rows: int) -> np.ndarray | None:
    """Return which rows were held out, or raise a ValueError."""
    if held_out is None:
        return None
    mask = np.asarray(held_out)
    if mask.dtype != bool or mask.shape != (n_rows,):
        raise ValueError(
            f"held_out must hold True or False for each of the {n_rows} rows, "
            f"got {mask.dtype} of shape {mask.shape}."
        )
    return mask


def scatter_rows(
    ax: Any,
    coordinates: list[np.ndarray],
    rows: np.ndarray,
    size: float,
    color: str,
    marker: str,
    bitmap: bool,
    **options: Any,
) -> None:
    """Draw some rows as markers."""
    ax.scatter(
        *(values[rows] for values in coordinates),
        s=size,
        facecolors=color,
        marker=marker,
        rasterized=bitmap,
        **options,
    )


def draw_regions(ax: Any, regions: Regions, n_classes: int) -> None:
    """Shade the predicted classes, with a line where they meet (for readers in grey)."""
    from matplotlib.colors import ListedColormap

    tints = ListedColormap([class_style(k).color for k in range(n_classes)])
    ax.pcolormesh(
        regions.x,
        regions.y,
        regions.class_index,
        cmap=tints,
        vmin=-0.5,
        vmax=n_classes - 0.5,
        alpha=0.18,
        shading="nearest",
        rasterized=True,
        zorder=0,
    )
    for k in np.unique(regions.class_index)[:-1]:
        ax.contour(
            regions.x,
            regions.y,
            (regions.class_index == k).astype(float),
            levels=[0.5],
            colors=EDGE,
            linewidths=0.4,
            zorder=0.5,
        )


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
