"""What a checkpoint knows of the rows of its fit."""

import tracemalloc

import numpy as np
from scipy import sparse

from supred import RowBlocks
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


def test_a_checksum_of_all_rows_in_any_form_and_blocks(tmp_path):
    X = np.random.default_rng(0).normal(size=(900, 7)) * (np.arange(7) % 2)
    X[3, 0], index, weights = -0.0, np.zeros(900, dtype=int), np.ones(900)
    np.save(tmp_path / "a.npy", X)

    def seen(rows):
        return data_identity("X", "y", rows, index, weights)["rows of X"]

    path, whole = tmp_path / "a.npy", seen(X)
    assert seen(RowBlocks(path, block_rows=11)) == whole
    assert seen(RowBlocks(path, block_rows=11, transform=sparse.csr_matrix)) == whole
    single = X.astype(np.float32)
    assert seen(sparse.csr_matrix(single)) == seen(single) != whole
    changed = [X.copy() for _ in range(3)]
    changed[0][500, 1] = np.nextafter(X[500, 1], 9)
    changed[1][[500, 501]] = X[[501, 500]]
    changed[2][:, [1, 3]] = X[:, [3, 1]]
    assert whole not in map(seen, changed)
