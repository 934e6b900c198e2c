"""Fitted models of several tasks: a projection with linear SVMs, or scales with kernel SVMs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supred.max_margin.bound import lower_bound
from supred.max_margin.projection import order_by_use, solve_max_margin_projection
from supred.max_margin.rbf_diagonal import FittedScales
from supred.max_margin.row_space import fill_directions, to_row_space
from supred.max_margin.task_svms import Tasks
from supred.max_margin.tasks import TaskProblem, merge_equal_rows
from supred.numerics.kernels import GaussianCenters
from supred.rows.blocks import rows_of

# SVMs whose duality gap is a larger fraction of the objective have not converged.
LARGEST_GAP = 1e-3


@dataclass(frozen=True)
class ProjectionModel:
    """Linear SVMs on a projection.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_features)
    coef : ndarray of shape (n_tasks, n_components)
    intercept : ndarray of shape (n_tasks,)
    """

    components: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    @property
    def n_components(self) -> int:
        """Number of latent coordinates."""
        return len(self.components)

    def project(self, X: Any) -> np.ndarray:
        """Return the latent coordinates of rows."""
        return rows_of(X).map(lambda block: np.asarray(block @ self.components.T))

    def task_scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of latent coordinates, one column per task."""
        return Z @ self.coef.T + self.intercept

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the model keeps."""
        return [self.components, self.coef, self.intercept]


@dataclass(frozen=True)
class ScalesModel:
    """Kernel SVMs on scaled features.

    Attributes
    ----------
    feature_scales : ndarray of shape (n_features,)
        s_j, zero for features that are not kept.
    features : ndarray of int
        Those that are kept.
    support_vectors : ndarray of shape (n_support, n_components)
        Transformed rows that the SVMs need.
    dual_coef : ndarray of shape (n_tasks, n_support)
    intercept : ndarray of shape (n_tasks,)
    gamma : float
        Mean of the scales.
    """

    feature_scales: np.ndarray
    features: np.ndarray
    support_vectors: np.ndarray
    dual_coef: np.ndarray
    intercept: np.ndarray
    gamma: float

    @classmethod
    def of(cls, rows: np.ndarray, found: FittedScales, gamma: float) -> "ScalesModel":
        """Keep what the SVMs of the scales found on `rows` need."""
        support = np.flatnonzero(np.any(found.svms.dual_coef != 0, axis=1))
        roots = np.sqrt(found.scales[found.features])
        return cls(
            found.scales,
            found.features,
            rows[np.ix_(support, found.features)] * roots,
            np.ascontiguousarray(found.svms.dual_coef[support].T),
            found.svms.intercept,
            gamma,
        )

    @property
    def n_components(self) -> int:
        """Number of latent coordinates."""
        return len(self.features)

    def project(self, X: Any) -> np.ndarray:
        """Return the latent coordinates of rows."""
        chosen = X[:, self.features]
        chosen = chosen.toarray() if sparse.issparse(chosen) else chosen
        return chosen * np.sqrt(self.feature_scales[self.features])

    def task_scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of latent coordinates, one column per task."""
        gaussians = GaussianCenters.of(self.support_vectors)
        return rows_of(Z, len(self.support_vectors)).map(
            lambda block: gaussians.kernel(block, 1.0) @ self.dual_coef.T + self.intercept
        )

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the model keeps."""
        used = self.feature_scales[self.features]
        return [self.features, used, self.support_vectors, self.dual_coef, self.intercept]


class TaskModelAttributes:
    """The attributes that describe a fitted model, for the kind of model that has them."""

    _model: ProjectionModel | ScalesModel

    @property
    def components_(self) -> np.ndarray:
        """Linear kernel: A, shape (n_components, n_features)."""
        return self._model.components  # type: ignore[union-attr]

    @property
    def coef_(self) -> np.ndarray:
        """Linear kernel: weights of the SVMs on the projected rows."""
        return self._model.coef  # type: ignore[union-attr]

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the SVMs, shape (n_tasks,)."""
        return self._model.intercept

    @property
    def feature_scales_(self) -> np.ndarray:
        """Kernel "rbf-diagonal": the scales s_j."""
        return self._model.feature_scales  # type: ignore[union-attr]

    @property
    def gamma_(self) -> float:
        """Kernel "rbf-diagonal": mean of the scales."""
        return self._model.gamma  # type: ignore[union-attr]

    @property
    def support_vectors_(self) -> np.ndarray:
        """Kernel "rbf-diagonal": transformed rows that the SVMs need."""
        return self._model.support_vectors  # type: ignore[union-attr]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Kernel "rbf-diagonal": weights of the support vectors, (n_tasks, n_support)."""
        return self._model.dual_coef  # type: ignore[union-attr]


@dataclass(frozen=True)
class TaskFit:
    """A fitted model and how it was found.

    Attributes
    ----------
    model : ProjectionModel or ScalesModel
    objective, start_objective : float
        At the end, and where the solver started.
    lower_bound : float or None
        No projection has a smaller objective; None for scales.
    history : dict of lists
    n_iter : int
    stopping_reason : {"converged", "max_iter", "completed"}
    message : str
        Why the solver stopped, in words.
    """

    model: ProjectionModel | ScalesModel
    objective: float
    start_objective: float
    lower_bound: float | None
    history: dict[str, list[float]]
    n_iter: int
    stopping_reason: str
    message: str


def fit_projection(
    problem: TaskProblem,
    n_components: int,
    *,
    C: float,
    solver: str,
    max_iter: int,
    tol: float,
    quick_bound: bool,
    n_jobs: int | None,
) -> TaskFit:
    """Learn the projection and its SVMs, and bound the objective from below."""
    X, signs, weights = merge_equal_rows(problem.X, problem.signs, problem.weights)
    row_weights = weights.sum(axis=1)
    space = to_row_space(X, row_weights)
    tasks = Tasks(space.rows, signs, C * weights)
    found, independent = solve_max_margin_projection(
        tasks, n_components, solver=solver, max_iter=max_iter, tol=tol, n_jobs=n_jobs
    )
    bound = lower_bound(independent, tasks, n_components, quick=quick_bound, n_jobs=n_jobs)
    directions, used_coef = order_by_use(found.components, found.svms.coef)
    components = fill_directions(space, directions, row_weights, n_components)
    flips = np.sign(components[np.arange(n_components), np.argmax(abs(components), axis=1)])
    components = flips[:, None] * components
    coef = np.zeros((problem.n_tasks, n_components))
    coef[:, : len(used_coef)] = used_coef.T * flips[: len(used_coef)]
    intercept = found.svms.intercept - coef @ (components @ space.mean)
    reason, message = found.stopping_reason, found.message
    objective = found.svms.objective
    if found.svms.gap > LARGEST_GAP * max(objective, np.finfo(float).tiny):
        reason, message = "max_iter", "the SVMs were not solved to their tolerance"
    return TaskFit(
        ProjectionModel(components, coef, intercept),
        objective,
        found.start_objective,
        bound.value,
        found.history,
        found.n_iter,
        reason,
        message,
    )


def fit_scales_model(found: FittedScales, rows: np.ndarray, gamma: float) -> TaskFit:
    """Return what :func:`supred.max_margin.rbf_diagonal.fit_scales` found on `rows`."""
    objectives = found.history["objective"]
    return TaskFit(
        ScalesModel.of(rows, found, gamma),
        found.svms.objective,
        objectives[0],
        None,
        found.history,
        max(1, len(objectives) - 1),
        found.stopping_reason,
        found.message,
    )
