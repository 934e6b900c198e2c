"""The z step of the hinge loss: the proximal map of a sum of hinge losses, row by row.

For each row, with F = F(x), signs y_k in {-1, 0, +1} (0: the SVM does not see this row) and
``c = 2 C / mu``:

    min over z   ||z - F||^2 + c sum_k max(0, 1 - y_k (w_k . z + b_k)),   y_k != 0.

Its dual is a box-constrained problem in one number t_k per SVM, ``z = F + 1/2 sum_k t_k y_k w_k``
with ``0 <= t_k <= c``. All rows share the same w_k, so coordinate ascent runs on all of them
together. Once the sweeps have found which t_k are at a bound, the others follow in closed form;
the few rows on which that fails go to an interior point method.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from supred.common.arrays import cast, inverses, on_host, place_of, positive_part
from supred.low_dim_svm.z_step_hard_rows import solve_hard_rows
from supred.numerics.compiled import compiled, z_step_of_rows

# Rows are treated in chunks that stay in the cache.
CHUNK = 16384
# Rows that are not finished after these sweeps are left to the interior point method.
MAX_SWEEPS = 31
# So few rows are left to it once jumps have failed: sweeps over few rows take as long as over many.
FEW_ROWS = 200
# Sweeps before a jump to the closed form, jumps from which rows go on, and the most SVMs for which
# jumps are tried. A row in a thousand has none of its own after three jumps, and some never do.
SWEEPS, JUMPS = 2, 4
MOST_SVMS = 50
# For at most this many SVMs, and as many dimensions or one less, the inverses of all sets of free
# ones are made on a device.
ALL_PATTERNS = 10
DEFAULT_TOL = 1e-13
# Eigenvectors, which take ten times as long, are for matrices whose numbers times those of their
# inverse exceed this.
WELL_POSED = 1e6
# What the interior point method reaches, and how near to a bound, as a part of c, it comes.
HARD_TOL, AT_BOUND = 1e-10, 1e-6


def two_class_z_step(
    F: np.ndarray, y: np.ndarray, coef: np.ndarray, intercept: float, c: float
) -> np.ndarray:
    """Move each row towards its side of one hyperplane, in closed form.

    With ``m = y (w . F + b)``: a row with ``m >= 1`` stays; any other moves by ``t/2 y w`` with
    ``t = min(2 (1 - m) / ||w||^2, c)``.

    Parameters
    ----------
    F : ndarray of shape (n_rows, n_dimensions)
    y : ndarray of shape (n_rows,)
        +1 or -1; 0 leaves the row where it is.
    coef : ndarray of shape (n_dimensions,)
    intercept : float
    c : float
        2 C / mu.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.z_step import two_class_z_step
    >>> two_class_z_step(np.array([[0.0], [2.0]]), np.array([1, 1]), np.array([1.0]), 0.0, c=1.0)
    array([[0.5],
           [2. ]])
    """
    squared_norm = float(coef @ coef)
    if squared_norm == 0.0:
        return F + 0.0
    place = place_of(F)
    coef = place.put(coef)
    slack = 1.0 - y * (F @ coef + intercept)
    t = place.xp.clip(2.0 / squared_norm * slack, 0.0, c)
    return F + (0.5 * t * y)[:, None] * coef


def hinge_z_step(
    F: np.ndarray,
    signs: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    *,
    tol: float = DEFAULT_TOL,
) -> np.ndarray:
    """Solve the z step of several SVMs by coordinate ascent, all rows together.

    Parameters
    ----------
    F : ndarray of shape (n_rows, n_dimensions)
    signs : ndarray of shape (n_rows, n_svms)
        +1, -1 or 0.
    coef : ndarray of shape (n_svms, n_dimensions)
    intercept : ndarray of shape (n_svms,)
    c : float
        2 C / mu.
    tol : float
        A row is finished when its duality gap is at most `tol` times its objective plus c, which
        the closed form reaches and sweeps hardly ever do.

    Returns
    -------
    Z : ndarray of shape (n_rows, n_dimensions)
    """
    n_rows, n_svms = signs.shape
    if F.shape[1] > n_svms:
        # Rows only move along the w_k: work with coordinates in their span.
        span, triangle = np.linalg.qr(coef.T)  # (L, n_svms), (n_svms, n_svms)
        put = place_of(F).put
        G = F @ put(span)
        moved = hinge_z_step(G, signs, np.ascontiguousarray(triangle.T), intercept, c, tol=tol)
        return F + (moved - G) @ put(span.T)
    place = place_of(F)
    Z = place.empty((n_rows, F.shape[1]), float)
    chunk = CHUNK if place.is_host else n_rows
    for begin in range(0, n_rows, chunk):
        part = slice(begin, min(begin + chunk, n_rows))
        y = place.empty((n_svms, part.stop - begin), float)
        y[...] = signs[part].T
        Z[part] = _ascend(F[part], y, coef, intercept, c, tol)
    return Z


def compiled_z_step(
    F: np.ndarray,
    class_index: np.ndarray,
    signs: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    *,
    tol: float = DEFAULT_TOL,
) -> np.ndarray:
    """Do what :func:`hinge_z_step` does by a compiled loop over the rows.

    Parameters
    ----------
    class_index : ndarray of shape (n_rows,)
    signs : ndarray of shape (n_classes, n_svms)
        Of each class.
    F, coef, intercept, c, tol
        As in :func:`hinge_z_step`.
    """
    F, Z = np.ascontiguousarray(F), np.empty(F.shape)
    hard = np.empty(len(F), dtype=np.int64)
    arguments = F, class_index, signs.astype(float), coef, intercept, c, tol, Z, hard
    rows = hard[: compiled(z_step_of_rows)(*arguments)]
    if len(rows):
        Z[rows] = hinge_z_step(F[rows], signs[class_index[rows]], coef, intercept, c, tol=tol)
    return Z


def _ascend(
    F: np.ndarray,
    y: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    tol: float,
) -> np.ndarray:
    """Sweep over the SVMs until the duality gap of every row is small."""
    place = place_of(F)
    xp = place.xp
    t, z = 0.0 * y, place.empty((F.shape[1], F.shape[0]), float)  # (n_svms, chunk), (L, chunk)
    z[...] = F.T
    rows = xp.nonzero(~_finished(z, y, coef, intercept, c, z, t, tol))[0]
    z_open, t_open, y_open = z[:, rows], t[:, rows], y[:, rows]
    n_jumps = JUMPS if len(coef) <= MOST_SVMS else 0
    sweeps, batch, jumps = 0, SWEEPS, 0
    while len(rows) and (jumps < n_jumps or sweeps < (MAX_SWEEPS if len(rows) > FEW_ROWS else 1)):
        home = F[rows].T
        z_open, t_open = _sweep(home, y_open, coef, intercept, c, z_open, t_open, batch)
        sweeps += batch
        ends = [_jump(home, y_open, coef, intercept, c, t_open)] if n_jumps else []
        if jumps >= n_jumps:  # rows that go round in circles are left to sweeps
            ends.append((z_open, t_open))
        there: Any = False
        for z_end, t_end in ends:
            arrived = _finished(home, y_open, coef, intercept, c, z_end, t_end, tol)
            some = xp.nonzero(arrived)[0]
            z[:, rows[some]] = z_end[:, some]
            there = arrived | there
        left = xp.nonzero(~there)[0]
        rows, y_open = rows[left], y_open[:, left]
        z_open, t_open = (values[:, left] for values in ends[-1])
        jumps, batch = jumps + 1, batch if jumps < n_jumps else 2 * batch
    if len(rows):
        hard_z, hard_t = solve_hard_rows(F[rows], y_open.T, coef, intercept, c, HARD_TOL)
        z[:, rows] = hard_z.T
        # It ends inside the box; at its bounds, the closed form gives the last digits.
        hard_t[hard_t < AT_BOUND * c] = 0.0
        hard_t[hard_t > (1 - AT_BOUND) * c] = c
        z_there, t_there = _jump(F[rows].T, y_open, coef, intercept, c, hard_t.T)
        there = _finished(F[rows].T, y_open, coef, intercept, c, z_there, t_there, tol)
        z[:, rows[there]] = z_there[:, there]
    return z.T


def _sweep(
    F: np.ndarray,
    y: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    z: np.ndarray,
    t: np.ndarray,
    n_sweeps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Put each row on the margin of one SVM after the other, as far as the box lets it.

    With v_k = y_k t_k and ``d_k = 2 / ||w_k||^2 (y_k - b_k - w_k . z)``, v_k becomes v_k + d_k, cut
    to the box, and a change of v_k takes ``w_j . w_k / ||w_j||^2`` of it from every d_j.
    """
    place = place_of(F)
    xp, W = place.xp, place.put(coef)
    squared_norms = np.einsum("kl,kl->k", coef, coef)
    active = squared_norms > 0  # a zero w_k moves nothing
    inverse = np.divide(1.0, squared_norms, out=np.zeros(len(coef)), where=active)[:, None]
    shares = place.put(coef @ coef.T * inverse)
    ends = c * y
    least, most = xp.minimum(ends, 0.0 * y), xp.maximum(ends, 0.0 * y)
    v, d = t * y, place.put(2.0 * inverse) * (y - place.put(intercept[:, None]) - W @ z)
    for _ in range(n_sweeps):
        for k in np.flatnonzero(active).tolist():
            new = xp.minimum(xp.maximum(v[k] + d[k], least[k]), most[k])
            d -= shares[:, k, None] * (new - v[k])
            v[k] = new
    return F + 0.5 * (W.T @ v), v * y


def _jump(
    F: np.ndarray,
    y: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    t: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Go where each row's t would end if those at a bound stayed and the others met their margin.

    With v_k = y_k t_k, the free ones solve ``1/2 W_f W_f^T v_f = y_f - b_f - W_f z_rest``. All rows
    with the same free SVMs share the matrix, so that it is inverted once for all of them. A
    row that sweeps have brought near its end gets there in one jump.
    """
    place = place_of(F)
    W, biases = place.put(coef), place.put(intercept[:, None])
    free = (t > 0.0) & (t < c)
    v = t * ~free * y
    wanted = (y - biases - W @ (F + 0.5 * (W.T @ v))) * free
    pattern = place.put(2.0 ** np.arange(len(t))) @ cast(free, float)
    if place.is_host:
        _add_free(v, wanted, free, pattern, coef)
    elif len(t) <= min(ALL_PATTERNS, len(F) + 1):
        found = inverses(place.put(_all_systems(coef.tobytes(), coef.shape)))
        found = place.xp.where(place.xp.isfinite(found), found, 0.0)  # sweeps have those rows
        v += (found[cast(pattern, int)] @ wanted.T[:, :, None])[:, :, 0].T
    else:
        patterns, which = place.xp.unique_inverse(pattern)
        found = place.put(_inverses(_systems(_chosen(on_host(patterns), len(t)), coef)))
        v += (found[which] @ wanted.T[:, :, None])[:, :, 0].T
    t = place.xp.clip(v * y, 0.0, c)
    return F + 0.5 * (W.T @ (t * y)), t


@lru_cache(maxsize=1)
def _all_systems(weights: bytes, shape: tuple[int, int]) -> np.ndarray:
    """Return the systems of every set of free SVMs, of the numbers of the weights."""
    chosen = _chosen(np.arange(2 ** shape[0]), shape[0])
    return _systems(chosen, np.frombuffer(weights).reshape(shape))


def _chosen(patterns: np.ndarray, n_svms: int) -> np.ndarray:
    """Return which SVMs the bits of each number stand for, shape (n_patterns, n_svms)."""
    return (patterns.astype(np.int64)[:, None] >> np.arange(n_svms)) & 1 > 0


def _systems(chosen: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return ``1/2 W_f W_f^T`` of the free SVMs, and the identity for others: (n, K, K)."""
    matrices = 0.5 * (coef @ coef.T) * (chosen[:, :, None] & chosen[:, None, :])
    return matrices + np.eye(len(coef)) * ~chosen[:, None, :]


def _add_free(
    v: np.ndarray, wanted: np.ndarray, free: np.ndarray, pattern: np.ndarray, coef: np.ndarray
) -> None:
    """Add the v of the free SVMs in place, pattern by pattern."""
    order = np.argsort(pattern, kind="stable")
    begins = np.flatnonzero(np.diff(pattern[order], prepend=-1.0))
    ends = np.append(begins[1:], len(order))
    inverses = _inverses(_systems(free[:, order[begins]].T, coef))
    for inverse, begin, end in zip(inverses, begins, ends, strict=True):
        rows = order[begin:end]
        v[:, rows] += inverse @ wanted[:, rows]


def _inverses(matrices: np.ndarray) -> np.ndarray:
    """Invert symmetric matrices; those that are nearly singular by their eigenvectors."""
    try:
        inverses = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrices, hermitian=True)
    sizes = np.abs(matrices).max(axis=(1, 2)) * np.abs(inverses).max(axis=(1, 2))
    singular = ~(sizes < WELL_POSED)
    if singular.any():
        inverses[singular] = np.linalg.pinv(matrices[singular], hermitian=True)
    return inverses


def _finished(
    F: np.ndarray,
    y: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    c: float,
    z: np.ndarray,
    t: np.ndarray,
    tol: float,
) -> np.ndarray:
    """Tell which rows have a duality gap of at most `tol` times their objective plus c.

    The gap is ``sum_k (c max(0, e_k) - t_k e_k)`` with ``e_k = 1 - y_k (w_k . z + b_k)``.
    """
    put = place_of(z).put
    slack = (1.0 - y * (put(coef) @ z + put(intercept[:, None]))) * (y != 0)
    loss = c * positive_part(slack).sum(axis=0)
    gap = loss - (t * slack).sum(axis=0)
    # An SVM with w = 0 adds the constant c max(0, 1 - y b) that no z can change.
    for k in np.flatnonzero(np.einsum("kl,kl->k", coef, coef) == 0).tolist():
        gap -= c * positive_part(slack[k])
    objective = ((z - F) ** 2).sum(axis=0) + loss
    return gap <= tol * (objective + c)
