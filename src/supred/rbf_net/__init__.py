"""A network of few Gaussians in a learned metric, with a low-dimensional latent space."""
