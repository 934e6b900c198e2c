"""Display objects, as scikit-learn has them."""

from supred.plotting.latent_space import LatentSpaceDisplay

__all__ = ["LatentSpaceDisplay"]
