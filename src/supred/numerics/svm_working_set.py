"""Which rows of a linear SVM matter: a working set about the margin, the others held.

At the optimum of an SVM (see :mod:`supred.numerics.linear_svm`) a row beyond its margin has a = 0
and one inside it a = u; only rows on the margin are in between. A guess of w and b therefore
tells most of a, and the rows about its margin are a small problem of their own. What the guess
got wrong shows in the duality gap, row by row.
"""

from dataclasses import dataclass

import numpy as np

# Rows of the first working set of a larger problem, and at least so many per dimension.
WORKING = 500
PER_DIMENSION = 10
# A thinned-out problem keeps at least this many rows of each sign.
FEWEST = 50
# Less than this is no violation of a margin by a coarse guess.
LITTLE = 1e-2
# A row this close to its margin is on it.
ON_MARGIN = 1e-9
# Bounds larger than those of the other sign together by more than this factor are taken as such.
BEYOND_REACH = 1e3


@dataclass(frozen=True)
class Problem:
    """Rows Z, signs y and upper bounds u of one linear SVM; all rows take part."""

    Z: np.ndarray  # (n, L)
    y: np.ndarray  # (n,), -1.0 or 1.0
    u: np.ndarray  # (n,), positive

    def slack(self, w: np.ndarray, b: float) -> np.ndarray:
        """Return e_n = 1 - y_n (w . z_n + b)."""
        return 1.0 - self.y * (self.Z @ w + b)

    def primal(self, w: np.ndarray, slack: np.ndarray) -> float:
        """Return 1/2 ||w||^2 + sum u_n max(0, e_n)."""
        return float(0.5 * (w @ w) + self.u @ np.maximum(slack, 0.0))

    def dual(self, a: np.ndarray) -> float:
        """Return sum a_n - 1/2 ||sum a_n y_n z_n||^2."""
        v = self.Z.T @ (a * self.y)
        return float(a.sum() - 0.5 * (v @ v))


@dataclass
class WorkingSet:
    """The rows of a problem whose a is free, where the others are held, and a guess."""

    problem: Problem
    free: np.ndarray  # (n,) mask
    held: np.ndarray  # (n,) zero where free
    guess: np.ndarray | None = None  # (L + 1,), w and b

    @classmethod
    def whole(cls, problem: Problem, start: tuple[np.ndarray, float] | None = None) -> "WorkingSet":
        """Free all rows; `start` is a guess of w and b."""
        n_rows = len(problem.y)
        guess = None if start is None else np.append(*start)
        return cls(problem, np.ones(n_rows, dtype=bool), np.zeros(n_rows), guess)

    @classmethod
    def near(cls, problem: Problem, w: np.ndarray, b: float, share: float = 0.0) -> "WorkingSet":
        """Free rows near the margin of a guess, for a coarse one up to a `share`; hold the others.

        They are held where the guess says: a = u for a row that violates its margin and a = 0
        for one that does not. At the optimum sum a = ||w||^2 + loss: where more rows violate
        their margin, as thousands can by a hair after a Z step, those that do most have a = u.
        """
        slack = problem.slack(w, b)
        least = max(WORKING, PER_DIMENSION * (len(w) + 1))
        # As many as violate their margin, or lie so near that a coarse guess cannot tell.
        count = min(int(share * len(slack)), int((slack > -LITTLE).sum()))
        free = near_margin(slack, max(least, count))
        for sign in (-1.0, 1.0):
            side = problem.y == sign
            if free[side].sum() < FEWEST:
                free[side] |= near_margin(slack[side], FEWEST)
        held = np.where(~free & (slack > ON_MARGIN), problem.u, 0.0)
        most = 1.5 * (float(w @ w) + float(problem.u @ np.maximum(slack, 0.0)))
        if held.sum() > most:
            rows = np.flatnonzero(held)
            rows = rows[np.argsort(-slack[rows], kind="stable")]
            held[rows[np.cumsum(held[rows]) > most]] = 0.0
        made = cls(problem, free, held, np.append(w, b))
        made._balance(slack)
        return made

    def grow(self, w: np.ndarray, b: float, slack: np.ndarray, allowance: float) -> bool:
        """Free the rows that are held at the wrong place; tell whether there are any.

        `slack` is that of the new guess w and b. Rows that together add less than a tenth of
        `allowance` to the duality gap may stay.
        """
        problem = self.problem
        wrong = costliest_errors(problem, self.free, self.held, slack, allowance)
        self.free[wrong] = True
        self.held[wrong] = 0.0
        self._balance(slack)
        self.guess = np.append(w, b)
        return bool(wrong.size)

    def _balance(self, slack: np.ndarray) -> None:
        """Free rows that are held at u, until the free ones can bring sum a_n y_n to zero."""
        y, u = self.problem.y, self.problem.u
        charge = float(self.held @ y)
        heavy = 1.0 if charge > 0 else -1.0
        room = float(u[self.free & (y == -heavy)].sum())
        excess = abs(charge) - 0.5 * room
        if excess > 0:
            rows = np.flatnonzero((self.held > 0) & (y == heavy))
            rows = rows[np.argsort(slack[rows], kind="stable")]
            enough = int(np.searchsorted(np.cumsum(u[rows]), excess)) + 1
            self.free[rows[:enough]] = True
            self.held[rows[:enough]] = 0.0


def costliest_errors(
    problem: Problem, free: np.ndarray, fixed: np.ndarray, slack: np.ndarray, allowance: float
) -> np.ndarray:
    """Return the rows off the working set whose fixed a adds most to the duality gap.

    A row held at a = 0 adds ``u max(0, e)``, one held at a = u adds ``u max(0, -e)``. Rows that
    together add less than a tenth of `allowance` are left alone.
    """
    cost = problem.u * np.maximum(np.where(fixed > 0, -slack, slack), 0.0)
    cost[free] = 0.0
    rows = np.flatnonzero(cost > 0.1 * allowance / len(cost))
    count = max(WORKING, 2 * int(free.sum()))
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(-cost[rows], count)[:count]]


def near_margin(slack: np.ndarray, count: int) -> np.ndarray:
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


def balance(dual: np.ndarray, y: np.ndarray) -> None:
    """Shrink the heavier side of `dual` in place so that sum a_n y_n = 0 holds exactly."""
    rows = np.flatnonzero(dual)
    positive = y[rows] > 0
    sides = {True: rows[positive], False: rows[~positive]}
    for _ in range(2):  # the second round removes the rounding of the first
        sums = {side: float(dual[members].sum()) for side, members in sides.items()}
        if sums[True] == sums[False]:
            return
        heavier = sums[True] > sums[False]
        dual[sides[heavier]] *= sums[not heavier] / sums[heavier]


def within_reach(y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the bounds, those far beyond what a dual variable can reach made smaller.

    As sum a_n y_n = 0, no a_n is larger than the bounds of the other sign together, and whatever
    bound is beyond that has the same solution.
    """
    sums = {sign: float(u[y == sign].sum()) for sign in (-1.0, 1.0)}
    return np.minimum(u, BEYOND_REACH * np.where(y > 0, sums[-1.0], sums[1.0]))
