"""Kernel Fisher discriminant analysis of several classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from supred.base.mapped_classifier import MappedClassifier
from supred.base.validation import check_weights
from supred.common.arguments import check_integer, check_real
from supred.discriminant.directions import Discriminant, Problem, discriminate
from supred.numerics.kernel_basis import check_kernel, kernel_at_landmarks


class KernelDiscriminantAnalysis(MappedClassifier):
    """Linear discriminant analysis in the feature space of a kernel.

    `transform` gives the K - 1 directions in which the classes lie furthest apart relative to
    their spread, `predict` the class of the nearest class mean there, as linear discriminant
    analysis does. Solved by regression on the class means: one Cholesky factorisation of the
    kernel matrix, or with landmarks (Nystroem) one pass over the rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions; None means as many as there are, at most ``n_classes - 1``.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two sets of rows and returns the matrix of their kernel.
    gamma : "scale" or float, default="scale"
        Width of the "rbf" and factor of the "poly" kernel; "scale" is one over twice
        the total variance of the features.
    degree, coef0 : float, default=3 and 1
        Of the "poly" kernel, ``(gamma x.y + coef0) ** degree``.
    alpha : float, default=1e-3
        Ridge on the covariance within the classes, in units of the total variance; above zero.
    n_landmarks : int, "auto" or None, default="auto"
        Rows that span the kernel's features; None means all. "auto" takes all distinct rows up
        to 2000, else 1000 at random. Not used by the linear kernel.
    class_weight : None, "balanced" or dict, default=None
        Factor of each class's sample weights.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_landmarks, n_components)
        ``transform`` is the kernel to the landmarks times this, minus ``offset_``.
    offset_ : ndarray of shape (n_components,)
    components_ : ndarray of shape (n_components, n_features)
        Linear kernel: ``transform`` is ``(X - center_) @ components_.T``.
    center_ : ndarray of shape (n_features,)
        Linear kernel: mean of all rows.
    class_means_ : ndarray of shape (n_classes, n_components)
        Mean of each class in the coordinates of `transform`.
    priors_ : ndarray of shape (n_classes,)
        Share of the weight that each class has.
    between_ratio_ : ndarray of shape (n_components,)
        Share of the (regularised) spread along each direction that lies between the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import KernelDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDiscriminantAnalysis(random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _fitted_attributes = (
        *MappedClassifier._fitted_attributes,
        "class_means_",
        "priors_",
        "between_ratio_",
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[[Any, Any], np.ndarray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        alpha: float = 1e-3,
        n_landmarks: int | str | None = "auto",
        class_weight: str | dict[Any, float] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.n_landmarks = n_landmarks
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelDiscriminantAnalysis":
        """Find the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Rows, or with ``kernel="precomputed"`` their kernel matrix (n_rows, n_rows).
        y : array-like of shape (n_rows,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_rows,), optional
            A whole-number weight k is the same as k copies of the row.

        Returns
        -------
        self
        """
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        alpha = check_real("alpha", self.alpha, low=0, low_inclusive=False, high_inclusive=False)
        X, classes, class_index = self._validate_rows_and_labels(X, y)
        K = len(classes)
        if self.n_components is not None:
            check_integer("n_components", self.n_components, low=1, high=K - 1, why="n_classes - 1")
        weights = check_weights(sample_weight, self.class_weight, class_index, classes)
        problem = Problem(X, class_index, weights, K)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        kernel = None
        if self.kernel != "linear":
            kernel = kernel_at_landmarks(
                X,
                weights,
                self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                n_landmarks=self.n_landmarks,
                seed=seed,
            )
        self._keep(classes, discriminate(problem, kernel, alpha, self.n_components))
        return self

    def _keep(self, classes: np.ndarray, found: Discriminant) -> None:
        """Copy what was found into the estimator."""
        self.classes_ = classes
        self._map = found.map
        self._n_features_out = found.map.n_components
        self.class_means_ = found.class_means
        self.priors_ = found.priors
        self.between_ratio_ = found.between_ratio

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        """Return -1/2 ||z - m_k||^2 + log prior_k, less the part that all classes share."""
        means = self.class_means_
        scores = Z @ means.T - 0.5 * np.sum(means**2, axis=1) + np.log(self.priors_)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _model_arrays(self) -> list[np.ndarray]:
        return [*self._map.arrays(), self.class_means_, self.priors_]
