"""The mapping by Gaussians: F(x) = W^T phi(x) + w0 with phi_m(x) = exp(-gamma ||x - c_m||^2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.base.state import register
from supred.low_dim_svm.mappings.basis import BasisMapping
from supred.numerics.kernels import GaussianCenters


@dataclass(frozen=True)
class GaussianBasis:
    """phi of the RBF mapping: Gaussians about centres."""

    gaussians: GaussianCenters
    gamma: float

    def __call__(self, block: Any) -> np.ndarray:
        """Return the Gaussians of a block of rows."""
        return self.gaussians.kernel(block, self.gamma)


@register
class RBFMapping(BasisMapping):
    """F(x) = W^T phi(x) + w0 with phi_m(x) = exp(-gamma ||x - c_m||^2).

    Parameters
    ----------
    centers : ndarray of shape (n_centers, n_features)
    gamma : float
    alpha, cache_size
        As in :class:`BasisMapping`.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.mappings.rbf import RBFMapping
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> mapping = RBFMapping(X, gamma=1.0, alpha=1e-6)
    >>> mapping.prepare(X, np.ones(3))
    >>> mapping.begin(np.array([0.5]))
    >>> mapping.project(X)
    array([[0.5],
           [0.5],
           [0.5]])
    """

    _kept = (*BasisMapping._kept, "gaussians", "gamma")

    def __init__(self, centers: np.ndarray, gamma: float, alpha: float = 1e-3, **options: Any):
        super().__init__(alpha, **options)
        self.gaussians = GaussianCenters.of(centers)
        self.gamma = gamma

    @property
    def basis(self) -> GaussianBasis:
        """The Gaussians about the centres."""
        return GaussianBasis(self.gaussians, self.gamma)

    @property
    def n_basis(self) -> int:
        """Number of centres."""
        return len(self.gaussians.centers)

    @property
    def centers(self) -> np.ndarray:
        """Centres where the user's features are."""
        return self.gaussians.original

    def _feature_flops(self) -> int:
        # shift and norm of the row, one product per centre, then width and exponential
        centers = self.gaussians.centers
        return 3 * centers.shape[1] + 2 * centers.size + 5 * len(centers)

    def arrays(self) -> list[np.ndarray]:
        """Return what `project` needs."""
        gaussians = self.gaussians
        return [*super().arrays(), gaussians.centers, gaussians.shift, gaussians.squared_norms]
