"""What a block of rows tells of linear SVMs, seen from a guess of their w and b.

- its hinge losses, which certify the guess,
- its rows nearest to the margin of each SVM,
- its other rows as sums: rows of one class at about the same distance from the margin, and from
  the margin of the guess before, are merged into one row at their mean, with the sum of their
  bounds.

A merged row tells how the hinge losses of its members change with w and b as long as no member
crosses the margin. After a z step a good part of all rows lie on the margin of the guess, and
must be told apart again as soon as it turns: by one distance only, 64 000 rows have to come where
4000 do with two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supred.numerics.compiled import HASH, ON_MARGIN, compiled, is_there, survey_of_rows

# Rows and sums of so many blocks are put together before they are looked through.
MOST_PARTS = 32
# Rows are merged with others whose slack lies between the same two of these,
_STEPS = np.array([ON_MARGIN, 1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0])
EDGES = np.concatenate([-_STEPS[::-1], _STEPS])
# and whose slack at the guess before lies between the same two of these.
_STEPS_BEFORE = np.array([ON_MARGIN, 1e-2, 0.1, 0.5])
EDGES_BEFORE = np.concatenate([-_STEPS_BEFORE[::-1], _STEPS_BEFORE])
N_BINS = (len(EDGES) + 1) * (len(EDGES_BEFORE) + 1)
_NO_EDGES = np.empty(0)
# Merged rows are kept apart by class unless an SVM would have more cells of them than this.
MOST_CELLS = 10_000


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


@dataclass
class MergedRows:
    """Rows that are merged, as sums over the members of each cell; two of these are added up."""

    # Each (n, 2 + L): cell, sum of u_n, sum of u_n z_n; the cells are rising. The cells of SVM k
    # have the numbers from k times the number of cells on.
    parts: list[np.ndarray]

    def __iadd__(self, other: "MergedRows") -> "MergedRows":
        self.parts.append(other.sums())  # the same digits whether it has travelled or not
        if len(self.parts) > MOST_PARTS:
            self.sums()
        return self

    def __getstate__(self) -> dict[str, Any]:
        self.sums()
        return self.__dict__

    def sums(self) -> np.ndarray:
        """Return the sums of each cell once."""
        if len(self.parts) > 1:
            rows = np.concatenate(self.parts)
            rows = rows[np.argsort(rows[:, 0], kind="stable")]
            begins = np.flatnonzero(np.diff(rows[:, 0], prepend=-1.0))
            total = np.add.reduceat(rows, begins, axis=0) if len(rows) else rows
            total[:, 0] = rows[begins, 0]
            self.parts = [total]
        return self.parts[0]


# Losses of the SVMs, merged rows, rows near the margins.
Survey = tuple[np.ndarray, MergedRows, tuple[NearRows, ...]]


def groups_of(signs: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the group of each class in each SVM, the class or its sign, and how many there are.

    Parameters
    ----------
    signs : ndarray of shape (n_classes, n_svms)
        +1, -1 or 0.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.svm_survey import groups_of
    >>> groups_of(np.array([[1], [-1], [-1]]))[0].ravel()
    array([0, 1, 2])
    """
    n_classes, n_svms = signs.shape
    if n_classes * N_BINS > MOST_CELLS:
        return (signs > 0).astype(int), 2
    return np.tile(np.arange(n_classes)[:, None], (1, n_svms)), n_classes


def survey(
    first: int,
    Z: np.ndarray,
    class_index: np.ndarray,
    u: np.ndarray,
    guess: np.ndarray,
    before: np.ndarray | None,
    signs: np.ndarray,
    known: list[np.ndarray] | None,
    most: list[int],
    fast: bool = False,
) -> Survey:
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
    known : list of ndarrays, optional
        For each SVM the numbers of rows that need not come again, sorted.
    most : list of int
        Rows that may come for each SVM.
    fast : bool
        Use the compiled loop if it is there.

    Returns
    -------
    losses : ndarray of shape (n_svms,)
        sum_n u_n max(0, e_n) over all rows.
    merged : MergedRows
        sum_n u_n (1, z_n) over the rows that are not known.
    near : tuple of NearRows

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.svm_survey import survey
    >>> Z, guess = np.array([[-1.0], [0.5], [2.0]]), np.array([[1.0, 0.0]])
    >>> block = 0, Z, np.array([0, 1, 1]), np.ones(3)
    >>> losses, merged, near = survey(*block, guess, None, np.array([[-1.0], [1.0]]), None, [1])
    >>> losses, len(merged.sums()), int(near[0].nearest()[0, 1])
    (array([0.5]), 3, 0)
    """
    n_rows, n_svms = len(Z), len(guess)
    groups, n_groups = groups_of(signs)
    n_cells = n_groups * N_BINS
    seen = np.ones((n_svms, n_rows), dtype=bool)
    for k, numbers in enumerate(known or ()):
        begin, end = np.searchsorted(numbers, [first, first + n_rows])
        seen[k, numbers[begin:end] - first] = False
    if fast and is_there():
        losses, n_near = np.zeros(n_svms), np.zeros(n_svms, dtype=np.int64)
        found = np.empty((n_svms, min(max(most), n_rows), 5 + Z.shape[1]))
        cells = np.zeros((n_cells, 1 + Z.shape[1]))
        sums = np.empty((n_svms * min(n_cells, n_rows), 2 + Z.shape[1]))
        guesses = guess, guess if before is None else before
        edges = EDGES, _NO_EDGES if before is None else EDGES_BEFORE
        signs = np.ascontiguousarray(signs)  # one form, or the loop is compiled twice
        problem = Z, class_index, u, *guesses, signs, groups, n_groups, *edges, seen
        results = losses, cells, sums, found, n_near
        count = compiled(survey_of_rows)(first, *problem, np.array(most), *results)
        merged = [sums[:count].copy()]
        parts = [rows[:some] for rows, some in zip(found, n_near, strict=True)]
    else:
        slack = np.ascontiguousarray(slacks(Z, class_index, guess, signs).T)
        losses = np.maximum(slack, 0.0) @ u
        seen &= signs[class_index].T != 0
        bins = np.searchsorted(EDGES, slack)
        if before is not None:
            slack_before = slacks(Z, class_index, before, signs).T
            bins += (len(EDGES) + 1) * np.searchsorted(EDGES_BEFORE, slack_before)
        extended = np.column_stack([np.ones(n_rows), Z])
        merged = []
        for k in range(n_svms):
            cells = N_BINS * groups[class_index, k] + bins[k]
            sums = _sums(cells, u * seen[k], extended, n_cells)
            there = np.flatnonzero(sums[:, 0])
            merged.append(np.column_stack([n_cells * k + there, sums[there]]))
        key = np.where(seen, np.abs(slack), np.inf)
        svm, row = np.nonzero(key < ON_MARGIN)
        key[svm, row] = ON_MARGIN * hashed(first + row)
        parts = []
        for k in range(n_svms):
            nearest = np.sort(np.argsort(key[k], kind="stable")[: most[k]])
            nearest = nearest[key[k, nearest] < np.inf]
            about = key[k, nearest], first + nearest, class_index[nearest], u[nearest]
            parts.append(np.column_stack([*about, bins[k, nearest], Z[nearest]]))
    near = (NearRows(count, [rows]) for count, rows in zip(most, parts, strict=True))
    return losses, MergedRows(merged), tuple(near)


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
