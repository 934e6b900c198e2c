"""Linear SVMs on rows that lie in blocks, anywhere: sums and a few thousand rows are enough.

The SVMs of :mod:`supred.numerics.linear_svm`, solved without seeing all rows at once. Given a guess
of w and b, each block is asked for a survey (:mod:`supred.numerics.svm_survey`): the losses of the
guess, the rows near its margins, and all other rows merged into few.

A dual variable of a merged row is one for each of its members, so that the dual objective of
the merged problem is a lower bound of the whole one. Rows that are surely at a bound lose nothing
by being merged; the rows whose dual variables are in between lie at the margin and come as
they are. The solution is the next guess, until primal and dual objective meet.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from supred.numerics.compiled import is_there
from supred.numerics.svm_batch import PADDING, solve_batch
from supred.numerics.svm_survey import N_BINS, Survey, groups_of, survey

# Rows that are asked for at first, per SVM, and at least so many per dimension.
WORKING = 500
PER_DIMENSION = 10
# Most rows of one SVM that are ever asked for, and of several SVMs that are solved together.
MOST_ROWS, MOST_TOGETHER = 200_000, 100_000
MAX_ROUNDS = 30
# The number of rows grows when a round leaves more than this part of the gap.
SLOW = 0.2
# What rounding leaves of a sum from which all members were taken.
NOTHING_LEFT = 1e-12


class Blocks(Protocol):
    """Blocks of rows that can be asked."""

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add up ``function(first, Z, class_index, u, *arguments)`` over the blocks.

        `first` is the number of the block's first row, Z its rows, u their bounds.
        """


@dataclass(frozen=True)
class SVMs:
    """Linear SVMs with the certificate of their accuracy.

    Attributes
    ----------
    coef : ndarray of shape (n_svms, n_dimensions)
    intercept : ndarray of shape (n_svms,)
    objective, gap : ndarrays of shape (n_svms,)
        Primal objective, and how far it is from the optimum at most.
    """

    coef: np.ndarray
    intercept: np.ndarray
    objective: np.ndarray
    gap: np.ndarray


def solve_over_blocks(
    blocks: Blocks,
    signs: np.ndarray,
    n_dimensions: int,
    *,
    tol: float,
    start: np.ndarray | None = None,
    first: Survey | None = None,
    fast: bool = False,
) -> SVMs:
    """Solve one linear SVM per column of `signs` to a relative duality gap of `tol`.

    Parameters
    ----------
    blocks : Blocks
    signs : ndarray of shape (n_classes, n_svms)
        Sign of each class in each SVM: +1, -1 or 0.
    n_dimensions : int
    tol : float
    start : ndarray of shape (n_svms, n_dimensions + 1), optional
        A guess of w and b. An SVM that does not become better than that stays as it is.
    first : tuple, optional
        The sum of :func:`first_survey` from `start` over the blocks, if it is at hand.
    fast : bool
        Use the compiled loop where it is there.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.svm_over_blocks import solve_over_blocks
    >>> class Block:  # all rows are one block
    ...     def sum(self, function, *arguments):
    ...         return function(0, np.array([[-1.0], [1.0]]), np.arange(2), np.ones(2), *arguments)
    >>> svms = solve_over_blocks(Block(), np.array([[-1], [1]]), 1, tol=1e-8)
    >>> svms.coef.round(4), bool(svms.gap[0] < 1e-8)
    (array([[1.]]), True)
    """
    signs = np.asarray(signs, dtype=float)
    n_svms, (groups, n_groups) = signs.shape[1], groups_of(signs)
    n_cells = n_groups * N_BINS
    least = _least(n_dimensions)
    sets = [WorkingSet.empty(n_dimensions) for _ in range(n_svms)]
    # Without a guess all rows look alike, and each class is merged to its mean.
    guess = np.zeros((n_svms, n_dimensions + 1)) if start is None else start.copy()
    wanted = np.full(n_svms, 0 if start is None else least)
    before = None
    best, upper, lower = guess.copy(), np.full(n_svms, np.inf), np.zeros(n_svms)
    left, last_gap = np.arange(n_svms), np.full(n_svms, np.inf)
    whole = np.zeros(n_svms, dtype=bool)  # solved with all rows: another round adds nothing
    for _ in range(MAX_ROUNDS):
        asked = (
            guess[left],
            None if before is None else before[left],
            signs[:, left],
            [sets[k].number for k in left],
            wanted[left].tolist(),
        )
        losses, merged, near = first or blocks.sum(survey, *asked, fast)
        first, sums = None, merged.sums()
        bounds = np.searchsorted(sums[:, 0], n_cells * np.arange(len(left) + 1))
        primal = 0.5 * np.square(guess[left, :-1]).sum(axis=1) + losses
        for i, k in enumerate(left):
            own = sums[bounds[i] : bounds[i + 1]] - n_cells * i * np.eye(1, sums.shape[1])
            sets[k].take(near[i].nearest(), own, signs[:, k], groups[:, k])
            candidates = [(primal[i], guess[k])]
            if not np.isfinite(upper[k]):
                candidates += sets[k].constants()
            for value, parameters in candidates:
                if value < upper[k]:
                    upper[k], best[k] = value, parameters
        gap = upper - lower
        slow = gap > SLOW * last_gap
        sizes = np.array([len(each.number) for each in sets])
        wanted = np.where(slow, np.maximum(least, sizes), least)
        left = left[((gap > tol * upper) & (sizes < MOST_ROWS) & ~whole)[left]]
        if not len(left):
            break
        whole[left] = [not len(sets[k].merged) for k in left]
        last_gap = gap
        cold, before = not guess.any(), guess.copy()
        n_rows = [len(sets[k].number) + len(sets[k].merged) for k in left]
        for some in _together(left, n_rows):
            path = None if cold else guess[some], 0.5 * tol, fast and is_there()
            guess[some], dual = _solve_together([sets[k] for k in some], *path)
            lower[some] = np.maximum(lower[some], dual)
    return SVMs(best[:, :-1].copy(), best[:, -1].copy(), upper, upper - lower)


def first_survey(
    first: int,
    Z: np.ndarray,
    class_index: np.ndarray,
    u: np.ndarray,
    start: np.ndarray,
    signs: np.ndarray,
    fast: bool = False,
) -> Survey:
    """Return what :func:`solve_over_blocks` asks of a block first, given a start.

    Parameters are those of :func:`supred.numerics.svm_survey.survey`.
    """
    most = [_least(Z.shape[1])] * len(start)
    return survey(first, Z, class_index, u, start, None, signs, None, most, fast)


def _least(n_dimensions: int) -> int:
    """Return how many rows are asked for at first, per SVM."""
    return max(WORKING, PER_DIMENSION * (n_dimensions + 1))


@dataclass
class WorkingSet:
    """What is known of the rows of one SVM: some as they are, all others merged."""

    number: np.ndarray  # (n,) sorted
    rows: np.ndarray  # (n, 2 + L): sign, bound, z
    merged: np.ndarray  # (m, 2 + L)

    @classmethod
    def empty(cls, n_dimensions: int) -> "WorkingSet":
        """Return the set of nothing."""
        nothing = np.empty((0, 2 + n_dimensions))
        return cls(np.empty(0, dtype=np.int64), nothing, nothing)

    def take(
        self, near: np.ndarray, merged: np.ndarray, signs: np.ndarray, groups: np.ndarray
    ) -> None:
        """Take in rows that came, and merged rows, of which these are no members any more."""
        number, class_index = near[:, 1].astype(np.int64), near[:, 2].astype(int)
        u, bins, Z = near[:, 3:4], near[:, 4].astype(int), near[:, 5:]
        sums, totals = merged[:, 1:].copy(), merged[:, 1]
        if len(sums):
            cells = np.searchsorted(merged[:, 0], N_BINS * groups[class_index] + bins)
            np.subtract.at(sums, np.minimum(cells, len(sums) - 1), np.column_stack([u, u * Z]))
        there = sums[:, 0] > NOTHING_LEFT * totals
        sign_of_group, part = np.zeros(len(groups)), signs != 0
        sign_of_group[groups[part]] = signs[part]
        sign, sums = sign_of_group[merged[there, 0].astype(int) // N_BINS], sums[there]
        self.merged = np.column_stack([sign, sums[:, 0], sums[:, 1:] / sums[:, :1]])
        came = np.column_stack([signs[class_index], u, Z])
        number = np.concatenate([self.number, number])
        order = np.argsort(number)
        self.number, self.rows = number[order], np.concatenate([self.rows, came])[order]

    def all(self) -> np.ndarray:
        """Return the rows and the merged rows."""
        return np.concatenate([self.rows, self.merged])

    def constants(self) -> list[tuple[float, np.ndarray]]:
        """Return the objective and the parameters of the two constant decisions."""
        rows = self.all()
        found = []
        for sign in (-1.0, 1.0):
            parameters = np.zeros(rows.shape[1] - 1)
            parameters[-1] = sign
            found.append((2.0 * float(rows[rows[:, 0] != sign, 1].sum()), parameters))
        return found


def _together(svms: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """Return which SVMs are solved together: those of about one size, no more than memory has."""
    order = np.argsort(sizes, kind="stable")
    parts: list[list[int]] = [[]]
    for place in order:
        # All are padded to the largest, which is the last one.
        if parts[-1] and (len(parts[-1]) + 1) * sizes[place] > MOST_TOGETHER:
            parts.append([])
        parts[-1].append(svms[place])
    return [np.sort(part) for part in parts]


def _solve_together(
    sets: list[WorkingSet], guess: np.ndarray | None, tol: float, fast: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Solve the SVMs of working sets; return w and b, and a lower bound of each objective.

    They are padded to one size by copies of next to no weight.
    """
    rows = [each.all() for each in sets]
    sizes = [len(each) for each in rows]
    padded = np.stack(
        [np.pad(each, ((0, max(sizes) - len(each)), (0, 0)), "edge") for each in rows]
    )
    for each, size in zip(padded, sizes, strict=True):
        each[size:, 1] *= PADDING
    y, u = (np.ascontiguousarray(padded[:, :, column]) for column in (0, 1))
    v, _, dual = solve_batch(y, u, padded[:, :, 2:], guess, tol, fast=fast)
    return v, dual
