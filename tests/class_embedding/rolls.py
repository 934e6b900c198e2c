"""Rows of a swiss roll, a part of them labelled, and the embedding of the paper."""

import numpy as np

from supred import ClassConstrainedEmbedding
from supred.datasets import make_classes_on_swiss_roll


def spectral(n_components=None, **parameters):
    """The embedding of the paper: eigenvectors, one beta."""
    return ClassConstrainedEmbedding(
        n_components, coordinates="spectral", **{"beta": 0.1, **parameters}
    )


def roll(n_rows, n_labelled, seed=0):
    """A swiss roll, its labels, and the labels with only the first `n_labelled` left."""
    X, y = make_classes_on_swiss_roll(n_rows, random_state=seed)
    some = np.where(np.arange(n_rows) < n_labelled, y, -1)
    for array in (X, y, some):
        array.setflags(write=False)
    return X, y, some
