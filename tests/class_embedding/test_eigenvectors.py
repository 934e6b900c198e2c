import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

from supred.class_embedding.eigenvectors import (
    METHODS,
    choose_method,
    leading_eigenvectors,
    profile,
)


def normalized_graph(n_nodes, n_dimensions, n_hubs=0, seed=0):
    """Return D^-1/2 W D^-1/2 of a neighbour graph with hubs, and its eigenvector of value 1."""
    random = np.random.RandomState(seed)
    W = kneighbors_graph(random.uniform(size=(n_nodes - n_hubs, n_dimensions)), 8).toarray()
    hubs = (random.uniform(size=(n_hubs, n_nodes - n_hubs)) < 0.3).astype(float)
    W = np.block([[np.eye(n_hubs), hubs], [hubs.T, np.maximum(W, W.T)]])
    degrees = W.sum(axis=1)
    known = np.sqrt(degrees / degrees.sum())[:, None]
    return sparse.csr_array(W / np.sqrt(np.outer(degrees, degrees))), known


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_hubs", [0, 3])
def test_every_method_finds_the_eigenvalues_of_numpy(method, n_hubs):
    A, known = normalized_graph(400, 2, n_hubs)
    expected = np.linalg.eigvalsh(A.toarray())[::-1][1:6]
    found = leading_eigenvectors(A, known, 5, method=method)
    np.testing.assert_allclose(found.values, expected, atol=1e-10)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(known.T @ found.vectors, 0.0, atol=1e-10)
    np.testing.assert_allclose(A @ found.vectors, found.vectors * found.values, atol=1e-10)
    assert found.method == method
    assert found.stopping_reason == ("exact" if method == "dense" else "converged")
    assert found.n_iter >= 1


@pytest.mark.parametrize("method", METHODS)
def test_an_eigenvalue_near_one_is_kept(method):
    """Two halves joined by one edge of weight 1e-9: the second eigenvalue is one but for 1e-10."""
    A, _ = normalized_graph(150, 2)
    W = sparse.block_diag([A, A]).toarray()
    W[0, 150] = W[150, 0] = 1e-9
    degrees = W.sum(axis=1)
    known = np.sqrt(degrees / degrees.sum())[:, None]
    A = sparse.csr_array(W / np.sqrt(np.outer(degrees, degrees)))
    found = leading_eigenvectors(A, known, 2, method=method)
    assert 1 - 1e-9 < found.values[0] < 1
    halves = found.vectors[:, 0] / np.sqrt(degrees)
    assert np.ptp(halves[:150]) < 1e-4 * abs(halves[0] - halves[150])
    assert halves[0] * halves[150] < 0


def test_the_method_suits_size_and_shape():
    sheet, known = normalized_graph(3000, 2)
    cloud, _ = normalized_graph(3000, 12)
    assert choose_method(sheet[:500][:, :500], 5, 1) == "dense"
    assert choose_method(sheet, 5, 1) == "lanczos"
    assert choose_method(sheet, 1500, 1) == "dense"
    assert profile(sheet) < 4 * np.sqrt(3000) < profile(cloud)
    assert leading_eigenvectors(sheet, known, 2).method == "lanczos"


def test_large_graphs_are_factorised_where_this_is_cheap(monkeypatch):
    monkeypatch.setattr("supred.class_embedding.eigenvectors.LANCZOS_UP_TO", 1000)
    sheet, _ = normalized_graph(3000, 2, n_hubs=2)
    cloud, _ = normalized_graph(3000, 12, n_hubs=2)
    assert choose_method(sheet, 5, 1) == "shift-invert"
    assert choose_method(cloud, 5, 1) == "lanczos"


def test_profile_of_a_shuffled_path_is_one():
    order = np.random.RandomState(0).permutation(50)
    path = np.zeros((50, 50))
    path[order[:-1], order[1:]] = path[order[1:], order[:-1]] = 1.0
    assert profile(sparse.csr_array(path)) == pytest.approx(49 / 50)


def test_no_convergence_is_said_and_the_best_is_returned():
    A, known = normalized_graph(3000, 1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 restarts"):
        found = leading_eigenvectors(A, known, 5, method="lanczos", max_iter=1)
    assert found.stopping_reason == "max_iter"
    assert found.residual > 1e-8
    assert np.isfinite(found.vectors).all()


def test_the_same_vectors_on_every_run():
    A, known = normalized_graph(900, 2)
    for method in METHODS:
        first = leading_eigenvectors(A, known, 3, method=method)
        second = leading_eigenvectors(A, known, 3, method=method)
        np.testing.assert_array_equal(first.vectors, second.vectors)
