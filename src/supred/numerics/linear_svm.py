"""Linear SVMs on rows of few dimensions: the g step.

Each SVM solves

    min over w, b   1/2 ||w||^2 + sum_n u_n max(0, 1 - y_n (w . z_n + b))               (primal)
    max over a      sum_n a_n - 1/2 ||sum_n a_n y_n z_n||^2,  0 <= a <= u, sum a_n y_n = 0 (dual)

with ``u_n = C`` times the weight of the row; the bias is not regularised. An interior point
method on a working set of rows near the margin solves it: the Newton systems are of size L + 1,
so the cost does not depend on C, and the duality gap over all rows certifies the result. The
working sets of several SVMs go through the same array operations. LIBLINEAR, in comparison,
slows down with large C where classes overlap.
"""

from dataclasses import dataclass, replace

import numpy as np

from supred.common.threads import map_in_threads
from supred.numerics.svm_batch import MOST_MU
from supred.numerics.svm_interior_point import interior_point
from supred.numerics.svm_working_set import FEWEST, Problem, WorkingSet, balance, within_reach

DEFAULT_TOL = 1e-4
# Problems up to this many rows are solved in one piece.
SMALL = 1500
# SVMs that go through the same array operations; fixed, so that n_jobs changes no result. Ten of
# them in one batch are quicker than in two batches on two threads, which wait for each other.
TOGETHER = 20
# Sets up to this size take as long as smaller ones.
TINY = 255
# A guess whose working set leaves a larger relative gap than this is dropped.
USELESS_GAP = 0.1
# An SVM with a larger gap than that is looked for with bounds u that are smaller: by a factor of a
# thousand at least, and so that no u |z|^2 is larger than this. If that fails, with these parts.
RESOLVED, LARGEST_PART = 1e20, 1e-3
SMALLER = (1.0, 1e-3, 1e-9, 1e-18, 1e-27)
# A row that pads a working set is a copy of another with this part of its bound.
PADDING = 1e-30
# Rows whose coordinates all are smaller are in one place: their square would vanish.
NOTHING = 1e-100


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
        center = u @ Z / u.sum()
        Z = Z - center
        size = float(np.abs(Z).max())
        # The root of a mean square, of numbers that neither overflow nor vanish.
        scale = size * float(np.sqrt(np.square(Z / size).mean())) if size > NOTHING else 1.0
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
    >>> from supred.numerics.linear_svm import solve_linear_svm
    >>> Z = np.array([[-1.0], [1.0]])
    >>> svm = solve_linear_svm(Z, np.array([-1, 1]), np.full(2, 10.0), tol=1e-8)
    >>> svm.coef.round(4), round(abs(svm.intercept), 4)
    (array([1.]), 0.0)
    """
    starts = None if start is None else [start]
    return solve_linear_svms(Z, np.asarray(y)[:, None], u, tol=tol, starts=starts)[0]


def solve_linear_svms(
    Z: np.ndarray,
    signs: np.ndarray,
    u: np.ndarray,
    *,
    tol: float = DEFAULT_TOL,
    starts: list[tuple[np.ndarray, float]] | None = None,
    n_jobs: int | None = None,
) -> list[LinearSVM]:
    """Solve one linear SVM per column of `signs`, a few together, in parallel threads.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_dimensions)
    signs : ndarray of shape (n_rows, n_svms)
        +1, -1 or 0 (not part of this SVM).
    u : ndarray of shape (n_rows,) or (n_rows, n_svms)
        C times the weight of each row, in all SVMs or in each.
    tol, starts
        As in :func:`solve_linear_svm`, one start per SVM.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """
    n_svms = signs.shape[1]
    guesses = starts if starts is not None else [None] * n_svms
    whole = bool(u.ndim == 1 and (u > 0).all() and (signs != 0).all())
    shared = _Frame.of(Z, u) if whole and len(u) else None
    bounds = u if u.ndim == 2 else np.broadcast_to(u[:, None], signs.shape)
    tasks = (
        (Z, signs[:, part], bounds[:, part], shared, tol, guesses[part])
        for part in (slice(k, k + TOGETHER) for k in range(0, n_svms, TOGETHER))
    )
    batches = map_in_threads(_solve_columns, tasks, n_jobs)
    return [svm for batch in batches for svm in batch]


_Framed = tuple[_Frame, np.ndarray, np.ndarray]  # a frame, and rows and bounds in it
_Start = tuple[np.ndarray, float] | None


def _solve_columns(
    Z: np.ndarray,
    signs: np.ndarray,
    u: np.ndarray,
    shared: _Framed | None,
    tol: float,
    starts: list[_Start],
) -> list[LinearSVM]:
    """Solve the SVMs of a few columns of `signs` and `u` together, each in its rows' frame."""
    svms: list[LinearSVM | None] = [None] * signs.shape[1]
    problems, frames, members, places, guesses = [], [], [], [], []
    for k, start in enumerate(starts):
        y = signs[:, k]
        rows = slice(None) if shared else np.flatnonzero((y != 0) & (u[:, k] > 0))
        y_used = np.asarray(y[rows], dtype=float)
        if not len(y_used) or (y_used == y_used[0]).all():
            # One class only: a constant decision has no loss.
            sign = float(y_used[0]) if len(y_used) else 0.0
            svms[k] = LinearSVM(np.zeros(Z.shape[1]), sign, np.zeros(len(y)), 0.0, 0.0, 0)
            continue
        bounds = within_reach(y_used, u[rows, k])
        together = shared if shared and (bounds == u[:, k]).all() else None
        frame, Z_used, u_used = together or _Frame.of(Z[rows], bounds)
        problems.append(Problem(Z_used, y_used, u_used))
        frames.append(frame)
        members.append(rows)
        places.append(k)
        guesses.append(frame.into(start))
    found = _or_smaller(problems, _solve_batch(problems, tol, guesses), tol)
    for i, svm in enumerate(found):
        solved = frames[i].back(_or_constant(problems[i], svm))
        dual = np.zeros(len(u))
        dual[members[i]] = solved.dual
        svms[places[i]] = replace(solved, dual=dual)
    return [svm for svm in svms if svm is not None]


def _solve_batch(problems: list[Problem], tol: float, starts: list[_Start]) -> list[LinearSVM]:
    """Solve small problems in one piece, others by working sets that grow.

    A guess that leaves a large gap after the first round is dropped, for one from thinned-out
    rows where there are many. It is no guide where a Z step has put many rows exactly on the
    margin of the guess, which then says nothing about their a: its working set would have to grow
    to all of them.
    """
    large = [len(problem.y) > max(SMALL, 4 * FEWEST) for problem in problems]
    guided = [start is not None for start in starts]
    sets: dict[int, WorkingSet] = {}
    n_iter = [0] * len(problems)
    for i, (problem, start) in enumerate(zip(problems, starts, strict=True)):
        if not large[i]:
            sets[i] = WorkingSet.whole(problem, start)
        elif start is not None:
            sets[i] = WorkingSet.near(problem, *start)
    lost = [i for i in range(len(problems)) if i not in sets]
    svms: dict[int, LinearSVM] = {}
    unsolved = list(sets)
    while unsolved or lost:
        for i, guess in zip(lost, _coarse_guesses([problems[i] for i in lost], tol), strict=True):
            # A guess that comes from an eighth of the rows is not near enough for a small set.
            sets[i] = WorkingSet.near(problems[i], guess.coef, guess.intercept, share=0.1)
            n_iter[i] += guess.n_iter
        unsolved, lost, still = unsolved + lost, [], []
        solved = _solve_on([sets[i] for i in unsolved], tol)
        for i, (svm, slack) in zip(unsolved, solved, strict=True):
            n_iter[i] += svm.n_iter
            svms[i] = replace(svm, n_iter=n_iter[i])
            allowance = tol * svm.objective
            if svm.gap > allowance and guided[i] and not large[i]:
                sets[i] = WorkingSet.whole(problems[i])
                still.append(i)
            elif svm.gap > allowance and guided[i] and svm.gap > USELESS_GAP * svm.objective:
                lost.append(i)
            elif svm.gap > allowance and sets[i].grow(svm.coef, svm.intercept, slack, allowance):
                still.append(i)
            guided[i] = False
        unsolved = still
    return [svms[i] for i in range(len(problems))]


def _coarse_guesses(problems: list[Problem], tol: float) -> list[LinearSVM]:
    """Solve thinned-out problems, which are guesses of the whole ones."""
    thin = [_thin_out(problem) for problem in problems]
    return _solve_batch(thin, max(tol, 1e-3), [None] * len(thin)) if thin else []


_Solved = tuple[LinearSVM, np.ndarray]  # an SVM and the slack of all rows


def _solve_on(sets: list[WorkingSet], tol: float) -> list[_Solved]:
    """Solve over the free rows, the others held; certify over all rows.

    Sets of about the same size, none more than twice another or all tiny, are solved together.
    """
    svms: dict[int, _Solved] = {}
    groups: dict[tuple[bool, bool, int], list[int]] = {}
    for i, each in enumerate(sets):
        size = max(int(each.free.sum()), TINY).bit_length()
        groups.setdefault((each.guess is None, bool(each.free.all()), size), []).append(i)
    for group in groups.values():
        for i, svm in zip(group, _solve_alike([sets[i] for i in group], tol), strict=True):
            svms[i] = svm
    return [svms[i] for i in range(len(sets))]


def _solve_alike(sets: list[WorkingSet], tol: float) -> list[_Solved]:
    """Solve over working sets that are padded to one size, with the same array operations."""
    members = [np.flatnonzero(each.free) for each in sets]
    size = max(len(rows) for rows in members)
    Z = np.empty((len(sets), sets[0].problem.Z.shape[1], size))
    y, u = np.empty((2, len(sets), size))
    for k, (each, rows) in enumerate(zip(sets, members, strict=True)):
        # Rows of next to no weight fill up: copies, so that they go the way of another row.
        rows = np.pad(rows, (0, size - len(rows)), mode="edge")
        problem = each.problem
        Z[k], y[k], u[k] = problem.Z[rows].T, problem.y[rows], problem.u[rows]
        u[k, len(members[k]) :] *= PADDING
    guesses = [each.guess for each in sets if each.guess is not None]
    w, b, a, n_iter = interior_point(
        Z,
        y,
        u,
        np.stack([each.problem.Z.T @ (each.held * each.problem.y) for each in sets]),
        np.array([each.held @ each.problem.y for each in sets]),
        # Leave room for what the rows off the working set add to the gap.
        0.5 * tol if guesses else tol,
        offset=np.array([each.held.sum() for each in sets]),
        guess=np.stack(guesses) if guesses else None,
        most_mu=MOST_MU if sets[0].free.all() else np.inf,
    )
    svms = []
    for k, (each, rows) in enumerate(zip(sets, members, strict=True)):
        dual = each.held.copy()
        dual[rows] = a[k, : len(rows)]
        svms.append(_certified(each.problem, w[k], float(b[k]), dual, int(n_iter[k])))
    return svms


def _certified(problem: Problem, w: np.ndarray, b: float, dual: np.ndarray, n_iter: int) -> _Solved:
    """Return the SVM with its objective and duality gap over all rows, and their slack."""
    balance(dual, problem.y)
    slack = problem.slack(w, b)
    objective = problem.primal(w, slack)
    return LinearSVM(w, b, dual, objective, objective - problem.dual(dual), n_iter), slack


def _thin_out(problem: Problem) -> Problem:
    """Take about an eighth of the rows of each sign, with eight times their bounds."""
    chosen = np.zeros(len(problem.y), dtype=bool)
    u = problem.u.copy()
    for sign in (-1.0, 1.0):
        rows = np.flatnonzero(problem.y == sign)
        kept = rows[:: max(1, min(8, len(rows) // FEWEST))]
        u[kept] *= problem.u[rows].sum() / problem.u[kept].sum()
        chosen[kept] = True
    return Problem(problem.Z[chosen], problem.y[chosen], u[chosen])


def _or_smaller(problems: list[Problem], svms: list[LinearSVM], tol: float) -> list[LinearSVM]:
    """Return the SVMs; instead of those that failed the ones of smaller bounds, if better.

    Beside bounds that are large for the rows, as with columns of very unequal size, ||w||^2 has no
    digits left. With a smaller part of them the SVM can be solved and is next to the one wanted.
    """
    svms, parts = list(svms), {}
    for i, (problem, svm) in enumerate(zip(problems, svms, strict=True)):
        if svm.gap > USELESS_GAP * svm.objective:
            largest = float((problem.u * np.square(problem.Z).sum(axis=1)).max())
            parts[i] = min(LARGEST_PART, RESOLVED / max(largest, 1.0))
    for smaller in SMALLER:
        lost = list(parts)
        tried = [replace(problems[i], u=smaller * parts[i] * problems[i].u) for i in lost]
        for i, found in zip(lost, _solve_batch(tried, tol, [None] * len(lost)), strict=True):
            svms[i] = _better(problems[i], svms[i], found)
            solved = svms[i].gap <= USELESS_GAP * svms[i].objective
            if solved or found.gap <= USELESS_GAP * found.objective:
                del parts[i]
    return svms


def _better(problem: Problem, svm: LinearSVM, found: LinearSVM) -> LinearSVM:
    """Return the better of two SVMs, one of which was found with smaller bounds."""
    objective = problem.primal(found.coef, problem.slack(found.coef, found.intercept))
    best = found if objective < svm.objective else svm
    dual, bound = max(
        (svm.dual, svm.objective - svm.gap),
        (found.dual, problem.dual(found.dual)),
        key=lambda pair: pair[1],
    )
    objective, n_iter = min(objective, svm.objective), svm.n_iter + found.n_iter
    return LinearSVM(best.coef, best.intercept, dual, objective, objective - bound, n_iter)


def _or_constant(problem: Problem, svm: LinearSVM) -> LinearSVM:
    """Return the SVM, or a constant decision if a failed solution is worse than that."""
    for sign in (-1.0, 1.0):
        cost = 2.0 * float(problem.u @ (problem.y != sign))
        if cost < svm.objective:
            gap = svm.gap + cost - svm.objective
            svm = replace(
                svm, coef=np.zeros_like(svm.coef), intercept=sign, objective=cost, gap=gap
            )
    return svm
