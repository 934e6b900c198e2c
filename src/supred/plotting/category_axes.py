"""A picture of three classes, each along its own axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.plotting.drawing import draw_rows
from supred.plotting.style import EDGE, class_style, legend_beside, new_axes, shown_name, zoom_out


@dataclass(kw_only=True, eq=False, repr=False)
class CategoryAxesDisplay:
    """Three classes in the coordinates of their own axes, as the category space has them.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, 3)
        Coordinates of the rows along the axes of the three classes.
    y : ndarray of shape (n_rows,)
        Labels, all among `classes`.
    classes : sequence of three labels
    wrong : ndarray of shape (n_rows,), optional
        Which rows are misclassified; they are circled.
    title : str, optional

    Attributes
    ----------
    ax_ : matplotlib Axes
        Three-dimensional.
    figure_ : matplotlib Figure

    See Also
    --------
    supred.CategorySpace : The estimator that has such axes.
    MapDisplay : Any estimator with two latent dimensions.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from supred import CategorySpace
    >>> from supred.plotting import CategoryAxesDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CategorySpace(kernel="linear", random_state=0).fit(X, y)
    >>> display = CategoryAxesDisplay.from_estimator(model, X=X, y=y)
    >>> display.ax_.get_zlabel()
    'axis of 2'
    """

    Z: np.ndarray
    y: np.ndarray
    classes: Sequence[Any]
    wrong: np.ndarray | None = None
    title: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        X: Any,
        y: Any,
        classes: Sequence[Any] | None = None,
        title: str | None = None,
        ax: Any = None,
    ) -> "CategoryAxesDisplay":
        """Project rows with a fitted `CategorySpace` and plot three of its classes.

        Parameters
        ----------
        estimator : fitted CategorySpace, or Pipeline that ends with one
            One latent coordinate for each of ``classes_``.
        X, y : array-like
            Rows and labels; rows of other classes are left out.
        classes : sequence of three labels, optional
            By default the first three.
        title : str, optional
        ax : three-dimensional matplotlib Axes, optional
        """
        return cls.from_predictions(
            Z=estimator.transform(X),
            y=y,
            y_pred=estimator.predict(X),
            all_classes=estimator.classes_,
            classes=classes,
            title=title,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        *,
        Z: Any,
        y: Any,
        all_classes: Any,
        y_pred: Any = None,
        classes: Sequence[Any] | None = None,
        title: str | None = None,
        ax: Any = None,
    ) -> "CategoryAxesDisplay":
        """Plot coordinates that are at hand.

        Parameters
        ----------
        Z : array-like of shape (n_rows, n_classes)
            One coordinate per class.
        y : array-like of shape (n_rows,)
        all_classes : array-like of shape (n_classes,)
            The class of each column of `Z`.
        y_pred : array-like of shape (n_rows,), optional
        classes : sequence of three labels, optional
            By default the first three.
        title : str, optional
        ax : three-dimensional matplotlib Axes, optional
        """
        Z, y = np.asarray(Z), np.asarray(y)
        names = np.asarray(all_classes).tolist()
        if Z.ndim != 2 or Z.shape[1] != len(names):
            raise ValueError(
                f"Z must have one column for each of the {len(names)} classes, got shape {Z.shape}."
            )
        chosen = names[:3] if classes is None else list(classes)
        unknown = [label for label in chosen if label not in names]
        if len(set(chosen)) != 3 or unknown:
            raise ValueError(f"classes={chosen} must be three different ones of {names}.")
        rows = np.isin(y, chosen)
        return cls(
            Z=Z[rows][:, [names.index(label) for label in chosen]],
            y=y[rows],
            classes=chosen,
            wrong=None if y_pred is None else (np.asarray(y_pred) != y)[rows],
            title=title,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "CategoryAxesDisplay":
        """Draw the rows and the axes of the classes.

        Parameters
        ----------
        ax : three-dimensional matplotlib Axes, optional
        """
        ax = new_axes(ax, projection="3d", size=(7.5, 6.0))
        if ax.name != "3d":
            raise ValueError("ax must be three-dimensional; make it with projection='3d'.")
        reach = 1.1 * float(np.abs(self.Z).max()) if len(self.Z) else 1.0
        for k, label in enumerate(self.classes):
            tip = reach * np.eye(3)[k]
            ax.quiver(0, 0, 0, *tip, color=class_style(k).color, lw=2.0, arrow_length_ratio=0.06)
            ax.text(*(1.06 * tip), shown_name(label), color=EDGE, weight="bold", ha="center")
        draw_rows(ax, list(self.Z.T), self.y, self.classes, wrong=self.wrong)
        ax.set(
            **{
                f"{axis}label": f"axis of {shown_name(label)}"
                for axis, label in zip("xyz", self.classes, strict=True)
            }
        )
        # All three classes' axes point towards the reader.
        ax.view_init(elev=24, azim=38)
        zoom_out(ax)
        if self.title:
            ax.set_title(self.title)
        legend_beside(ax, title="class")
        self.ax_, self.figure_ = ax, ax.figure
        return self
