"""A network of few Gaussians in a learned metric."""
