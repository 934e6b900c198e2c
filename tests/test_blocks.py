"""Sums and maps over blocks of rows."""

import numpy as np
import pytest
from scipy import sparse

from supred.blocks import BLOCK_NUMBERS, LEAST_BLOCK_ROWS, Rows


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("supred.blocks.BLOCK_NUMBERS", 1)
    monkeypatch.setattr("supred.blocks.LEAST_BLOCK_ROWS", 7)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_sum_and_map_visit_every_row_once(make, small_blocks):
    X = np.arange(60.0).reshape(20, 3)
    rows = Rows(make(X))
    parts = list(rows.parts())
    assert [part.stop - part.start for part in parts] == [7, 7, 6]
    np.testing.assert_allclose(rows.sum(lambda block, part: block.T @ X[part]), X.T @ X)
    np.testing.assert_allclose(
        rows.map(lambda block, part: np.asarray(block @ np.ones(3)) + part.start * 0), X.sum(axis=1)
    )


def test_blocks_are_bounded_by_what_is_made_of_a_row():
    X = np.empty((10, 2))
    assert Rows(X, width=1000).block_rows == BLOCK_NUMBERS // 1000
    assert Rows(X, width=10**9).block_rows == LEAST_BLOCK_ROWS


def test_the_first_term_is_not_modified_by_the_sum(small_blocks):
    first = np.ones(2)
    terms = iter([first.copy(), first.copy(), first.copy()])
    total = Rows(np.empty((20, 1))).sum(lambda block, part: next(terms))
    np.testing.assert_array_equal(total, [3, 3])


def test_no_rows():
    with pytest.raises(ValueError, match="no rows"):
        Rows(np.empty((0, 2))).map(lambda block, part: block)
