"""Linear SVMs on rows that lie in blocks, anywhere: sums and a few thousand rows are enough.

The SVMs of :mod:`supred.numerics.linear_svm`, solved without seeing all rows at once. Given a guess
of w and b, each block is asked for

- its hinge losses, which certify the guess,
- its rows nearest to the margin of each SVM,
- its other rows as sums: rows of one class at about the same distance from the margin, and from
  the margin of the guess before, are merged into one row at their mean, with the sum of their
  bounds.

A dual variable of a merged row is one for each of its members, so that the dual objective of
the merged problem is a lower bound of the whole one. Rows that are surely at a bound lose nothing
by being merged; the rows whose dual variables are in between lie at the margin and come as
they are. The solution is the next guess, until primal and dual objective meet.

A merged row tells how the hinge losses of its members change with w and b as long as no member
crosses the margin. After a z step a good part of all rows lie on the margin of the guess, and
must be told apart again as soon as it turns: by one distance only, 64 000 rows have to come where
4000 do with two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from supred.numerics.compiled import HASH, ON_MARGIN, compiled, is_there, survey_of_rows
from supred.numerics.svm_batch import PADDING, solve_batch

# Rows that are asked for at first, per SVM, and at least so many per dimension.
WORKING = 500
PER_DIMENSION = 10
# Most rows of one SVM that are ever asked for, and of several SVMs that are solved together.
MOST_ROWS, MOST_TOGETHER = 200_000, 100_000
MAX_ROUNDS = 30
# Rows of so many blocks are put together before the nearest of them are looked for.
MOST_PARTS = 32
# The number of rows grows when a round leaves more than this part of the gap.
SLOW = 0.2
# Rows are merged with others whose slack lies between the same two of these,
_STEPS = np.array([ON_MARGIN, 1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0])
EDGES = np.concatenate([-_STEPS[::-1], _STEPS])
# and whose slack at the guess before lies between the same two of these.
_STEPS_BEFORE = np.array([ON_MARGIN, 1e-2, 0.1, 0.5])
EDGES_BEFORE = np.concatenate([-_STEPS_BEFORE[::-1], _STEPS_BEFORE])
N_BINS = (len(EDGES) + 1) * (len(EDGES_BEFORE) + 1)
_NO_EDGES = np.empty(0)
# Merged rows are kept apart by class unless their sums would take more numbers than this.
MOST_SUMS = 300_000
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


@dataclass
class NearRows:
    """The rows nearest to the margin of one SVM; of two of these the nearest are kept."""

    most: int
    # Each (n, 5 + L): distance to the margin (a hash for rows on it), number, class index, bound,
    # bin, z.
    parts: list[np.ndarray]

    def __iadd__(self, other: "NearRows") -> "NearRows":
        self.parts += other.parts
        if len(self.parts) > MOST_PARTS:
            self.nearest()
        return self

    def __getstate__(self) -> dict[str, Any]:
        self.nearest()  # no more than these travel
        return self.__dict__

    def nearest(self) -> np.ndarray:
        """Return the nearest rows as one array; the others are forgotten."""
        rows = np.concatenate(self.parts)
        if len(rows) > self.most:
            rows = rows[np.sort(np.argpartition(rows[:, 0], self.most)[: self.most])]
        self.parts = [rows]
        return rows


def survey(
    first: int,
    Z: np.ndarray,
    class_index: np.ndarray,
    u: np.ndarray,
    guess: np.ndarray,
    before: np.ndarray | None,
    signs: np.ndarray,
    groups: np.ndarray,
    known: list[np.ndarray],
    most: list[int],
    fast: bool = False,
) -> tuple[np.ndarray, np.ndarray, tuple[NearRows, ...]]:
    """Look at a block from the margins of a guess.

    Parameters
    ----------
    first : int
        Number of the block's first row.
    Z : ndarray of shape (n_rows, n_dimensions)
    class_index : ndarray of shape (n_rows,)
    u : ndarray of shape (n_rows,)
        Upper bounds of the dual variables.
    guess : ndarray of shape (n_svms, n_dimensions + 1)
        w and b.
    before : ndarray of shape (n_svms, n_dimensions + 1), optional
        The guess before.
    signs : ndarray of shape (n_classes, n_svms)
        +1, -1 or 0.
    groups : ndarray of shape (n_classes, n_svms)
        Classes of one group may be merged.
    known : list of ndarrays
        For each SVM the numbers of rows that need not come again, sorted.
    most : list of int
        Rows that may come for each SVM.
    fast : bool
        Use the compiled loop if it is there.

    Returns
    -------
    losses : ndarray of shape (n_svms,)
        sum_n u_n max(0, e_n) over all rows.
    merged : ndarray of shape (n_svms, n_groups, n_bins, 1 + n_dimensions)
        sum_n u_n (1, z_n) over the rows that are not known.
    near : tuple of NearRows
    """
    n_rows, n_svms, n_groups = len(Z), len(guess), int(groups.max()) + 1
    seen = np.ones((n_svms, n_rows), dtype=bool)
    for k in range(n_svms):
        begin, end = np.searchsorted(known[k], [first, first + n_rows])
        seen[k, known[k][begin:end] - first] = False
    edges = EDGES, _NO_EDGES if before is None else EDGES_BEFORE
    n_bins = (len(edges[0]) + 1) * (len(edges[1]) + 1)
    merged = np.zeros((n_svms, n_groups, n_bins, 1 + Z.shape[1]))
    if fast and is_there():
        losses, n_near = np.zeros(n_svms), np.zeros(n_svms, dtype=np.int64)
        found = np.empty((n_svms, min(max(most), n_rows), 5 + Z.shape[1]))
        guesses = guess, guess if before is None else before
        problem = Z, class_index, u, *guesses, signs, groups, *edges, seen, np.array(most)
        compiled(survey_of_rows)(first, *problem, losses, merged, found, n_near)
        parts = [rows[:count] for rows, count in zip(found, n_near, strict=True)]
    else:
        slack = np.ascontiguousarray(slacks(Z, class_index, guess, signs).T)
        losses = np.maximum(slack, 0.0) @ u
        seen &= signs[class_index].T != 0
        bins = np.searchsorted(EDGES, slack)
        if before is not None:
            slack_before = slacks(Z, class_index, before, signs).T
            bins += (len(EDGES) + 1) * np.searchsorted(EDGES_BEFORE, slack_before)
        extended = np.column_stack([np.ones(n_rows), Z])
        for k in range(n_svms):
            cells = n_bins * groups[class_index, k] + bins[k]
            sums = _sums(cells, u * seen[k], extended, n_groups * n_bins)
            merged[k] = sums.reshape(merged[k].shape)
        key = np.where(seen, np.abs(slack), np.inf)
        svm, row = np.nonzero(key < ON_MARGIN)
        key[svm, row] = ON_MARGIN * hashed(first + row)
        parts = []
        for k in range(n_svms):
            nearest = np.sort(np.argsort(key[k], kind="stable")[: most[k]])
            nearest = nearest[key[k, nearest] < np.inf]
            numbers = key[k, nearest], first + nearest, class_index[nearest], u[nearest]
            parts.append(np.column_stack([*numbers, bins[k, nearest], Z[nearest]]))
    near = (NearRows(count, [rows]) for count, rows in zip(most, parts, strict=True))
    return losses, merged, tuple(near)


def _sums(cells: np.ndarray, bounds: np.ndarray, extended: np.ndarray, n_cells: int) -> np.ndarray:
    """Return ``sum_n u_n (1, z_n)`` over the rows of each cell."""
    ends = np.arange(len(cells) + 1)
    return sparse.csc_matrix((bounds, cells, ends), shape=(n_cells, len(cells))) @ extended


def slacks(
    Z: np.ndarray, class_index: np.ndarray, guess: np.ndarray, signs: np.ndarray
) -> np.ndarray:
    """Return e_nk = 1 - y_nk (w_k . z_n + b_k), 0 where an SVM does not see a row."""
    y = signs[class_index]
    slack = 1.0 - y * (Z @ guess[:, :-1].T + guess[:, -1])
    return slack if signs.all() else slack * (y != 0)


def hashed(numbers: np.ndarray) -> np.ndarray:
    """Return a number in [0, 1) for each whole number, the same one everywhere."""
    x = numbers * HASH[0]
    x ^= (x >> 31) & (2**33 - 1)
    x *= HASH[1]
    return ((x >> 11) & (2**53 - 1)) / 2.0**53


def solve_over_blocks(
    blocks: Blocks,
    signs: np.ndarray,
    n_dimensions: int,
    *,
    tol: float,
    start: np.ndarray | None = None,
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
    n_classes, n_svms = signs.shape
    groups = np.tile(np.arange(n_classes)[:, None], (1, n_svms))
    if n_svms * n_classes * N_BINS * (n_dimensions + 1) > MOST_SUMS:
        groups = (signs > 0).astype(int)
    least = max(WORKING, PER_DIMENSION * (n_dimensions + 1))
    sets = [WorkingSet.empty(n_dimensions) for _ in range(n_svms)]
    # Without a guess all rows look alike, and each class is merged to its mean.
    guess = np.zeros((n_svms, n_dimensions + 1)) if start is None else start.copy()
    wanted = np.full(n_svms, 0 if start is None else least)
    before = None
    best, upper, lower = guess.copy(), np.full(n_svms, np.inf), np.zeros(n_svms)
    left, last_gap = np.arange(n_svms), np.full(n_svms, np.inf)
    whole = np.zeros(n_svms, dtype=bool)  # solved with all rows: another round adds nothing
    for _ in range(MAX_ROUNDS):
        losses, merged, near = blocks.sum(
            survey,
            guess[left],
            None if before is None else before[left],
            signs[:, left],
            groups[:, left],
            [sets[k].number for k in left],
            wanted[left].tolist(),
            fast,
        )
        primal = 0.5 * np.square(guess[left, :-1]).sum(axis=1) + losses
        for i, k in enumerate(left):
            sets[k].take(near[i].nearest(), merged[i], signs[:, k], groups[:, k])
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
        for some in _together(left, [len(sets[k].number) for k in left]):
            path = None if cold else guess[some], 0.5 * tol, fast and is_there()
            guess[some], dual = _solve_together([sets[k] for k in some], *path)
            lower[some] = np.maximum(lower[some], dual)
    return SVMs(best[:, :-1].copy(), best[:, -1].copy(), upper, upper - lower)


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
        n_bins = merged.shape[1]
        sums = merged.reshape(-1, merged.shape[-1]).copy()
        totals = sums[:, 0].copy()
        members = np.column_stack([u, u * Z])
        np.subtract.at(sums, n_bins * groups[class_index] + bins, members)
        there = sums[:, 0] > NOTHING_LEFT * totals
        sign, part = np.zeros(len(merged)), signs != 0
        sign[groups[part]] = signs[part]
        sums, sign = sums[there], np.repeat(sign, n_bins)[there]
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
