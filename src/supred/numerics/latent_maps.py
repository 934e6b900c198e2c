"""Maps from rows to latent coordinates: linear, or by the kernel to landmarks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arrays import place_of
from supred.numerics.kernel_basis import LandmarkKernel
from supred.rows.blocks import rows_of


@dataclass(frozen=True)
class LinearMap:
    """Latent coordinates ``(x - center) @ components.T``.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_features)
    center : ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.latent_maps import LinearMap
    >>> LinearMap(np.array([[1.0, 1.0]]), np.array([1.0, 0.0])).project(np.array([[3.0, 4.0]]))
    array([[6.]])
    """

    components: np.ndarray
    center: np.ndarray

    @property
    def n_components(self) -> int:
        """Number of latent coordinates."""
        return len(self.components)

    def project(self, X: Any) -> np.ndarray:
        """Return the coordinates of rows, in double precision or theirs."""
        if sparse.issparse(X):
            return np.asarray(X @ self.components.T - self.components @ self.center)
        put = place_of(X).put
        return rows_of(X).map(lambda block: (block - put(self.center)) @ put(self.components).T)

    def leading(self, count: int) -> "LinearMap":
        """Return the map to the first `count` coordinates."""
        return LinearMap(self.components[:count], self.center)

    def along(self, signs: np.ndarray) -> "LinearMap":
        """Return the map whose coordinates are multiplied by `signs`."""
        return LinearMap(self.components * signs[:, None], self.center)

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the map keeps."""
        return [self.components, self.center]


@dataclass(frozen=True)
class KernelMap:
    """Latent coordinates ``kernel(x) @ dual_coef - offset``.

    Attributes
    ----------
    kernel : LandmarkKernel
    dual_coef : ndarray of shape (n_landmarks, n_components)
    offset : ndarray of shape (n_components,)

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.kernel_basis import LandmarkKernel
    >>> from supred.numerics.latent_maps import KernelMap
    >>> kernel = LandmarkKernel.at(np.array([[0.0], [1.0]]), "linear")
    >>> KernelMap(kernel, np.array([[5.0], [2.0]]), np.ones(1)).project(np.array([[3.0]]))
    array([[5.]])
    """

    kernel: LandmarkKernel
    dual_coef: np.ndarray
    offset: np.ndarray

    @property
    def n_components(self) -> int:
        """Number of latent coordinates."""
        return self.dual_coef.shape[1]

    def project(self, X: Any) -> np.ndarray:
        """Return the coordinates of rows in double precision."""
        rows, put = rows_of(X, self.kernel.n_landmarks), place_of(X).put
        return rows.map(lambda block: self.kernel(block) @ put(self.dual_coef)) - put(self.offset)

    def leading(self, count: int) -> "KernelMap":
        """Return the map to the first `count` coordinates."""
        return KernelMap(self.kernel, self.dual_coef[:, :count], self.offset[:count])

    def along(self, signs: np.ndarray) -> "KernelMap":
        """Return the map whose coordinates are multiplied by `signs`."""
        return KernelMap(self.kernel, self.dual_coef * signs, self.offset * signs)

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the map keeps."""
        return [self.dual_coef, self.offset, *self.kernel.arrays()]


LatentMap = LinearMap | KernelMap
