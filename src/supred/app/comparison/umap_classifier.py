"""Supervised UMAP with nearest neighbours in its coordinates, where umap-learn is installed."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier


class UmapClassifier(ClassifierMixin, BaseEstimator):
    """UMAP given the labels, then the nearest neighbours among the embedded training rows.

    Parameters
    ----------
    n_components : int, default=2
    n_neighbors : int, default=15
    random_state : int, optional
    """

    def __init__(
        self, n_components: int = 2, *, n_neighbors: int = 15, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "UmapClassifier":
        """Embed the rows by features and labels, and keep the neighbours.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        """
        from umap import UMAP

        self.classes_, codes = np.unique(y, return_inverse=True)
        self.umap_ = UMAP(
            n_components=self.n_components,
            n_neighbors=min(self.n_neighbors, X.shape[0] - 1),
            random_state=self.random_state,
            n_jobs=1,
        )
        Z = self.umap_.fit_transform(X, codes)
        self.n_rows_ = X.shape[0]
        self.rows_ = X
        self.classifier_ = KNeighborsClassifier(min(3, X.shape[0])).fit(Z, y)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of new rows."""
        return np.asarray(self.umap_.transform(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row."""
        return self.classifier_.predict(self.transform(X))

    def kept_arrays(self) -> list[np.ndarray]:
        """Return what prediction needs: the training rows and where they were put."""
        return [self.rows_, self.umap_.embedding_]
