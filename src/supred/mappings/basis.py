"""Mappings that are linear in their parameters: F(x) = W^T phi(x) + w0.

phi is what differs: the features themselves or Gaussians about centres. The intercept w0 is not
penalised, so that a shift of the features changes nothing.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from supred.blocks import Rows
from supred.kernels import GaussianCenters
from supred.mappings.normal_equations import NormalEquations

MEGABYTE = 2**20


class BasisMapping(ABC):
    """F(x) = W^T phi(x) + w0, fitted by normal equations that are formed once.

    Parameters
    ----------
    alpha : float
        Weight of ``||W||^2`` in the objective (lambda in the paper).
    cache_size : float
        Megabytes that basis functions of training rows may take; what does not fit is computed
        again in each pass.
    many_shifts : bool
        The same rows will be fitted for many values of alpha / mu.
    """

    def __init__(
        self, alpha: float = 1e-3, *, cache_size: float = 1000.0, many_shifts: bool = False
    ) -> None:
        self.alpha = alpha
        self.cache_size = cache_size
        self.many_shifts = many_shifts

    @abstractmethod
    def features(self, block: Any) -> Any:
        """Return phi of a block of rows, shape (n_rows, n_basis)."""

    @property
    @abstractmethod
    def n_basis(self) -> int:
        """Number of basis functions M."""

    def prepare(self, X: Any, weights: np.ndarray) -> None:
        """Form Phi^T S Phi and the means over blocks of rows, in double precision."""
        self._rows = Rows(X, width=self.n_basis)
        self._weights = weights
        self._total = float(weights.sum())
        self._cache: dict[int, Any] = {}
        self._room = self.cache_size * MEGABYTE
        roots = None if (weights == 1).all() else np.sqrt(weights)[:, None]
        gram = np.zeros((self.n_basis, self.n_basis))
        sums = np.zeros(self.n_basis)
        for part in self._rows.parts():
            phi = self._training_features(self._rows.X[part], part)
            sums += weights[part] @ phi
            wide = _in_double(phi)
            if roots is not None:
                wide = (
                    wide * roots[part] if not sparse.issparse(wide) else wide.multiply(roots[part])
                )
            gram += _dense(wide.T @ wide)
        self.mean = sums / self._total
        gram -= self._total * np.outer(self.mean, self.mean)
        self._equations = NormalEquations(gram, many_shifts=self.many_shifts)

    def regress(self, Z: np.ndarray, mu: float) -> None:
        """Solve ``(Phi^T S Phi + (2 alpha / mu) I) W = Phi^T S Z``, both centred: the F step."""
        center = self._weights @ Z / self._total
        target = self._weights[:, None] * (Z - center)
        right = self._rows.sum(
            lambda block, part: _dense(
                self._training_features(block, part).T @ target[part].astype(block.dtype)
            ).astype(float)
        )
        self.W = self._equations.solve(right, 2.0 * self.alpha / mu)
        self.w0 = center - self.mean @ self.W

    def project_training(self) -> np.ndarray:
        """Return F of the training rows."""
        return self._rows.map(
            lambda block, part: self.combine(self._training_features(block, part))
        )

    def project(self, X: Any) -> np.ndarray:
        """Return F of any rows."""
        return Rows(X, width=self.n_basis).map(
            lambda block, part: self.combine(self.features(block))
        )

    def penalty(self) -> float:
        """Return ``alpha ||W||^2``."""
        return self.alpha * float(np.square(self.W).sum())

    def snapshot(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters (W, w0)."""
        return self.W, self.w0

    def restore(self, snapshot: tuple[np.ndarray, np.ndarray]) -> None:
        """Set the parameters (W, w0)."""
        self.W, self.w0 = snapshot

    def forget_training(self) -> None:
        """Drop the training rows and all that was made of them."""
        for name in ("_rows", "_weights", "_total", "_cache", "_room", "_equations", "mean"):
            self.__dict__.pop(name, None)

    def arrays(self) -> list[np.ndarray]:
        """Return what `project` needs."""
        return [self.W, self.w0]

    def combine(self, phi: Any) -> np.ndarray:
        """Return W^T phi + w0."""
        dtype = phi.dtype
        return np.asarray(phi @ self.W.astype(dtype) + self.w0.astype(dtype))

    def _training_features(self, block: Any, part: slice) -> Any:
        """Return phi of a block of training rows, from the cache where it is there."""
        if part.start in self._cache:
            return self._cache[part.start]
        phi = self.features(block)
        if self._cacheable and phi.nbytes <= self._room:
            self._room -= phi.nbytes
            self._cache[part.start] = phi
        return phi

    _cacheable = True


class LinearMapping(BasisMapping):
    """F(x) = W^T x + w0.

    With more features than rows the equations are solved in the space of the rows, which gives
    the same W: ``W = X_c^T (X_c X_c^T + shift S^-1)^-1 Z_c``.
    """

    _cacheable = False  # the features are the rows

    def prepare(self, X: Any, weights: np.ndarray) -> None:
        """Form the normal equations, or those in the space of the rows if there are fewer."""
        self._n_features = X.shape[1]
        self.shift = np.zeros(X.shape[1], dtype=X.dtype)
        if not sparse.issparse(X):
            # Features far from zero would lose their digits in the products.
            self.shift = (weights @ X / weights.sum()).astype(X.dtype)
        if X.shape[1] <= X.shape[0]:
            super().prepare(X, weights)
            return
        self._rows = Rows(X)
        self._weights, self._total = weights, float(weights.sum())
        self._cache, self._room = {}, 0.0
        wide = _in_double(self.features(X))
        self.mean = np.asarray(weights @ wide).ravel() / self._total
        # sqrt(S) X_c X_c^T sqrt(S), X_c never formed when X is sparse
        inner = _dense(wide @ wide.T)
        across = np.asarray(wide @ self.mean).ravel()
        inner += self.mean @ self.mean - across[:, None] - across
        roots = np.sqrt(weights)
        inner *= roots[:, None] * roots
        self._equations = NormalEquations(inner, many_shifts=self.many_shifts)

    def regress(self, Z: np.ndarray, mu: float) -> None:
        """Solve the ridge regression of Z: the F step."""
        if self._n_features <= self._rows.n_rows:
            super().regress(Z, mu)
            return
        center = self._weights @ Z / self._total
        roots = np.sqrt(self._weights)[:, None]
        duals = roots * self._equations.solve(roots * (Z - center), 2.0 * self.alpha / mu)
        wide = _in_double(self.features(self._rows.X))
        self.W = np.asarray(wide.T @ duals) - np.outer(self.mean, duals.sum(axis=0))
        self.w0 = center - self.mean @ self.W

    def features(self, block: Any) -> Any:
        """Return the features, minus the training mean where they are dense."""
        return block if sparse.issparse(block) else block - self.shift

    def project(self, X: Any) -> np.ndarray:
        """Return F of any rows; sparse ones are not shifted, the intercept is."""
        if not sparse.issparse(X):
            return super().project(X)
        offset = self.w0 - self.shift.astype(float) @ self.W
        return np.asarray(X @ self.W.astype(X.dtype) + offset.astype(X.dtype))

    @property
    def n_basis(self) -> int:
        """Number of features."""
        return self._n_features

    def arrays(self) -> list[np.ndarray]:
        """Return what `project` needs."""
        return [*super().arrays(), self.shift]


class RBFMapping(BasisMapping):
    """F(x) = W^T phi(x) + w0 with phi_m(x) = exp(-gamma ||x - c_m||^2).

    Parameters
    ----------
    centers : ndarray of shape (n_centers, n_features)
    gamma : float
    alpha, cache_size, many_shifts
        As in :class:`BasisMapping`.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.mappings.basis import RBFMapping
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> mapping = RBFMapping(X, gamma=1.0, alpha=1e-6)
    >>> mapping.prepare(X, np.ones(3))
    >>> mapping.regress(np.array([[0.0], [1.0], [0.0]]), mu=2.0)
    >>> mapping.project(X).round(3)
    array([[0.],
           [1.],
           [0.]])
    """

    def __init__(self, centers: np.ndarray, gamma: float, alpha: float = 1e-3, **options: Any):
        super().__init__(alpha, **options)
        self.gaussians = GaussianCenters.of(centers)
        self.gamma = gamma

    def features(self, block: Any) -> np.ndarray:
        """Return the Gaussians about the centres."""
        return self.gaussians.kernel(block, self.gamma)

    @property
    def n_basis(self) -> int:
        """Number of centres."""
        return len(self.gaussians.centers)

    def arrays(self) -> list[np.ndarray]:
        """Return what `project` needs."""
        gaussians = self.gaussians
        return [*super().arrays(), gaussians.centers, gaussians.shift, gaussians.squared_norms]


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def _in_double(matrix: Any) -> Any:
    return matrix.astype(np.float64, copy=False)
