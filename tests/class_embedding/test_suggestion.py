import warnings

import numpy as np
from scipy import sparse

from supred.class_embedding.embedding import class_ties
from supred.class_embedding.suggestion import condition, draw_field, suggest_rows
from tests.class_embedding.test_propagation import random_graph, some_labels


def covariance(W, C):
    degrees = np.asarray(W.sum(axis=1)).ravel()
    ties = np.asarray(C.sum(axis=0)).ravel() + 1e-3 * degrees.mean()
    return np.linalg.inv(np.diag(degrees + ties) - W.toarray())


def test_draws_have_the_covariance_of_the_field(monkeypatch):
    monkeypatch.setattr("supred.class_embedding.suggestion.N_DRAWS", 40_000)
    W = random_graph(15)
    C = class_ties(some_labels(15, 2, 2), np.ones(15), 2)
    field = draw_field(W, C, 1.0, np.random.RandomState(0))
    expected = covariance(W, C)
    np.testing.assert_allclose(field @ field.T, expected, atol=0.05 * expected.max())


def test_a_label_leaves_the_conditional_covariance():
    field = np.random.RandomState(0).normal(size=(12, 5))
    K = field @ field.T
    left = condition(field, 3)
    np.testing.assert_allclose(left @ left.T, K - np.outer(K[3], K[3]) / (K[3, 3] + 1), atol=1e-10)


def test_suggestions_are_spread_over_the_groups_without_a_label():
    groups = [random_graph(20, seed=seed) for seed in range(4)]
    W = sparse.csr_array(sparse.block_diag(groups))
    class_index = np.full(80, -1)
    class_index[[0, 10]] = [0, 1]
    C = class_ties(class_index, np.ones(80), 2)
    rows = suggest_rows(W, C, 1.0, np.full((80, 2), 0.5), 3, np.random.RandomState(0))
    assert sorted(rows // 20) == [1, 2, 3]


def test_rows_that_are_decided_are_not_asked_for():
    W = random_graph(60)
    class_index = np.full(60, -1)
    class_index[[0, 30]] = [0, 1]
    C = class_ties(class_index, np.ones(60), 2)
    sure = np.tile([1.0, 0.0], (60, 1))
    sure[40:50] = 0.5
    rows = suggest_rows(W, C, 1.0, sure, 1, np.random.RandomState(0))
    assert 38 <= rows[0] <= 51


def test_edges_whose_weights_vanish():
    W = sparse.csr_array(random_graph(20) * 1e-320)
    C = class_ties(some_labels(20, 2, 2), np.full(20, 1e-320), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = suggest_rows(W, C, 1.0, np.full((20, 2), 0.5), 3, np.random.RandomState(0))
    assert len(set(rows)) == 3
