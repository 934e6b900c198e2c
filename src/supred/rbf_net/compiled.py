"""The work on the rows of a large network, compiled by Numba where it is installed.

`sum_over_rows` does what :meth:`supred.rbf_net.gradient.Gradient.add_up` does in NumPy, which is
its reference and stands in where there is no Numba: `pip install "supred[fast]"`. Python's lock is
free meanwhile, so that two threads do not wait for each other; NumPy takes it at each of some
forty calls.
"""

import numpy as np

# exp(x) = 2^k exp(r), r = x - k log 2: log 2 in two parts, and the polynomial of exp(r).
LOG2_E = np.float32(1.44269504088896341)
LOG_2_HIGH, LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
C6, C5, C4 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
C3, C2, C1 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
ONE, HALF, TWO, ZERO = np.float32(1), np.float32(0.5), np.float32(2), np.float32(0)
# Below it exp is zero in single precision.
LEAST = np.float32(-87.0)


def sum_over_rows(
    rows: np.ndarray,
    targets: np.ndarray,
    shares: np.ndarray,
    normals: np.ndarray,
    metric: np.ndarray,
    root: np.ndarray,
    exponents: np.ndarray,
    W: np.ndarray,
    w0: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    metric_sum: np.ndarray,
    exponents_sum: np.ndarray,
    W_sum: np.ndarray,
    w0_sum: np.ndarray,
    coef_sum: np.ndarray,
    intercept_sum: np.ndarray,
    noise_sum: np.ndarray,
    is_noisy: bool,
) -> float:
    """Return the loss of some rows of a block; fill in the sums that gradients are made of.

    The cross entropy of more than two classes, a metric of low rank, one network, single
    precision. The names are those of :class:`supred.rbf_net.gradient.Gradient`.
    """
    n_rows, width = rows.shape[0], metric.shape[1]
    n_centers, n_scores = W.shape[0], coef.shape[0]
    u = np.dot(rows, metric)
    if is_noisy:
        u += np.dot(normals, root)
    extended = np.empty((n_rows, width + 2), np.float32)
    for n in range(n_rows):
        square = ZERO
        for j in range(width):
            extended[n, j] = u[n, j]
            square += u[n, j] * u[n, j]
        extended[n, width] = square
        extended[n, width + 1] = ONE
    phi = np.dot(extended, exponents.T)
    power = np.empty(n_centers, np.int32)
    scale = power.view(np.float32)
    for n in range(n_rows):
        row = phi[n]
        for m in range(n_centers):
            x = max(min(row[m], ZERO), LEAST)
            k = np.floor(x * LOG2_E + HALF)
            r = x - k * LOG_2_HIGH
            r -= k * LOG_2_LOW
            p = ((((C6 * r + C5) * r + C4) * r + C3) * r + C2) * r + C1
            row[m] = p * r * r + r + ONE
            power[m] = (np.int32(k) + np.int32(127)) << np.int32(23)
        for m in range(n_centers):
            row[m] *= scale[m]
    F = np.dot(phi, W)
    F += w0
    slopes = np.dot(F, coef.T)
    loss = 0.0
    intercept_sum[:] = ZERO
    for n in range(n_rows):
        largest = slopes[n, 0] + intercept[0]
        for k in range(n_scores):
            slopes[n, k] += intercept[k]
            largest = max(largest, slopes[n, k])
        total, inner = ZERO, ZERO
        for k in range(n_scores):
            shifted = slopes[n, k] - largest
            inner += shifted * targets[n, k]
            slopes[n, k] = np.exp(shifted)
            total += slopes[n, k]
        loss += shares[n] * (np.log(total) - inner)
        for k in range(n_scores):
            slopes[n, k] = (slopes[n, k] / total - targets[n, k]) * shares[n]
            intercept_sum[k] += slopes[n, k]
    np.dot(slopes.T, F, coef_sum)
    dF = np.dot(slopes, coef)
    w0_sum[:] = ZERO
    for n in range(n_rows):
        w0_sum += dF[n]
    np.dot(phi.T, dF, W_sum)
    P = np.dot(dF, W.T)
    P *= phi
    np.dot(P.T, extended, exponents_sum)
    by_extended = np.dot(P, exponents)
    for n in range(n_rows):
        factor = TWO * by_extended[n, width]
        for j in range(width):
            u[n, j] = by_extended[n, j] + factor * u[n, j]
    np.dot(rows.T, u, metric_sum)
    if is_noisy:
        np.dot(normals.T, u, noise_sum)
    return loss


def adam_loop(
    value: np.ndarray,
    slope: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    unit: np.ndarray,
    rate: np.float32,
    momentum: np.float32,
    second_moment: np.float32,
    tiny: np.float32,
) -> None:
    """Do one step of Adam, see :func:`supred.rbf_net.adam.adam_step`."""
    for k in range(len(value)):
        first[k] = momentum * first[k] + slope[k]
        second[k] = second_moment * second[k] + slope[k] * slope[k]
        value[k] -= rate * unit[k] * (first[k] / (np.sqrt(second[k]) + tiny))
