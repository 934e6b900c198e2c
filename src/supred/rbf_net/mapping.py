"""Gaussians whose centres, widths and feature scales were learned."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supred.low_dim_svm.mappings.basis import RBFMapping
from supred.numerics.kernels import GaussianCenters, gaussians_of


@dataclass(frozen=True)
class ScaledGaussians:
    """phi of the mapping; the centres are those of scaled rows."""

    gaussians: GaussianCenters
    gammas: np.ndarray
    scales: np.ndarray

    def __call__(self, block: Any) -> np.ndarray:
        """Return the Gaussians of a block of rows."""
        scales = self.scales.astype(block.dtype)
        rows = block.multiply(scales).tocsr() if sparse.issparse(block) else block * scales
        return gaussians_of(self.gaussians.squared_distances(rows), self.gammas)


class LearnedMapping(RBFMapping):
    """F(x) = W^T phi(x) + w0 with phi_m(x) = exp(-gamma_m sum_d q_d^2 (x_d - c_md)^2).

    Parameters
    ----------
    centers : ndarray of shape (n_centers, n_features)
        Where the rows are.
    gammas : ndarray of shape (n_centers,)
        One width per centre.
    scales : ndarray of shape (n_features,)
        q: how much each feature counts, all positive.
    alpha, cache_size, many_shifts
        As in :class:`supred.low_dim_svm.mappings.basis.BasisMapping`.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.rbf_net.mapping import LearnedMapping
    >>> mapping = LearnedMapping(np.zeros((2, 1)), np.array([1.0, 4.0]), np.array([2.0]))
    >>> np.log(mapping.features(np.array([[1.0]])))
    array([[ -4., -16.]])
    """

    gamma: Any  # one number per centre

    def __init__(
        self,
        centers: np.ndarray,
        gammas: np.ndarray,
        scales: np.ndarray,
        alpha: float = 1e-3,
        **options: Any,
    ) -> None:
        self.scales = scales.astype(centers.dtype)
        super().__init__(centers * self.scales, 1.0, alpha, **options)
        self.gamma = gammas.astype(centers.dtype)

    @property
    def basis(self) -> Any:
        """The Gaussians about the centres."""
        return ScaledGaussians(self.gaussians, self.gamma, self.scales)

    @property
    def centers(self) -> np.ndarray:
        """Centres where the user's features are."""
        return self.gaussians.original / self.scales

    def _feature_flops(self) -> int:
        return super()._feature_flops() + len(self.scales)

    def arrays(self) -> list[np.ndarray]:
        """Return what `project` needs."""
        return [*super().arrays(), self.gamma, self.scales]
