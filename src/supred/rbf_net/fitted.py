"""Fitted networks of Gaussians: what a model keeps, for rows as the user has them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from scipy import sparse

from supred.base.state import register
from supred.common.arrays import Place, at_least, cast, place_of, type_name
from supred.rbf_net.choices import Candidate
from supred.rbf_net.network import Networks, Shape
from supred.rbf_net.problem import Scaling
from supred.rows.blocks import rows_of

TINY = 1e-300


@register
@dataclass(frozen=True)
class GaussianNetwork:
    """``F(x) = W^T phi(x) + w0`` with ``phi_m(x) = exp(-gamma_m ||A^T (x - shift) - c_m||^2)``.

    Attributes
    ----------
    shift : ndarray of shape (n_features,)
    metric : ndarray of shape (n_features,) or (n_features, rank)
        One scale per feature, or A.
    centers : ndarray of shape (n_centers, rank)
        In the coordinates ``A^T (x - shift)``.
    gammas : ndarray of shape (n_centers,)
    W : ndarray of shape (n_centers, n_components)
    w0 : ndarray of shape (n_components,)

    Examples
    --------
    >>> import numpy as np
    >>> from supred.rbf_net.fitted import GaussianNetwork
    >>> one = np.ones((1, 1))
    >>> net = GaussianNetwork(np.zeros(1), np.array([2.0]), one, np.ones(1), one, np.zeros(1))
    >>> net.project(np.array([[0.5], [1.0]])).round(3)
    array([[1.   ],
           [0.368]])
    """

    shift: np.ndarray
    metric: np.ndarray
    centers: np.ndarray
    gammas: np.ndarray
    W: np.ndarray
    w0: np.ndarray

    @classmethod
    def of(cls, nets: Networks, scaling: Scaling, dtype: Any) -> "GaussianNetwork":
        """Return the first of some networks, for rows that are not scaled."""
        metric = nets.metric[0].astype(float)
        if nets.shape.rank is None:
            metric = np.exp(metric) * scaling.factor
        else:
            metric = metric * scaling.factor[:, None]
        gammas = np.exp(nets.log_gammas[0].astype(float))
        # A model of rows in double precision may hold numbers that single precision has not: where
        # it is trained further on such rows, `check_finite` refuses them.
        with np.errstate(over="ignore"):
            return cls(
                scaling.shift.astype(dtype),
                _single_digits(metric).astype(dtype),
                nets.centers[0].astype(dtype),
                _single_digits(gammas).astype(dtype),
                nets.W[0].astype(dtype),
                nets.w0[0].astype(dtype),
            )

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that `project` needs."""
        return [getattr(self, part.name) for part in fields(self)]

    def at(self, place: Place) -> "GaussianNetwork":
        """Return the network at a place; as it is for the host, where it is kept."""
        return self if place.is_host else GaussianNetwork(*map(place.put, self.arrays()))

    def coordinates(self, block: Any) -> np.ndarray:
        """Return u of a block of rows, shape (n_rows, rank)."""
        if sparse.issparse(block):
            if self.metric.ndim == 1:
                return np.asarray(block.multiply(self.metric).toarray()) - self.shift * self.metric
            return np.asarray(block @ self.metric) - self.shift @ self.metric
        moved = block - self.shift
        return moved * self.metric if self.metric.ndim == 1 else moved @ self.metric

    def features(self, block: Any) -> np.ndarray:
        """Return phi of a block of rows, shape (n_rows, n_centers)."""
        return self.gaussians(cast(self.coordinates(block), type_name(self.centers)))

    def gaussians(self, u: np.ndarray) -> np.ndarray:
        """Return phi of coordinates u, shape (n_rows, n_centers)."""
        xp = place_of(u).xp
        phi = u @ self.centers.T
        phi *= -2
        phi += xp.einsum("mr,mr->m", self.centers, self.centers)
        phi += xp.einsum("nr,nr->n", u, u)[:, None]
        at_least(phi, 0)
        phi *= -self.gammas
        return xp.exp(phi, out=phi)

    def project(self, X: Any) -> np.ndarray:
        """Return F of rows, shape (n_rows, n_components), block by block."""
        return rows_of(X, len(self.W)).map(self.project_block)

    def project_block(self, block: Any) -> np.ndarray:
        """Return F of a block of rows, where they are."""
        here = self.at(place_of(block))
        return cast(here.features(block) @ here.W + here.w0, type_name(block))

    def shape(self, n_scores: int = 0) -> Shape:
        """Return the numbers that describe the network."""
        rank = self.metric.shape[1] if self.metric.ndim == 2 else None
        return Shape(len(self.shift), rank, len(self.W), self.W.shape[1], n_scores)

    def centers_among_features(self) -> np.ndarray:
        """Return, for each centre, the point nearest to `shift` with its coordinates."""
        if self.metric.ndim == 1:
            return self.shift + self.centers / np.where(self.metric > TINY, self.metric, np.inf)
        return self.shift + self.centers @ np.linalg.pinv(self.metric)

    def parts(self, phi: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return what each Gaussian adds to ``d_n . F(x_n)``, shape (n_rows, n_centers)."""
        parts = directions @ self.W.T
        parts *= phi
        return parts

    def slopes(self, u: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return the derivative of ``d_n . F(x_n)`` by the features of each row.

        ``d phi_m / du = -2 gamma_m phi_m (u - c_m)``, and ``du/dx = A^T``.

        Parameters
        ----------
        u : ndarray of shape (n_rows, rank)
            Coordinates of the rows.
        parts : ndarray of shape (n_rows, n_centers)
            What `parts` returned.
        """
        by_u = parts @ (2 * self.gammas[:, None] * self.centers)
        by_u -= (parts @ (2 * self.gammas))[:, None] * u
        return by_u * self.metric if self.metric.ndim == 1 else by_u @ self.metric.T


@dataclass(frozen=True)
class Fitted:
    """What a fit found.

    Attributes
    ----------
    stages : tuple of GaussianNetwork
    scales : tuple of ndarrays
        The factors by which the inputs of each stage were scaled in training.
    coef, intercept : ndarrays
    importances : ndarray of shape (n_features,)
    chosen : dict
        Metric, noise and width.
    choices : dict of ndarrays
    history : dict of lists
    n_iter : int
    stopping_reason : str
    validation_error : float
    path : dict of ndarrays or None
    """

    stages: tuple[GaussianNetwork, ...]
    scales: tuple[np.ndarray, ...]
    coef: np.ndarray
    intercept: np.ndarray
    importances: np.ndarray
    chosen: dict[str, Any]
    choices: dict[str, np.ndarray] = field(default_factory=dict)
    history: dict[str, list[float]] = field(default_factory=dict)
    n_iter: int = 0
    stopping_reason: str = "max_iter"
    validation_error: float = np.nan
    path: dict[str, np.ndarray] | None = None

    def network(self, stage: int, scores: bool) -> Networks:
        """Return a stage as a network of scaled rows, with or without the classifier."""
        net, factor = self.stages[stage], self.scales[stage]
        metric = net.metric.astype(float)
        metric = np.log(metric / factor) if metric.ndim == 1 else metric / factor[:, None]
        n_components = net.W.shape[1]
        return Networks.of(
            metric=metric[None],
            centers=net.centers[None],
            log_gammas=np.log(net.gammas.astype(float))[None],
            W=net.W[None],
            w0=net.w0[None],
            coef=self.coef[None] if scores else np.zeros((1, len(self.coef), n_components)),
            intercept=self.intercept[None] if scores else np.zeros((1, len(self.coef))),
        )

    def arrays(self) -> list[np.ndarray]:
        """Return all that a further training depends on."""
        noise = np.array(self.candidate.noise)
        parts = [array for net in self.stages for array in net.arrays()]
        return [*parts, *self.scales, self.coef, self.intercept, noise]

    def scaling(self, stage: int) -> Scaling:
        """Return the scaling of the inputs of a stage."""
        return Scaling(self.stages[stage].shift.astype(float), self.scales[stage])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(2, len(self.coef))

    @property
    def candidate(self) -> Candidate:
        """The choice that was made."""
        rank = None if self.stages[0].metric.ndim == 1 else self.stages[0].metric.shape[1]
        return Candidate(rank, float(self.chosen["noise"]), float(self.chosen["width"]))


def _single_digits(values: np.ndarray) -> np.ndarray:
    """Return values with the digits of single precision, in which they were learned.

    A file then holds them in four bytes; their range stays that of double precision.
    """
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.round(mantissas * 2**24) / 2**24, exponents)


def project_through(stages: Sequence[GaussianNetwork], X: Any) -> np.ndarray:
    """Return the latent coordinates of rows: one network after the other."""
    Z = stages[0].project(X)
    for stage in stages[1:]:
        Z = stage.project(Z)
    return Z
