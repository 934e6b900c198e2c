"""Networks of Gaussians in a learned metric: their values and their gradients.

    u(x)     = A^T x                                    the metric
    phi_m(x) = exp(-gamma_m ||u(x) - c_m||^2)           M Gaussians
    F(x)     = W^T phi(x) + w0                          latent coordinates
    f(x)     = V F(x) + b                               scores

Several networks of one shape are treated together, as arrays with a leading axis: the products
run at the speed of BLAS either way, and small networks share the cost of the calls. The arrays
are NumPy's, torch's or CuPy's; all functions work where the networks and the rows are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from supred.common.arrays import (
    HOST,
    Place,
    at_most,
    cholesky,
    copied,
    on_host,
    place_of,
    solve_triangular,
    type_name,
)

# Takes scores and targets (.., n_rows, n_scores) to the loss of each row and its slope.
RowLoss = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Shape:
    """Numbers that describe a network.

    Attributes
    ----------
    n_features : int
        D.
    rank : int or None
        Columns of the metric, r; None for one scale per feature.
    n_centers, n_components, n_scores : int
        M, L and the number of scores: one per class, or one in all for two classes.
    """

    n_features: int
    rank: int | None
    n_centers: int
    n_components: int
    n_scores: int

    def parts(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter, in the order in which they are stored."""
        D, M, L, S = self.n_features, self.n_centers, self.n_components, self.n_scores
        return {
            "metric": (D,) if self.rank is None else (D, self.rank),
            "centers": (M, self.n_features if self.rank is None else self.rank),
            "log_gammas": (M,),
            "W": (M, L),
            "w0": (L,),
            "coef": (S, L),
            "intercept": (S,),
        }

    @property
    def n_numbers(self) -> int:
        """Number of parameters."""
        return sum(int(np.prod(shape)) for shape in self.parts().values())

    @property
    def flops_per_row(self) -> int:
        """Additions and multiplications for the scores of one row."""
        D, M, L, S = self.n_features, self.n_centers, self.n_components, self.n_scores
        r = D if self.rank is None else self.rank
        return (D if self.rank is None else 2 * D * r) + 2 * M * r + 4 * M + 2 * M * L + 2 * S * L


class Networks:
    """Parameters of several networks of one shape; also the shape of their gradients.

    Parameters
    ----------
    shape : Shape
    flat : ndarray of shape (n_networks, n_numbers)
        All parameters; the attributes are views of it.

    Attributes
    ----------
    metric : ndarray of shape (n_networks, n_features) or (n_networks, n_features, rank)
        Logarithms of the scales of the features, or A.
    centers : ndarray of shape (n_networks, n_centers, rank)
        c_m, in the coordinates u.
    log_gammas : ndarray of shape (n_networks, n_centers)
    W, w0, coef, intercept : ndarrays
        W, w0, V and b, each with a leading axis.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.rbf_net.network import Networks, Shape
    >>> nets = Networks.zeros(Shape(3, 2, 4, 1, 1), 5)
    >>> nets.metric.shape, nets.W.shape, nets.flat.shape
    ((5, 3, 2), (5, 4, 1), (5, 25))
    """

    metric: np.ndarray
    centers: np.ndarray
    log_gammas: np.ndarray
    W: np.ndarray
    w0: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def __init__(self, shape: Shape, flat: np.ndarray) -> None:
        self.shape, self.flat, self.place = shape, flat, place_of(flat)
        start = 0
        for name, part in shape.parts().items():
            size = int(np.prod(part))
            view = flat[:, start : start + size].reshape(len(flat), *part)
            object.__setattr__(self, name, view)
            start += size

    @classmethod
    def zeros(
        cls, shape: Shape, n_networks: int, dtype: Any = np.float32, place: Place = HOST
    ) -> "Networks":
        """Return networks of zeros."""
        return cls(shape, place.zeros((n_networks, shape.n_numbers), dtype))

    @classmethod
    def of(cls, dtype: Any = np.float32, **parts: np.ndarray) -> "Networks":
        """Return networks with the given parameters, each with a leading axis."""
        metric, (M, L), S = parts["metric"], parts["W"].shape[1:], parts["coef"].shape[1]
        rank = metric.shape[2] if metric.ndim == 3 else None
        nets = cls.zeros(Shape(metric.shape[1], rank, M, L, S), len(metric), dtype)
        for name, values in parts.items():
            getattr(nets, name)[...] = values
        return nets

    def __len__(self) -> int:
        return len(self.flat)

    def take(self, indices: Any) -> "Networks":
        """Return a copy of some of the networks."""
        return Networks(self.shape, copied(self.flat[indices]))

    def to(self, place: Place) -> "Networks":
        """Return the networks at another place."""
        if place == self.place:
            return self
        return Networks(self.shape, place.put(on_host(self.flat)))

    def parts(self) -> dict[str, np.ndarray]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self.shape.parts()}


def hinge_slopes(scores: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``sum_k max(0, 1 - y_k f_k)`` of each row and its slope.

    Parameters
    ----------
    scores, signs : ndarrays of shape (.., n_rows, n_scores)
    """
    slack = 1.0 - signs * scores
    active = slack > 0
    return (slack * active).sum(axis=-1), -signs * active


def log_slopes(scores: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the cross entropy ``-sum_k t_k log p_k`` of each row and its slope ``p - t``.

    Parameters
    ----------
    scores : ndarray of shape (.., n_rows, n_classes), or (.., n_rows, 1) for two classes
    shares : ndarray of the same shape
        t: 1 at the class of the row, or less with label smoothing; for two classes the share of
        the second.
    """
    xp = place_of(scores).xp
    if scores.shape[-1] == 1:
        positive = scores * (scores > 0)
        losses = positive + xp.log1p(xp.exp(-xp.abs(scores))) - shares * scores
        return losses[..., 0], expit(scores) - shares
    shifted = scores - xp.max(scores, axis=-1, keepdims=True)
    p = xp.exp(shifted)
    totals = p.sum(axis=-1, keepdims=True)
    p /= totals
    shifted *= shares
    losses = xp.log(totals[..., 0]) - shifted.sum(axis=-1)
    p -= shares
    return losses, p


def coordinates(nets: Networks, rows: np.ndarray) -> np.ndarray:
    """Return ``u(x) = A^T x`` of each row, shape (n_networks, n_rows, rank).

    Parameters
    ----------
    nets : Networks
    rows : ndarray of shape (n_networks or 1, n_rows, n_features)
    """
    xp = nets.place.xp
    if nets.shape.rank is None:
        return rows * xp.exp(nets.metric)[:, None, :]
    return xp.matmul(rows, nets.metric)


def gaussians(u: np.ndarray, centers: np.ndarray, log_gammas: np.ndarray) -> np.ndarray:
    """Return phi of coordinates u, shape (n_networks, n_rows, n_centers)."""
    gammas = place_of(u).xp.exp(log_gammas)
    return _gaussians(_with_squares(u), _exponents(centers, gammas))


def scores(nets: Networks, rows: np.ndarray) -> np.ndarray:
    """Return ``V F(x) + b`` of each row, shape (n_networks, n_rows, n_scores)."""
    F = latent(nets, rows)
    return nets.place.xp.matmul(F, nets.coef.swapaxes(1, 2)) + nets.intercept[:, None]


def latent(nets: Networks, rows: np.ndarray) -> np.ndarray:
    """Return F(x) of each row, shape (n_networks, n_rows, n_components)."""
    phi = gaussians(coordinates(nets, rows), nets.centers, nets.log_gammas)
    return nets.place.xp.matmul(phi, nets.W) + nets.w0[:, None]


def _with_squares(u: np.ndarray) -> np.ndarray:
    """Return ``[u, ||u||^2, 1]``, whose product with `_exponents` is ``-gamma ||u - c||^2``."""
    place = place_of(u)
    extended = place.empty((*u.shape[:2], u.shape[2] + 2), type_name(u))
    extended[..., :-2] = u
    extended[..., -2] = place.xp.einsum("knr,knr->kn", u, u)
    extended[..., -1] = 1
    return extended


def _exponents(centers: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Return ``[2 gamma c, -gamma, -gamma ||c||^2]``, one row per centre."""
    K, M, r = centers.shape
    place = place_of(centers)
    extended = place.empty((K, M, r + 2), type_name(centers))
    place.xp.multiply(centers, 2 * gammas[..., None], out=extended[..., :-2])
    extended[..., -2] = -gammas
    extended[..., -1] = -gammas * place.xp.einsum("kmr,kmr->km", centers, centers)
    return extended


def _gaussians(extended: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    xp = place_of(extended).xp
    phi = xp.matmul(extended, exponents.swapaxes(1, 2))
    at_most(phi, 0)  # rounding must not make a distance negative
    return xp.exp(phi, out=phi)


@dataclass(frozen=True)
class Noise:
    """Noise of the rows of a block, drawn where it is cheap.

    Attributes
    ----------
    levels : ndarray of shape (n_networks,)
        Standard deviation of the noise of a feature.
    normals : ndarray of shape (n_networks or 1, n_rows, rank or n_features)
        Standard normal numbers: `rank` of each row where that is well below `n_features`. The
        noise of u is normal with covariance ``level^2 A^T A`` all the same.
    """

    levels: np.ndarray
    normals: np.ndarray


def noise_width(shape: Shape) -> int:
    """Return how many normal numbers per row the noise of a network takes."""
    D, r = shape.n_features, shape.rank
    return r if r is not None and 2 * r <= D else D


@np.errstate(over="ignore", invalid="ignore")  # a network that diverges is not taken
def mean_loss(
    nets: Networks,
    rows: np.ndarray,
    targets: np.ndarray,
    shares: np.ndarray,
    row_loss: RowLoss,
    gradient: Networks,
    noise: Noise | None = None,
) -> np.ndarray:
    """Return ``sum_n s_n l_n`` of rows for each network; fill in the gradients.

    With e the exponents ``-gamma_m ||u_n - c_m||^2`` and ``P = dJ/de = (dF W^T) * phi``, every
    gradient before W is a sum over P: e is a product of ``[u, ||u||^2, 1]`` and
    ``[2 gamma c, -gamma, -gamma ||c||^2]``, so both gradients are products with P.

    Parameters
    ----------
    nets : Networks
    rows : ndarray of shape (n_networks or 1, n_rows, n_features)
    targets : ndarray of shape (n_networks or 1, n_rows, n_scores)
        What `row_loss` compares the scores with.
    shares : ndarray of shape (n_networks or 1, n_rows)
        s_n: of the weight of a block, sum 1 over its rows.
    row_loss : callable
        :func:`hinge_slopes` or :func:`log_slopes`.
    gradient : Networks
        Is overwritten.
    noise : Noise, optional

    Returns
    -------
    losses : ndarray of shape (n_networks,)
    """
    xp, whitening = nets.place.xp, None
    if noise is not None and noise.normals.shape[-1] == rows.shape[-1]:
        rows = rows + noise.levels[:, None, None] * noise.normals
    u = coordinates(nets, rows)
    if noise is not None and noise.normals.shape[-1] != rows.shape[-1]:
        # A^T (noise of a row) = level L z, with L L^T = A^T A
        gram = xp.matmul(nets.metric.swapaxes(1, 2), nets.metric)
        diagonal = gram.reshape(len(gram), -1)[:, :: gram.shape[1] + 1]
        diagonal += 1e-6 * diagonal.mean(axis=1, keepdims=True) + xp.finfo(gram.dtype).tiny
        whitening = cholesky(gram).swapaxes(1, 2)
        u += xp.matmul(noise.normals, noise.levels[:, None, None] * whitening)
    extended = _with_squares(u)
    gammas = xp.exp(nets.log_gammas)
    exponents = _exponents(nets.centers, gammas)
    phi = _gaussians(extended, exponents)
    F = xp.matmul(phi, nets.W)
    F += nets.w0[:, None]
    values = xp.matmul(F, nets.coef.swapaxes(1, 2))
    values += nets.intercept[:, None]
    losses, slopes = row_loss(values, targets)
    slopes *= shares[..., None]

    xp.matmul(slopes.swapaxes(1, 2), F, out=gradient.coef)
    gradient.intercept[...] = slopes.sum(axis=1)
    dF = xp.matmul(slopes, nets.coef)
    xp.matmul(phi.swapaxes(1, 2), dF, out=gradient.W)
    gradient.w0[...] = dF.sum(axis=1)
    P = xp.matmul(dF, nets.W.swapaxes(1, 2))
    P *= phi
    by_exponents = xp.matmul(P.swapaxes(1, 2), extended)
    moved, squares, sums = by_exponents[..., :-2], by_exponents[..., -2], by_exponents[..., -1]
    c, doubled = nets.centers, 2 * gammas
    norms = xp.einsum("kmr,kmr->km", c, c)
    gradient.log_gammas[...] = doubled * xp.einsum("kmr,kmr->km", c, moved)
    gradient.log_gammas[...] -= gammas * (squares + norms * sums)
    xp.multiply(c, -sums[..., None], out=gradient.centers)
    gradient.centers[...] += moved
    gradient.centers[...] *= doubled[..., None]
    by_extended = xp.matmul(P, exponents)
    du = by_extended[..., :-2]
    u *= 2 * by_extended[..., -2:-1]
    du += u
    if nets.shape.rank is None:
        gradient.metric[...] = xp.einsum("knd,knd->kd", du, xp.broadcast_to(rows, du.shape))
        gradient.metric[...] *= xp.exp(nets.metric)
        return (losses * shares).sum(axis=1)
    xp.matmul(rows.swapaxes(1, 2), du, out=gradient.metric)
    if noise is not None and whitening is not None:
        # of the noise of a row only its mean given that of u is known: A (A^T A)^-1 (level L z)
        inner = xp.matmul(noise.normals.swapaxes(1, 2), du)
        inner *= noise.levels[:, None, None]
        gradient.metric[...] += xp.matmul(
            nets.metric, solve_triangular(whitening, inner, upper=True)
        )
    return (losses * shares).sum(axis=1)
