"""Generators of synthetic data and loaders of the papers' data."""

from supred.datasets.real import (
    DataNotFoundError,
    load_mnist,
    load_newsgroups_pc_mac,
    load_uci,
)
from supred.datasets.spirals import make_spirals
from supred.datasets.swiss_roll import make_classes_on_swiss_roll

__all__ = [
    "DataNotFoundError",
    "load_mnist",
    "load_newsgroups_pc_mac",
    "load_uci",
    "make_classes_on_swiss_roll",
    "make_spirals",
]
