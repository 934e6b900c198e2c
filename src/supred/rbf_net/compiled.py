"""Steps of the descent for tables of many rows, in loops compiled by Numba where it is installed.

They do what :func:`supred.rbf_net.network.mean_loss` and :func:`supred.rbf_net.descent.adam_step`
do in NumPy, which are their reference and stand in where there is no Numba
(``pip install "supred[fast]"``). Python's lock is free meanwhile, so that two threads share the
rows of a step; NumPy takes it at each of some forty calls. What all rows of a step have in common
is made once, and so are passes over arrays that NumPy makes one by one.
"""

from typing import Any

import numpy as np

from supred.numerics.compiled import compiled
from supred.rbf_net.adam import MOMENTUM, SECOND_MOMENT, TINY
from supred.rbf_net.network import Networks, noise_width

# exp(x) = 2^k exp(r), r = x - k log 2: log 2 in two parts, and the polynomial of exp(r).
LOG2_E = np.float32(1.44269504088896341)
LOG_2_HIGH, LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
C6, C5, C4 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
C3, C2, C1 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
# Here 2^k is zero: exp of less is zero in single precision.
LEAST = np.float32(-88.0)
# Numbers without a type would make loops of double precision.
ZERO, HALF, ONE, TWO = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2)
B1, LESS_B1 = np.float32(MOMENTUM), np.float32(1.0 - MOMENTUM)
B2, LESS_B2 = np.float32(SECOND_MOMENT), np.float32(1.0 - SECOND_MOMENT)
LITTLE = np.float32(TINY)


class CompiledNetwork:
    """One of some networks, which is moved in place by compiled loops, in single precision.

    The exponent of a Gaussian is a product of ``[u, ||u||^2]`` and ``[2 gamma c, -gamma]``, plus
    the offset ``-gamma ||c||^2``.

    Parameters
    ----------
    nets : Networks
    number : int
        Which of them.
    memory : tuple of ndarrays of shape (n_networks, n_numbers)
        Adam's means of gradients and of their squares, and the units of steps.
    level : float
        Standard deviation of the noise of a feature; 0 if there is none.
    decay : float
        Slope of the regulariser per unit of W and of V.
    """

    def __init__(
        self,
        nets: Networks,
        number: int,
        memory: tuple[np.ndarray, ...],
        level: float,
        decay: float,
    ) -> None:
        shape, (D, rank) = nets.shape, nets.metric.shape[1:]
        self.number, self.level = number, np.float32(level)
        self._in_few = level > 0 and noise_width(shape) < D
        self._parameters = tuple(values[number] for values in nets.parts().values())
        slopes = Networks.zeros(shape, 1)
        self._slopes = tuple(values[0] for values in slopes.parts().values())
        self._flat = (nets.flat[number], slopes.flat[0], *(values[number] for values in memory))
        self._decay = np.float32(decay)
        # all with one more column: of zeros, or that of ||u||^2
        metric, exponents, root = (
            np.zeros((size, rank + 1), np.float32)
            for size in (D, shape.n_centers, rank * self._in_few)
        )
        offsets = np.zeros(shape.n_centers, np.float32)
        self._shared = (metric, exponents, offsets, *self._parameters[3:], root)
        sizes = np.cumsum([values.size for values in self._shared])
        self._sums = np.zeros((2, sizes[-1]), np.float32)
        self._views = [
            tuple(
                part.reshape(values.shape)
                for part, values in zip(np.split(sums, sizes[:-1]), self._shared, strict=True)
            )
            for sums in self._sums
        ]
        self._prepare()

    def add_up(
        self, half: int, room: np.ndarray, rows: Any, targets: Any, shares: Any, *normals: Any
    ) -> float:
        """Return ``sum_n s_n l_n`` of half of the rows of a block; keep what its gradient needs.

        Parameters
        ----------
        half : int
            0 or 1.
        room : ndarray of shape (2, n_rows or fewer, n_centers)
            Memory that is used again: the first touch of new memory takes long.
        rows, targets, shares, normals : ndarrays of shape (n_networks or 1, n_rows, ..)
            As :func:`supred.rbf_net.network.mean_loss` has them.
        """
        middle = rows.shape[1] // 2
        some = slice(middle * half, None if half else middle)
        x, t, s, *z = (
            np.ascontiguousarray(values[self.number if len(values) > 1 else 0, some])
            for values in (rows, targets, shares, *normals)
        )
        noise = self.level * z[0] if self.level else x[:, :0]
        if self.level and not self._in_few:
            x, noise = x + noise, x[:, :0]
        arrays = (x, t, s, np.ascontiguousarray(noise), room[0, : len(x)], room[1, : len(x)])
        return compiled(sum_over_rows, vectorized=True)(*arrays, self._shared, self._views[half])

    def move(self, rate: float, correction: float) -> None:
        """Move the network by one step of Adam, down the gradient of both halves."""
        loop = compiled(move, vectorized=True)
        sums = (self._sums, self._views[0], self._shared[-1])
        numbers = (self._decay, np.float32(rate), np.float32(correction))
        loop(*sums, self._parameters, self._slopes, *self._flat, *numbers)
        self._prepare()

    def _prepare(self) -> None:
        compiled(prepare, vectorized=True)(self._parameters, self._shared)


def prepare(parameters: tuple[np.ndarray, ...], shared: tuple[np.ndarray, ...]) -> None:
    """Make what all rows share: metric, exponents, and R with ``R^T R = A^T A`` for the noise."""
    metric, centers, log_gammas, _, _, _, _ = parameters
    wide_metric, exponents, offsets, _, _, _, _, root = shared
    rank = metric.shape[1]
    wide_metric[:, :rank] = metric
    if len(root) > 0:
        gram = np.dot(wide_metric.T, metric)  # of two arrays: of one it would take longer
        total = ZERO
        for j in range(rank):
            total += gram[j, j]
        for j in range(rank):
            gram[j, j] += np.float32(1e-6) * total / np.float32(rank) + np.float32(1e-38)
        for j in range(rank):
            scale = ONE / np.sqrt(gram[j, j])
            for i in range(j, rank):
                root[j, i] = gram[j, i] * scale
            for i in range(j + 1, rank):
                for k in range(i, rank):
                    gram[i, k] -= root[j, i] * root[j, k]
    for m in range(len(centers)):
        gamma, norm = np.exp(log_gammas[m]), ZERO
        for j in range(rank):
            exponents[m, j] = TWO * gamma * centers[m, j]
            norm += centers[m, j] * centers[m, j]
        exponents[m, rank], offsets[m] = -gamma, -gamma * norm


def sum_over_rows(
    rows: np.ndarray,
    targets: np.ndarray,
    shares: np.ndarray,
    noise: np.ndarray,
    phi: np.ndarray,
    P: np.ndarray,
    shared: tuple[np.ndarray, ...],
    sums: tuple[np.ndarray, ...],
) -> float:
    """Return the cross entropy of rows; fill in the sums over rows that gradients are made of.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
    targets : ndarray of shape (n_rows, n_scores)
    shares : ndarray of shape (n_rows,)
    noise : ndarray of shape (n_rows, rank) or (n_rows, 0)
        Normal numbers of the rows; their product with R is the noise of u.
    phi, P : ndarrays of shape (n_rows, n_centers)
        Are overwritten.
    shared : tuple of ndarrays
        Metric, exponents, offsets, W, w0, V, b, R.
    sums : tuple of ndarrays
        Slopes of the loss by each of them.
    """
    metric, exponents, offsets, W, w0, coef, intercept, root = shared
    by_metric, by_exponents, by_offsets, by_W, by_w0, by_coef, by_intercept, by_root = sums
    n_rows, rank, n_centers, n_scores = len(rows), metric.shape[1] - 1, len(W), len(coef)
    u = np.dot(rows, metric)
    if len(root) > 0:
        u += np.dot(noise, root)
    for n in range(n_rows):
        square = ZERO
        for j in range(rank):
            square += u[n, j] * u[n, j]
        u[n, rank] = square
    np.dot(u, exponents.T, phi)
    power = np.empty(n_centers, np.int32)
    factor = power.view(np.float32)
    for n in range(n_rows):
        row = phi[n]
        for m in range(n_centers):
            # rounding must not make a distance negative
            x = max(min(row[m] + offsets[m], ZERO), LEAST)
            k = np.floor(x * LOG2_E + HALF)
            r = x - k * LOG_2_HIGH
            r -= k * LOG_2_LOW
            p = ((((C6 * r + C5) * r + C4) * r + C3) * r + C2) * r + C1
            row[m] = p * r * r + r + ONE
            power[m] = (np.int32(k) + np.int32(127)) << np.int32(23)
        for m in range(n_centers):
            row[m] *= factor[m]
    F = np.dot(phi, W)
    F += w0
    slopes = np.dot(F, coef.T)
    slopes += intercept
    loss = 0.0
    for n in range(n_rows):
        # the only score of two classes is that of the second; the first has zero
        is_single = n_scores == 1
        largest = max(slopes[n].max(), ZERO) if is_single else slopes[n].max()
        total = np.exp(-largest) if is_single else ZERO
        inner = -largest * (ONE - targets[n, 0]) if is_single else ZERO
        for k in range(n_scores):
            inner += (slopes[n, k] - largest) * targets[n, k]
            slopes[n, k] = np.exp(slopes[n, k] - largest)
            total += slopes[n, k]
        loss += shares[n] * (np.log(total) - inner)
        for k in range(n_scores):
            slopes[n, k] = (slopes[n, k] / total - targets[n, k]) * shares[n]
    by_intercept[:] = slopes.sum(axis=0)
    np.dot(slopes.T, F, by_coef)
    dF = np.dot(slopes, coef)
    by_w0[:] = dF.sum(axis=0)
    np.dot(phi.T, dF, by_W)
    np.dot(dF, W.T, P)
    by_offsets[:] = ZERO
    for n in range(n_rows):
        for m in range(n_centers):
            P[n, m] *= phi[n, m]
            by_offsets[m] += P[n, m]
    np.dot(P.T, u, by_exponents)
    du = np.dot(P, exponents)
    for n in range(n_rows):
        by_square, du[n, rank] = TWO * du[n, rank], ZERO
        for j in range(rank):
            du[n, j] += by_square * u[n, j]
    np.dot(rows.T, du, by_metric)
    if len(root) > 0:
        np.dot(noise.T, du, by_root)
    return loss


def move(
    sums: np.ndarray,
    views: tuple[np.ndarray, ...],
    root: np.ndarray,
    parameters: tuple[np.ndarray, ...],
    slopes: tuple[np.ndarray, ...],
    value: np.ndarray,
    slope: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    unit: np.ndarray,
    decay: np.float32,
    rate: np.float32,
    correction: np.float32,
) -> None:
    """Make the gradient of the sums of both halves, and move the parameters by a step of Adam.

    Parameters
    ----------
    sums : ndarray of shape (2, n_sums)
    views : tuple of ndarrays
        The first of them, as :func:`sum_over_rows` has them.
    root : ndarray
        R.
    parameters, slopes : tuples of ndarrays
        Views of `value` and of `slope`.
    value, slope, first, second, unit : ndarrays of shape (n_numbers,)
        As :func:`supred.rbf_net.descent.adam_step` has them.
    decay, rate, correction : float
    """
    sums[0] += sums[1]
    by_metric, by_exponents, by_offsets, by_W, by_w0, by_coef, by_intercept, by_root = views
    metric, centers, log_gammas, W, _, coef, _ = parameters
    d_metric, d_centers, d_log_gammas, d_W, d_w0, d_coef, d_intercept = slopes
    rank = metric.shape[1]
    if len(root) > 0:
        # of the noise of a row only its mean given that of u is known: A R^-1 times its numbers
        for j in range(rank - 1, -1, -1):
            for i in range(j + 1, rank):
                for k in range(rank):
                    by_root[j, k] -= root[j, i] * by_root[i, k]
            by_root[j] /= root[j, j]
        by_metric += np.dot(metric, by_root)
    d_metric[:] = by_metric[:, :rank]
    for m in range(len(centers)):
        gamma, norm, along = np.exp(log_gammas[m]), ZERO, ZERO
        for j in range(rank):
            norm += centers[m, j] * centers[m, j]
            along += centers[m, j] * by_exponents[m, j]
            d_centers[m, j] = by_exponents[m, j] - centers[m, j] * by_offsets[m]
            d_centers[m, j] *= TWO * gamma
        d_log_gammas[m] = gamma * (TWO * along - by_exponents[m, rank] - norm * by_offsets[m])
    d_W[:] = by_W + decay * W
    d_w0[:] = by_w0
    d_coef[:] = by_coef + decay * coef
    d_intercept[:] = by_intercept
    for k in range(len(value)):
        first[k] = B1 * first[k] + LESS_B1 * slope[k]
        second[k] = B2 * second[k] + LESS_B2 * slope[k] * slope[k]
        value[k] -= rate * unit[k] * first[k] / (correction * np.sqrt(second[k]) + LITTLE)
