"""Sums and maps over blocks of rows."""

import numpy as np
import pytest
from scipy import sparse

from supred.rows import blocks
from supred.rows.blocks import BLOCK_NUMBERS, LEAST_BLOCK_ROWS, RowSource, rows_of, select

X = np.arange(60.0).reshape(20, 3)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 7)


class Source(RowSource):
    """Rows of an array that may only be seen block by block."""

    dtype = X.dtype
    shape = X.shape

    def rows(self, width=1):
        return rows_of(X, width)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_sum_and_map_visit_every_row_once(make, small_blocks):
    rows = rows_of(make(X))
    assert [part.stop - part.start for part in rows.parts()] == [7, 7, 6]
    np.testing.assert_allclose(rows.sum(lambda block, along: block.T @ along, X), X.T @ X)
    ends = np.arange(20)
    sums = rows.map(lambda block, ends: np.asarray(block @ np.ones(3)) + ends, ends)
    np.testing.assert_allclose(sums, X.sum(axis=1) + ends)
    assert (rows.n_rows, rows.n_features, rows.dtype) == (20, 3, X.dtype)


def test_terms_may_be_tuples(small_blocks):
    total, count = rows_of(X).sum(lambda block: (block.sum(axis=0), len(block)))
    np.testing.assert_array_equal(total, X.sum(axis=0))
    assert count == 20


def test_blocks_are_bounded_by_what_is_made_of_a_row():
    empty = np.empty((10, 2))
    assert rows_of(empty, 1000).block_rows == BLOCK_NUMBERS // 1000
    assert rows_of(empty, 10**9).block_rows == LEAST_BLOCK_ROWS
    assert rows_of(empty).derive(np.asarray, 1000).parent.block_rows == BLOCK_NUMBERS // 1000


def test_the_first_term_is_not_modified_by_the_sum(small_blocks):
    first = np.ones(2)
    terms = iter([first.copy(), first.copy(), first.copy()])
    total = rows_of(np.empty((20, 1))).sum(lambda block: next(terms))
    np.testing.assert_array_equal(total, [3, 3])


def test_no_rows():
    nothing = rows_of(np.empty((0, 2)))
    with pytest.raises(ValueError, match="no rows"):
        nothing.map(lambda block: block)
    with pytest.raises(ValueError, match="no rows"):
        nothing.sum(lambda block: block)


@pytest.mark.parametrize(("room", "calls"), [(0, 6), (7 * 3 * 8, 5), (8 * 3 * 8, 5), (1e9, 3)])
def test_derived_rows_are_kept_up_to_a_size(room, calls, small_blocks):
    seen = []

    def double(block):
        seen.append(len(block))
        return 2 * block

    derived = rows_of(X).derive(double, 3, room)
    for _ in range(2):
        np.testing.assert_array_equal(derived.map(np.copy), 2 * X)
    assert len(seen) == calls
    np.testing.assert_array_equal(derived.take(np.array([3, 1])), 2 * X[[3, 1]])


@pytest.mark.parametrize(
    "chosen", [np.array([0, 1, 8, 19]), np.array([15]), np.arange(20) % 3 == 0]
)
def test_selected_rows_of_a_source(chosen, small_blocks):
    source = select(Source(), chosen)
    expected = X[chosen]
    rows = rows_of(source)
    assert source.shape == expected.shape == (rows.n_rows, rows.n_features)
    np.testing.assert_array_equal(rows.map(np.copy), expected)
    np.testing.assert_array_equal(rows.sum(lambda block: block.sum(axis=0)), expected.sum(axis=0))
    np.testing.assert_array_equal(rows.derive(np.negative, 3, 1e9).map(np.copy), -expected)
    np.testing.assert_array_equal(rows.take(np.array([0])), expected[:1])
    np.testing.assert_array_equal(rows.whole(), expected)
    np.testing.assert_array_equal(select(source, np.array([0])).rows().whole(), expected[:1])


@pytest.mark.parametrize("cache_bytes", [0.0, 2000.0, 1e9])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_sum_over_chosen_rows(cache_bytes, share, monkeypatch):
    """Copied out of kept blocks, made of few rows, or over whole blocks: the sum is the same."""
    monkeypatch.setattr(blocks, "LEAST_BLOCK_ROWS", 50)
    monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 1)
    rng = np.random.RandomState(0)
    X, chosen = rng.normal(size=(330, 4)), rng.uniform(size=330) < share
    chosen[100:150] = False  # a block without any
    values = rng.normal(size=(330, 2)) * chosen[:, None]
    rows = rows_of(X).derive(np.square, 4, cache_bytes)
    rows.sum(lambda block: block.sum())  # keep what may be kept

    def product(block, values):
        return block.T @ values

    expected = np.square(X).T @ values
    np.testing.assert_allclose(rows.sum_where(chosen, product, values), expected, atol=1e-12)
    np.testing.assert_allclose(rows_of(X).sum_where(chosen, product, values), X.T @ values)
