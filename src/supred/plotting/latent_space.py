"""A picture of the latent space."""

from typing import Any

import numpy as np

# Okabe and Ito's colours, told apart by colour-blind readers and in grey; markers help further.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


class LatentSpaceDisplay:
    """Rows in two latent dimensions, coloured by class, misclassified ones circled.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
        Latent coordinates.
    y : ndarray of shape (n_rows,)
        Labels.
    wrong : ndarray of shape (n_rows,), optional
        Which rows are misclassified.
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
    >>> model = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    >>> display = LatentSpaceDisplay.from_estimator(model, X=X, y=y)
    >>> display.ax_.get_xlabel()
    'latent dimension 1'
    """

    def __init__(
        self,
        *,
        Z: np.ndarray,
        y: np.ndarray,
        wrong: np.ndarray | None = None,
        title: str | None = None,
    ) -> None:
        self.Z = Z
        self.y = y
        self.wrong = wrong
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        X: Any,
        y: Any,
        dimensions: tuple[int, int] = (0, 1),
        title: str | None = None,
        ax: Any = None,
    ) -> "LatentSpaceDisplay":
        """Project rows with a fitted estimator and plot them.

        Parameters
        ----------
        estimator : fitted classifier with `transform`
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        dimensions : tuple of two ints, default=(0, 1)
            Which latent dimensions to show; with one latent dimension the second axis is jitter.
        title : str, optional
        ax : matplotlib Axes, optional
        """
        y = np.asarray(y)
        wrong = estimator.predict(X) != y
        return cls(Z=np.asarray(estimator.transform(X)), y=y, wrong=wrong, title=title).plot(
            ax=ax, dimensions=dimensions
        )

    def plot(self, *, ax: Any = None, dimensions: tuple[int, int] = (0, 1)) -> "LatentSpaceDisplay":
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        dimensions : tuple of two ints, default=(0, 1)
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(7.0, 5.5), layout="constrained")
        if self.Z.shape[1] == 1:
            jitter = np.random.RandomState(0).uniform(-1, 1, size=len(self.Z))
            across, up = self.Z[:, 0], jitter
        else:
            across, up = self.Z[:, dimensions[0]], self.Z[:, dimensions[1]]
        # Small and translucent for many rows, so that dense regions show.
        size = float(np.clip(12_000 / max(len(self.y), 1), 3, 30))
        for k, label in enumerate(np.unique(self.y)):
            rows = self.y == label
            ax.scatter(
                across[rows],
                up[rows],
                s=size,
                color=COLORS[k % len(COLORS)],
                marker=MARKERS[(k + k // len(COLORS)) % len(MARKERS)],
                alpha=0.7,
                linewidths=0,
                label=str(label),
            )
        if self.wrong is not None and self.wrong.any():
            ax.scatter(
                across[self.wrong],
                up[self.wrong],
                s=4 * size + 20,
                facecolors="none",
                edgecolors="#444444",
                linewidths=0.9,
                label="misclassified",
            )
        ax.set_xlabel(f"latent dimension {dimensions[0] + 1}")
        if self.Z.shape[1] == 1:
            ax.set_yticks([])
        else:
            ax.set_ylabel(f"latent dimension {dimensions[1] + 1}")
        if self.title:
            ax.set_title(self.title)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(title="class", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
