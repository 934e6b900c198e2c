"""What a checkpoint knows of the rows of its fit."""

import tracemalloc

import numpy as np
from scipy import sparse

from supred.base.checkpoint import data_identity


def test_sparse_rows_are_those_of_the_array_and_never_an_array_as_a_whole():
    rng = np.random.default_rng(0)
    index, weights = np.arange(80) % 2, np.ones(80)
    X = np.where(rng.random((80, 7)) < 0.3, rng.normal(size=(80, 7)), 0.0)
    identities = [
        data_identity("X", "y", rows, index, weights) for rows in (X, sparse.csr_matrix(X))
    ]
    assert identities[0] == identities[1]
    wide = sparse.csr_matrix((rng.normal(size=80), (np.arange(80), np.arange(80))), (80, 300_000))
    tracemalloc.start()
    try:
        data_identity("X", "y", wide, index, weights)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
