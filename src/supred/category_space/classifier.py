"""Category space: one orthonormal axis per class."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from supred.base.all_or_nothing import all_or_nothing
from supred.base.mapped_classifier import MappedClassifier
from supred.base.sources import refuse_out_of_core
from supred.base.state import register
from supred.base.validation import check_weights
from supred.category_space.ascent import CategorySolution
from supred.category_space.certificate import Certificate, certify
from supred.category_space.decisions import AxisRule, angle_rule, check_rule, linear_rule
from supred.category_space.labels import (
    LabelledRows,
    is_label_matrix,
    label_weights,
    read_label_matrix,
)
from supred.category_space.problem import CategoryProblem, orient
from supred.category_space.settings import Settings
from supred.category_space.solver import solve
from supred.common.arguments import random_generator
from supred.common.arrays import cast, on_host, place_of
from supred.common.warn import warn_caller

register(Certificate)
register(AxisRule)


def _is_linear(fitted: "CategorySpace") -> bool:
    linear = fitted.kernel == "linear"
    if hasattr(fitted, "_map"):  # the parameter may have been set since
        linear = hasattr(fitted, "components_")
    if not linear:
        raise AttributeError(
            f"inverse_transform needs kernel='linear', got kernel={fitted.kernel!r}: "
            "what a kernel's features look like in the space of the rows is not known."
        )
    return True


class CategorySpace(MappedClassifier):
    """One axis per class, along which that class spreads most.

    `transform` gives one coordinate per class. The axes W maximise a criterion over W^T W = I;
    with the squared criterion `certificate` can often prove that no other axes are better. The
    defaults work in the whitened features of a Gaussian kernel, with width and ridge chosen by
    closed-form leave-one-out, and classify by the angle with the class means. The paper's plain
    form is ``CategorySpace(kernel="linear", whiten=False, classifier="angle")``.

    Parameters
    ----------
    criterion : {"squared", "absolute"}, default="squared"
        Sum of squares or of absolute values of the projections of each class on its own axis.
        The absolute one weighs far rows less.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two sets of rows and returns the matrix of their kernel. With fewer
        dimensions than classes (a linear kernel and few features) the axes are not orthogonal
        but a tight frame, W W^T = I.
    origin : {"auto", "global", "class", "zero"}, default="auto"
        The point from which the spread of a class is measured: the mean of all rows, the mean
        of the class (the axes then know nothing of where the classes lie), or zero. "auto" is
        "global" for the linear kernel and for a matrix of labels, and "zero" for other kernels,
        whose angles mean most there; rows far from zero all lie in one direction from it.
        With a kernel only the criterion knows the origin: `transform` subtracts nothing.
    whiten : bool, default=True
        First divide by the pooled covariance within the classes. Makes the criterion as sharp
        as Fisher's; ``components_`` are then orthonormal only after that division.
    classifier : {"auto", "angle", "linear"}, default="auto"
        "angle" takes the class whose axis makes the smallest angle with the row (with a whitened
        kernel: whose mean does). "linear" has linear discriminants on the coordinates. "auto"
        is "linear" for the linear kernel and for labels, and "angle" for kernels: training rows
        lie nearer to their axes than new ones, and a trained classifier takes them at their word.
    gamma : "auto", "scale" or float, default="auto"
        Width of the "rbf" and factor of the "poly" kernel; "scale" is one over twice
        the total variance of the features, "auto" a multiple of that chosen by leave-one-out
        ("rbf"; "scale" with "poly").
    alpha : "auto" or float, default="auto"
        Ridge of the whitening, in units of the total variance; "auto" chooses by leave-one-out.
    degree, coef0 : float, default=3 and 1
        Of the "poly" kernel, ``(gamma x.y + coef0) ** degree``.
    n_landmarks : int, "auto" or None, default="auto"
        Rows that span the kernel's features; None means all. "auto" takes all distinct rows up
        to 300, else half of them, from 300 to 500, at random (the Nystroem method); without
        whitening all up to 2000, else 1000.
    margin : float, default=0
        Margin about the origin, in units of the rows' root mean square distance to their mean:
        rows whose projection is smaller are pushed away from the origin as by the squared hinge
        loss of an SVM (squared criterion).
    overlap_penalty : float or None, default=None
        None asks for orthogonal axes. A number lets unit vectors overlap, at this price: 0 gives
        the leading direction of each class, large numbers orthogonal axes (squared criterion).
    auxiliary_step : {"exact", "heuristic"}, default="exact"
        Of the absolute criterion about the class's origin: the exact maximiser, found by a line
        search, or the paper's heuristic (eq. 26), which may cycle.
    n_init : "auto" or int, default="auto"
        Random starts beside the computed one; the best result is kept. "auto" is 5 for the
        linear kernel without whitening and 0 else, where they gain nothing.
    max_iter : int, default=5000
        Steps from each start.
    tol : "auto" or float, default="auto"
        Relative distance to a stationary point at which to stop. "auto" is 3e-3 for a whitened
        kernel, enough to predict by, and 1e-6 else and with `certify`: a certificate wants axes
        that stand still.
    class_weight : None, "balanced" or dict, default=None
        Factor of each class's sample weights.
    certify : bool, default=False
        Compute ``certificate_`` in `fit` (orthogonal axes of the squared criterion only).
    random_state : int, RandomState or None, default=None
        Seed of the random starts and landmarks.
    n_jobs : int or None, default=None
        Threads that share the starts; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    multilabel_ : bool
        Whether `fit` got a matrix of labels.
    components_ : ndarray of shape (n_classes, n_features)
        Linear kernel: ``transform`` is ``(X - center_) @ components_.T``.
    center_ : ndarray of shape (n_features,)
        Linear kernel: mean of all rows, or zero with ``origin="zero"``.
    dual_coef_ : ndarray of shape (n_landmarks, n_classes)
        Other kernels: ``transform`` is the kernel to the landmarks times this.
    class_means_ : ndarray of shape (n_classes, n_classes)
        Mean of each class in the coordinates of `transform`.
    rule_ : AxisRule
        What gives a class to coordinates.
    gamma_, alpha_ : float
        Width and ridge that were used.
    objective_ : float
        Value of the criterion.
    history_ : dict of ndarray
        "objective", "residual" and "seconds" of each iteration of the start that won.
    n_iter_ : int
    stopping_reason_ : {"converged", "max_iter"}
    certificate_ : Certificate or None
        With ``certify=True``; ``certificate_.summary()`` says it in words.

    See Also
    --------
    KernelDiscriminantAnalysis : Fisher's axes, with probabilities.
    RBFNetClassifier : More accurate on large tables; axes without names.

    Notes
    -----
    What differs from the paper, and why, is described in ``docs/category-space.md``.

    References
    ----------
    A. O. Smith and A. Rangarajan, "A category space approach to supervised dimensionality
    reduction", 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import CategorySpace
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CategorySpace(random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (150, 3)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _fitted_attributes = (
        *MappedClassifier._fitted_attributes,
        "_inverse_components",
        "rule_",
        "multilabel_",
        "_fit_parameters",
        "class_means_",
        "alpha_",
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
        kernel: str | Callable[[Any, Any], np.ndarray] = "rbf",
        origin: str = "auto",
        whiten: bool = True,
        classifier: str = "auto",
        gamma: float | str = "auto",
        alpha: float | str = "auto",
        degree: float = 3,
        coef0: float = 1.0,
        n_landmarks: int | str | None = "auto",
        margin: float = 0.0,
        overlap_penalty: float | None = None,
        auxiliary_step: str = "exact",
        n_init: int | str = "auto",
        max_iter: int = 5000,
        tol: float | str = "auto",
        class_weight: str | dict[Any, float] | None = None,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.kernel = kernel
        self.origin = origin
        self.whiten = whiten
        self.classifier = classifier
        self.gamma = gamma
        self.alpha = alpha
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.margin = margin
        self.overlap_penalty = overlap_penalty
        self.auxiliary_step = auxiliary_step
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CategorySpace":
        """Find the axes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Rows, or with ``kernel="precomputed"`` their kernel matrix (n_rows, n_rows).
        y : array-like of shape (n_rows,) or (n_rows, n_labels)
            Labels of at least two classes; or a matrix of zeros and ones, a column per label, of
            which a row may have several.
        sample_weight : array-like of shape (n_rows,), optional
            A whole-number weight k is the same as k copies of the row.

        Returns
        -------
        self
        """
        settings = Settings(**self.get_params(deep=False))
        settings.check()
        rows = self._labelled_rows(X, y, sample_weight, settings.class_weight, reset=True)
        seed = int(random_generator(self.random_state).randint(2**31 - 1))
        kernel, alpha = settings.choose_kernel(rows, seed)
        problem = settings.problem(rows, kernel, alpha)
        solution = solve(problem, settings.to_maximise(), settings.ascent_options(seed))
        if not solution.converged:
            warn_caller(
                f"CategorySpace did not converge in max_iter={self.max_iter} steps (residual "
                f"{solution.residuals[-1]:.2g}, tol={self.tol}); raise max_iter or tol.",
                ConvergenceWarning,
            )
        self._keep(settings, rows, problem, solution, alpha)
        return self

    def certificate(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Say whether the axes are a global optimum of the squared criterion.

        Parameters
        ----------
        X, y, sample_weight
            What `fit` was given: the model does not keep it.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from supred import CategorySpace
        >>> X, y = load_wine(return_X_y=True)
        >>> plain = CategorySpace(kernel="linear", whiten=False, random_state=0).fit(X, y)
        >>> print(plain.certificate(X, y))
        The global optimum, by the dual certificate.
          objective           ...
          bound               ...
          Rapcsak's condition does not hold (largest eigenvalue ...)
        """
        check_is_fitted(self)
        settings = Settings(**self._fit_parameters)
        settings.check_certifiable("certificate")
        rows = self._labelled_rows(X, y, sample_weight, settings.class_weight, reset=False)
        if not np.array_equal(rows.classes, self.classes_):
            raise ValueError(
                f"y holds the classes {rows.classes.tolist()}, but the model was fitted on "
                f"{self.classes_.tolist()}; pass the rows and labels that were given to fit."
            )
        problem = settings.problem(rows, getattr(self._map, "kernel", None), self.alpha_)
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
        Z = self._check_latent(Z)
        return (Z @ self._inverse_components + self.center_).astype(Z.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the name of each coordinate: its class; `input_features` is ignored."""
        check_is_fitted(self)
        return np.array([str(label) for label in self.classes_.tolist()], dtype=object)

    @property
    def gamma_(self) -> float:
        """Width of the kernel that was used."""
        return self.kernel_.gamma

    def _labelled_rows(
        self, X: Any, y: Any, sample_weight: Any, class_weight: Any, *, reset: bool
    ) -> LabelledRows:
        if is_label_matrix(y):
            refuse_out_of_core(self, X)
            X = self._validate_rows(X, reset=reset)
            labels, members = read_label_matrix(y, X.shape[0])
            weights = label_weights(sample_weight, class_weight, members)
            return LabelledRows(X, members, weights, labels, exclusive=False)
        X, classes, class_index = self._validate_rows_and_labels(X, y, reset=reset)
        weights = check_weights(sample_weight, class_weight, class_index, classes)
        return LabelledRows.of_classes(X, classes, class_index, weights)

    def _keep(
        self,
        settings: Settings,
        rows: LabelledRows,
        problem: CategoryProblem,
        solution: CategorySolution,
        alpha: float | None,
    ) -> None:
        """Copy what was found into the estimator."""
        W = orient(solution.axes, problem.class_means)
        has_kernel = problem.kernel is not None
        self.classes_ = rows.classes
        self.multilabel_ = not rows.exclusive
        self._fit_parameters = self.get_params(deep=False)
        self._map = problem.latent_map(W)
        self._n_features_out = len(rows.classes)
        self._inverse_components = None if has_kernel else problem.directions(W).T.copy()
        self.class_means_ = problem.class_means @ W
        self.alpha_ = alpha
        if settings.is_linear_rule(exclusive=rows.exclusive):
            rows = rows.used()
            Z = self._map.project(rows.X).astype(np.float64)
            self.rule_ = linear_rule(Z, rows.members, rows.weights, exclusive=rows.exclusive)
        else:
            self.rule_ = angle_rule(self.class_means_, has_kernel=has_kernel, whitened=self.whiten)
        check_rule(self.rule_, self.class_means_, self.classes_)
        self.certificate_ = certify(problem.scatters, solution.axes) if self.certify else None
        self.objective_ = solution.objective
        self.n_iter_ = max(1, solution.n_iter)  # a start that stands still was looked at once
        self.stopping_reason_ = solution.stopping_reason
        self.history_ = {
            "objective": np.array(solution.objectives),
            "residual": np.array(solution.residuals),
            "seconds": np.array(solution.seconds),
        }
        self.check_finite()

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, or its labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            If `fit` got a matrix of labels, zeros and ones in the shape (n_rows, n_labels).
        """
        return super().predict(X)

    def _classify(self, Z: np.ndarray) -> np.ndarray:
        """Return the class of each point, or which labels it has."""
        return cast(self._decide(Z) > 0, int) if self.multilabel_ else super()._classify(Z)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of the rule; for two classes their difference."""
        scores = place_of(Z).put(self.rule_.scores(on_host(Z)))
        if len(self.classes_) == 2 and not self.multilabel_:
            return scores[:, 1] - scores[:, 0]
        return scores

    def _model_arrays(self) -> list[np.ndarray]:
        return [*self._map.arrays(), *self.rule_.arrays()]
