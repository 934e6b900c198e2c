"""Weights of a neighbour graph, and its connected parts."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

# A heat weight below this is no edge: it could not be told from rounding in the eigenvectors.
LEAST_WEIGHT = 1e-12


def heads_of(graph: sparse.csr_array) -> np.ndarray:
    """Return the row of each stored entry."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))


def auto_epsilon(graph: sparse.csr_array) -> float:
    """Return ten times the mean smallest non-zero squared distance: the width of the heat kernel.

    eps = (10 / n) sum_i min over j with x_j != x_i of ||x_i - x_j||^2
    """
    heads = heads_of(graph)
    smallest = np.full(graph.shape[0], np.inf)
    apart = graph.data > 0
    np.minimum.at(smallest, heads[apart], graph.data[apart])
    known = smallest[np.isfinite(smallest)]
    # With nothing but copies every width gives the same weights.
    return 10.0 * float(known.mean()) if known.size else 1.0


def has_copy(graph: sparse.csr_array) -> np.ndarray:
    """Tell which rows of a graph of distances have a neighbour at distance zero."""
    heads = heads_of(graph)
    return np.bincount(heads[graph.data == 0], minlength=graph.shape[0]) > 0


def nearest_of(graph: sparse.csr_array, n_neighbors: int) -> sparse.csr_array:
    """Return the graph of the `n_neighbors` nearest neighbours of each row, of those listed."""
    if np.diff(graph.indptr).max(initial=0) <= n_neighbors:
        return graph
    heads = heads_of(graph)
    order = np.lexsort((graph.data, heads))
    rank = np.arange(graph.nnz) - graph.indptr[heads]
    kept = order[rank < n_neighbors]
    return sparse.csr_array(
        (graph.data[kept], (heads[kept], graph.indices[kept])), shape=graph.shape
    )


def scaled_distances(graph: sparse.csr_array, epsilon: float | None) -> np.ndarray:
    """Return ||x_i - x_j||^2 / epsilon of each entry of a graph.

    Without an `epsilon` each row has its own, a quarter of the squared distance to the farthest
    of its neighbours, so that graphs of uneven density get even weights.
    """
    if epsilon is not None:
        return np.asarray(graph.data / epsilon)
    heads = heads_of(graph)
    farthest = np.zeros(graph.shape[0])
    np.maximum.at(farthest, heads, graph.data)
    own = np.where(farthest > 0, farthest / 4.0, 1.0)  # copies only: all distances are zero
    return np.asarray(graph.data / own[heads])


def heat_weights(graph: sparse.csr_array, epsilon: float | None) -> sparse.csr_array:
    """Return w_ij = exp(-||x_i - x_j||^2 / epsilon) for each neighbour, in one direction.

    See :func:`scaled_distances` for what None means.
    """
    weights = graph.copy()
    weights.data = np.exp(-scaled_distances(graph, epsilon))
    weights.data[weights.data < LEAST_WEIGHT] = 0.0
    weights.eliminate_zeros()
    return weights


def symmetrise(weights: sparse.csr_array) -> sparse.csr_array:
    """Make a graph symmetric: an edge where either row is a neighbour of the other."""
    return weights.maximum(weights.T).tocsr()


def symmetric_weights(graph: sparse.csr_array, epsilon: float | None) -> sparse.csr_array:
    """Return the symmetric weights of a graph of distances.

    With one width for all rows both directions weigh the same; with a width per row they do
    not, and their mean is taken.
    """
    weights = heat_weights(graph, epsilon)
    if epsilon is not None:
        return symmetrise(weights)
    return sparse.csr_array((weights + weights.T) * 0.5)


def parts_of(weights: sparse.csr_array) -> np.ndarray:
    """Return the connected part of each node, numbered from 0 in the order of their first node."""
    return connected_components(weights, directed=False)[1]


def extension_weights(graph: sparse.csr_array, epsilon: float | None) -> sparse.csr_array:
    """Return the weights of each new row's neighbours, which sum to one.

    They are heat weights, taken relative to the nearest neighbour so that they do not vanish far
    from all rows. A row that equals indexed rows has these as its only neighbours.
    """
    weights = graph.copy()
    heads = heads_of(graph)
    scaled = scaled_distances(graph, epsilon)
    nearest = np.full(graph.shape[0], np.inf)
    np.minimum.at(nearest, heads, scaled)
    value = np.exp(-(scaled - nearest[heads]))
    value[(nearest[heads] == 0) & (graph.data > 0)] = 0.0
    weights.data = value / np.bincount(heads, weights=value, minlength=graph.shape[0])[heads]
    return weights
