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


def reach_of(graph: sparse.csr_array) -> np.ndarray:
    """Return the squared distance s_i^2 of each row to the farthest of its neighbours."""
    farthest = np.zeros(graph.shape[0])
    np.maximum.at(farthest, heads_of(graph), graph.data)
    return farthest


def scaled_distances(
    graph: sparse.csr_array, epsilon: float | None, reach: np.ndarray | None = None
) -> np.ndarray:
    """Return ||x_i - x_j||^2 / epsilon of each entry of a graph.

    Without an `epsilon` two rows share s_i s_j / 4, s the distance to the farthest neighbour, so
    that graphs of uneven density get even weights (L. Zelnik-Manor and P. Perona, "Self-tuning
    spectral clustering", NIPS 2004). The smaller s counts as a quarter of the larger at least: a
    row beside a heap of copies keeps its neighbours.

    Parameters
    ----------
    graph : sparse array of shape (n_rows, n_columns)
        Squared distances.
    epsilon : float or None
    reach : ndarray of shape (n_columns,), optional
        s_j^2 of the columns, see :func:`reach_of`; by default the columns are the rows.
    """
    if epsilon is not None:
        return np.asarray(graph.data / epsilon)
    own = reach_of(graph)
    pair = np.sqrt([own[heads_of(graph)], (own if reach is None else reach)[graph.indices]])
    wide, narrow = pair.max(axis=0), pair.min(axis=0)
    shared = wide * np.maximum(narrow, wide / 4.0) / 4.0
    return np.asarray(graph.data / np.where(shared > 0, shared, 1.0))  # zero: copies only


def heat_weights(
    graph: sparse.csr_array, epsilon: float | None, reach: np.ndarray | None = None
) -> sparse.csr_array:
    """Return w_ij = exp(-||x_i - x_j||^2 / epsilon) for each neighbour, in one direction.

    See :func:`scaled_distances` for what None means, and for `reach`.
    """
    weights = graph.copy()
    weights.data = np.exp(-scaled_distances(graph, epsilon, reach))
    weights.data[weights.data < LEAST_WEIGHT] = 0.0
    weights.eliminate_zeros()
    return weights


def symmetrise(weights: sparse.csr_array) -> sparse.csr_array:
    """Make a graph symmetric: an edge where either row is a neighbour of the other."""
    return weights.maximum(weights.T).tocsr()


def symmetric_weights(graph: sparse.csr_array, epsilon: float | None) -> sparse.csr_array:
    """Return the symmetric weights of a graph of distances.

    Both directions weigh the same. With one width for all rows an edge is an edge; with a width
    per pair those of mutual neighbours weigh twice as much as others.
    """
    weights = heat_weights(graph, epsilon)
    if epsilon is not None:
        return symmetrise(weights)
    return sparse.csr_array((weights + weights.T) * 0.5)


def parts_of(weights: sparse.csr_array) -> np.ndarray:
    """Return the connected part of each node, numbered from 0 in the order of their first node."""
    return connected_components(weights, directed=False)[1]


def extension_weights(
    graph: sparse.csr_array, epsilon: float | None, reach: np.ndarray
) -> sparse.csr_array:
    """Return the weights of each new row's neighbours, which sum to one.

    They are heat weights, taken relative to the nearest neighbour so that they do not vanish far
    from all rows. A row that equals indexed rows has these as its only neighbours. `reach` is
    that of the indexed rows, see :func:`scaled_distances`.
    """
    weights = graph.copy()
    heads = heads_of(graph)
    scaled = scaled_distances(graph, epsilon, reach)
    nearest, closest = np.full((2, graph.shape[0]), np.inf)
    np.minimum.at(nearest, heads, scaled)
    np.minimum.at(closest, heads, graph.data)  # a scaled distance may vanish, this one does not
    value = np.exp(-(scaled - nearest[heads]))
    value[(closest[heads] == 0) & (graph.data > 0)] = 0.0
    weights.data = value / np.bincount(heads, weights=value, minlength=graph.shape[0])[heads]
    return weights
