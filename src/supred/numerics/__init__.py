"""What several systems compute: Gaussians, linear SVMs, decisions, BLAS and threads."""
