import numpy as np
import pytest
from scipy import sparse

from supred.class_embedding.conjugate_gradients import conjugate_gradients
from supred.class_embedding.embedding import class_ties
from supred.class_embedding.propagation import auto_flow_beta, flow_from_classes


def random_graph(n_rows=40, seed=0):
    """A connected symmetric graph: a ring with random chords."""
    random = np.random.RandomState(seed)
    W = np.roll(np.eye(n_rows), 1, axis=1) * random.uniform(0.5, 1.5, n_rows)
    chords = random.uniform(size=(n_rows, n_rows)) < 0.05
    W = W + np.triu(chords * random.uniform(size=(n_rows, n_rows)), 1)
    W = W + W.T
    np.fill_diagonal(W, 0.0)
    return sparse.csr_array(W)


def some_labels(n_rows, n_classes, per_class, seed=0):
    class_index = np.full(n_rows, -1)
    rows = np.random.RandomState(seed).permutation(n_rows)[: n_classes * per_class]
    class_index[rows] = np.repeat(np.arange(n_classes), per_class)
    return class_index


def slow_flow(W, C, beta):
    """The equations of the module's docstring, dense, for a connected graph."""
    W, C = W.toarray(), C.toarray()
    degrees, ties = W.sum(axis=1), C.sum(axis=0)
    u = np.linalg.solve(beta * (np.diag(degrees) - W) + np.diag(ties), C.T)
    weights = degrees + ties
    mean = np.average(u, axis=0, weights=weights)
    variance = np.average((u - mean) ** 2, axis=0, weights=weights).sum()
    spread = np.sqrt(variance / (mean * (1 - mean)).sum())
    return (u - mean) / spread + C.sum(axis=1) / C.sum()


@pytest.mark.parametrize("beta", [0.01, 1.0, 100.0])
def test_the_flow_is_the_formula(beta):
    W = random_graph()
    weights = np.random.RandomState(1).uniform(0.5, 2.0, 40)
    C = class_ties(some_labels(40, 3, 4), weights, 3)
    found = flow_from_classes(W, C, beta, tol=1e-12)
    np.testing.assert_allclose(found.values, slow_flow(W, C, beta), atol=1e-7)
    np.testing.assert_allclose(found.values.sum(axis=1), 1.0, atol=1e-12)
    assert found.stopping_reason == "converged"


def test_a_heavy_graph_gives_poisson_learning():
    """Up to scale and shares, the limit solves L u_k = sum_i (1[y_i = k] - pi_k) delta_i."""
    W = random_graph(seed=2)
    class_index = some_labels(40, 3, 3, seed=2)
    C = class_ties(class_index, np.ones(40), 3)
    degrees = np.asarray(W.sum(axis=1)).ravel()
    labelled = class_index >= 0
    source = np.zeros((40, 3))
    source[labelled] = np.eye(3)[class_index[labelled]] - 1 / 3
    poisson = np.linalg.pinv(np.diag(degrees) - W.toarray()) @ source
    poisson -= degrees @ poisson / degrees.sum()
    found = flow_from_classes(W, C, 1e6, tol=1e-13).values - 1 / 3
    cosine = np.sum(found * poisson) / np.linalg.norm(found) / np.linalg.norm(poisson)
    assert cosine > 1 - 1e-3


def test_strong_ties_are_a_vote_of_the_neighbours():
    W = random_graph(seed=3)
    class_index = np.random.RandomState(0).randint(0, 2, 40)
    class_index[7] = -1
    C = class_ties(class_index, np.ones(40), 2)
    found = flow_from_classes(W, C, 1e-9).values
    near = W[[7]].toarray().ravel()
    vote = [near[class_index == k].sum() / near.sum() for k in range(2)]
    np.testing.assert_allclose(found[7], vote, atol=0.05)


def test_components_are_solved_one_by_one():
    first, second = random_graph(30, seed=4), random_graph(20, seed=5)
    alone = sparse.csr_array(sparse.block_diag([first, second, random_graph(10, seed=6)]))
    class_index = np.concatenate([some_labels(30, 3, 2), some_labels(20, 2, 3), np.full(10, -1)])
    C = class_ties(class_index, np.ones(60), 3)
    found = flow_from_classes(alone, C, 1.0, tol=1e-12)
    np.testing.assert_array_equal(np.flatnonzero(found.stranded), np.arange(50, 60))
    for rows, W in ((slice(0, 30), first), (slice(30, 50), second)):
        expected = slow_flow(W, C[:, rows], 1.0)
        np.testing.assert_allclose(found.values[rows], expected, atol=1e-7)
    # the third component has no label: the shares of the classes among the labels
    np.testing.assert_allclose(found.values[50:], np.tile([5 / 12, 5 / 12, 2 / 12], (10, 1)))


def test_a_component_with_one_class_is_of_that_class():
    W = sparse.csr_array(sparse.block_diag([random_graph(20), random_graph(20, seed=1)]))
    class_index = np.full(40, -1)
    class_index[[0, 5, 25]] = [0, 1, 1]
    found = flow_from_classes(W, class_ties(class_index, np.ones(40), 2), 1.0)
    np.testing.assert_allclose(found.values[20:], np.tile([0.0, 1.0], (20, 1)), atol=1e-6)


def test_ties_grow_with_the_labels():
    W = random_graph()
    few = auto_flow_beta(W, class_ties(some_labels(40, 2, 1), np.ones(40), 2))
    many = auto_flow_beta(W, class_ties(some_labels(40, 2, 4), np.ones(40), 2))
    assert few == pytest.approx(4 * many)


def test_conjugate_gradients_solve_every_column():
    W = random_graph(seed=7)
    degrees = np.asarray(W.sum(axis=1)).ravel() + np.linspace(0.1, 1.0, 40)
    right = np.random.RandomState(0).normal(size=(40, 5))
    found = conjugate_gradients(W, degrees, right, tol=1e-12)
    expected = np.linalg.solve(np.diag(degrees) - W.toarray(), right)
    np.testing.assert_allclose(found.values, expected, atol=1e-9)
    early = conjugate_gradients(W, degrees, right, tol=1e-12, max_iter=2)
    assert (early.n_iter, early.stopping_reason) == (2, "max_iter")
    assert early.residual > 1e-12 >= found.residual
