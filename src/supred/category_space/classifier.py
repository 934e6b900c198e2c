"""Category space: one orthonormal axis per class."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from supred.base.mapped_classifier import MappedClassifier
from supred.base.state import register
from supred.base.validation import check_weights
from supred.category_space.ascent import AscentOptions, CategorySolution, solve
from supred.category_space.certificate import Certificate, certify
from supred.category_space.problem import (
    ORIGINS,
    CategoryProblem,
    check_spread,
    kernel_problem,
    linear_problem,
    orient,
)
from supred.common.arguments import check_choice, check_integer, check_real
from supred.common.labels import encode_labels
from supred.numerics.class_scatter import members_of
from supred.numerics.kernel_basis import LandmarkKernel, check_kernel, kernel_at_landmarks
from supred.numerics.latent_maps import KernelMap

register(Certificate)


def _is_linear(estimator: "CategorySpace") -> bool:
    if estimator.kernel != "linear":
        raise AttributeError(
            f"inverse_transform needs kernel='linear', got kernel={estimator.kernel!r}: "
            "what a kernel's features look like in the space of the rows is not known."
        )
    return True


class CategorySpace(MappedClassifier):
    """One orthonormal axis per class, along which that class spreads most.

    `transform` gives one coordinate per class, `predict` the class whose axis makes the smallest
    angle with the row. The axes W maximise a criterion over W^T W = I; with the squared
    criterion `certificate` can often prove that no other axes are better.

    The angles of `predict` need no training and are a weak rule: a linear SVM on the coordinates
    of `transform` is nearly always better (iris as it comes: 0.78 by the angles). Use this class
    as a transformer in a pipeline where accuracy counts.

    Parameters
    ----------
    criterion : {"squared", "absolute"}, default="squared"
        Sum of squares or of absolute values of the projections of each class on its own axis.
        The absolute one weighs far rows less.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Linear axes need at least as many features as classes. A callable takes two sets of rows
        and returns the matrix of their kernel.
    origin : {"auto", "global", "class", "zero"}, default="auto"
        The point from which the spread of a class is measured: the mean of all rows, the mean
        of the class (the axes then know nothing of where the classes lie), or zero. "auto" is
        "global" for the linear kernel and "zero" for the others, whose angles mean most there.
        With a kernel only the criterion knows the origin: `transform` subtracts nothing.
    whiten : bool, default=False
        First divide by the pooled covariance within the classes. Makes the criterion as sharp
        as Fisher's; ``components_`` are then orthonormal only after that division. With a kernel
        `predict` then takes the angle with the mean of each class in place of its axis: wide
        kernels make rows share a long part that no axis tells apart.
    gamma : "scale" or float, default="scale"
        Width of the "rbf" and factor of the "poly" kernel; "scale" is one over twice
        the total variance of the features.
    degree, coef0 : float, default=3 and 1
        Of the "poly" kernel, ``(gamma x.y + coef0) ** degree``.
    n_landmarks : int, "auto" or None, default="auto"
        Rows that span the kernel's features; None means all. "auto" takes all distinct rows up
        to 2000, else 1000 at random (the Nystroem method).
    n_init : int, default=5
        Random starts beside the computed one; the best result is kept. With a kernel and the
        squared criterion 0 is quicker and lost nothing on iris, wine and digits.
    max_iter : int, default=5000
        Steps from each start.
    tol : float, default=1e-6
        Relative distance to a stationary point at which to stop.
    class_weight : None, "balanced" or dict, default=None
        Factor of each class's sample weights.
    certify : bool, default=False
        Compute ``certificate_`` in `fit` (squared criterion only).
    random_state : int, RandomState or None, default=None
        Seed of the random starts and landmarks.
    n_jobs : int or None, default=None
        Threads that share the starts; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    components_ : ndarray of shape (n_classes, n_features)
        Linear kernel: ``transform`` is ``(X - center_) @ components_.T``.
    center_ : ndarray of shape (n_features,)
        Linear kernel: mean of all rows, or zero with ``origin="zero"``.
    dual_coef_ : ndarray of shape (n_landmarks, n_classes)
        Other kernels: ``transform`` is the kernel to the landmarks times this.
    class_means_ : ndarray of shape (n_classes, n_classes)
        Mean of each class in the coordinates of `transform`.
    objective_ : float
        Value of the criterion.
    history_ : dict of ndarray
        "objective", "residual" and "seconds" of each iteration of the start that won.
    n_iter_ : int
    stopping_reason_ : {"converged", "max_iter"}
    certificate_ : Certificate or None
        With ``certify=True``.

    Notes
    -----
    A. O. Smith and A. Rangarajan, "A category space approach to supervised dimensionality
    reduction". What differs from the paper, and why, is told in ``docs/category-space.md``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import CategorySpace
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CategorySpace(whiten=True, random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (150, 3)
    >>> print(model.certificate(X, y))
    The global optimum, by the dual certificate.
      objective           ...
      bound               ...
      Rapcsak's condition does not hold (largest eigenvalue ...)
    """

    _fitted_attributes = (
        *MappedClassifier._fitted_attributes,
        "_inverse_components",
        "class_means_",
        "certificate_",
        "objective_",
        "n_iter_",
        "stopping_reason_",
        "history_",
    )

    def __init__(
        self,
        criterion: str = "squared",
        *,
        kernel: str | Callable[[Any, Any], np.ndarray] = "linear",
        origin: str = "auto",
        whiten: bool = False,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        n_landmarks: int | str | None = "auto",
        n_init: int = 5,
        max_iter: int = 5000,
        tol: float = 1e-6,
        class_weight: str | dict[Any, float] | None = None,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.kernel = kernel
        self.origin = origin
        self.whiten = whiten
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CategorySpace":
        """Find the axes.

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
        self._check_parameters()
        X, classes, class_index = self._validate_rows_and_labels(X, y)
        weights = check_weights(sample_weight, self.class_weight, class_index, classes)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        kernel = self._choose_kernel(X, weights, seed)
        problem = self._problem(X, class_index, weights, classes, kernel)
        options = AscentOptions(self.n_init, self.max_iter, self.tol, seed, self.n_jobs)
        free_origin = self._origin == "class"
        solution = solve(problem, self.criterion, free_origin=free_origin, options=options)
        if not solution.converged:
            warnings.warn(
                f"CategorySpace did not converge in max_iter={self.max_iter} steps (residual "
                f"{solution.residuals[-1]:.2g}, tol={self.tol:g}); raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep(classes, problem, solution)
        return self

    def certificate(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Say whether the axes are a global optimum of the squared criterion.

        Parameters
        ----------
        X, y, sample_weight
            What `fit` was given: the model does not keep it.

        Returns
        -------
        Certificate
            Which certificate holds, the bound and the gap; `print` it.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from supred import CategorySpace
        >>> X, y = load_wine(return_X_y=True)
        >>> CategorySpace(random_state=0).fit(X, y).certificate(X, y).kind
        'dual'
        """
        check_is_fitted(self)
        self._check_squared("certificate")
        X = validate_data(self, X, reset=False, **self._input_options)
        classes, class_index = encode_labels(y)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y holds the classes {classes.tolist()}, but the model was fitted on "
                f"{self.classes_.tolist()}; pass the rows and labels that were given to fit."
            )
        weights = check_weights(sample_weight, self.class_weight, class_index, classes)
        kernel = self._map.kernel if isinstance(self._map, KernelMap) else None
        problem = self._problem(X, class_index, weights, classes, kernel)
        return certify(problem.scatters, problem.axes_of(self._map))

    @available_if(_is_linear)
    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Return the row nearest to the mean that has the coordinates `Z` (linear kernel).

        Parameters
        ----------
        Z : array-like of shape (n_rows, n_classes)

        Returns
        -------
        X : ndarray of shape (n_rows, n_features)
            Near is meant after the whitening, where there is one.
        """
        check_is_fitted(self)
        Z = check_array(Z, dtype=[np.float64, np.float32])
        if Z.shape[1] != len(self.classes_):
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but this model has {len(self.classes_)} axes."
            )
        return (Z @ self._inverse_components + self.center_).astype(Z.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the name of each coordinate: its class.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return np.array([str(label) for label in self.classes_.tolist()], dtype=object)

    @property
    def _origin(self) -> str:
        if self.origin != "auto":
            return self.origin
        return "global" if self.kernel == "linear" else "zero"

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, ("squared", "absolute"))
        check_choice("origin", self.origin, ("auto", *ORIGINS))
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        check_integer("n_init", self.n_init, low=0)
        check_integer("max_iter", self.max_iter, low=1)
        check_real("tol", self.tol, low=0)
        if self.certify:
            self._check_squared("certify=True")

    def _check_squared(self, what: str) -> None:
        if self.criterion != "squared":
            raise ValueError(
                f"{what} needs criterion='squared', got criterion={self.criterion!r}: "
                "no certificate is known for the absolute criterion."
            )

    def _choose_kernel(self, X: Any, weights: np.ndarray, seed: int) -> LandmarkKernel | None:
        """Return the kernel at its landmarks, None for the features as they are."""
        if self.kernel == "linear":
            return None
        return kernel_at_landmarks(
            X,
            weights,
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            n_landmarks=self.n_landmarks,
            seed=seed,
        )

    def _problem(
        self,
        X: Any,
        class_index: np.ndarray,
        weights: np.ndarray,
        classes: np.ndarray,
        kernel: LandmarkKernel | None,
    ) -> CategoryProblem:
        """Return the problem of the rows of positive weight."""
        gram = None if kernel is None else kernel.gram(X)
        used = weights > 0
        if not used.all():
            X, class_index, weights = X[used], class_index[used], weights[used]
        members = members_of(class_index, len(classes))
        options: dict[str, Any] = {
            "origin": self._origin,
            "whiten": self.whiten,
            "keep_rows": self.criterion == "absolute",
        }
        if kernel is None or gram is None:
            problem = linear_problem(X, members, weights, **options)
        else:
            problem = kernel_problem(kernel, gram, X, members, weights, **options)
        if self._origin == "class":
            check_spread(problem, members, weights, classes)
        return problem

    def _keep(
        self, classes: np.ndarray, problem: CategoryProblem, solution: CategorySolution
    ) -> None:
        """Copy what was found into the estimator."""
        W = orient(solution.axes, problem.class_means)
        self.classes_ = classes
        self._map = problem.latent_map(W)
        self._n_features_out = len(classes)
        self._inverse_components = (
            np.ascontiguousarray(problem.directions(W).T) if problem.kernel is None else None
        )
        self.class_means_ = problem.class_means @ W
        self.certificate_ = certify(problem.scatters, solution.axes) if self.certify else None
        self.objective_ = solution.objective
        self.n_iter_ = solution.n_iter
        self.stopping_reason_ = solution.stopping_reason
        self.history_ = {
            "objective": np.array(solution.objectives),
            "residual": np.array(solution.residuals),
            "seconds": np.array(solution.seconds),
        }

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        """Return the cosine of the angle with each axis; for two classes their difference.

        In the whitened features of a kernel all rows share a long part, the more the wider the
        kernel is: the axes are then less telling than the class means.
        """
        cosines = _unit_rows(Z)
        if self.kernel != "linear" and self.whiten:
            cosines = cosines @ _unit_rows(self.class_means_).T
        elif self.kernel != "linear":
            cosines = np.abs(cosines)  # with a kernel the sign of an axis means nothing
        return cosines[:, 1] - cosines[:, 0] if len(self.classes_) == 2 else cosines

    def _model_arrays(self) -> list[np.ndarray]:
        means = [self.class_means_] if self.whiten and self.kernel != "linear" else []
        return [*self._map.arrays(), *means]


def _unit_rows(Z: np.ndarray) -> np.ndarray:
    """Return the rows divided by their lengths; rows of zeros stay."""
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(lengths > 0, lengths, 1.0)
