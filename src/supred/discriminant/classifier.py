"""Kernel Fisher discriminant analysis of several classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky
from sklearn.utils import check_random_state

from supred.base.latent_classifier import LatentClassifier
from supred.base.validation import check_weights
from supred.common.arguments import check_integer, check_real
from supred.discriminant.kernel_fisher import FisherSolution, fisher_of_features, fisher_of_kernel
from supred.numerics.kernel_basis import check_kernel, eigenbasis, kernel_at_landmarks
from supred.rows.blocks import rows_of


class KernelDiscriminantAnalysis(LatentClassifier):
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
        X, self.classes_, codes = self._validate_rows_and_labels(X, y)
        K = len(self.classes_)
        if self.n_components is not None:
            check_integer("n_components", self.n_components, low=1, high=K - 1, why="n_classes - 1")
        weights = check_weights(sample_weight, self.class_weight, codes, self.classes_)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        for name in ("components_", "center_", "dual_coef_", "offset_", "kernel_"):
            self.__dict__.pop(name, None)  # of an earlier fit with another kernel
        if self.kernel == "linear":
            solution = self._fit_linear(X, codes, weights, alpha)
        else:
            solution = self._fit_kernel(X, codes, weights, alpha, seed)
        count = self.n_components or solution.axes.shape[1]
        axes = solution.axes[:, :count]
        self.between_ratio_ = solution.ratios[:count]
        if self.kernel == "linear":
            self.components_ = np.ascontiguousarray(axes.T)
        else:
            self.dual_coef_, self.offset_ = axes, solution.offset[:count]
        self._n_features_out = axes.shape[1]
        self.priors_ = np.bincount(codes, weights=weights) / weights.sum()
        Z = self._project(X).astype(np.float64)
        member = (codes[:, None] == np.arange(K)) * weights[:, None]
        self.class_means_ = member.T @ Z / member.sum(axis=0)[:, None]
        self._orient()
        return self

    def _orient(self) -> None:
        """Turn each axis so that the last of the classes far out on it is on the positive side.

        Eigenvectors come with any sign; this one does not depend on rounding.
        """
        far = np.abs(self.class_means_) > 0.5 * np.abs(self.class_means_).max(axis=0)
        last = len(far) - 1 - np.argmax(far[::-1], axis=0)
        signs = np.where(np.take_along_axis(self.class_means_, last[None], axis=0)[0] < 0, -1, 1)
        self.class_means_ = self.class_means_ * signs
        if self.kernel == "linear":
            self.components_ = self.components_ * signs[:, None]
        else:
            self.dual_coef_, self.offset_ = self.dual_coef_ * signs, self.offset_ * signs

    def _fit_linear(
        self, X: Any, codes: np.ndarray, weights: np.ndarray, alpha: float
    ) -> FisherSolution:
        """Solve in the space of the features, or of the rows where these are fewer."""
        K = len(self.classes_)
        kept = weights > 0
        X, codes, weights = X[kept], codes[kept], weights[kept]
        center = np.asarray(weights @ X).ravel() / weights.sum()
        self.center_ = center
        if X.shape[1] <= X.shape[0]:

            def centred(block: Any) -> np.ndarray:
                return (block.toarray() if sparse.issparse(block) else block) - center

            return fisher_of_features(X, centred, codes, weights, K, alpha, n_dims=X.shape[1])
        # Sparse rows stay where they are: the solver centres their kernel matrix.
        rows = X.astype(np.float64) if sparse.issparse(X) else X - center
        gram = rows @ rows.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        solution = fisher_of_kernel(gram, codes, weights, K, alpha)
        return FisherSolution(rows.T @ solution.axes, solution.offset, solution.ratios)

    def _fit_kernel(
        self, X: Any, codes: np.ndarray, weights: np.ndarray, alpha: float, seed: int
    ) -> FisherSolution:
        """Solve on the kernel matrix of all rows, or on the features that landmarks span."""
        K = len(self.classes_)
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
        self.kernel_ = kernel
        gram = kernel.gram(X)
        kept = weights > 0
        if not kept.all():
            X, codes, weights = X[kept], codes[kept], weights[kept]
        rounding = kernel.rounding(X)
        if kernel.n_landmarks == X.shape[0]:
            if self.kernel != "rbf":  # which can have no negative eigenvalues
                _check_definite(gram, rounding)
            return fisher_of_kernel(gram, codes, weights, K, alpha)
        basis = eigenbasis(gram, rounding=rounding)
        solution = fisher_of_features(
            X,
            lambda block: kernel(block) @ basis,
            codes,
            weights,
            K,
            alpha,
            n_dims=kernel.n_landmarks,
        )
        return FisherSolution(basis @ solution.axes, solution.offset, solution.ratios)

    def _project(self, X: Any) -> np.ndarray:
        if self.kernel != "linear":
            kernel = self.kernel_
            rows = rows_of(X, kernel.n_landmarks)
            result = rows.map(lambda block: kernel(block) @ self.dual_coef_) - self.offset_
        elif sparse.issparse(X):
            result = X @ self.components_.T - self.components_ @ self.center_
        else:
            result = rows_of(X).map(lambda block: (block - self.center_) @ self.components_.T)
        return result.astype(X.dtype, copy=False)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        """Return -1/2 ||z - m_k||^2 + log prior_k, less the part that all classes share."""
        means = self.class_means_
        scores = Z @ means.T - 0.5 * np.sum(means**2, axis=1) + np.log(self.priors_)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _model_arrays(self) -> list[np.ndarray]:
        if self.kernel == "linear":
            return [self.components_, self.center_, self.class_means_, self.priors_]
        kept = [self.dual_coef_, self.offset_, self.class_means_, self.priors_]
        return [*kept, *self.kernel_.arrays()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _check_definite(gram: np.ndarray, rounding: float) -> None:
    """Raise a ValueError if the kernel matrix has negative eigenvalues beyond rounding."""
    lifted = gram + 1e-8 * np.trace(gram) * np.eye(len(gram))
    try:
        cholesky(lifted, lower=True, overwrite_a=True)
    except LinAlgError:
        eigenbasis(gram, rounding=rounding)
