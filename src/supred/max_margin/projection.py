"""Max-margin projection: one projection shared by several SVMs.

K binary tasks, each with its own rows, share a projection A (d x D, A A^T = I); task k has a
linear SVM (w_k, b_k) on A x:

    min over A, w, b   1/2 sum_k ||w_k||^2 + sum_ik u_ik max(0, 1 - y_ik (w_k . A x_i + b_k)).  (1)

Because A A^T = I this is the multi-task SVM whose weight matrix Omega = [A^T w_1 .. A^T w_K]
(D x K) has rank at most d, with the penalty 1/2 ||Omega||_F^2. For d >= K the optimum is
K independent SVMs. For d < K the problem is not convex: :func:`follow_factors` goes from the
singular vectors of the independent SVMs (the SVD start) by L-BFGS on Omega = L R with a
Huberised hinge. The paper's own algorithm, which need not converge, is :func:`alternate`.

G. Chechik, "Max margin dimensionality reduction", 2008.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy import linalg
from scipy.optimize import OptimizeResult, minimize

from supred.max_margin.smoothed_objective import (
    balanced_factors,
    factors_at,
    hinge_objective,
    smoothed_objective,
)
from supred.max_margin.task_svms import (
    SVM_TOL,
    Tasks,
    TaskSVMs,
    dual_directions,
    leading_directions,
    solve_task_svms,
)

# Widths of the Huberised hinge. A wide start sometimes ends lower, seldom higher; the last is
# near enough to the hinge for the refit to gain next to nothing.
WIDTHS = (0.5, 0.05, 0.01)
# Where the SVD start costs at most this many times what the independent SVMs do, one width is as
# good as all of them.
NEAR, NEAR_WIDTHS = 1.25, (0.02,)
# L-BFGS corrections kept.
MEMORY = 20
# A width is done when the objective has fallen by less than the tolerance over this many
# iterations: single steps of L-BFGS are now and then tiny, far from the optimum.
SETTLED = 5
# Relative duality gap of SVMs that are only the start.
START_TOL = 1e-3
# Two projections with a smaller sine between them are the same: the alternation is in a cycle.
SAME = 1e-3
# The alternation gives up after this many iterations without a better projection.
PATIENCE = 50


@dataclass(frozen=True)
class Projection:
    """A shared projection with its SVMs.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_dimensions)
        Orthonormal rows: A. With ``n_components`` above the number of tasks it has only as many
        rows as there are tasks.
    svms : TaskSVMs
        The SVMs on ``rows @ components.T``.
    start_objective : float
        The objective (1) of the SVD start.
    history : dict of lists
        ``objective``, ``train_error``, ``seconds`` since the start and ``width`` of the hinge (0
        for the hinge itself), one entry per iteration.
    n_iter : int
    stopping_reason : {"converged", "max_iter", "completed"}
        "completed" where the solver could not go on: `message` says why.
    message : str
        Why the solver stopped, in words.
    """

    components: np.ndarray
    svms: TaskSVMs
    start_objective: float
    history: dict[str, list[float]]
    n_iter: int
    stopping_reason: str
    message: str


class _Record:
    """Collects the history of a run: one list per column, one entry per iteration."""

    def __init__(self, tasks: Tasks) -> None:
        self.columns: dict[str, list[float]] = {
            "objective": [],
            "train_error": [],
            "seconds": [],
            "width": [],
        }
        self.start = perf_counter()
        self.tasks = tasks

    def add(
        self, objective: float, L: np.ndarray, R: np.ndarray, b: np.ndarray, width: float
    ) -> None:
        """Record the objective and the error of the weights Omega = L R and biases."""
        scores = (self.tasks.rows @ L) @ R + b
        seconds = perf_counter() - self.start
        values = (float(objective), task_error(scores, self.tasks), seconds, width)
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)

    def add_exact(self, components: np.ndarray, svms: TaskSVMs) -> None:
        """Record SVMs on a projection."""
        self.add(svms.objective, components.T, svms.coef, svms.intercept, 0.0)


def task_error(scores: np.ndarray, tasks: Tasks) -> float:
    """Return the share of the weight that is on the wrong side, over all tasks."""
    wrong = (scores > 0) != (tasks.signs > 0)  # what is not part of a task has the bound 0
    return float(np.vdot(tasks.bounds, wrong) / tasks.bounds.sum())


def start_from_svd(independent: TaskSVMs, n_components: int) -> np.ndarray:
    """Return the SVD start: the leading directions of the independent SVMs.

    At their optimum the weights w_k are the v_k of the duals, so V is their weight matrix.
    """
    return leading_directions(independent.coef, n_components)


def refit(
    components: np.ndarray,
    tasks: Tasks,
    n_jobs: int | None = None,
    *,
    tol: float = SVM_TOL,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> TaskSVMs:
    """Solve the SVMs on the projected rows A x: min over w, b of (1) at fixed A.

    `tol` is their relative duality gap, `start` a guess of w and b.
    """
    return solve_task_svms(tasks.rows @ components.T, tasks, tol=tol, start=start, n_jobs=n_jobs)


def independent_projection(independent: TaskSVMs, tasks: Tasks, n_components: int) -> Projection:
    """Return the optimum for n_components >= n_tasks: the span of the independent SVMs."""
    record = _Record(tasks)
    components = start_from_svd(independent, n_components)
    svms = TaskSVMs(
        components @ independent.coef,
        independent.intercept,
        independent.dual,
        independent.objective,
        independent.gap,
    )
    record.add_exact(components, svms)
    message = "n_components is at least the number of tasks: the SVMs are independent"
    return Projection(components, svms, svms.objective, record.columns, 1, "converged", message)


def follow_factors(
    independent: TaskSVMs,
    tasks: Tasks,
    n_components: int,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    n_jobs: int | None = None,
) -> Projection:
    """SVD start, L-BFGS on the factors, orthonormal A from L, exact SVMs on A x.

    The start has the weights of the independent SVMs along A, and where these are far from good
    the SVMs on A x. The recorded objective is the smooth majorant while L-BFGS runs and the exact
    (1) after the refit, which cannot lie above it: it never rises. The SVD start is kept in the
    rare case that L-BFGS ends above it.

    Parameters
    ----------
    independent : TaskSVMs
        The SVMs on all dimensions.
    tasks : Tasks
    n_components : int
        Below the number of tasks and at most the number of dimensions.
    max_iter : int, default=1000
        Iterations of L-BFGS, all widths together.
    tol : float, default=1e-6
        A width is done when five iterations together lower the objective by less, relatively.
    n_jobs : int, optional
        Threads for the SVMs.
    """
    record = _Record(tasks)
    components = start_from_svd(independent, n_components)
    coef, intercept = components @ independent.coef, independent.intercept
    start_objective = hinge_objective(components.T, coef, intercept, tasks)
    if start_objective > NEAR * independent.objective:
        svms = refit(components, tasks, n_jobs, tol=START_TOL, start=(coef, intercept))
        coef, intercept, start_objective = svms.coef, svms.intercept, svms.objective
    point = balanced_factors(components, coef, intercept)
    n_iter, settled, result = 0, False, OptimizeResult(status=-1, message="")
    objectives = record.columns["objective"]
    widths = WIDTHS if start_objective > NEAR * independent.objective else NEAR_WIDTHS
    for width in widths:
        if n_iter >= max_iter:
            break
        arguments = (tasks, n_components, width)
        first, settled = len(objectives), False

        def keep(intermediate_result: OptimizeResult) -> None:
            L, R, b = factors_at(intermediate_result.x, tasks, n_components)
            record.add(intermediate_result.fun, L, R, b, width)  # noqa: B023

        def step(intermediate_result: OptimizeResult) -> None:
            nonlocal settled
            keep(intermediate_result)
            settled = has_settled(objectives[first:], tol)  # noqa: B023
            if settled:
                raise StopIteration

        keep(OptimizeResult(x=point, fun=smoothed_objective(point, *arguments)[0]))
        result = minimize(
            smoothed_objective,
            point,
            args=arguments,
            jac=True,
            method="L-BFGS-B",
            callback=step,
            options={
                "maxiter": max_iter - n_iter,
                "maxfun": 3 * (max_iter - n_iter) + 20,
                "maxcor": MEMORY,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        point = result.x
        n_iter += result.nit
    L, R, b = factors_at(point, tasks, n_components)
    found = orthonormalise(L)
    svms = refit(found, tasks, n_jobs, start=(found @ L @ R, b))
    if svms.objective >= start_objective:
        svms = refit(components, tasks, n_jobs, start=(coef, intercept))
    else:
        components = found
    record.add_exact(components, svms)
    # With tolerances of zero L-BFGS reports success only where no step lowers the objective.
    if (settled or result.status == 0) and width == widths[-1]:
        reason = "converged"
        message = f"the objective fell by less than tol={tol:g} over {SETTLED} iterations"
    elif n_iter >= max_iter:
        reason, message = "max_iter", f"max_iter={max_iter} iterations were done"
    else:
        reason, message = "completed", f"L-BFGS stopped: {result.message}"
    history = record.columns
    return Projection(components, svms, start_objective, history, n_iter, reason, message)


def has_settled(objectives: list[float], tol: float) -> bool:
    """Tell whether the last iterations together lowered the objective by less than `tol`."""
    if len(objectives) <= SETTLED:
        return False
    return objectives[-SETTLED - 1] - objectives[-1] <= tol * max(abs(objectives[-1]), 1.0)


def orthonormalise(L: np.ndarray) -> np.ndarray:
    """Return A (d x D) with orthonormal rows that span the columns of L (D x d)."""
    return linalg.qr(L, mode="economic")[0].T


def alternate(
    independent: TaskSVMs,
    tasks: Tasks,
    n_components: int,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    n_jobs: int | None = None,
) -> Projection:
    """Alternate as in the paper: SVMs at fixed A, then A = leading eigenvectors of C_w - C_b.

    Each step is the best answer to the other, which need not converge: it usually ends in a
    cycle of two. The best iterate is kept.
    """
    record = _Record(tasks)
    components = start_from_svd(independent, n_components)
    best = components, refit(components, tasks, n_jobs)
    since_best, svms = 0, best[1]
    record.add_exact(components, svms)
    seen: list[np.ndarray] = []
    reason, message = "max_iter", f"max_iter={max_iter} iterations were done"
    same = max(tol, SAME)
    for _ in range(max_iter):
        seen = [*seen[-3:], components]
        components = leading_directions(dual_directions(tasks, svms.dual), n_components)
        if _distance(components, seen[-1]) <= same:
            reason, message = "converged", "the projection no longer changes"
            break
        periods = [p for p in range(2, len(seen) + 1) if _distance(components, seen[-p]) <= same]
        if periods:
            reason, message = "completed", f"the alternation runs in a cycle of {periods[0]}"
            break
        svms = refit(components, tasks, n_jobs)
        record.add_exact(components, svms)
        since_best += 1
        if svms.objective < best[1].objective:
            best, since_best = (components, svms), 0
        if since_best >= PATIENCE:
            reason = "completed"
            message = f"the last {PATIENCE} iterations found no better projection"
            break
    found = record.columns["objective"]
    return Projection(*best, found[0], record.columns, len(found), reason, message)


def _distance(A: np.ndarray, B: np.ndarray) -> float:
    """Return the largest sine between the row spaces of two projections of the same size."""
    return float(linalg.norm(B - (B @ A.T) @ A, 2))


def order_by_use(components: np.ndarray, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn A and W within the space of A so that the first direction matters most to the SVMs.

    The objective (1) fixes the space only; the left singular vectors of W (d x K, d <= K) fix
    its axes.
    """
    left = linalg.svd(coef, full_matrices=False)[0]
    return left.T @ components, left.T @ coef


def solve_max_margin_projection(
    tasks: Tasks,
    n_components: int,
    *,
    solver: str = "lbfgs",
    max_iter: int = 1000,
    tol: float = 1e-6,
    n_jobs: int | None = None,
) -> tuple[Projection, TaskSVMs]:
    """Solve the problem (1) and return the projection and the independent SVMs.

    Parameters
    ----------
    tasks : Tasks
    n_components : int
        Number of rows of A, at least 1.
    solver : {"lbfgs", "alternating"}
        :func:`follow_factors` or :func:`alternate`; neither is needed, and neither runs, where
        `n_components` is at least the number of tasks or of dimensions.
    max_iter, tol, n_jobs
        Of the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.max_margin.projection import solve_max_margin_projection
    >>> from supred.max_margin.task_svms import Tasks
    >>> rows = np.array([[-1.0, 0.1], [1.0, 0.1], [-1.0, -0.1], [1.0, -0.1]])
    >>> signs = np.array([[-1, 1], [1, -1], [-1, 1], [1, -1]])
    >>> projection, _ = solve_max_margin_projection(Tasks(rows, signs, 10.0 * abs(signs)), 1)
    >>> abs(projection.components).round(2)
    array([[1., 0.]])
    """
    are_enough = n_components >= min(tasks.rows.shape[1], tasks.n_tasks)
    tol_of_svms = SVM_TOL if are_enough else START_TOL
    independent = solve_task_svms(tasks.rows, tasks, tol=tol_of_svms, n_jobs=n_jobs)
    if are_enough:
        return independent_projection(independent, tasks, n_components), independent
    follow = follow_factors if solver == "lbfgs" else alternate
    projection = follow(independent, tasks, n_components, max_iter=max_iter, tol=tol, n_jobs=n_jobs)
    return projection, independent
