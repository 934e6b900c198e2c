"""Generators of synthetic data and loaders of the papers' data."""
