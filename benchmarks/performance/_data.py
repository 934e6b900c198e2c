"""Rows that the benchmarks share: MNIST, or a mixture of Gaussians where there is no data."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Split:
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, labels: np.ndarray) -> float:
        """Return the error on the test rows in percent."""
        return 100 * float(np.mean(labels != self.y_test))


def mixture(
    n_rows: int,
    n_features: int,
    *,
    n_test: int = 1000,
    n_classes: int = 10,
    n_modes: int = 4,
    seed: int = 0,
) -> Split:
    """Draw classes of several overlapping Gaussians each, in single precision.

    Eight features tell the classes apart; the others are noise.
    """
    rng = np.random.default_rng(seed)
    n = n_rows + n_test
    centers = np.zeros((n_classes, n_modes, n_features))
    centers[..., :8] = 1.8 * rng.standard_normal((n_classes, n_modes, min(8, n_features)))
    y = rng.integers(0, n_classes, n)
    X = centers[y, rng.integers(0, n_modes, n)] + rng.standard_normal((n, n_features))
    X = X.astype(np.float32)
    return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def mnist(n_rows: int = 60_000, *, seed: int = 0) -> Split:
    """Return MNIST with all training rows or a draw of them, in single precision."""
    from supred.datasets import load_mnist

    X, y, X_test, y_test = load_mnist()
    if n_rows < len(y):
        chosen = np.random.RandomState(seed).permutation(len(y))[:n_rows]
        X, y = X[chosen], y[chosen]
    return Split(np.ascontiguousarray(X, dtype=np.float32), y, X_test.astype(np.float32), y_test)
