"""Linear SVMs on rows that lie in blocks on a device, which is best at few, large operations.

As :mod:`supred.numerics.svm_over_blocks` does it, rows near the margins are taken as they are and
the others merged, which bounds the objective from below; but as many rows are taken as a device
needs to be busy, all SVMs go through each operation together, and nothing leaves the device but
a few numbers of each SVM per round. A problem that fits is solved as a whole in one round.

The margins are those of SVMs of some of the rows: the z step has put up to most rows on the margins
of the last SVMs, from where next to all of them leave together.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supred.common.arrays import (
    CHUNK,
    on_host,
    place_of,
    positive_part,
    smallest,
    tall_product,
)
from supred.numerics.svm_batch import PADDING, solve_batch
from supred.numerics.svm_over_blocks import MAX_ROUNDS, NOTHING_LEFT, SLOW, Blocks, SVMs

# Of at most this many rows, over all SVMs, the problem is solved as a whole.
WHOLE = 2**20
# Rows that are taken in a round, over all SVMs; more where a round was of little use.
TAKEN = 2**18
# So many times the rows of a round that was of little use are taken in the next one, but of one
# SVM never more than this in all.
GROWTH, MOST_ROWS = 3, 500_000
# SVMs of one in so many rows, to this relative gap, are the first guess.
SHARE, COARSE_TOL = 8, 3e-2
# Those that are taken as a whole are solved to this relative gap: all labels are the same. Others
# to the second one: the objective of another million rows of the same kind would differ by more.
WHOLE_TOL, MANY_TOL = 1e-6, 1e-4
# Rows of one sign are merged if their slack lies between the same two of these.
EDGES = np.array([-0.3, 0.0, 0.3])
N_CELLS = 2 * (len(EDGES) + 1)


@dataclass(frozen=True)
class TakenRows:
    """Rows that were taken for each SVM.

    Attributes
    ----------
    number, slack, y, u : arrays of shape (n_svms, n_rows)
        Number of each row, how far it is from the margin, its sign and its bound.
    Z : array of shape (n_svms, n_rows, n_dimensions)
    most : int or None
        Of the sum of two of these so many are kept, the nearest; None for all.
    """

    number: Any
    slack: Any
    y: Any
    u: Any
    Z: Any
    most: int | None = None

    def of(self, columns: Any) -> "TakenRows":
        """Return the rows that an index of all arrays gives."""
        number, slack, y, u, Z = (values[columns] for values in self.arrays())
        return TakenRows(number, slack, y, u, Z, self.most)

    def arrays(self) -> tuple[Any, Any, Any, Any, Any]:
        """Return the arrays."""
        return self.number, self.slack, self.y, self.u, self.Z

    def __add__(self, other: "TakenRows") -> "TakenRows":
        place = place_of(self.Z)
        number, slack, y, u, Z = (
            place.xp.concatenate(pair, axis=1)
            for pair in zip(self.arrays(), other.arrays(), strict=True)
        )
        both = TakenRows(number, slack, y, u, Z, self.most)
        if self.most is None or both.u.shape[1] <= self.most:
            return both
        nearest = smallest(_distance(both.slack, both.u), self.most)
        return both.of((place.arange(len(nearest))[:, None], nearest))


def look(
    first: int,
    Z: Any,
    class_index: Any,
    u: Any,
    guess: np.ndarray,
    signs: np.ndarray,
    known: Any | None,
    most: int | None,
) -> tuple[Any, Any, TakenRows]:
    """Look at a block from the margins of a guess.

    Parameters
    ----------
    first : int
        Number of the block's first row.
    Z : array of shape (n_rows, n_dimensions)
    class_index : array of shape (n_rows,)
    u : array of shape (n_rows,)
        Upper bounds of the dual variables.
    guess : ndarray of shape (n_svms, n_dimensions + 1)
        w and b.
    signs : ndarray of shape (n_classes, n_svms)
        +1, -1 or 0.
    known : array of shape (n_svms, n_known), optional
        Numbers of rows that need not come again.
    most : int, optional
        Rows that may be taken for each SVM; by default all, and none are merged.

    Returns
    -------
    losses : array of shape (n_svms,)
        sum_n u_n max(0, e_n).
    merged : array of shape (n_svms, N_CELLS, 1 + n_dimensions)
        sum_n u_n (1, z_n) over the rows of each cell that are not known.
    taken : TakenRows
    """
    place = place_of(Z)
    xp = place.xp
    n_rows, n_svms = len(Z), len(guess)
    svms = place.arange(n_svms)
    y, slack = _slacks(Z, class_index, guess, signs)
    bounds = u[:, None] * (y != 0)
    losses = (bounds * positive_part(slack)).sum(axis=0)
    number = first + place.arange(n_rows)
    if known is not None:
        # Known rows of other blocks are the one beyond the last.
        inside = (known >= first) & (known < first + n_rows)
        new = place.zeros((n_rows + 1, n_svms), float) + 1.0
        new[xp.where(inside, known - first, n_rows).T, svms] = 0.0
        bounds = bounds * new[:-1]
    every = TakenRows(
        xp.broadcast_to(number, (n_svms, n_rows)),
        slack.T,
        y.T,
        bounds.T,
        xp.broadcast_to(Z, (n_svms, *Z.shape)),
        most,
    )
    if most is None:
        return losses, place.zeros((n_svms, N_CELLS, 1 + Z.shape[1]), float), every
    wide = xp.concatenate([place.zeros((n_rows, 1), float) + 1.0, Z], axis=1)
    members = _cells(slack, y)[:, :, None] == place.arange(N_CELLS)
    weights = (bounds[:, :, None] * members).reshape(n_rows, -1)
    merged = tall_product(weights, wide).reshape(n_svms, N_CELLS, -1)
    if n_rows <= most:
        return losses, merged, every
    nearest = smallest(_distance(every.slack, every.u), most)
    return losses, merged, every.of((svms[:, None], nearest))


def _losses_of(
    first: int, Z: Any, class_index: Any, u: Any, guess: np.ndarray, signs: np.ndarray
) -> Any:
    """Return the sums of hinge losses of :func:`look`, and nothing else."""
    y, slack = _slacks(Z, class_index, guess, signs)
    return u @ (positive_part(slack) * (y != 0))


def _slacks(Z: Any, class_index: Any, guess: np.ndarray, signs: np.ndarray) -> tuple[Any, Any]:
    """Return signs of rows and ``e_n = 1 - y_n (w . z_n + b)``, shape (n_rows, n_svms) each."""
    put = place_of(Z).put
    y = put(signs)[class_index]
    return y, 1.0 - y * (Z @ put(guess[:, :-1].T) + put(guess[:, -1]))


@dataclass(frozen=True)
class SomeRows:
    """Rows in one piece, which are the sum of those of several blocks, and a block themselves."""

    Z: Any
    class_index: Any
    u: Any

    def __add__(self, other: "SomeRows") -> "SomeRows":
        pairs = (self.Z, other.Z), (self.class_index, other.class_index), (self.u, other.u)
        return SomeRows(*(place_of(self.Z).xp.concatenate(pair, axis=0) for pair in pairs))

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the function's value of this block."""
        return function(0, self.Z, self.class_index, self.u, *arguments)


def pick(
    first: int, Z: Any, class_index: Any, u: Any, chosen: np.ndarray, share: float
) -> SomeRows:
    """Return the rows of a block whose numbers are chosen; they stand for all of them."""
    inside = (chosen >= first) & (chosen < first + len(Z))
    some = place_of(Z).put(chosen[inside] - first)
    return SomeRows(Z[some], class_index[some], u[some] / share)


def _distance(slack: Any, bounds: Any) -> Any:
    """Return how far rows are from a margin, endlessly where the SVM does not see them."""
    xp = place_of(slack).xp
    return xp.where(bounds > 0, xp.abs(slack), np.inf)


def _cells(slack: Any, y: Any) -> Any:
    """Return with which rows each one is merged: those of its sign with about its slack."""
    cells = (y > 0) * (len(EDGES) + 1)
    for edge in EDGES.tolist():
        cells += slack > edge
    return cells


def problem_of(
    taken: TakenRows, merged: Any | None, known: TakenRows | None
) -> tuple[Any, Any, Any, Any]:
    """Return signs, bounds and coordinates of rows that were taken, now and before, and merged.

    The last value is the largest bound of those that were taken.
    The rows that were taken now are no members of the merged rows any more. What an SVM does not
    see and what fills the last chunk has next to no weight.
    """
    place = place_of(taken.Z)
    xp, (n_svms, n_rows, n_dimensions) = place.xp, taken.Z.shape
    parts = [taken] if known is None else [taken, known]
    y, u, Z = ([getattr(part, name) for part in parts] for name in ("y", "u", "Z"))
    if merged is not None:
        ones = place.zeros((n_svms, n_rows, 1), float) + 1.0
        wide, cells = xp.concatenate([ones, taken.Z], axis=2), _cells(taken.slack, taken.y)
        for cell in range(N_CELLS):
            members = taken.u * (cells == cell)
            left = merged[:, cell] - tall_product(members[:, :, None], wide)[:, 0]
            there = left[:, :1] > NOTHING_LEFT * merged[:, cell, :1]
            u.append(xp.where(there, left[:, :1], 0.0))
            mean = left[:, 1:] / xp.where(there, left[:, :1], 1.0)
            Z.append(xp.where(there, mean, 0.0)[:, None])
            y.append(0.0 * left[:, :1] + (1.0 if cell > len(EDGES) else -1.0))
    missing = -sum(part.shape[1] for part in u) % CHUNK
    if missing and n_rows > CHUNK:
        u.append(place.zeros((n_svms, missing), float))
        y.append(u[-1] + 1.0)
        Z.append(place.zeros((n_svms, missing, n_dimensions), float))
    bounds = xp.concatenate(u, axis=1)
    least = PADDING * xp.max(bounds, axis=1)[:, None]
    sides = xp.concatenate(y, axis=1)
    heavy = xp.max(xp.concatenate(u[: len(parts)], axis=1), axis=1)
    signs = xp.where(sides == 0, 1.0, sides)
    return signs, xp.maximum(bounds, least), xp.concatenate(Z, axis=1), heavy


def solve_on_device(
    blocks: Blocks,
    signs: np.ndarray,
    n_dimensions: int,
    *,
    tol: float,
    start: np.ndarray | None = None,
    most_numbers: int = 2**23,
) -> SVMs:
    """Solve one linear SVM per column of `signs` to a relative duality gap of `tol`.

    To one of 1e-6 if that is larger; of rows that are too many to be taken as a whole, 1e-4.

    Parameters
    ----------
    blocks : Blocks
    signs : ndarray of shape (n_classes, n_svms)
        Sign of each class in each SVM: +1, -1 or 0.
    n_dimensions : int
    tol : float
    start : ndarray of shape (n_svms, n_dimensions + 1), optional
        A guess of w and b. An SVM that is not solved to `tol` and not better stays as it is.
    most_numbers : int
        Most numbers in the rows that are taken; with what is made of them they are four times as
        many or more.

    Examples
    --------
    Arrays of the host will do.

    >>> import numpy as np
    >>> from supred.numerics.svm_on_device import solve_on_device
    >>> class Block:  # all rows are one block
    ...     def sum(self, function, *arguments):
    ...         return function(0, np.array([[-1.0], [1.0]]), np.arange(2), np.ones(2), *arguments)
    >>> svms = solve_on_device(Block(), np.array([[-1], [1]]), 1, tol=1e-8)
    >>> svms.coef.round(4), bool(svms.gap[0] < 1e-6)
    (array([[1.]]), True)
    """
    signs = np.asarray(signs, dtype=float)
    n_svms, n_rows = signs.shape[1], blocks.sum(_count)
    limit = min(most_numbers // (n_svms * (n_dimensions + 1)), MOST_ROWS)
    least = max(CHUNK, min(TAKEN // n_svms, limit))
    most = None if n_rows <= min(max(CHUNK, WHOLE // n_svms), limit) else least
    guess = np.zeros((n_svms, n_dimensions + 1)) if start is None else start.copy()
    best, upper, lower = guess.copy(), np.full(n_svms, np.inf), np.zeros(n_svms)
    left, last_gap, known = np.arange(n_svms), np.full(n_svms, np.inf), None
    tol = max(tol, WHOLE_TOL if most is None else MANY_TOL)
    if most is not None:
        chosen = np.sort(np.random.default_rng(0).choice(n_rows, n_rows // SHARE, replace=False))
        some_rows = blocks.sum(pick, chosen, len(chosen) / n_rows)
        there = np.bincount(on_host(some_rows.class_index), minlength=len(signs)) > 0
        if all((there @ (signs == sign)).all() for sign in (-1, 1)):
            coarse = solve_on_device(
                some_rows,
                signs,
                n_dimensions,
                tol=COARSE_TOL,
                start=start,
                most_numbers=most_numbers,
            )
            guess = np.column_stack([coarse.coef, coarse.intercept])
    for _ in range(MAX_ROUNDS):
        numbers = None if known is None else known.number
        losses, merged, taken = blocks.sum(look, guess[left], signs[:, left], numbers, most)
        objective = 0.5 * np.square(guess[left, :-1]).sum(axis=1) + on_host(losses)
        _keep_better(best, upper, left, guess[left], objective)
        gap = upper - lower
        some = (gap > tol * upper)[left]
        if not some.any() or most == 0:
            break
        slow = bool((gap > SLOW * last_gap)[left][some].any())
        problem = problem_of(taken, None if most is None else merged, known)
        taken = replace(taken, most=None)
        known = taken if known is None else known + taken
        if not some.all():
            there = place_of(taken.Z).put(np.flatnonzero(some))
            left, known = left[some], known.of(there)
            problem = tuple(values[there] for values in problem)
        warm = guess[left] if guess.any() else None
        y, u, Z, heavy = problem
        guess[left], objective, dual = solve_batch(y, u, Z, warm, 0.5 * tol, heavy=heavy)
        lower[left] = np.maximum(lower[left], dual)
        if most is None:  # the objective is that of all rows
            _keep_better(best, upper, left, guess[left], objective)
            break
        last_gap, size = gap, known.u.shape[1]
        most = min(max(least, GROWTH * size) if slow else least, max(limit - size, 0))
        if size + most >= n_rows:
            most, known = None, None
    if start is not None and (upper - lower > tol * upper).any():
        losses = on_host(blocks.sum(_losses_of, start, signs))
        every = np.arange(n_svms)
        objective = 0.5 * np.square(start[:, :-1]).sum(axis=1) + losses
        _keep_better(best, upper, every, start, objective)
    return SVMs(best[:, :-1].copy(), best[:, -1].copy(), upper, upper - lower)


def _count(first: int, Z: Any, class_index: Any, u: Any) -> int:
    return len(Z)


def _keep_better(
    best: np.ndarray, upper: np.ndarray, svms: np.ndarray, found: np.ndarray, values: np.ndarray
) -> None:
    """Keep the parameters of the SVMs whose objective is less than before."""
    better = values < upper[svms]
    best[svms[better]], upper[svms[better]] = found[better], values[better]
