"""Display objects, as scikit-learn has them."""
