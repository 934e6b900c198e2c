"""Classification constrained dimensionality reduction (Costa and Hero).

Laplacian eigenmaps on a graph that has, besides the rows, one node for each class, tied to the
labelled rows of that class. With the heat weights W of the rows and the ties C (K x n, a zero
column for an unlabelled row) the graph is

    W' = [[I, C], [C^T, beta W]],

and the embedding (class nodes first) minimises ``sum_ij w'_ij ||y_i - y_j||^2`` subject to
``Y^T D Y = vol I`` and to being uncorrelated with the constant, D the degrees of W' and vol
their sum. The solution is D^(-1/2) times the leading eigenvectors of D^(-1/2) W' D^(-1/2).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from supred.class_embedding.components import number_by_size, part_contrasts, part_vectors
from supred.class_embedding.eigenvectors import leading_eigenvectors
from supred.class_embedding.graph import parts_of

# A class node this much nearer to zero than the farthest does not decide the sign.
CLEARLY_NOT_ZERO = 0.5
# Class nodes nearer to zero than this part of the farthest row leave the sign to the rows.
NO_CLASS = 1e-6


@dataclass(frozen=True)
class Coordinates:
    """Where rows and class nodes lie, and how that was found.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_components)
        NaN for stranded rows.
    centers : ndarray of shape (n_classes, n_components)
        The class nodes; NaN for a class without a tie.
    eigenvalues : ndarray of shape (n_components,) or None
        Of D^(-1/2) W' D^(-1/2), in falling order; 1 for a coordinate that tells parts apart.
        None for coordinates that follow the flow.
    parts : ndarray of shape (n_rows,)
        Connected part of the graph each row lies in, 0 for the largest.
    stranded : ndarray of bool, shape (n_rows,)
        Rows with no path to any class node.
    method : str
        How the eigenproblem was solved, or "flow".
    stopping_reason : str
        "exact", "converged" or "max_iter".
    residual : float
        Largest residual of an eigenvector, or that of the flow.
    n_iter : int
        Products with the matrix or its inverse.
    """

    rows: np.ndarray
    centers: np.ndarray
    eigenvalues: np.ndarray | None
    parts: np.ndarray
    stranded: np.ndarray
    method: str
    stopping_reason: str
    residual: float
    n_iter: int


class TooFewNodesError(ValueError):
    """There are fewer nodes to embed than dimensions asked for."""


def class_ties(class_index: np.ndarray, weights: np.ndarray, n_classes: int) -> sparse.csr_array:
    """Return C, shape (n_classes, n_rows): the weight of each labelled row in its class's row.

    Parameters
    ----------
    class_index : ndarray of shape (n_rows,)
        Class of each row, -1 for none.
    weights : ndarray of shape (n_rows,)
        Weight of each row's tie; 0 is no tie.
    n_classes : int
    """
    tied = np.flatnonzero((class_index >= 0) & (weights > 0))
    return sparse.csr_array(
        (weights[tied], (class_index[tied], tied)), shape=(n_classes, len(class_index)), dtype=float
    )


def class_graph(W: sparse.csr_array, C: sparse.csr_array, beta: float) -> sparse.csr_array:
    """Return W' = [[I, C], [C^T, beta W]], the graph of class nodes and rows."""
    identity = sparse.csr_array(sparse.identity(C.shape[0]))
    return sparse.csr_array(sparse.bmat([[identity, C], [C.T, beta * W]], format="csr"))


def embed_with_classes(
    W: sparse.csr_array,
    C: sparse.csr_array,
    beta: float,
    n_components: int,
    *,
    method: str = "auto",
    tol: float = 0.0,
    max_iter: int | None = None,
) -> Coordinates:
    """Embed the rows of a neighbour graph together with the nodes of the classes.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
        Symmetric weights of the neighbour graph.
    C : sparse array of shape (n_classes, n_rows)
        Ties between classes and rows, see :func:`class_ties`.
    beta : float
        Weight of the neighbour graph against the ties.
    n_components : int
    method : {"auto", "dense", "lanczos", "shift-invert"}
    tol : float
    max_iter : int or None
        See :func:`supred.class_embedding.eigenvectors.leading_eigenvectors`.

    Raises
    ------
    TooFewNodesError
        If not more than `n_components` nodes have a path to a labelled row.
    """
    n_classes, n_rows = C.shape
    W_prime = class_graph(W, C, beta)
    parts = parts_of(W_prime)
    anchored = np.isin(parts, parts[:n_classes][np.diff(C.indptr) > 0])
    nodes = np.flatnonzero(anchored)
    if len(nodes) <= n_components:
        raise TooFewNodesError(
            f"n_components={n_components} is too large: only {len(nodes)} rows and class nodes "
            "are connected to a labelled row; use fewer components or more labelled rows."
        )
    graph = W_prime[nodes][:, nodes]
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    volume = float(degrees.sum())
    scale = 1.0 / np.sqrt(degrees)
    A = sparse.csr_array(sparse.diags(scale) @ graph @ sparse.diags(scale))

    indicators = part_vectors(parts[nodes], degrees)
    contrasts = part_contrasts(indicators, degrees)[:, :n_components]
    n_more = n_components - contrasts.shape[1]
    vectors, values = contrasts, np.ones(contrasts.shape[1])
    used, stopping, residual, n_iter = "parts", "exact", 0.0, 1
    if n_more > 0:
        found = leading_eigenvectors(
            A,
            indicators,
            n_more,
            method=method,
            tol=tol,
            max_iter=max_iter,
        )
        vectors = np.hstack([contrasts, found.vectors])
        values = np.append(values, found.values)
        used, stopping = found.method, found.stopping_reason
        residual, n_iter = found.residual, found.n_iter

    Y = np.full((n_classes + n_rows, n_components), np.nan)
    Y[nodes] = vectors * scale[:, None] * np.sqrt(volume)
    Y *= fix_signs(Y[:n_classes], Y[n_classes:])
    return Coordinates(
        Y[n_classes:],
        Y[:n_classes],
        values,
        number_by_size(parts[n_classes:]),
        ~anchored[n_classes:],
        used,
        stopping,
        residual,
        n_iter,
    )


def fix_signs(centers: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return +1 or -1 for each coordinate, so that the same data always look the same.

    The last class node that lies clearly away from zero gets a positive coordinate; where no
    class node does, the last row.
    """
    signs = np.ones(centers.shape[1])
    for column in range(centers.shape[1]):
        values = np.nan_to_num(centers[:, column])
        every_row = np.nan_to_num(rows[:, column])
        if np.abs(values).max() <= NO_CLASS * np.abs(every_row).max():
            values = every_row
        away = np.flatnonzero(np.abs(values) > CLEARLY_NOT_ZERO * np.abs(values).max())
        if away.size and values[away[-1]] < 0:
            signs[column] = -1.0
    return signs
