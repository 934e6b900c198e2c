"""Points from which interior point methods of linear SVMs begin, and sums over their rows.

:mod:`supred.numerics.svm_interior_point` has the equations.
"""

from dataclasses import dataclass, fields

import numpy as np

from supred.common.arrays import CHUNK, at_least, at_most, copied, place_of, positive_part
from supred.numerics.svm_central_path import INSIDE

# A start whose a comes this near to a bound, as a part of u, is centred.
LOPSIDED = 0.02
# A path that begins at a guess begins with at least this mu.
LEAST_MU = 0.02
# On a device mu is this over the mean slack: rows that the z step has put on the margins of a guess
# leave them together, which takes a long path; the farther they are the better is the guess.
FIRST_MU = 0.05


@dataclass
class Paths:
    """The SVMs that are still on their way; every array has one entry or row per SVM."""

    which: np.ndarray  # place of the SVM in the result
    rows: np.ndarray  # (k, n_chunks, L + 1, n / n_chunks): (z_n, 1)
    y: np.ndarray  # (k, n)
    u: np.ndarray  # (k, n)
    q: np.ndarray  # (k, n)
    shift: np.ndarray  # (k, L + 1): pull and charge
    offset: np.ndarray  # (k,)
    a: np.ndarray  # (k, n)
    r: np.ndarray  # (k, n)
    xi: np.ndarray  # (k, n)
    v: np.ndarray  # (k, L + 1): w and b
    upper: np.ndarray  # (k,): least primal objective so far
    lower: np.ndarray  # (k,): greatest dual objective so far
    least_gap: np.ndarray  # (k,)
    waited: np.ndarray  # (k,): iterations without a smaller gap

    @classmethod
    def at(
        cls,
        rows: np.ndarray,
        y: np.ndarray,
        u: np.ndarray,
        q: np.ndarray,
        shift: np.ndarray,
        offset: np.ndarray,
        a: np.ndarray,
        r: np.ndarray,
        xi: np.ndarray,
        v: np.ndarray,
    ) -> "Paths":
        """Return paths that begin at the given points."""
        put = place_of(y).put
        infinite = np.full(len(y), np.inf)
        return cls(
            which=put(np.arange(len(y))),
            rows=rows,
            y=y,
            u=u,
            q=q,
            shift=shift,
            offset=offset,
            a=a,
            r=r,
            xi=xi,
            v=v,
            upper=put(infinite.copy()),
            lower=put(-infinite),
            least_gap=put(infinite.copy()),
            waited=put(np.zeros(len(y), dtype=int)),
        )

    def keep(self, chosen: np.ndarray) -> "Paths":
        """Return the SVMs that are chosen by a mask."""
        return Paths(*(getattr(self, part.name)[chosen] for part in fields(self)))


def chunks(Z: np.ndarray) -> np.ndarray:
    """Return (z_n, 1) in chunks of rows, shape (n_svms, n_chunks, L + 1, chunk)."""
    place, (n_svms, n_dimensions, n_rows) = place_of(Z), Z.shape
    if place.is_host:
        rows = np.ones((n_svms, 1, n_dimensions + 1, n_rows))
        rows[:, 0, :-1] = Z
        return rows
    ones = place.zeros((n_svms, n_rows, 1), float) + 1.0
    wide = place.xp.concatenate([Z.swapaxes(1, 2), ones], axis=2)
    size = n_rows if n_rows % CHUNK else CHUNK
    return wide.reshape(n_svms, -1, size, n_dimensions + 1).swapaxes(2, 3)


def start(
    rows: np.ndarray,
    ridge: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    q: np.ndarray,
    shift: np.ndarray,
    offset: np.ndarray,
) -> Paths:
    """Return points whose dual constraints hold; e = xi - r holds too unless they are lopsided."""
    xp = place_of(y).xp
    a = _starting_dual(y, u, shift[:, -1])
    force = sums(rows, y * a) + shift  # (sum a y z, sum a y), with what is outside
    share = a / u
    nearest = xp.min(xp.minimum(share, 1.0 - share), axis=1)
    lopsided = nearest < LOPSIDED
    # Shrink a start that is far too long: the dual is quadratic along the ray.
    length = xp.square(force[:, :-1]).sum(axis=1)
    total = a.sum(axis=1)
    factor = at_least(total / xp.maximum(length, total), 1e-3)
    factor[lopsided | (shift[:, -1] != 0)] = 1.0
    a *= factor[:, None]
    v = force * factor[:, None] * ridge
    values = scores(rows, v)
    for sign in (-1.0, 1.0):
        side = u * (y == sign)
        v[:, -1] -= 0.5 * (side * values).sum(axis=1) / side.sum(axis=1)
    slack = 1.0 - y * (values + v[:, -1:])
    spread = (u * xp.abs(slack)).sum(axis=1) / u.sum(axis=1) + 0.1
    xi = positive_part(slack) + spread[:, None]
    r = xi - slack
    # Where one side is much heavier its a starts near a bound, and r and xi must make up for it:
    # a point on the central path, at the price of e = xi - r.
    center = (2.0 * spread * nearest)[lopsided, None]
    r[lopsided] = center / share[lopsided]
    xi[lopsided] = center / (1.0 - share[lopsided])
    return Paths.at(rows, y, u, q, shift, offset, a, r, xi, v)


def start_at(
    v: np.ndarray,
    rows: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    q: np.ndarray,
    shift: np.ndarray,
    offset: np.ndarray,
    most_mu: float,
) -> Paths:
    """Return points on the central path of each row for given w and b.

    With s = a / u and m = mu q / u, ``a r = (u - a) xi = u m`` and e = xi - r make
    ``e s (1 - s) = m (2 s - 1)``, of which
    ``min(s, 1 - s) = 2 m / (sqrt(e^2 + 4 m^2) + 2 m + |e|)``.
    The dual constraints need not hold at such a point.
    """
    slack = 1.0 - y * scores(rows, v)
    xp, far = place_of(y).xp, abs(slack)
    mu = (q * far).sum(axis=1, keepdims=True) / q.sum(axis=1, keepdims=True)
    if not place_of(y).is_host:
        mu, most_mu = FIRST_MU / at_least(mu, FIRST_MU), min(most_mu, 1.0)
    mu = xp.clip(mu, LEAST_MU, most_mu) * (q / u)
    least = 2.0 * mu / (xp.sqrt(xp.square(slack) + 4.0 * xp.square(mu)) + 2.0 * mu + far)
    least = xp.clip(least, INSIDE, None)
    share = xp.where(slack < 0, least, 1.0 - least)
    rest = xp.where(slack < 0, 1.0 - least, least)
    return Paths.at(rows, y, u, q, shift, offset, u * share, mu / share, mu / rest, copied(v))


def _starting_dual(y: np.ndarray, u: np.ndarray, charge: np.ndarray) -> np.ndarray:
    """Return a strictly inside its box with charge + sum a_n y_n = 0."""
    positive = (u * (y > 0)).sum(axis=1)
    negative = (u * (y < 0)).sum(axis=1)
    # a = p u on the positive rows and q u on the negative ones: p positive - q negative = -charge.
    low = at_least(charge / negative, 0.0)
    high = at_most((positive + charge) / negative, 1.0)
    q = low + 0.5 * (high - low)
    p = (q * negative - charge) / positive
    return u * place_of(y).xp.where(y > 0, p[:, None], q[:, None])


def along(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return a value of each row of each SVM beside the chunks of these, to multiply them by."""
    return values.reshape(*rows.shape[:2], 1, rows.shape[3])


def scores(rows: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return w . z_n + b for the rows of each SVM."""
    return (v[:, None, None, :] @ rows).reshape(len(v), -1)


def sums(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return sum_n weights_n (z_n, 1) of each SVM."""
    return over_chunks(rows @ along(rows, weights).swapaxes(2, 3))[:, :, 0]


def over_chunks(values: np.ndarray) -> np.ndarray:
    """Return the sum over the chunks of rows, of which the host has one."""
    return values[:, 0] if values.shape[1] == 1 else values.sum(axis=1)
