"""A lower bound of the max-margin projection problem from its convex relaxation.

With P = A^T A the problem is min over P, max over the duals a, of

    sum a - 1/2 sum_k v_k^T P v_k,    v_k = sum_i a_ik y_ik x_i,

over projection matrices P of rank d. Their convex hull is {0 <= P <= I, tr P = d}; there the
minimum over P is known, so that any feasible a gives the bound

    sum a - 1/2 sum_{i <= d} sigma_i(V)^2.                                                    (2)
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize_scalar

from supred.max_margin.task_svms import Tasks, TaskSVMs, dual_directions, solve_task_svms

# Part of P that is spread over all directions, one step each: it keeps the duals from running
# into directions that P leaves out.
SPREADS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
# Any feasible duals prove a bound, so that the SVMs of a step need not be exact.
STEP_TOL = 1e-3
# Two steps in a row that raise the bound by a smaller fraction are the last ones.
LEAST_GAIN = 1e-3


@dataclass(frozen=True)
class LowerBound:
    """A lower bound of the objective.

    Attributes
    ----------
    value : float
    dual : ndarray of shape (n_rows, n_tasks)
        Feasible dual variables that prove it.
    history : list of float
        The bound after each step; it never falls.
    """

    value: float
    dual: np.ndarray
    history: list[float]


def bound_of(total: float, V: np.ndarray, n_components: int) -> tuple[float, float]:
    """Return the bound (2) of duals ``t a``, with the best 0 <= t <= 1, and that t.

    Parameters
    ----------
    total : float
        sum a.
    V : ndarray of shape (n_dimensions, n_tasks)
    n_components : int
    """
    values = linalg.svdvals(V)
    total, squares = float(total), float((values[:n_components] ** 2).sum())
    factor = 1.0 if squares <= total else total / squares
    return factor * total - 0.5 * factor**2 * squares, factor


def relaxed_spectrum(values: np.ndarray, n_components: int) -> np.ndarray:
    """Return the eigenvalues of the P that minimises tr(Omega^T P^-1 Omega), tr P = d, P <= I.

    They are min(1, sigma_i / tau) with the tau for which they add up to d, for the singular
    values sigma of Omega in falling order; all ones where no more than d of them are positive.
    """
    if np.count_nonzero(values) <= n_components:
        return np.where(np.arange(len(values)) < n_components, 1.0, 0.0)
    for n_full in range(n_components):
        tau = values[n_full:].sum() / (n_components - n_full)
        if values[n_full] <= tau:
            break
    return np.minimum(values, tau) / tau


@dataclass(frozen=True)
class RelaxedRoot:
    """The square root of a relaxed projection P: `floor` times I, plus what `directions` add.

    Attributes
    ----------
    directions : ndarray of shape (n_dimensions, n_directions)
        Orthonormal columns U.
    excess : ndarray of shape (n_directions,)
    floor : float
        P^1/2 = U diag(excess) U^T + floor I.
    """

    directions: np.ndarray
    excess: np.ndarray
    floor: float

    @classmethod
    def best_for(cls, omega: np.ndarray, n_components: int, spread: float) -> "RelaxedRoot":
        """Return the root of (1 - spread) P_best + spread d / D I.

        P_best minimises tr(Omega^T P^-1 Omega) for the weights `omega` (D x K).
        """
        directions, values, _ = linalg.svd(omega, full_matrices=False)
        floor = spread * n_components / len(omega)
        spectrum = (1.0 - spread) * relaxed_spectrum(values, n_components) + floor
        return cls(directions, np.sqrt(spectrum) - np.sqrt(floor), float(np.sqrt(floor)))

    def times(self, rows: np.ndarray) -> np.ndarray:
        """Return ``rows @ P^1/2``."""
        return self.floor * rows + ((rows @ self.directions) * self.excess) @ self.directions.T


def lower_bound(
    independent: TaskSVMs,
    tasks: Tasks,
    n_components: int,
    *,
    quick: bool = False,
    n_jobs: int | None = None,
) -> LowerBound:
    """Raise the bound (2), from the duals of the independent SVMs, in a few steps.

    Each step solves the SVMs at a fixed P, which is best for the weights of the step before, and
    takes the best point between the duals so far and the new ones.

    Parameters
    ----------
    independent : TaskSVMs
        The SVMs on all dimensions.
    tasks : Tasks
    n_components : int
    quick : bool, default=False
        Take the bound of the independent SVMs as it is: it costs nothing and is looser.
    n_jobs : int, optional
        Threads for the SVMs.
    """
    dual, V = independent.dual, dual_directions(tasks, independent.dual)
    value, factor = bound_of(dual.sum(), V, n_components)
    history = [value]
    if quick or n_components >= min(V.shape):
        # P = I on the span of V: the relaxation is the problem itself.
        return LowerBound(value, factor * dual, history)
    omega = independent.coef
    for spread in SPREADS:
        root = RelaxedRoot.best_for(omega, n_components, spread)
        svms = solve_task_svms(root.times(tasks.rows), tasks, tol=STEP_TOL, n_jobs=n_jobs)
        omega = root.times(svms.coef.T).T
        toward, V_toward = svms.dual - dual, dual_directions(tasks, svms.dual) - V
        share = _best_share(float(dual.sum()), V, float(toward.sum()), V_toward, n_components)
        dual, V = dual + share * toward, V + share * V_toward
        value, factor = bound_of(dual.sum(), V, n_components)
        history.append(max(value, history[-1]))
        if len(history) > 3 and history[-1] - history[-3] <= LEAST_GAIN * history[-1]:
            break
    return LowerBound(history[-1], factor * dual, history)


def _best_share(
    total: float, V: np.ndarray, total_toward: float, V_toward: np.ndarray, n_components: int
) -> float:
    """Return the s in [0, 1] at which the duals ``a + s toward`` have the best bound."""
    # The singular values of V + s V_toward are those of a matrix with 2 K rows.
    both = linalg.qr(np.hstack([V, V_toward]), mode="r")[0][: 2 * V.shape[1]]
    first, second = both[:, : V.shape[1]], both[:, V.shape[1] :]

    def loss(share: float) -> float:
        return -bound_of(total + share * total_toward, first + share * second, n_components)[0]

    found = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-4})
    return float(found.x) if found.fun < loss(0.0) else 0.0
