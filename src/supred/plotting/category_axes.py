"""A picture of classes, each along its own axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.plotting.drawing import draw_rows
from supred.plotting.latent_model import check_one_class
from supred.plotting.style import EDGE, class_style, legend_beside, new_axes, shown_name, zoom_out


@dataclass(kw_only=True, eq=False, repr=False)
class CategoryAxesDisplay:
    """Classes in the coordinates of their own axes, as the category space has them.

    Two or three classes span the picture. A map of more is the plane in which the class means lie
    furthest apart, with the axis of each class drawn in it.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, 2) or (n_rows, 3)
        Coordinates of the rows in the picture.
    y : ndarray of shape (n_rows,)
        Labels, all among `classes`.
    classes : sequence of labels
    axes : ndarray of shape (n_classes, 2) or (n_classes, 3)
        Where the axis of each class points in the picture.
    wrong : ndarray of shape (n_rows,), optional
        Which rows are misclassified; they are circled.
    title : str, optional

    Attributes
    ----------
    ax_ : matplotlib Axes
        Three-dimensional for three classes.
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
    axes: np.ndarray
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
        """Project rows with a fitted `CategorySpace` and plot its classes.

        Parameters
        ----------
        estimator : fitted CategorySpace, or Pipeline that ends with one
            One latent coordinate for each of ``classes_``.
        X, y : array-like
            Rows and labels; rows of other classes are left out.
        classes : sequence of labels, optional
            Two or three of them, or more for a map; by default all.
        title : str, optional
        ax : matplotlib Axes, optional
            Three-dimensional for three classes.
        """
        if not hasattr(estimator, "transform") or not hasattr(estimator, "predict"):
            raise ValueError(
                f"estimator={type(estimator).__name__} has no axes of classes; give a fitted "
                "CategorySpace, or a pipeline that ends with one."
            )
        Z, predicted = estimator.transform(X), estimator.predict(X)
        for name, labels in {"y": y, "predict(X)": predicted}.items():
            check_one_class(name, labels, len(Z))
        return cls.from_predictions(
            Z=Z,
            y=y,
            y_pred=predicted,
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
        classes : sequence of labels, optional
            Two or three of them, or more for a map; by default all.
        title : str, optional
        ax : matplotlib Axes, optional
            Three-dimensional for three classes.
        """
        Z, y = np.asarray(Z), np.asarray(y)
        if np.ndim(all_classes) != 1:
            raise ValueError(f"all_classes={all_classes!r} is no list; give a label per column.")
        names = np.asarray(all_classes).tolist()
        if Z.ndim != 2 or Z.shape[1] != len(names):
            raise ValueError(
                f"Z must have one column for each of the {len(names)} classes, got shape {Z.shape}."
            )
        check_one_class("y", y, len(Z))
        if y_pred is not None:
            check_one_class("y_pred", y_pred, len(Z))
        if classes is not None and np.ndim(classes) != 1:
            raise ValueError(f"classes={classes!r} must be two or more of {names}.")
        chosen = names if classes is None else list(classes)
        unknown = [label for label in chosen if label not in names]
        if len(set(chosen)) != len(chosen) or len(chosen) < 2 or unknown:
            raise ValueError(f"classes={chosen} must be two or more different ones of {names}.")
        rows = np.isin(y, chosen)
        Z, y_shown = Z[rows][:, [names.index(label) for label in chosen]], y[rows]
        axes = np.eye(len(chosen))
        if len(chosen) > 3:
            axes = plane_of_means(Z, y_shown, chosen)
        return cls(
            Z=Z @ axes,
            y=y_shown,
            classes=chosen,
            axes=axes,
            wrong=None if y_pred is None else (np.asarray(y_pred) != y)[rows],
            title=title,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "CategoryAxesDisplay":
        """Draw the rows and the axes of the classes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Three-dimensional for three classes.
        """
        in_space = self.Z.shape[1] == 3
        ax = new_axes(ax, projection="3d" if in_space else None, size=(7.5, 6.0))
        reach = 1.1 * float(np.abs(self.Z).max(initial=0.0)) or 1.0
        for k, label in enumerate(self.classes):
            tip, color = reach * self.axes[k], class_style(k).color
            if in_space:
                ax.quiver(0, 0, 0, *tip, color=color, lw=2.0, arrow_length_ratio=0.06)
            else:
                arrow = {"arrowstyle": "->", "color": color, "lw": 2.0}
                ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
            ax.text(*(1.06 * tip), shown_name(label), color=EDGE, weight="bold", ha="center")
        draw_rows(ax, list(self.Z.T), self.y, self.classes, wrong=self.wrong)
        if len(self.classes) <= 3:
            labels = [f"axis of {shown_name(label)}" for label in self.classes]
            ax.set(**{f"{axis}label": text for axis, text in zip("xyz", labels, strict=False)})
        if in_space:
            # All three classes' axes point towards the reader.
            ax.view_init(elev=24, azim=38)
            zoom_out(ax)
        if self.title:
            ax.set_title(self.title)
        legend_beside(ax, title="class")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plane_of_means(Z: np.ndarray, y: np.ndarray, classes: Sequence[Any]) -> np.ndarray:
    """Return orthonormal directions of the plane in which the class means lie furthest apart.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_classes)
    y : ndarray of shape (n_rows,)
    classes : sequence of labels

    Returns
    -------
    plane : ndarray of shape (n_classes, 2)
        Coordinates in the plane are ``Z @ plane``; row k is where axis k points in it.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.plotting.category_axes import plane_of_means
    >>> np.abs(plane_of_means(np.diag([0.0, 5.0, 1.0, 9.0]), np.arange(4), range(4))).round(1).T
    array([[0. , 0.2, 0. , 1. ],
           [0. , 1. , 0.1, 0.2]])
    """
    present = [label for label in classes if (y == label).any()]
    if not present:
        return np.eye(len(classes), 2)
    means = np.array([Z[y == label].mean(axis=0) for label in present])
    right = np.linalg.svd(means - means.mean(axis=0))[2][:2]
    # Eigenvectors come with any sign: the largest entry is positive.
    largest = np.abs(right).argmax(axis=1)
    return (right * np.sign(right[np.arange(2), largest])[:, None]).T
