"""Max-margin projection: one projection for one or several SVMs, and learned RBF scales."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from supred.base.dask_input import refuse
from supred.base.latent_classifier import LatentClassifier
from supred.base.validation import check_weights
from supred.max_margin import parameters as parts
from supred.max_margin import rbf_diagonal as _rbf_diagonal
from supred.max_margin.bound import lower_bound
from supred.max_margin.projection import order_by_use, solve_max_margin_projection
from supred.max_margin.row_space import fill_directions, to_row_space
from supred.max_margin.task_svms import Tasks
from supred.max_margin.tasks import (
    check_task_matrix,
    is_task_matrix,
    merge_equal_rows,
    read_task_matrix,
    task_accuracy,
    task_weights,
)
from supred.numerics.decisions import decision_scores, task_signs
from supred.numerics.kernels import GaussianCenters
from supred.rows.blocks import rows_of

# SVMs whose duality gap is a larger fraction of the objective have not converged.
LARGEST_GAP = 1e-3


class MaxMarginProjection(LatentClassifier):
    """A linear projection shared by the SVMs of one or several binary tasks.

    The projection A (orthonormal rows) and one linear SVM per task on A x minimise together

        1/2 sum_k ||w_k||^2 + C sum_k sum_i s_i max(0, 1 - y_ik (w_k . A x_i + b_k)).

    This is the multi-task SVM whose weight matrix has rank `n_components` at most. With
    ``n_components`` at least the number of tasks it is the independent SVMs; the tasks share
    something only below that. The tasks are made from the classes, or are the columns of a
    matrix Y.

    Parameters
    ----------
    n_components : int, optional
        Rows of A, at most the number of features. By default one less than the number of
        classes (of tasks, if `fit` gets a matrix Y), if there are as many features. With
        ``kernel="rbf-diagonal"`` the number of features to keep, by default all.
    C : float, default=1.0
        Weight of the hinge losses.
    tasks : {"ovr", "ovo"}, default="ovr"
        The tasks that are made of more than two classes: each class against the rest, or each
        pair of classes.
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
        Folds of ``gamma="cv"``, as in scikit-learn; a number makes stratified folds of classes,
        and shuffled ones (always the same) of the rows of a matrix Y.
    class_weight : dict or "balanced", optional
        Weights of the classes, which multiply the sample weights; of -1 and 1, in each task, if
        `fit` gets a matrix Y.
    max_iter : int, default=1000
        Most iterations of the solver.
    tol : float, optional
        Relative change of the objective at which the solver stops: 1e-6 by default, 1e-3 with
        ``kernel="rbf-diagonal"``.
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
    gamma_scores_ : dict
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
    lower_bound_ : float
        No projection has a smaller objective: a bound from the convex relaxation (linear only).
    gap_ : float
        ``objective_ - lower_bound_`` (linear only). Zero proves the optimum; a positive gap
        proves nothing, as the relaxation is not tight in general.
    history_ : dict of ndarrays
        objective, train_error and seconds since the start, one entry per iteration; with the
        linear kernel also the width of the Huberised hinge, 0 where the objective is exact. While
        the width is positive the objective is an upper bound of the exact one.
    n_iter_ : int
    stopping_reason_ : str
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
    the folds of ``gamma="cv"`` depend on the order.
    The problem is not convex for fewer components than tasks. Features far above the number of
    rows are no problem: the work is done in the space that the rows span.

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

    def __init__(
        self,
        n_components: int | None = None,
        *,
        C: float = 1.0,
        tasks: str = "ovr",
        solver: str = "lbfgs",
        kernel: str = "linear",
        gamma: Any = "scale",
        cv: Any = 3,
        class_weight: Any = None,
        max_iter: int = 1000,
        tol: float | None = None,
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
        self.n_jobs = n_jobs

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
        self.multitask_ = is_task_matrix(y)
        if self.multitask_:
            refuse(self, X)
            X = validate_data(self, X, **self._input_options)
            signs = check_task_matrix(y, X.shape[0])
            self.classes_ = np.array([-1, 1])
        else:
            X, self.classes_, codes = self._validate_rows_and_labels(X, y)
        parts.check_parameters(self, X.shape[1])
        parts.forget_fit(self)
        if self.multitask_:
            weights = task_weights(signs, sample_weight, self.class_weight)
        else:
            signs = task_signs(codes, len(self.classes_), self.tasks).astype(float)
            weights = check_weights(sample_weight, self.class_weight, codes, self.classes_)
            weights = weights[:, None] * np.abs(signs)
        self.n_tasks_ = signs.shape[1]
        fit = self._fit_linear if self.kernel == "linear" else self._fit_rbf
        converged = fit(X, signs, weights)
        if not converged:
            warnings.warn(
                f"MaxMarginProjection did not converge: {self.stopping_reason_}. "
                + (
                    'The best projection found is kept; use solver="lbfgs".'
                    if self.solver == "alternating" and self.kernel == "linear"
                    else "Raise max_iter or tol, or scale the features."
                ),
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _fit_linear(self, X: Any, signs: np.ndarray, weights: np.ndarray) -> bool:
        """Fit the projection, keep the result, and tell whether the solver converged."""
        n_components = parts.n_components_of(self, X.shape[1])
        X, signs, weights = merge_equal_rows(X, signs, weights)
        row_weights = weights.sum(axis=1)
        space = to_row_space(X, row_weights)
        tasks = Tasks(space.rows, signs, self.C * weights)
        found, independent = solve_max_margin_projection(
            tasks,
            n_components,
            solver=self.solver,
            max_iter=self.max_iter,
            tol=parts.tol_of(self),
            n_jobs=self.n_jobs,
        )
        bound = lower_bound(independent, tasks, n_components, n_jobs=self.n_jobs)
        directions, coef = order_by_use(found.components, found.svms.coef)
        components = fill_directions(space, directions, row_weights, n_components)
        flips = np.sign(components[np.arange(n_components), np.argmax(abs(components), axis=1)])
        self.components_ = flips[:, None] * components
        self.coef_ = np.zeros((self.n_tasks_, n_components))
        self.coef_[:, : len(coef)] = coef.T * flips[: len(coef)]
        self.intercept_ = found.svms.intercept - self.coef_ @ (self.components_ @ space.mean)
        self.objective_ = found.svms.objective
        self.start_objective_ = found.start_objective
        self.lower_bound_ = bound.value
        self.gap_ = self.objective_ - self.lower_bound_
        solved = found.svms.gap <= LARGEST_GAP * max(found.svms.objective, np.finfo(float).tiny)
        reason = found.reason if solved else "the SVMs were not solved to their tolerance"
        self._keep_record(found.history, found.n_iter, reason, n_components)
        return found.converged and solved

    def _fit_rbf(self, X: Any, signs: np.ndarray, weights: np.ndarray) -> bool:
        """Fit the scales, keep the result, and tell whether the solver converged."""
        X = X.toarray() if sparse.issparse(X) else X
        chosen = None
        if self.gamma == "cv":
            chosen, self.gamma_scores_ = _rbf_diagonal.choose_gamma(self, X, signs, weights)
        rows, signs, weights = merge_equal_rows(X, signs, weights)
        self.gamma_ = _rbf_diagonal.gamma_of(
            self.gamma if chosen is None else chosen, rows, weights.sum(axis=1)
        )
        found = _rbf_diagonal.fit_scales(
            rows,
            signs,
            self.C * weights,
            self.gamma_,
            n_features=parts.n_components_of(self, X.shape[1]),
            max_iter=self.max_iter,
            tol=parts.tol_of(self),
        )
        self.feature_scales_ = found.scales
        self._features = found.features
        self._roots = np.sqrt(found.scales[found.features])
        support = np.flatnonzero(np.any(found.svms.dual_coef != 0, axis=1))
        self.support_vectors_ = rows[np.ix_(support, found.features)] * self._roots
        self.dual_coef_ = np.ascontiguousarray(found.svms.dual_coef[support].T)
        self.intercept_ = found.svms.intercept
        self.objective_ = found.svms.objective
        self.start_objective_ = found.history["objective"][0]
        n_iter = max(1, len(found.history["objective"]) - 1)
        self._keep_record(found.history, n_iter, found.reason, len(found.features))
        return found.converged

    def _keep_record(
        self, history: dict[str, list[float]], n_iter: int, reason: str, n_components: int
    ) -> None:
        self.history_ = {name: np.array(column) for name, column in history.items()}
        self.n_iter_ = n_iter
        self.stopping_reason_ = reason
        self._n_features_out = n_components

    def _project(self, X: Any) -> np.ndarray:
        if self.kernel == "linear":
            project = rows_of(X).map(lambda block: np.asarray(block @ self.components_.T))
            return project.astype(X.dtype)
        chosen = X[:, self._features]
        chosen = chosen.toarray() if sparse.issparse(chosen) else chosen
        return (chosen * self._roots).astype(X.dtype)

    def _task_scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of latent coordinates, one column a task."""
        Z = np.asarray(Z, dtype=float)
        if self.kernel == "linear":
            return Z @ self.coef_.T + self.intercept_
        gaussians = GaussianCenters.of(self.support_vectors_)
        return rows_of(Z, len(self.support_vectors_)).map(
            lambda block: gaussians.kernel(block, 1.0) @ self.dual_coef_.T + self.intercept_
        )

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        scores = self._task_scores(Z)
        return (
            scores if self.multitask_ else decision_scores(scores, len(self.classes_), self.tasks)
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how strongly each row belongs to each class, or to the +1 side of each task.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        scores : ndarray
            Shape (n_rows,) for two classes, positive means ``classes_[1]``; (n_rows, n_classes)
            for more, the largest wins; (n_rows, n_tasks) if `fit` got a matrix Y.
        """
        return super().decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, or its side in each task.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            If `fit` got a matrix Y, -1 and +1 in the shape (n_rows, n_tasks).
        """
        check_is_fitted(self)
        if self.multitask_:
            return np.where(self.decision_function(X) > 0, 1, -1)
        return super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; for a matrix Y the mean over tasks of that on their own rows.

        Tasks of which `y` has no row are left out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_tasks)
            As in `fit`, but a task may have rows of one class only, or none.
        sample_weight : array-like of shape (n_rows,), optional
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
        if self.kernel == "linear":
            return [self.components_, self.coef_, self.intercept_]
        return [
            self._features,
            self._roots,
            self.support_vectors_,
            self.dual_coef_,
            self.intercept_,
        ]
