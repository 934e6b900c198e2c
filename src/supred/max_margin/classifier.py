"""Max-margin projection: one projection for one or several SVMs, and learned RBF scales."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from supred.base.all_or_nothing import all_or_nothing
from supred.base.latent_classifier import LatentClassifier
from supred.base.sources import refuse_out_of_core
from supred.base.state import register
from supred.base.validation import check_weights
from supred.common.arguments import check_choice, check_flag, check_integer, check_real
from supred.common.splits import check_folds
from supred.common.warn import warn_caller
from supred.max_margin.penalty import choose_penalty
from supred.max_margin.rbf_diagonal import FittedScales, choose_gamma, fit_scales
from supred.max_margin.task_models import (
    ProjectionModel,
    ScalesModel,
    TaskFit,
    TaskModelAttributes,
    fit_projection,
    fit_scales_model,
)
from supred.max_margin.tasks import (
    TaskProblem,
    check_task_matrix,
    is_task_matrix,
    merge_equal_rows,
    read_task_matrix,
    task_accuracy,
    task_weights,
)
from supred.numerics.decisions import decision_scores
from supred.numerics.kernels import scale_gamma

DEFAULT_TOL = 1e-3
register(ProjectionModel)
register(ScalesModel)


class MaxMarginProjection(TaskModelAttributes, LatentClassifier):
    """A linear projection shared by the SVMs of one or several binary tasks.

    The projection A (orthonormal rows) and one linear SVM per task on A x minimise together

        1/2 sum_k ||w_k||^2 + C sum_k sum_i s_i max(0, 1 - y_ik (w_k . A x_i + b_k)).

    This is the multi-task SVM whose weight matrix has rank `n_components` at most. With
    ``n_components`` at least the number of tasks it is the independent SVMs; the tasks share
    something only below that. The tasks are made from the classes, or are the columns of a
    matrix Y; `decision_function` then has one column per task.

    Parameters
    ----------
    n_components : int, optional
        Rows of A, at most the number of features. By default one less than the number of
        classes (of tasks, if `fit` gets a matrix Y), if there are as many features. With
        ``kernel="rbf-diagonal"`` the number of features to keep, by default all.
    C : float or "auto", default=1.0
        Weight of the hinge losses. "auto" chooses it by cross-validation, along a path of SVMs
        that start from each other.
    tasks : {"auto", "ovr", "ovo"}, default="auto"
        The tasks that are made of more than two classes: each class against the rest, or each
        pair of classes. "auto" is "ovo": one-vs-rest SVMs give a rare class no margin, and with
        many classes every class is rare.
    solver : {"lbfgs", "alternating"}, default="lbfgs"
        "lbfgs" starts at the singular vectors of the independent SVMs and lowers the objective
        with a Huberised hinge; "alternating" is the published algorithm, which usually runs in
        a cycle and is there for comparison.
    kernel : {"linear", "rbf-diagonal"}, default="linear"
        "rbf-diagonal" learns, instead of A, one scale s_j per feature of the kernel
        ``exp(-sum_j s_j (x_j - x'_j)^2)``; `transform` returns ``sqrt(s_j) x_j``.
    gamma : "scale", "cv" or float, default="scale"
        Mean of the scales s_j (``kernel="rbf-diagonal"``); their sum is held fixed. "scale" is one
        over twice the sum of the features' variances, "cv" chooses among multiples of it by
        cross-validation.
    cv : int, splitter or iterable of splits, default=3
        Folds of ``gamma="cv"`` and ``C="auto"``, as in scikit-learn; a number makes stratified
        folds of classes, and shuffled ones (always the same) of the rows of a matrix Y.
    class_weight : dict or "balanced", optional
        Weights of the classes, which multiply the sample weights; of -1 and 1, in each task, if
        `fit` gets a matrix Y.
    max_iter : int, default=1000
        Most iterations of the solver.
    tol : float, optional
        Relative change of the objective at which the solver stops, 1e-3 by default.
    certify : bool, default=False
        Raise ``lower_bound_`` by some more SVMs; else it is that of the independent SVMs.
    n_jobs : int, optional
        Threads that train SVMs; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        -1 and 1 if `fit` got a matrix Y.
    n_tasks_ : int
    multitask_ : bool
        Whether `fit` got a matrix Y.
    components_ : ndarray of shape (n_components, n_features)
        A, the direction that matters most to the SVMs first (linear only). Rows beyond the
        number of tasks are principal directions of the rest, which no SVM uses.
    coef_ : ndarray of shape (n_tasks, n_components)
        Weights of the SVMs on the projected rows (linear only).
    intercept_ : ndarray of shape (n_tasks,)
    feature_scales_ : ndarray of shape (n_features,)
        The scales s_j (rbf-diagonal only).
    gamma_ : float
        Mean of the scales that was used (rbf-diagonal only).
    C_ : float
        Weight of the hinge losses that was used.
    C_scores_ : dict or None
        Mean accuracy of each C tried (``C="auto"`` only).
    gamma_scores_ : dict or None
        Mean accuracy of each gamma tried (``gamma="cv"`` only).
    support_vectors_ : ndarray of shape (n_support, n_components)
        Transformed rows that the kernel SVMs need (rbf-diagonal only).
    dual_coef_ : ndarray of shape (n_tasks, n_support)
        Their weights (rbf-diagonal only).
    objective_ : float
        The objective above (of the dual, with rbf-diagonal).
    start_objective_ : float
        The objective where the solver started: the singular vectors of the independent SVMs, or
        equal scales.
    lower_bound_ : float or None
        No projection has a smaller objective: a bound from the convex relaxation (linear only).
    gap_ : float or None
        ``objective_ - lower_bound_`` (linear only). Zero proves the optimum; a positive gap
        proves nothing, as the relaxation is not tight in general.
    history_ : dict of ndarrays
        objective, train_error and seconds since the start, one entry per iteration; with the
        linear kernel also the width of the Huberised hinge, 0 where the objective is exact. While
        the width is positive the objective is an upper bound of the exact one.
    n_iter_ : int
    stopping_reason_ : {"converged", "max_iter", "completed"}
        "completed" where the solver could not go on; the warning says why.
    model_size_ : ModelSize
        Numbers and bytes that the model needs to predict.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    stack_tasks : Makes X and Y of tasks that have their own rows.

    Notes
    -----
    Nothing is random: the order of the rows does not matter, and a weight is the same as copies.
    With sparse rows of more features than rows that holds up to the solver's tolerance only, and
    the folds of `cv` depend on the order. The problem is not convex for fewer components than
    tasks. With more features than rows the work is done in the space that the rows span.

    References
    ----------
    G. Chechik, "Max margin dimensionality reduction", 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import MaxMarginProjection
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MaxMarginProjection(n_components=2).fit(X, y)
    >>> model.transform(X).shape, model.score(X, y) > 0.9
    ((150, 2), True)

    Two tasks, the second one known for the first hundred rows only:

    >>> import numpy as np
    >>> Y = np.column_stack([np.where(y == 2, 1, -1), np.where(y == 0, 1, -1)])
    >>> Y[100:, 1] = 0
    >>> model = MaxMarginProjection(n_components=1).fit(X, Y)
    >>> model.decision_function(X).shape, model.predict(X[:1])
    ((150, 2), array([[-1,  1]]))
    """

    _fitted_attributes = (
        *LatentClassifier._fitted_attributes,
        "multitask_",
        "n_tasks_",
        "_kind",
        "_model",
        "objective_",
        "start_objective_",
        "lower_bound_",
        "gap_",
        "C_",
        "C_scores_",
        "gamma_scores_",
        "history_",
        "n_iter_",
        "stopping_reason_",
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        C: float | str = 1.0,
        tasks: str = "auto",
        solver: str = "lbfgs",
        kernel: str = "linear",
        gamma: Any = "scale",
        cv: Any = 3,
        class_weight: Any = None,
        max_iter: int = 1000,
        tol: float | None = None,
        certify: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.C = C
        self.tasks = tasks
        self.solver = solver
        self.kernel = kernel
        self.gamma = gamma
        self.cv = cv
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.certify = certify
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MaxMarginProjection":
        """Learn the projection (or the scales) and the SVMs together.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_tasks)
            Labels of any type; or, in two dimensions, a matrix Y of tasks with the entries -1
            and +1, and 0 or NaN where a row is not part of a task. One column is a task if
            these are its entries, -1 among them, and labels else.
        sample_weight : array-like of shape (n_rows,), optional
            A weight k is the same as k copies of the row.

        Returns
        -------
        self : MaxMarginProjection
        """
        classes, problem = self._problem(X, y, sample_weight)
        C, C_scores, gamma_scores = self.C, None, None
        # an iterator can be read once, and there may be two choices
        cv = list(self.cv) if isinstance(self.cv, Iterator) else self.cv
        if self.C == "auto":
            free = self.kernel != "linear"
            C, C_scores = choose_penalty(problem, cv, unit_free=free, n_jobs=self.n_jobs)
        if self.kernel == "linear":
            found = self._fit_projection(problem, float(C))
        else:
            found, gamma_scores = self._fit_scales(problem, float(C), cv)
        if found.stopping_reason != "converged":
            warn_caller(
                f"MaxMarginProjection did not converge: {found.message}. "
                + (
                    'The best projection found is kept; use solver="lbfgs".'
                    if self.solver == "alternating" and self.kernel == "linear"
                    else "Raise max_iter or tol, or scale the features."
                ),
                ConvergenceWarning,
            )
        self._keep(classes, problem, found)
        self.C_, self.C_scores_, self.gamma_scores_ = float(C), C_scores, gamma_scores
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, TaskProblem]:
        """Return the classes and the checked tasks."""
        if is_task_matrix(y):
            refuse_out_of_core(self, X)
            X = self._validate_rows(X)
            signs = check_task_matrix(y, X.shape[0])
            self._check_parameters(X.shape[1])
            weights = task_weights(signs, sample_weight, self.class_weight)
            return np.array([-1, 1]), TaskProblem(X, signs, weights)
        X, classes, class_index = self._validate_rows_and_labels(X, y)
        self._check_parameters(X.shape[1])
        weights = check_weights(sample_weight, self.class_weight, class_index, classes)
        n_classes, kind = len(classes), "ovo" if self.tasks == "auto" else self.tasks
        return classes, TaskProblem.of_classes(X, class_index, weights, n_classes, kind)

    def _check_parameters(self, n_features: int) -> None:
        """Raise a ValueError that names the first parameter that is out of range."""
        if self.n_components is not None:
            why = "the number of features"
            check_integer("n_components", self.n_components, low=1, high=n_features, why=why)
        if isinstance(self.C, str):
            check_choice("C", self.C, ("auto",))
        else:
            check_real("C", self.C, low=0, low_inclusive=False, high_inclusive=False)
        check_choice("tasks", self.tasks, ("auto", "ovr", "ovo"))
        check_choice("solver", self.solver, ("lbfgs", "alternating"))
        check_choice("kernel", self.kernel, ("linear", "rbf-diagonal"))
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("scale", "cv"))
        else:
            check_real("gamma", self.gamma, low=0, low_inclusive=False, high_inclusive=False)
        check_folds(self.cv)
        check_integer("max_iter", self.max_iter, low=1)
        check_flag("certify", self.certify)
        if self.tol is not None:
            check_real("tol", self.tol, low=0, low_inclusive=False)

    def _fit_projection(self, problem: TaskProblem, C: float) -> TaskFit:
        n_components = max(1, min(problem.n_groups - 1, problem.X.shape[1]))
        return fit_projection(
            problem,
            n_components if self.n_components is None else int(self.n_components),
            C=C,
            solver=self.solver,
            max_iter=self.max_iter,
            tol=DEFAULT_TOL if self.tol is None else self.tol,
            quick_bound=not self.certify,
            n_jobs=self.n_jobs,
        )

    def _fit_scales(
        self, problem: TaskProblem, C: float, cv: Any
    ) -> tuple[TaskFit, dict[float, float] | None]:
        """Return the fit, and with ``gamma="cv"`` the accuracy of each gamma."""
        X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
        problem = replace(problem, X=X)
        learn = partial(
            fit_scales,
            n_features=self.n_components or X.shape[1],
            max_iter=self.max_iter,
            tol=DEFAULT_TOL if self.tol is None else self.tol,
        )

        def fit(part: TaskProblem, gamma: float) -> FittedScales:
            return learn(part.X, part.signs, C * part.weights, gamma)

        gamma, scores = self.gamma, None
        if gamma == "cv":
            gamma, scores = choose_gamma(problem, fit, cv, n_jobs=self.n_jobs)
        rows, signs, weights = merge_equal_rows(X, problem.signs, problem.weights)
        if gamma == "scale":
            gamma = scale_gamma(rows, weights.sum(axis=1))
        found = fit(TaskProblem(rows, signs, weights), float(gamma))
        return fit_scales_model(found, rows, float(gamma)), scores

    def _keep(self, classes: np.ndarray, problem: TaskProblem, found: TaskFit) -> None:
        """Copy what was found into the estimator."""
        self.classes_ = classes
        self.multitask_ = problem.n_classes == 0
        self._kind = problem.kind
        self.n_tasks_ = problem.n_tasks
        self._model = found.model
        self._n_features_out = found.model.n_components
        self.objective_ = found.objective
        self.start_objective_ = found.start_objective
        self.lower_bound_ = found.lower_bound
        self.gap_ = None if found.lower_bound is None else found.objective - found.lower_bound
        self.history_ = {name: np.array(column) for name, column in found.history.items()}
        self.n_iter_ = found.n_iter
        self.stopping_reason_ = found.stopping_reason
        self.check_finite()

    def _project(self, X: Any) -> np.ndarray:
        return self._model.project(X).astype(X.dtype, copy=False)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        scores = self._model.task_scores(np.asarray(Z, dtype=float))
        if self.multitask_:
            return scores
        return decision_scores(scores, len(self.classes_), self._kind)

    def _classify(self, Z: np.ndarray) -> np.ndarray:
        return np.where(self._decide(Z) > 0, 1, -1) if self.multitask_ else super()._classify(Z)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row; of a matrix Y its side in each task, -1 or +1."""
        return super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; for a matrix Y the mean over tasks of that on their own rows.

        Tasks of which `y` has no row are left out. The parameters are those of `fit`, but a task
        may have rows of one class only, or none.
        """
        check_is_fitted(self)
        if not self.multitask_:
            return float(super().score(X, y, sample_weight))
        predicted = self.predict(X)
        signs = read_task_matrix(y, len(predicted))
        if signs.shape[1] != self.n_tasks_:
            raise ValueError(
                f"Y has {signs.shape[1]} columns, but the model has {self.n_tasks_} tasks."
            )
        return task_accuracy(signs, predicted, sample_weight)

    def _model_arrays(self) -> list[np.ndarray]:
        return self._model.arrays()
