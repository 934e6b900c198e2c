import numpy as np
import pytest
from scipy import sparse

from supred.class_embedding.embedding import class_ties
from supred.class_embedding.shares import ClassShares, match_shares, share_offsets


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_offsets_give_every_class_its_share(n_classes, tolerance):
    random = np.random.RandomState(0)
    u = random.dirichlet(np.linspace(0.3, 2.0, n_classes), size=2000)
    prior = random.dirichlet(np.full(n_classes, 5.0))
    won = (u + share_offsets(u, prior, tolerance)).argmax(axis=1)
    shares = np.bincount(won, minlength=n_classes) / 2000
    np.testing.assert_array_less(np.abs(shares - prior), tolerance * prior + 0.003)


def test_offsets_change_as_few_rows_as_possible():
    """With two classes the rows that change are those with the smallest lead."""
    u = np.random.RandomState(1).dirichlet([3.0, 1.0], size=101)
    won = (u + share_offsets(u, np.array([0.5, 0.5]))).argmax(axis=1)
    order = np.argsort(u[:, 1])
    assert (np.diff(won[order]) >= 0).all()


def test_shares_that_hold_already_need_no_offset():
    u = np.eye(2)[np.arange(100) % 2]
    np.testing.assert_array_equal(share_offsets(u, np.array([0.5, 0.5])), 0.0)


def test_two_groups_joined_by_a_bridge():
    """Wrong memberships that win too many rows go back to where the graph is thin."""
    random = np.random.RandomState(0)
    W = np.zeros((60, 60))
    for group in (slice(0, 30), slice(30, 60)):
        W[group, group] = random.uniform(size=(30, 30)) < 0.3
    W[29, 30] = 1.0
    W = np.triu(W, 1)
    W = sparse.csr_array(W + W.T)
    class_index = np.full(60, -1)
    class_index[[2, 55]] = [0, 1]
    C = class_ties(class_index, np.ones(60), 2)
    start = np.tile([0.9, 0.1], (60, 1))
    start[40:] = [0.2, 0.8]
    found, _ = match_shares(
        W, C, start, np.ones(60, dtype=bool), ClassShares(np.full(2, 0.5), 1.0, 0.0)
    )
    np.testing.assert_array_equal(found.argmax(axis=1), np.repeat([0, 1], 30))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_without_shares_those_of_the_beginning_are_kept():
    W = sparse.csr_array(np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20))
    C = class_ties(np.where(np.arange(20) % 10 == 0, np.arange(20) // 10, -1), np.ones(20), 2)
    start = np.repeat([[1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    start[3] = [0.4, 0.6]  # one row of the first group by mistake
    found, _ = match_shares(
        W, C, start, np.ones(20, dtype=bool), ClassShares(np.full(2, 0.5), 0.0, 0.2)
    )
    np.testing.assert_array_equal(found.argmax(axis=1), np.repeat([0, 1], 10))
