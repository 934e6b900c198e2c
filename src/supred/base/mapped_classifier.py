"""What the estimators share whose coordinates are linear in the features or in a kernel."""

from typing import Any

import numpy as np

from supred.base.latent_classifier import LatentClassifier
from supred.base.state import register
from supred.common.arrays import cast, type_name
from supred.numerics.kernel_basis import LandmarkKernel
from supred.numerics.kernels import GaussianCenters
from supred.numerics.latent_maps import KernelMap, LatentMap, LinearMap

for _made in (LinearMap, KernelMap):  # numerics/ lies below this module
    register(_made)


class MappedClassifier(LatentClassifier):
    """A classifier on the coordinates of a linear map or of a kernel's map.

    A subclass has a parameter `kernel` and sets ``_map`` in `fit`. The attributes that
    describe the map are there for the kind of map that has them: ``components_`` and
    ``center_`` of a linear one, ``dual_coef_``, ``offset_`` and ``kernel_`` of a kernel's.
    """

    _fitted_attributes = (*LatentClassifier._fitted_attributes, "_map")

    kernel: Any
    _map: LatentMap

    @property
    def components_(self) -> np.ndarray:
        """Linear kernel: what ``X - center_`` is multiplied with, (n_components, n_features)."""
        return self._map.components  # type: ignore[union-attr]

    @property
    def center_(self) -> np.ndarray:
        """Linear kernel: the point from which coordinates count."""
        return self._map.center  # type: ignore[union-attr]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Other kernels: what the kernel to the landmarks is multiplied with."""
        return self._map.dual_coef  # type: ignore[union-attr]

    @property
    def offset_(self) -> np.ndarray:
        """Other kernels: what is subtracted from that product."""
        return self._map.offset  # type: ignore[union-attr]

    @property
    def kernel_(self) -> LandmarkKernel:
        """Other kernels: the kernel to the landmarks."""
        return self._map.kernel  # type: ignore[union-attr]

    @property
    def _maps_devices(self) -> bool:
        """Whether the map is written for arrays of torch and CuPy: linear, or of Gaussians."""
        found = getattr(self, "_map", None)
        return isinstance(found, LinearMap) or (
            isinstance(found, KernelMap) and isinstance(found.kernel.landmarks, GaussianCenters)
        )

    def _project(self, X: Any) -> np.ndarray:
        return cast(self._map.project(X), type_name(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
