"""Sums and maps over blocks of rows."""

import numpy as np
import pytest
from scipy import sparse

from supred.common.threads import cores
from supred.rows.blocks import (
    BLOCK_NUMBERS,
    FEWEST_BLOCKS,
    FEWEST_ROWS,
    LEAST_BLOCK_ROWS,
    RowSource,
    rows_of,
    select,
)

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
    wide = np.broadcast_to(0.0, (10**7, 2))
    assert rows_of(wide, 1000).block_rows == BLOCK_NUMBERS // 1000
    assert rows_of(wide, 10**9).block_rows == LEAST_BLOCK_ROWS
    assert rows_of(wide).derive(np.asarray, 1000).parent.block_rows == BLOCK_NUMBERS // 1000


@pytest.mark.parametrize("n_rows", [3_000, 60_000, 1_000_000])
def test_there_are_enough_blocks_for_many_cores(n_rows):
    rows = rows_of(np.broadcast_to(0.0, (n_rows, 2)))
    sizes = [part.stop - part.start for part in rows.parts()]
    assert len(sizes) >= FEWEST_BLOCKS or min(sizes[:-1]) <= FEWEST_ROWS


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


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_threads_change_no_bit(make, n_jobs, small_blocks):
    rng = np.random.RandomState(0)
    Y = make(rng.normal(size=(300, 3)))

    def all_of(rows):
        derived = rows.derive(lambda block: np.exp(np.asarray(block @ np.ones((3, 2)))), 2, 500)
        labels = derived.attach(lambda first, values: first + values, np.arange(300.0))
        made, total = labels.visit(lambda block, value: (value + block.sum(), block.T @ value))
        return (
            derived.sum(lambda block: (block.T @ block, len(block))),
            derived.map(np.sin),
            total,
            made.sum(np.sum),
            made.collect(np.sqrt),
        )

    expected = all_of(rows_of(Y))
    with cores(n_jobs):
        found = all_of(rows_of(Y))
    np.testing.assert_array_equal(found[0][0], expected[0][0])
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_error_in_a_thread_is_raised(small_blocks):
    def fail(block):
        raise ValueError("this block")

    with cores(3), pytest.raises(ValueError, match="this block"):
        rows_of(X).sum(fail)
