"""Kernel Fisher discriminant analysis of several classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from supred.base.all_or_nothing import all_or_nothing
from supred.base.mapped_classifier import MappedClassifier
from supred.base.state import register
from supred.base.validation import check_weights
from supred.common.arguments import check_integer, check_real, is_auto, random_generator
from supred.common.arrays import on_host, place_of
from supred.discriminant.directions import Discriminant, Problem, discriminate
from supred.numerics.class_scatter import members_of
from supred.numerics.gaussian_classes import GaussianClasses
from supred.numerics.kernel_basis import check_kernel, kernel_at_landmarks
from supred.numerics.kernel_choice import KernelChoice, choose_kernel

register(GaussianClasses)


class KernelDiscriminantAnalysis(MappedClassifier):
    """Linear discriminant analysis in the feature space of a kernel.

    `transform` gives the K - 1 directions in which the classes lie furthest apart relative to
    their spread. `predict` and `predict_proba` take the classes there as Gaussians with one
    covariance, as linear discriminant analysis does. Solved by regression on the class means:
    one Cholesky factorisation of the kernel matrix, or with landmarks (Nystroem) one pass over
    the rows. Width and ridge are chosen by closed-form leave-one-out.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions; None means as many as there are, at most ``n_classes - 1``.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two sets of rows and returns the matrix of their kernel.
    gamma : "auto", "scale" or float, default="auto"
        Width of the "rbf" and factor of the "poly" kernel; "scale" is one over twice
        the total variance of the features, "auto" a multiple of that chosen by leave-one-out
        ("rbf"; "scale" with "poly").
    degree, coef0 : float, default=3 and 1
        Of the "poly" kernel, ``(gamma x.y + coef0) ** degree``.
    alpha : "auto" or float, default="auto"
        Ridge on the covariance within the classes, in units of the total variance; above zero.
        "auto" chooses it by leave-one-out.
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
    gaussians_ : GaussianClasses
        What new rows are compared with: means, covariance and priors of the classes, measured
        on coordinates that each row has when it is left out.
    priors_ : ndarray of shape (n_classes,)
        Share of the weight that each class has.
    gamma_ : float
        Width that was used (kernels "rbf" and "poly").
    alpha_ : float
        Ridge that was used.
    between_ratio_ : ndarray of shape (n_components,)
        Share of the (regularised) spread along each direction that lies between the classes.

    See Also
    --------
    CategorySpace : One axis per class instead.
    RBFNetClassifier : Smaller, and for large tables.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf and K.-R. Mueller, "Fisher discriminant analysis
    with kernels", 1999.

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
        "gaussians_",
        "alpha_",
        "between_ratio_",
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[[Any, Any], np.ndarray] = "rbf",
        gamma: float | str = "auto",
        degree: float = 3,
        coef0: float = 1.0,
        alpha: float | str = "auto",
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

    @all_or_nothing
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
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0, self.n_landmarks)
        seed = int(random_generator(self.random_state).randint(2**31 - 1))
        if not is_auto(self.alpha):
            check_real("alpha", self.alpha, low=0, low_inclusive=False, high_inclusive=False)
        X, classes, class_index = self._validate_rows_and_labels(X, y)
        K = len(classes)
        if self.n_components is not None:
            check_integer("n_components", self.n_components, low=1, high=K - 1, why="n_classes - 1")
        weights = check_weights(sample_weight, self.class_weight, class_index, classes)
        problem = Problem(X, class_index, weights, K)
        shape: dict[str, Any] = {"degree": self.degree, "coef0": self.coef0}
        chosen = choose_kernel(
            X,
            members_of(class_index, K),
            weights,
            self.kernel,
            gamma=self.gamma,
            alpha=self.alpha,
            **shape,
        )
        kernel = None
        if self.kernel != "linear":
            kernel = kernel_at_landmarks(
                X,
                weights,
                self.kernel,
                gamma=chosen.gamma,
                n_landmarks=self.n_landmarks,
                seed=seed,
                **shape,
            )
        found = discriminate(problem, kernel, chosen.alpha, self.n_components)
        self._keep(classes, chosen, found)
        return self

    def _keep(self, classes: np.ndarray, chosen: KernelChoice, found: Discriminant) -> None:
        """Copy what was found into the estimator."""
        self.classes_ = classes
        self._map = found.map
        self._n_features_out = found.map.n_components
        self.alpha_ = chosen.alpha
        self.class_means_ = found.class_means
        self.gaussians_ = found.classes
        self.between_ratio_ = found.between_ratio
        self.check_finite()

    @property
    def gamma_(self) -> float:
        """Width of the kernel that was used."""
        return self.kernel_.gamma

    @property
    def priors_(self) -> np.ndarray:
        """Share of the weight that each class has."""
        return self.gaussians_.priors

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        return self._answer(X, "_probabilities")

    def _probabilities(self, Z: np.ndarray) -> np.ndarray:
        return place_of(Z).put(softmax(self.gaussians_.scores(on_host(Z)), axis=1))

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        """Return the logarithm of each class's density times its prior, up to a constant."""
        scores = place_of(Z).put(self.gaussians_.scores(on_host(Z)))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _model_arrays(self) -> list[np.ndarray]:
        return [*self._map.arrays(), *self.gaussians_.arrays()]
