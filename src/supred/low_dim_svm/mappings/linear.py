"""The linear mapping F(x) = W^T x + w0."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from supred.base.state import register
from supred.common.arrays import cast, is_foreign, on_host, place_of
from supred.low_dim_svm.mappings.basis import BasisMapping, combine, dense_of
from supred.low_dim_svm.mappings.f_step import NormalEquations
from supred.low_dim_svm.visit import Coordinates
from supred.rows.blocks import rows_of


@dataclass(frozen=True)
class ShiftedFeatures:
    """phi of the linear mapping: the features, minus the training mean where they are dense."""

    shift: np.ndarray

    def __call__(self, block: Any) -> Any:
        """Return the features of a block; sparse ones stay so where there is no shift."""
        if is_foreign(block):
            return block - place_of(block).put(self.shift)
        if not sparse.issparse(block):
            return np.subtract(block, self.shift, order="C")
        return block.toarray() - self.shift if self.shift.any() else block


@register
class LinearMapping(BasisMapping):
    """F(x) = W^T x + w0.

    With more features than rows the equations are solved in the space of the rows, which gives
    the same W: ``W = X_c^T (X_c X_c^T + shift S^-1)^-1 Z_c``.
    """

    _cacheable = False  # the features are the rows
    _kept = (*BasisMapping._kept, "shift", "_n_features")

    def prepare(self, X: Any, weights: np.ndarray) -> None:
        """Form the normal equations, or those in the space of the rows if there are fewer."""
        rows = rows_of(X)
        self._n_features = rows.n_features
        self.shift = np.zeros(rows.n_features, dtype=rows.dtype)
        if not rows.is_sparse:
            # Features far from zero would lose their digits in the products.
            total = on_host(rows.sum(weighted_sum, weights))
            self.shift = (total / weights.sum()).astype(rows.dtype)
        self._wide = None
        if rows.n_features <= rows.n_rows:
            super().prepare(X, weights)
            return
        self._weights, self._total = weights, float(weights.sum())
        # There are fewer rows than features: all of them take less than a matrix of their square.
        if not rows.place.is_host:
            raise ValueError(
                f"mapping='linear' with {rows.n_features} features of {rows.n_rows} rows needs "
                "the rows as a NumPy array."
            )
        self._wide = wide = self.features(rows.whole()).astype(np.float64, copy=False)
        self.rows = rows.derive(self.basis, rows.n_features)
        self.mean = np.asarray(weights @ wide).ravel() / self._total
        # sqrt(S) X_c X_c^T sqrt(S), X_c never formed when X is sparse
        inner = dense_of(wide @ wide.T)
        across = np.asarray(wide @ self.mean).ravel()
        inner += self.mean @ self.mean - across[:, None] - across
        roots = np.sqrt(weights)
        inner *= roots[:, None] * roots
        self._equations = NormalEquations(inner)

    def regress(self, coordinates: Coordinates, mu: float) -> float:
        """Solve the ridge regression of Z: the f step."""
        if self._wide is None:
            return super().regress(coordinates, mu)
        Z = coordinates.whole()
        center = self._weights @ Z / self._total
        roots = np.sqrt(self._weights)[:, None]
        duals = roots * self._equations.solve(roots * (Z - center), 2.0 * self.alpha / mu)
        self.W = np.asarray(self._wide.T @ duals) - np.outer(self.mean, duals.sum(axis=0))
        self.w0 = center - self.mean @ self.W
        self._check_weights()
        left = np.square(Z - np.asarray(self._wide @ self.W) - self.w0).sum(axis=1)
        return float(self._weights @ left)

    @property
    def basis(self) -> ShiftedFeatures:
        """The features, minus the training mean where they are dense."""
        return ShiftedFeatures(self.shift)

    def project(self, X: Any) -> np.ndarray:
        """Return F of any rows; sparse ones are not shifted, the intercept is."""
        rows = rows_of(X)
        if not rows.is_sparse:
            return super().project(X)
        offset = self.w0 - self.shift.astype(float) @ self.W
        return rows.map(partial(combine, W=self.W, w0=offset))

    @property
    def n_basis(self) -> int:
        """Number of features."""
        return self._n_features

    def forget_training(self) -> None:
        """Drop the training rows and all that was made of them."""
        super().forget_training()
        for name in ("_wide", "_weights"):
            self.__dict__.pop(name, None)

    def arrays(self) -> list[np.ndarray]:
        """Return what `project` needs."""
        return [*super().arrays(), self.shift]


def weighted_sum(block: Any, weights: np.ndarray) -> np.ndarray:
    """Return the sum of the rows of a dense block, in double precision."""
    if is_foreign(block):
        return weights @ cast(block, float)
    return np.asarray(weights @ block).ravel()
