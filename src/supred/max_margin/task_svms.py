"""Several binary tasks on shared rows, one linear SVM each.

The SVMs themselves are the g step of :mod:`supred.numerics.linear_svm`.
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import linalg

from supred.numerics.linear_svm import LinearSVM, solve_linear_svm, solve_linear_svms

SVM_TOL = 1e-5
# In so few dimensions SVMs go together, however few their rows: that is two to four times as quick.
FEW_DIMENSIONS = 100


@dataclass(frozen=True)
class Tasks:
    """K binary tasks on shared rows.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_dimensions)
    signs : ndarray of shape (n_rows, n_tasks)
        +1, -1, or 0 for a row that is not part of the task.
    bounds : ndarray of shape (n_rows, n_tasks)
        The upper bounds u of the dual variables: C times the weight of the row in the task, and
        0 where the row is not part of it.
    """

    rows: np.ndarray
    signs: np.ndarray
    bounds: np.ndarray

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return int(self.signs.shape[1])

    @property
    def share_rows(self) -> bool:
        """Whether every row is part of every task, with the same bound in all of them."""
        return bool((self.signs != 0).all() and (self.bounds == self.bounds[:, :1]).all())


@dataclass(frozen=True)
class TaskSVMs:
    """The SVMs of all tasks.

    Attributes
    ----------
    coef : ndarray of shape (n_dimensions, n_tasks)
    intercept : ndarray of shape (n_tasks,)
    dual : ndarray of shape (n_rows, n_tasks)
        Zero where a row is not part of the task.
    objective : float
        Sum of the primal objectives.
    gap : float
        Sum of the duality gaps.
    """

    coef: np.ndarray
    intercept: np.ndarray
    dual: np.ndarray
    objective: float
    gap: float


def solve_task_svms(
    rows: np.ndarray,
    tasks: Tasks,
    *,
    tol: float = SVM_TOL,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    n_jobs: int | None = None,
) -> TaskSVMs:
    """Solve one linear SVM per task on `rows`: the tasks' own rows or a projection of them.

    A few go through the same array operations; of many dimensions, one with fewer rows than these
    is solved in the span of its rows.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_dimensions)
    tasks : Tasks
        Gives the signs and bounds.
    tol : float, default=1e-5
        Relative duality gap of each SVM.
    start : tuple of ndarrays, optional
        coef and intercept of a similar problem, such as another C.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.max_margin.task_svms import Tasks, solve_task_svms
    >>> rows = np.array([[-1.0], [1.0], [3.0]])
    >>> signs = np.array([[-1, 0], [1, -1], [0, 1]])
    >>> tasks = Tasks(rows, signs, np.where(signs != 0, 10.0, 0.0))
    >>> svms = solve_task_svms(rows, tasks, tol=1e-8)
    >>> svms.coef.round(3), (svms.intercept + 0.0).round(3) + 0.0
    (array([[1., 1.]]), array([ 0., -2.]))
    """
    starts: list[tuple[np.ndarray, float] | None] = [None] * tasks.n_tasks
    if start is not None:
        starts = [(w, float(b)) for w, b in zip(start[0].T, start[1], strict=True)]
    counts = ((tasks.signs != 0) & (tasks.bounds > 0)).sum(axis=0)
    if counts.min() >= rows.shape[1] or rows.shape[1] <= FEW_DIMENSIONS:
        guesses = None if start is None else [guess for guess in starts if guess is not None]
        bounds = tasks.bounds[:, 0] if tasks.share_rows else tasks.bounds
        svms = solve_linear_svms(rows, tasks.signs, bounds, tol=tol, starts=guesses, n_jobs=n_jobs)
    else:
        svms = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_solve_task)(rows, tasks.signs[:, k], tasks.bounds[:, k], tol, starts[k])
            for k in range(tasks.n_tasks)
        )
    return TaskSVMs(
        np.column_stack([svm.coef for svm in svms]),
        np.array([svm.intercept for svm in svms]),
        np.column_stack([svm.dual for svm in svms]),
        float(sum(svm.objective for svm in svms)),
        float(sum(svm.gap for svm in svms)),
    )


def _solve_task(
    rows: np.ndarray,
    signs: np.ndarray,
    bounds: np.ndarray,
    tol: float,
    start: tuple[np.ndarray, float] | None,
) -> LinearSVM:
    """Solve one SVM, in the span of its own rows where that has fewer dimensions."""
    members = np.flatnonzero((signs != 0) & (bounds > 0))
    if len(members) >= rows.shape[1]:
        return solve_linear_svm(rows, signs, bounds, tol=tol, start=start)
    basis, triangle = linalg.qr(rows[members].T, mode="economic")
    if start is not None:
        start = basis.T @ start[0], start[1]
    svm = solve_linear_svm(triangle.T, signs[members], bounds[members], tol=tol, start=start)
    dual = np.zeros(len(signs))
    dual[members] = svm.dual
    return LinearSVM(basis @ svm.coef, svm.intercept, dual, svm.objective, svm.gap, svm.n_iter)


def dual_directions(tasks: Tasks, dual: np.ndarray) -> np.ndarray:
    """Return V = [v_1 .. v_K] with v_k = sum_i a_ik y_ik x_i, shape (n_dimensions, n_tasks).

    The paper's C_w - C_b is V V^T exactly, so that its leading eigenvectors are the left
    singular vectors of V and no matrix of n_dimensions x n_dimensions is needed.
    """
    return tasks.rows.T @ (dual * tasks.signs)


def leading_directions(V: np.ndarray, n_components: int) -> np.ndarray:
    """Return the paper's eigenvector step: the A that maximises ||A V||_F^2, A A^T = I.

    Its rows are the leading left singular vectors of `V`: ``min(n_components, *V.shape)`` rows.
    """
    return linalg.svd(V, full_matrices=False)[0][:, :n_components].T
