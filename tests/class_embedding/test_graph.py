import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer

from supred.class_embedding.graph import (
    auto_epsilon,
    extension_weights,
    has_copy,
    heat_weights,
    parts_of,
    symmetrise,
)
from supred.class_embedding.neighbors import GivenDistances, NeighborIndex, squared_distances


@pytest.fixture
def X():
    rows = np.random.RandomState(0).normal(size=(40, 3))
    rows.setflags(write=False)
    return rows


def slow_neighbors(X, k):
    """Squared distances to the k nearest other rows, infinity elsewhere, by sorting."""
    D = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(D, np.inf)
    result = np.full(D.shape, np.inf)
    for i, row in enumerate(D):
        near = np.argsort(row)[:k]
        result[i, near] = row[near]
    return result


def test_neighbors_are_those_of_brute_force(X):
    slow = slow_neighbors(X, 5)
    fast = NeighborIndex.of(X, 5).among_rows().toarray()
    np.testing.assert_allclose(fast, np.where(np.isfinite(slow), slow, 0.0), atol=1e-12)


def test_sparse_rows_have_the_same_neighbors(X):
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    dense = NeighborIndex.of(X, 4)
    for form in (sparse.csr_matrix, sparse.csr_array):
        index = NeighborIndex.of(form(X), 4)
        np.testing.assert_allclose(
            index.among_rows().toarray(), dense.among_rows().toarray(), atol=1e-12
        )
        # dense rows may ask a sparse index, and the other way round
        np.testing.assert_allclose(
            index.of_rows(X[:3] + 0.1).toarray(),
            dense.of_rows(form(X[:3] + 0.1)).toarray(),
            atol=1e-12,
        )


def test_heat_weights_are_the_formula(X):
    slow = slow_neighbors(X, 5)
    epsilon = 10 * slow.min(axis=1).mean()
    W = np.exp(-slow / epsilon)
    graph = NeighborIndex.of(X, 5).among_rows()
    assert auto_epsilon(graph) == pytest.approx(epsilon, rel=1e-12)
    fast = symmetrise(heat_weights(graph, epsilon)).toarray()
    np.testing.assert_allclose(fast, np.maximum(W, W.T), atol=1e-12)


def test_copies_do_not_count_for_the_width(X):
    """Doubling one row leaves eps as it is but for n: the copy adds its own smallest distance."""
    smallest = slow_neighbors(X, 1).min(axis=1)
    doubled = np.vstack([X, X[7]])
    graph = NeighborIndex.of(doubled, 5).among_rows()
    expected = 10 * np.append(smallest, smallest[7]).mean()
    assert auto_epsilon(graph) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_more_copies_than_neighbors_do_not_cut_themselves_off(X, form):
    copies = np.repeat(X[[3, 9]], 30, axis=0)
    rows = np.vstack([X, copies])
    graph = NeighborIndex.of(form(rows), 5).among_rows()
    assert len(set(parts_of(symmetrise(heat_weights(graph, 1e6))))) == 1
    # the first copy sees its five nearest rows that differ from it
    values = np.sort(graph[[3]].data[graph[[3]].data > 0])
    apart = np.sort(cdist(X[[3]], rows, "sqeuclidean").ravel())
    np.testing.assert_allclose(values, apart[apart > 0][:5])


def test_all_rows_alike():
    graph = NeighborIndex.of(np.ones((30, 2)), 4).among_rows()
    assert auto_epsilon(graph) == 1.0
    W = symmetrise(heat_weights(graph, 1.0))
    assert set(W.data) == {1.0}
    assert len(set(parts_of(W))) == 1


def test_equal_rows_are_at_distance_zero_far_from_the_origin(X):
    far = X + 1e8
    same = np.arange(len(X))[:, None]
    np.testing.assert_array_equal(squared_distances(far, far, same), 0.0)


def test_a_negligible_weight_is_no_edge():
    graph = NeighborIndex.of(np.array([[0.0], [1.0], [50.0]]), 1).among_rows()
    W = symmetrise(heat_weights(graph, 1.0))
    assert W.nnz == 2
    assert parts_of(W).tolist() == [0, 0, 1]


def test_extension_weights_are_relative_heat_weights(X):
    index = NeighborIndex.of(X, 6)
    new = X[:4] + 0.05
    weights = extension_weights(index.of_rows(new), 0.7, np.ones(len(X))).toarray()
    for row, found in zip(new, weights, strict=True):
        distances = cdist([row], X, "sqeuclidean").ravel()
        near = np.argsort(distances)[:6]
        expected = np.zeros(len(X))
        expected[near] = np.exp(-distances[near] / 0.7)
        np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


def test_extension_weights_do_not_vanish_far_away(X):
    graph = NeighborIndex.of(X, 6).of_rows(X[:1] + 1e6)
    for epsilon in (0.7, None):
        assert extension_weights(graph, epsilon, np.ones(len(X))).sum() == pytest.approx(1.0)


def test_new_rows_share_widths_with_their_neighbors(X):
    index, new, reach = NeighborIndex.of(X, 6), X[:4] + 0.05, np.linspace(0.5, 2.0, len(X))
    weights = extension_weights(index.of_rows(new), None, reach).toarray()
    for row, found in zip(new, weights, strict=True):
        distances = cdist([row], X).ravel()
        near = np.argsort(distances)[:6]
        own, other = distances[near].max(), np.sqrt(reach[near])
        wide, narrow = np.maximum(own, other), np.minimum(own, other)
        expected = np.zeros(len(X))
        expected[near] = np.exp(-4 * distances[near] ** 2 / (wide * np.maximum(narrow, wide / 4)))
        np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


def test_a_row_that_is_known_has_itself_as_its_only_neighbor(X):
    graph = NeighborIndex.of(X, 6).of_rows(X)
    assert has_copy(graph).all()
    weights = extension_weights(graph, 0.7, np.ones(len(X)))
    np.testing.assert_allclose(weights.toarray(), np.eye(len(X)))


def test_batch_neighbors_are_those_of_all_rows_together(X):
    old, new = X[:30], X[30:]
    to_indexed, among_new = NeighborIndex.of(old, 5).of_batch(new)
    both = np.hstack([to_indexed.toarray(), among_new.toarray()])
    slow = slow_neighbors(X, 5)[30:]
    np.testing.assert_allclose(both, np.where(np.isfinite(slow), slow, 0.0), atol=1e-12)


def test_given_distances_equal_a_search(X):
    searched = NeighborIndex.of(X, 5).among_rows().toarray()
    graph = KNeighborsTransformer(n_neighbors=5, mode="distance").fit_transform(X)
    dense = cdist(X, X)
    for D in (graph, sparse.csr_array(graph), dense):
        given = GivenDistances(5).among_rows(D).toarray()
        np.testing.assert_allclose(given, searched, atol=1e-12)


def test_given_distances_take_rounding_for_zero(X):
    """A brute-force search leaves about 1e-8 of the norm between a row and its copy."""
    D = cdist(X, X)
    D[np.diag_indices(len(X))] = 1e-8
    assert has_copy(GivenDistances(5).of_rows(D)).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_bad_distances(form):
    with pytest.raises(ValueError, match=r"X holds a negative value \(-2\)"):
        GivenDistances(2).among_rows(form(np.array([[0.0, -2.0, 1], [1, 0, 1], [1, 1, 0]])))
    with pytest.raises(ValueError, match=r"X must be square.*got shape \(2, 3\)"):
        GivenDistances(1).among_rows(form(np.ones((2, 3))))
