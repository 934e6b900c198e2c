"""The mean loss of a block of rows and its gradient, for networks that change in every step.

All gradients are sums over rows, followed by little work on numbers as many as the parameters.
So the rows of a block can be shared between threads, and what all rows have in common is made
once.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supred.common.arrays import Place, cholesky, solve_triangular, type_name
from supred.rbf_net.network import (
    Networks,
    RowLoss,
    Shape,
    add_squares,
    fill_exponents,
    gaussians_of,
)

# A metric of at least this rank gets columns of zeros up to a multiple of this number: matrix
# products are quicker then.
PADDED_RANK, MULTIPLE = 32, 8


def noise_width(shape: Shape) -> int:
    """Return how many normal numbers per row the noise of a network takes.

    `rank` of each row where that is well below `n_features`. The noise of u is normal with
    covariance ``level^2 A^T A`` all the same.
    """
    D, r = shape.n_features, shape.rank
    return r if r is not None and 2 * r <= D else D


@dataclass(frozen=True)
class Sums:
    """Sums over rows that gradients are made of, each with a leading axis for the networks.

    Attributes
    ----------
    metric : ndarray of shape (n_features,) or (n_features, width)
        Of the products of x and dJ/du.
    exponents : ndarray of shape (n_centers, width + 2)
        Slopes by ``[2 gamma c, -gamma, -gamma ||c||^2]``.
    W, w0, coef, intercept : ndarrays
        Slopes by these parameters.
    noise : ndarray of shape (rank, width)
        Of the products of the normal numbers of a row and dJ/du.
    """

    metric: np.ndarray
    exponents: np.ndarray
    W: np.ndarray
    w0: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    noise: np.ndarray

    @classmethod
    def empty(cls, shape: Shape, n_networks: int, width: int, dtype: Any, place: Place) -> "Sums":
        """Return sums that are not set."""
        sizes = {
            **shape.parts(),
            "metric": (shape.n_features,) if shape.rank is None else (shape.n_features, width),
            "exponents": (shape.n_centers, width + 2),
            "noise": (shape.rank or 0, width),
        }
        names = cls.__dataclass_fields__
        return cls(**{name: place.empty((n_networks, *sizes[name]), dtype) for name in names})


class Gradient:
    """Mean loss and gradient of networks, which may be moved in place between two blocks.

    With e the exponents ``-gamma_m ||u_n - c_m||^2`` and ``P = dJ/de = (dF W^T) * phi``, every
    gradient before W is a sum over P: e is a product of ``[u, ||u||^2, 1]`` and
    ``[2 gamma c, -gamma, -gamma ||c||^2]``, so both gradients are products with P.

    Parameters
    ----------
    nets : Networks
    row_loss : callable
        :func:`hinge_slopes` or :func:`log_slopes`.
    levels : ndarray of shape (n_networks,), optional
        Standard deviation of the noise of a feature, by default no noise.
    n_parts : int
        Parts of a block that are worked on one by one, or side by side.

    Attributes
    ----------
    slopes : Networks
        The gradient after all parts of a block were added up and finished.
    """

    def __init__(
        self, nets: Networks, row_loss: RowLoss, levels: Any = None, n_parts: int = 1
    ) -> None:
        self.nets, self.row_loss, self.levels = nets, row_loss, levels
        shape, place, dtype = nets.shape, nets.place, type_name(nets.flat)
        rank = shape.n_features if shape.rank is None else shape.rank
        padded = shape.rank is not None and rank >= PADDED_RANK and rank % MULTIPLE > 0
        width = rank + (-rank % MULTIPLE if padded else 0)
        self.slopes = Networks.zeros(shape, len(nets), dtype, place)
        self.sums = [Sums.empty(shape, len(nets), width, dtype, place) for _ in range(n_parts)]
        # of the first part, sums that are slopes already go where they belong
        finished = ["W", "w0", "coef", "intercept"]
        finished += [] if shape.rank is None or padded else ["metric"]
        parts = self.slopes.parts()
        self.sums[0] = replace(self.sums[0], **{name: parts[name] for name in finished})
        self._exponents = place.zeros((len(nets), shape.n_centers, width + 2), dtype)
        self._metric = nets.metric
        if padded:
            self._metric = place.zeros((len(nets), shape.n_features, width), dtype)
        self._in_few = levels is not None and noise_width(shape) < shape.n_features
        if self._in_few:
            self._root = place.zeros((len(nets), rank, width), dtype)
        self.prepare_metric()
        self.prepare_centers()

    def prepare_metric(self) -> None:
        """Take note of the metric as it is now: A, and the root of ``A^T A`` for the noise."""
        nets, xp = self.nets, self.nets.place.xp
        rank = nets.shape.rank
        if rank is None:
            self._scales = xp.exp(nets.metric)
        elif self._metric is not nets.metric:
            self._metric[..., :rank] = nets.metric
        if self._in_few:
            gram = xp.matmul(nets.metric.swapaxes(1, 2), nets.metric)
            diagonal = gram.reshape(len(gram), -1)[:, :: gram.shape[1] + 1]
            diagonal += 1e-6 * diagonal.mean(axis=1, keepdims=True) + xp.finfo(gram.dtype).tiny
            self._whitening = cholesky(gram).swapaxes(1, 2)
            self._root[..., :rank] = self.levels[:, None, None] * self._whitening

    def prepare_centers(self) -> None:
        """Take note of centres and widths as they are now."""
        nets, xp = self.nets, self.nets.place.xp
        self._gammas = xp.exp(nets.log_gammas)
        self._norms = fill_exponents(nets.centers, self._gammas, self._exponents)

    def add_up(
        self, part: int, rows: Any, targets: Any, shares: Any, normals: Any = None
    ) -> np.ndarray:
        """Return ``sum_n s_n l_n`` of the rows of a part for each network; keep its sums.

        Parameters
        ----------
        part : int
            Which part of the block the rows are.
        rows : ndarray of shape (n_networks or 1, n_rows, n_features)
        targets : ndarray of shape (n_networks or 1, n_rows, n_scores)
            What `row_loss` compares the scores with.
        shares : ndarray of shape (n_networks or 1, n_rows)
            s_n: of the weight of a block, sum 1 over its rows.
        normals : ndarray of shape (n_networks or 1, n_rows, noise_width), optional
            Standard normal numbers, if there is noise.

        Returns
        -------
        losses : ndarray of shape (n_networks,)
        """
        nets, sums, xp = self.nets, self.sums[part], self.nets.place.xp
        if normals is not None and not self._in_few:
            rows = rows + self.levels[:, None, None] * normals
        extended = nets.place.empty(
            (len(nets), rows.shape[1], self._exponents.shape[2]), type_name(nets.flat)
        )
        u = extended[..., :-2]
        if nets.shape.rank is None:
            xp.multiply(rows, self._scales[:, None, :], out=u)
        else:
            xp.matmul(rows, self._metric, out=u)
        if self._in_few:
            # A^T (noise of a row) = level L z, with L L^T = A^T A
            u += xp.matmul(normals, self._root)
        add_squares(extended)
        phi = gaussians_of(extended, self._exponents)
        F = xp.matmul(phi, nets.W)
        F += nets.w0[:, None]
        # score by score in memory: maxima and sums over few scores are slow otherwise
        values = xp.matmul(nets.coef, F.swapaxes(1, 2))
        values += nets.intercept[..., None]
        losses, slopes = self.row_loss(values.swapaxes(1, 2), targets)
        slopes *= shares[..., None]

        xp.matmul(slopes.swapaxes(1, 2), F, out=sums.coef)
        sums.intercept[...] = slopes.sum(axis=1)
        dF = xp.matmul(slopes, nets.coef)
        xp.matmul(phi.swapaxes(1, 2), dF, out=sums.W)
        sums.w0[...] = dF.sum(axis=1)
        P = xp.matmul(dF, nets.W.swapaxes(1, 2))
        P *= phi
        xp.matmul(P.swapaxes(1, 2), extended, out=sums.exponents)
        by_extended = xp.matmul(P, self._exponents)
        du = by_extended[..., :-2]
        u *= 2 * by_extended[..., -2:-1]
        du += u
        if nets.shape.rank is None:
            sums.metric[...] = xp.einsum("knd,knd->kd", du, xp.broadcast_to(rows, du.shape))
        else:
            xp.matmul(rows.swapaxes(1, 2), du, out=sums.metric)
        if self._in_few:
            xp.matmul(normals.swapaxes(1, 2), du, out=sums.noise)
        return (losses * shares).sum(axis=1)

    def finish_metric(self) -> None:
        """Make the slopes by the metric of the sums."""
        nets, slopes, xp = self.nets, self.slopes.metric, self.nets.place.xp
        first, *others = self.sums
        for other in others:
            first.metric[...] += other.metric
        if nets.shape.rank is None:
            xp.multiply(first.metric, self._scales, out=slopes)
            return
        if first.metric is not slopes:
            slopes[...] = first.metric[..., : nets.shape.rank]
        if self._in_few:
            # of the noise of a row only its mean given that of u is known: A (A^T A)^-1 (level L z)
            inner = sum((other.noise for other in others), first.noise)[..., : nets.shape.rank]
            inner = solve_triangular(
                self._whitening, self.levels[:, None, None] * inner, upper=True
            )
            slopes += xp.matmul(nets.metric, inner)

    def finish_centers(self, decay: float = 0.0) -> None:
        """Make the slopes by all other parameters of the sums.

        Parameters
        ----------
        decay : float
            Slope of the regulariser per unit of W and of V.
        """
        nets, slopes, xp = self.nets, self.slopes, self.nets.place.xp
        first, *others = self.sums
        for other in others:
            for name in ("exponents", "W", "w0", "coef", "intercept"):
                getattr(first, name)[...] += getattr(other, name)
        if decay:
            slopes.W[...] += decay * nets.W
            slopes.coef[...] += decay * nets.coef
        c, doubled, sums = nets.centers, 2 * self._gammas, first.exponents
        moved, squares, counts = sums[..., : c.shape[2]], sums[..., -2], sums[..., -1]
        slopes.log_gammas[...] = doubled * xp.einsum("kmr,kmr->km", c, moved)
        slopes.log_gammas[...] -= self._gammas * (squares + self._norms * counts)
        xp.multiply(c, -counts[..., None], out=slopes.centers)
        slopes.centers[...] += moved
        slopes.centers[...] *= doubled[..., None]
