"""The row-wise loops of z step and g step, compiled by Numba where it is installed.

Each does what a function in NumPy does, which is its reference and stands in where there is no
Numba: `pip install "supred[fast]"`. Compiled loops let other threads run, so that blocks of rows
share out all cores. They pay from many rows on; compiling takes seconds, once.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

# Fewer rows than this are not worth the import of Numba.
MANY_ROWS = 30_000
# A row this close to its margin is on it; which of such rows are taken is left to a hash.
ON_MARGIN = 1e-9
# Whole numbers with a sign wrap around as those without do.
HASH = (0x9E3779B97F4A7C15 - 2**64, 0xBF58476D1CE4E5B9 - 2**64)
# Sweeps over the SVMs before a row is left to the interior point method.
MAX_SWEEPS = 200


def worthwhile(n_rows: int) -> bool:
    """Tell whether there are rows enough, and Numba.

    Examples
    --------
    >>> from supred.numerics.compiled import worthwhile
    >>> worthwhile(100)
    False
    """
    return n_rows >= MANY_ROWS and is_there()


@lru_cache(maxsize=1)
def is_there() -> bool:
    """Tell whether Numba is installed where this is called: on a worker, perhaps."""
    return find_spec("numba") is not None


@lru_cache
def compiled(loop: Callable[..., Any], *, vectorized: bool = False) -> Callable[..., Any]:
    """Return a loop compiled to machine code, which is kept on disk.

    Parameters
    ----------
    loop : callable
    vectorized : bool
        Sums may be taken in another order, and numbers divided by zero.
    """
    import numba

    return numba.njit(
        nogil=True,
        cache=True,
        fastmath={"contract", "reassoc"} if vectorized else False,
        error_model="numpy" if vectorized else "python",
    )(loop)


def survey_of_rows(
    first: int,
    Z: np.ndarray,
    class_index: np.ndarray,
    u: np.ndarray,
    guess: np.ndarray,
    before: np.ndarray,
    signs: np.ndarray,
    groups: np.ndarray,
    n_groups: int,
    edges: np.ndarray,
    edges_before: np.ndarray,
    seen: np.ndarray,
    most: np.ndarray,
    losses: np.ndarray,
    cells: np.ndarray,
    sums: np.ndarray,
    near: np.ndarray,
    n_near: np.ndarray,
) -> int:
    """Look at each row from the margins of a guess; return the number of `sums`.

    The parameters up to `signs` are those of :func:`supred.numerics.svm_survey.survey`.

    Parameters
    ----------
    groups : ndarray of shape (n_classes, n_svms)
        Classes of one group may be merged.
    n_groups : int
    edges, edges_before : ndarray
        Between which slacks rows are merged, and between which slacks at the guess before; there
        is no such guess if these are none.
    seen : ndarray of bool, shape (n_svms, n_rows)
        Rows that are merged and may come.
    most : ndarray of int, shape (n_svms,)
        Rows that may come for each SVM.
    losses : ndarray of shape (n_svms,)
        To which u_n max(0, e_n) is added.
    cells : ndarray of shape (n_cells, 1 + n_dimensions)
        Zeros, to which u_n (1, z_n) is added, one SVM after the other.
    sums : ndarray of shape (most sums, 2 + n_dimensions)
        Where the cells that have members are written to, with their numbers.
    near : ndarray of shape (n_svms, most rows, 5 + n_dimensions)
        Where the rows nearest to each margin are written to, in their order: how near they count,
        number, class index, u_n, bin, z_n.
    n_near : ndarray of int, shape (n_svms,)
        Where it is written how many these are.
    """
    n_rows, n_dimensions = Z.shape
    n_cells, n_sums, n_bins = len(cells), 0, len(cells) // n_groups
    columns, weighted = np.ascontiguousarray(Z.T), np.empty((n_rows, 1 + n_dimensions))
    for n in range(n_rows):
        weighted[n, 0] = u[n]
        for i in range(n_dimensions):
            weighted[n, 1 + i] = u[n] * Z[n, i]
    slack, key = np.empty(n_rows), np.empty(n_rows)
    place = np.empty(n_rows, dtype=np.int64)
    y = np.empty(n_rows)
    for k in range(len(guess)):
        # A loop over the rows that does one thing is done several rows at a time.
        for n in range(n_rows):
            y[n] = signs[class_index[n], k]
            place[n] = 0
        # The guess before first: the slacks at this one are used further down.
        for g in range(0 if len(edges_before) else 1, 2):
            v, steps = (before, edges_before) if g == 0 else (guess, edges)
            slack[:] = v[k, n_dimensions]
            for i in range(n_dimensions):
                column, w = columns[i], v[k, i]
                for n in range(n_rows):
                    slack[n] += w * column[n]
            for n in range(n_rows):
                slack[n] = (1.0 - y[n] * slack[n]) * abs(y[n])
                place[n] *= 1 + len(steps)
            for edge in steps:
                for n in range(n_rows):
                    place[n] += edge < slack[n]
        for n in range(n_rows):
            key[n] = abs(slack[n]) if seen[k, n] and y[n] != 0.0 else np.inf
        for n in range(n_rows):
            losses[k] += u[n] * max(slack[n], 0.0)
            if key[n] == np.inf:
                continue
            if key[n] < ON_MARGIN:
                x = (first + n) * HASH[0]
                x = (x ^ ((x >> 31) & (2**33 - 1))) * HASH[1]
                key[n] = ON_MARGIN * (((x >> 11) & (2**53 - 1)) / 2.0**53)
            cell = cells[groups[class_index[n], k] * n_bins + place[n]]
            for i in range(1 + n_dimensions):
                cell[i] += weighted[n, i]
        for c in range(n_cells):
            if cells[c, 0] != 0.0:
                sums[n_sums, 0] = k * n_cells + c
                sums[n_sums, 1:] = cells[c]
                cells[c] = 0.0
                n_sums += 1
        # Those under the key of the last one that may come, and as many at it as there is room for.
        last, room = np.inf, 0
        if most[k] < n_rows:
            last = np.partition(key, most[k])[most[k]]
            room = most[k] - (key < last).sum()
        count = 0
        for n in range(n_rows):
            if key[n] > last or key[n] == np.inf or (key[n] == last and room == 0):
                continue
            room -= key[n] == last
            row = near[k, count]
            row[0], row[1], row[2] = key[n], first + n, class_index[n]
            row[3], row[4] = u[n], place[n]
            row[5:] = Z[n]
            count += 1
        n_near[k] = count
    return n_sums


def z_step_of_rows(
    F: np.ndarray,
    class_index: np.ndarray,
    signs: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    tol: float,
    Z: np.ndarray,
    hard: np.ndarray,
) -> int:
    """Solve the z step of each row: sweeps over the SVMs, then the closed form.

    Parameters
    ----------
    F : ndarray of shape (n_rows, n_dimensions)
    class_index : ndarray of shape (n_rows,)
    signs : ndarray of shape (n_classes, n_svms)
        +1.0, -1.0 or 0.0.
    coef, intercept : ndarrays of shape (n_svms, n_dimensions) and (n_svms,)
    c : float
        2 C / mu.
    tol : float
        Relative and, times c, absolute duality gap of a row that is solved.
    Z : ndarray of shape (n_rows, n_dimensions)
        Where the coordinates are written to.
    hard : ndarray of int, shape (n_rows,)
        Where the numbers of rows that are not solved are written to.

    Returns
    -------
    n_hard : int
        How many are not.
    """
    n_rows, n_dimensions = F.shape
    n_svms = len(coef)
    products = np.zeros((n_svms, n_svms))  # 1/2 w_j . w_k
    for j in range(n_svms):
        for k in range(n_svms):
            for i in range(n_dimensions):
                products[j, k] += 0.5 * coef[j, i] * coef[k, i]
    z, rest = np.empty(n_dimensions), np.empty(n_dimensions)
    t, trial = np.empty(n_svms), np.empty(n_svms)
    factor, right = np.empty((n_svms, n_svms)), np.empty(n_svms)
    free, before = np.empty(n_svms, dtype=np.int64), np.zeros(n_svms)
    n_hard = 0
    for n in range(n_rows):
        y = signs[class_index[n]]
        solved = True
        for i in range(n_dimensions):
            z[i] = F[n, i]
        for k in range(n_svms):
            t[k] = 0.0
            if y[k] != 0.0 and products[k, k] > 0.0:
                score = intercept[k]
                for i in range(n_dimensions):
                    score += coef[k, i] * z[i]
                before[k] = 1.0 - y[k] * score
                if before[k] > 0.0:
                    solved = False
        for _ in range(MAX_SWEEPS):
            if solved:
                break
            for k in range(n_svms):
                if y[k] == 0.0 or products[k, k] == 0.0:
                    continue
                score = intercept[k]
                for i in range(n_dimensions):
                    score += coef[k, i] * z[i]
                new = t[k] + (1.0 - y[k] * score) / products[k, k]
                new = min(max(new, 0.0), c)
                step = 0.5 * (new - t[k]) * y[k]
                if step != 0.0:
                    for i in range(n_dimensions):
                        z[i] += step * coef[k, i]
                    t[k] = new
            # Those at a bound stay; the others meet their margin. That is the end of a row once
            # the right ones are at a bound.
            n_free = 0
            for i in range(n_dimensions):
                rest[i] = F[n, i]
            for k in range(n_svms):
                trial[k] = t[k]
                if 0.0 < t[k] < c:
                    free[n_free] = k
                    n_free += 1
                elif t[k] > 0.0:
                    for i in range(n_dimensions):
                        rest[i] += 0.5 * t[k] * y[k] * coef[k, i]
            sound = True
            for a in range(n_free):  # Cholesky factor of the free SVMs' products
                j = free[a]
                value = y[j] - intercept[j]
                for i in range(n_dimensions):
                    value -= coef[j, i] * rest[i]
                for b in range(a + 1):
                    entry = products[j, free[b]]
                    for d in range(b):
                        entry -= factor[a, d] * factor[b, d]
                    if b < a:
                        factor[a, b] = entry / factor[b, b]
                        value -= factor[a, b] * right[b]
                    else:
                        if entry <= 1e-12 * products[j, j]:
                            sound = False
                            break
                        factor[a, a] = np.sqrt(entry)
                        right[a] = value / factor[a, a]
                if not sound:
                    break
            if not sound:
                continue
            for a in range(n_free - 1, -1, -1):
                value = right[a]
                for b in range(a + 1, n_free):
                    value -= factor[b, a] * right[b]
                right[a] = value / factor[a, a]
                trial[free[a]] = min(max(right[a] * y[free[a]], 0.0), c)
            distance = 0.0
            for i in range(n_dimensions):
                rest[i] = F[n, i]
            for k in range(n_svms):
                if trial[k] > 0.0:
                    for i in range(n_dimensions):
                        rest[i] += 0.5 * trial[k] * y[k] * coef[k, i]
            for i in range(n_dimensions):
                distance += (rest[i] - F[n, i]) ** 2
            loss, gap = 0.0, 0.0
            for k in range(n_svms):
                if y[k] == 0.0:
                    continue
                slack = 1.0 - y[k] * intercept[k]
                for i in range(n_dimensions):
                    slack -= y[k] * coef[k, i] * rest[i]
                loss += c * max(slack, 0.0)
                if products[k, k] > 0.0:
                    gap += c * max(slack, 0.0) - trial[k] * slack
            if gap <= tol * (distance + loss + c):
                solved = True
                for i in range(n_dimensions):
                    z[i] = rest[i]
                break
            # Sweeps go on from there if the dual, sum t_k e_k(F) - ||z - F||^2, is higher there.
            gained = -distance
            for i in range(n_dimensions):
                gained += (z[i] - F[n, i]) ** 2
            for k in range(n_svms):
                gained += (trial[k] - t[k]) * before[k]
            if gained > 0.0:
                for k in range(n_svms):
                    t[k] = trial[k]
                for i in range(n_dimensions):
                    z[i] = rest[i]
        for i in range(n_dimensions):
            Z[n, i] = z[i]
        if not solved:
            hard[n_hard] = n
            n_hard += 1
    return n_hard
