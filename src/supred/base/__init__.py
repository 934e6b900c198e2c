"""What every estimator inherits."""
