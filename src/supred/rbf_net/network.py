"""Networks of Gaussians in a learned metric: their values, and the slopes of losses.

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
    copied,
    on_host,
    place_of,
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
    def metric_numbers(self) -> int:
        """Number of parameters of the metric, which are stored first."""
        return self.n_features * (self.rank or 1)

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
    place, width = place_of(u), u.shape[2] + 2
    extended = place.empty((*u.shape[:2], width), type_name(u))
    extended[..., :-2] = u
    add_squares(extended)
    products = place.empty((*centers.shape[:2], width), type_name(centers))
    fill_exponents(centers, place.xp.exp(log_gammas), products)
    return gaussians_of(extended, products)


def scores(nets: Networks, rows: np.ndarray) -> np.ndarray:
    """Return ``V F(x) + b`` of each row, shape (n_networks, n_rows, n_scores)."""
    F = latent(nets, rows)
    return nets.place.xp.matmul(F, nets.coef.swapaxes(1, 2)) + nets.intercept[:, None]


def latent(nets: Networks, rows: np.ndarray) -> np.ndarray:
    """Return F(x) of each row, shape (n_networks, n_rows, n_components)."""
    phi = gaussians(coordinates(nets, rows), nets.centers, nets.log_gammas)
    return nets.place.xp.matmul(phi, nets.W) + nets.w0[:, None]


def add_squares(extended: np.ndarray) -> None:
    """Complete ``[u, ||u||^2, 1]``, whose product with the exponents is ``-gamma ||u - c||^2``."""
    u = extended[..., :-2]
    extended[..., -2] = place_of(u).xp.einsum("knr,knr->kn", u, u)
    extended[..., -1] = 1


def fill_exponents(centers: np.ndarray, gammas: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write ``[2 gamma c, -gamma, -gamma ||c||^2]``, one row per centre; return ``||c||^2``.

    `out` may have columns of zeros after those of c.
    """
    xp = place_of(centers).xp
    norms = xp.einsum("kmr,kmr->km", centers, centers)
    xp.multiply(centers, 2 * gammas[..., None], out=out[..., : centers.shape[2]])
    out[..., -2] = -gammas
    out[..., -1] = -gammas * norms
    return norms


def gaussians_of(extended: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return ``exp(-gamma ||u - c||^2)`` of the two factors of the exponent."""
    place = place_of(extended)
    phi = place.xp.matmul(extended, exponents.swapaxes(1, 2))
    # rounding must not make a distance negative; NumPy is slow with a number in the array's place
    at_most(phi, place.zeros(phi.shape[-1:], type_name(phi)))
    return place.xp.exp(phi, out=phi)
