"""Generators of synthetic data and loaders of the papers' data."""

from supred.datasets.real import DataNotFoundError, load_mnist, load_uci
from supred.datasets.spirals import make_spirals

__all__ = ["DataNotFoundError", "load_mnist", "load_uci", "make_spirals"]
