"""Linear SVMs on rows of few dimensions: the g step.

Each SVM solves

    min over w, b   1/2 ||w||^2 + sum_n u_n max(0, 1 - y_n (w . z_n + b))               (primal)
    max over a      sum_n a_n - 1/2 ||sum_n a_n y_n z_n||^2,  0 <= a <= u, sum a_n y_n = 0 (dual)

with ``u_n = C`` times the weight of the row; the bias is not regularised. An interior point
method on a working set of rows near the margin solves it: the Newton systems are of size L + 1,
so the cost is O(N L^2) an iteration whatever C is, and the duality gap over all rows certifies
the result. LIBLINEAR, in comparison, slows down with large C where classes overlap.
"""

from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from supred.solvers.svm_interior_point import interior_point

DEFAULT_TOL = 1e-4
# Problems up to this many rows are solved in one piece.
SMALL = 1500
# A thinned-out problem keeps at least this many rows of each sign.
FEWEST = 50
# A row this close to its margin is on it.
ON_MARGIN = 1e-9


@dataclass(frozen=True)
class LinearSVM:
    """A linear SVM with the certificate of its accuracy.

    Attributes
    ----------
    coef : ndarray of shape (n_dimensions,)
    intercept : float
    dual : ndarray of shape (n_rows,)
        The dual variables a, zero for rows that are not part of the task.
    objective : float
        Primal objective.
    gap : float
        Primal minus dual objective, over all rows: the objective is at most this far from the
        optimum.
    n_iter : int
        Interior point iterations, over all working sets.
    """

    coef: np.ndarray
    intercept: float
    dual: np.ndarray
    objective: float
    gap: float
    n_iter: int


@dataclass(frozen=True)
class _Problem:
    """Rows Z, signs y and upper bounds u of one SVM; all rows take part."""

    Z: np.ndarray  # (n, L)
    y: np.ndarray  # (n,), -1.0 or 1.0
    u: np.ndarray  # (n,), positive

    def slack(self, w: np.ndarray, b: float) -> np.ndarray:
        """Return e_n = 1 - y_n (w . z_n + b)."""
        return 1.0 - self.y * (self.Z @ w + b)

    def primal(self, w: np.ndarray, slack: np.ndarray) -> float:
        return float(0.5 * (w @ w) + self.u @ np.maximum(slack, 0.0))

    def dual(self, a: np.ndarray) -> float:
        v = self.Z.T @ (a * self.y)
        return float(a.sum() - 0.5 * (v @ v))


@dataclass(frozen=True)
class _Frame:
    """Coordinates in which the rows have mean zero and unit size.

    With ``z' = (z - center) / scale`` the SVM of bounds ``u' = scale^2 u`` has
    ``w' = scale w``, ``a' = scale^2 a`` and scale^2 times the objective.
    """

    center: np.ndarray
    scale: float

    @classmethod
    def of(cls, Z: np.ndarray, u: np.ndarray) -> tuple["_Frame", np.ndarray, np.ndarray]:
        """Return the frame of the rows, and the rows and bounds in it."""
        Z = np.asarray(Z, dtype=float)
        center = np.average(Z, axis=0, weights=u)
        Z = Z - center
        size = float(np.abs(Z).max())
        # The root of a mean square, of numbers that neither overflow nor vanish.
        scale = size * float(np.sqrt(np.square(Z / size).mean())) if size > 0 else 1.0
        return cls(center, scale), Z / scale, np.asarray(u, dtype=float) * scale**2

    def into(self, start: tuple[np.ndarray, float] | None) -> tuple[np.ndarray, float] | None:
        """Return a guess (coef, intercept) in this frame."""
        if start is None:
            return None
        coef, intercept = start
        return coef * self.scale, intercept + float(coef @ self.center)

    def back(self, svm: LinearSVM) -> LinearSVM:
        """Return an SVM of this frame where its rows came from."""
        coef = svm.coef / self.scale
        size = self.scale**2
        return LinearSVM(
            coef,
            svm.intercept - float(coef @ self.center),
            svm.dual / size,
            svm.objective / size,
            svm.gap / size,
            svm.n_iter,
        )


def solve_linear_svm(
    Z: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    *,
    tol: float = DEFAULT_TOL,
    start: tuple[np.ndarray, float] | None = None,
) -> LinearSVM:
    """Solve one linear SVM to a relative duality gap of `tol`.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_dimensions)
    y : ndarray of shape (n_rows,)
        +1 and -1; 0 for a row that is not part of the task.
    u : ndarray of shape (n_rows,)
        Upper bounds of the dual variables, C times the row's weight; a row with 0 is left out.
    tol : float, default=1e-4
        Stop when primal - dual <= tol * primal.
    start : tuple (coef, intercept), optional
        A guess, such as the solution on nearby rows; it chooses the first working set.

    Returns
    -------
    LinearSVM

    Examples
    --------
    Two points at -1 and +1 have the margins 1 with w = 1 and b = 0.

    >>> import numpy as np
    >>> from supred.solvers.linear_svm import solve_linear_svm
    >>> Z = np.array([[-1.0], [1.0]])
    >>> svm = solve_linear_svm(Z, np.array([-1, 1]), np.full(2, 10.0), tol=1e-8)
    >>> svm.coef.round(4), round(abs(svm.intercept), 4)
    (array([1.]), 0.0)
    """
    rows = np.flatnonzero((y != 0) & (u > 0))
    everything = len(rows) == len(y)
    Z, y_used, u_used = (Z, y, u) if everything else (Z[rows], y[rows], u[rows])
    if not len(rows) or (y_used == y_used[0]).all():
        # One class only: a constant decision has no loss.
        sign = float(y_used[0]) if len(rows) else 0.0
        return LinearSVM(np.zeros(Z.shape[1]), sign, np.zeros(len(y)), 0.0, 0.0, 0)
    frame, Z, u_used = _Frame.of(Z, u_used)
    problem = _Problem(Z, np.asarray(y_used, dtype=float), u_used)
    svm = frame.back(_or_constant(problem, _solve(problem, tol, frame.into(start))))
    if everything:
        return svm
    dual = np.zeros(len(y))
    dual[rows] = svm.dual
    return replace(svm, dual=dual)


def solve_linear_svms(
    Z: np.ndarray,
    signs: np.ndarray,
    u: np.ndarray,
    *,
    tol: float = DEFAULT_TOL,
    starts: list[tuple[np.ndarray, float]] | None = None,
    n_jobs: int | None = None,
) -> list[LinearSVM]:
    """Solve one linear SVM per column of `signs`, in parallel threads.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_dimensions)
    signs : ndarray of shape (n_rows, n_svms)
        +1, -1 or 0 (not part of this SVM).
    u : ndarray of shape (n_rows,)
        C times the weight of each row.
    tol, starts
        As in :func:`solve_linear_svm`, one start per SVM.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """
    if len(Z) <= SMALL and (u > 0).all() and _all_have_two_sides(signs):
        return _solve_together(Z, signs, u, tol)
    guesses = starts if starts is not None else [None] * signs.shape[1]
    return list(
        Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(solve_linear_svm)(Z, signs[:, k], u, tol=tol, start=guesses[k])
            for k in range(signs.shape[1])
        )
    )


def _all_have_two_sides(signs: np.ndarray) -> bool:
    """Tell whether every SVM sees every row and has rows of both signs."""
    return bool(
        ((signs != 0).all()) and (signs.min(axis=0) < 0).all() and (signs.max(axis=0) > 0).all()
    )


def _solve_together(Z: np.ndarray, signs: np.ndarray, u: np.ndarray, tol: float) -> list[LinearSVM]:
    """Solve SVMs on the same few rows in the same array operations."""
    frame, Z, u = _Frame.of(Z, u)
    y = np.ascontiguousarray(signs.T, dtype=float)
    n_svms = len(y)
    w, b, a, n_iter = interior_point(
        Z, y, np.tile(u, (n_svms, 1)), np.zeros((n_svms, Z.shape[1])), np.zeros(n_svms), tol
    )
    svms = []
    for k in range(n_svms):
        problem = _Problem(Z, y[k], u)
        svm = _certified(problem, w[k], float(b[k]), a[k], int(n_iter[k]))
        svms.append(frame.back(_or_constant(problem, svm)))
    return svms


def _solve(problem: _Problem, tol: float, start: tuple[np.ndarray, float] | None) -> LinearSVM:
    n_rows = len(problem.y)
    if n_rows <= max(SMALL, 4 * FEWEST):
        return _solve_on(problem, np.ones(n_rows, dtype=bool), np.zeros(n_rows), tol)
    n_iter = 0
    if start is None:
        coarse = _solve(_thin_out(problem), max(tol, 1e-3), None)
        start, n_iter = (coarse.coef, coarse.intercept), coarse.n_iter
    slack = problem.slack(*start)
    free = _near_margin(slack, SMALL)
    while True:
        # Rows off the working set are taken to be where the last solution says: a = u if it
        # violates its margin, a = 0 if not.
        fixed = np.where(~free & (slack > ON_MARGIN), problem.u, 0.0)
        while not _can_balance(problem, free, fixed):
            free |= _near_margin(slack, 2 * int(free.sum()))
            fixed[free] = 0.0
        svm = _solve_on(problem, free, fixed, tol)
        n_iter += svm.n_iter
        slack = problem.slack(svm.coef, svm.intercept)
        wrong = _costliest_errors(problem, free, fixed, slack, tol * svm.objective)
        if svm.gap <= tol * svm.objective or not wrong.size:
            return replace(svm, n_iter=n_iter)
        free[wrong] = True


def _costliest_errors(
    problem: _Problem, free: np.ndarray, fixed: np.ndarray, slack: np.ndarray, allowance: float
) -> np.ndarray:
    """Return the rows off the working set whose fixed a adds most to the duality gap.

    A row held at a = 0 adds ``u max(0, e)``, one held at a = u adds ``u max(0, -e)``. Rows that
    together add less than a tenth of `allowance` are left alone.
    """
    cost = problem.u * np.maximum(np.where(fixed > 0, -slack, slack), 0.0)
    cost[free] = 0.0
    rows = np.flatnonzero(cost > 0.1 * allowance / len(cost))
    count = max(SMALL, int(free.sum()) // 2)
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(-cost[rows], count)[:count]]


def _solve_on(problem: _Problem, free: np.ndarray, fixed: np.ndarray, tol: float) -> LinearSVM:
    """Solve over the `free` rows, the others held at `fixed`; certify over all rows."""
    pull = problem.Z.T @ (fixed * problem.y)
    charge = float(fixed @ problem.y)
    everything = bool(free.all())
    w, b, a, n_iter = interior_point(
        problem.Z if everything else problem.Z[free],
        (problem.y if everything else problem.y[free])[None],
        (problem.u if everything else problem.u[free])[None],
        pull[None],
        np.array([charge]),
        # Leave room for what the rows off the working set add to the gap.
        tol if everything else 0.5 * tol,
        offset=np.array([fixed.sum()]),
    )
    dual = fixed.copy()
    dual[free] = a[0]
    return _certified(problem, w[0], float(b[0]), dual, int(n_iter[0]))


def _certified(
    problem: _Problem, w: np.ndarray, b: float, dual: np.ndarray, n_iter: int
) -> LinearSVM:
    """Return the SVM with its objective and duality gap over all rows."""
    _balance(dual, problem.y)
    objective = problem.primal(w, problem.slack(w, b))
    return LinearSVM(w, b, dual, objective, objective - problem.dual(dual), n_iter)


def _thin_out(problem: _Problem) -> _Problem:
    """Take about an eighth of the rows of each sign, with eight times their bounds."""
    chosen = np.zeros(len(problem.y), dtype=bool)
    u = problem.u.copy()
    for sign in (-1.0, 1.0):
        rows = np.flatnonzero(problem.y == sign)
        kept = rows[:: max(1, min(8, len(rows) // FEWEST))]
        u[kept] *= problem.u[rows].sum() / problem.u[kept].sum()
        chosen[kept] = True
    return _Problem(problem.Z[chosen], problem.y[chosen], u[chosen])


def _near_margin(slack: np.ndarray, count: int) -> np.ndarray:
    """Tell which `count` rows have the smallest distance to their margin."""
    chosen = np.zeros(len(slack), dtype=bool)
    if count >= len(slack):
        return ~chosen
    distance = np.abs(slack)
    limit = np.partition(distance, count)[count]
    chosen[distance < limit - ON_MARGIN] = True
    # After a Z step thousands of rows can lie exactly on their margin: take some of them evenly.
    ties = np.flatnonzero(np.abs(distance - limit) <= ON_MARGIN)
    wanted = count - int(chosen.sum())
    chosen[ties[np.linspace(0, len(ties) - 1, wanted).astype(int)]] = True
    return chosen


def _can_balance(problem: _Problem, free: np.ndarray, fixed: np.ndarray) -> bool:
    """Tell whether the free rows can bring sum a_n y_n to zero, with room to spare."""
    charge = float(fixed @ problem.y)
    room = {s: float(problem.u[free & (problem.y == s)].sum()) for s in (-1.0, 1.0)}
    if min(room.values()) <= 0:
        return False
    return abs(charge) <= 0.8 * room[-1.0 if charge > 0 else 1.0]


def _or_constant(problem: _Problem, svm: LinearSVM) -> LinearSVM:
    """Return the SVM, or a constant decision if a failed solution is worse than that."""
    for sign in (-1.0, 1.0):
        cost = 2.0 * float(problem.u @ (problem.y != sign))
        if cost < svm.objective:
            gap = svm.gap + cost - svm.objective
            svm = replace(
                svm, coef=np.zeros_like(svm.coef), intercept=sign, objective=cost, gap=gap
            )
    return svm


def _balance(dual: np.ndarray, y: np.ndarray) -> None:
    """Shrink the heavier side of `dual` in place so that sum a_n y_n = 0 holds exactly."""
    for _ in range(2):  # the second round removes the rounding of the first
        positive, negative = float(dual[y > 0].sum()), float(dual[y < 0].sum())
        heavier, lighter = max(positive, negative), min(positive, negative)
        if heavier == lighter:
            return
        dual[(y > 0) if positive > negative else (y < 0)] *= lighter / heavier
