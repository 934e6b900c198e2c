"""Coordinates of new rows, given those of their neighbours.

A function on a graph is harmonic where its value at a node is the weighted mean of the values at
the node's neighbours. New rows get the coordinates that are harmonic in them and keep those of
the rows that are embedded already.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

from supred.class_embedding.graph import parts_of

# Each round of conjugate gradients leaves about 1e-5 of the residual it starts from, the default
# of SciPy: the argument that sets it has different names in the supported versions.
MAX_ROUNDS = 8
RELATIVE_RESIDUAL = 1e-11


@dataclass(frozen=True)
class Extension:
    """Coordinates of a batch of new rows.

    Attributes
    ----------
    coordinates : ndarray of shape (n_new, n_components)
        NaN where a row has no path to an embedded row.
    reached : ndarray of bool, shape (n_new,)
        Rows with a path to an embedded row.
    history : list of float
        Relative residual after each round.
    stopping : str
        "converged" or "max_rounds".
    """

    coordinates: np.ndarray
    reached: np.ndarray
    history: list[float]
    stopping: str


def extend_one_by_one(weights: sparse.csr_array, Z: np.ndarray) -> np.ndarray:
    """Return the weighted mean of each new row's neighbours: y_u = sum_t w_ut z_t / sum_t w_ut.

    Parameters
    ----------
    weights : sparse array of shape (n_new, n_rows)
        Rows sum to one; a row without entries gets the origin.
    Z : ndarray of shape (n_rows, n_components)
    """
    return np.asarray(weights @ Z)


def extend_together(
    W_uu: sparse.csr_array, W_ut: sparse.csr_array, Z: np.ndarray, given: np.ndarray | None = None
) -> Extension:
    """Return coordinates harmonic in all new rows: (D_u - W_uu) Y = W_ut Z.

    Parameters
    ----------
    W_uu : sparse array of shape (n_new, n_new)
        Symmetric weights between new rows.
    W_ut : sparse array of shape (n_new, n_rows)
        Weights between new and embedded rows.
    Z : ndarray of shape (n_rows, n_components)
        Coordinates of the embedded rows.
    given : ndarray of shape (n_new, n_components) or None
        Coordinates that new rows must keep; NaN where they are free.
    """
    n_new = W_uu.shape[0]
    Y = np.full((n_new, Z.shape[1]), np.nan) if given is None else np.array(given, dtype=float)
    fixed = ~np.isnan(Y).any(axis=1)
    degrees = np.asarray(W_uu.sum(axis=1)).ravel() + np.asarray(W_ut.sum(axis=1)).ravel()
    anchored = fixed | (np.asarray(W_ut.sum(axis=1)).ravel() > 0)
    reached = _reachable(W_uu, anchored)
    free = np.flatnonzero(reached & ~fixed)
    history: list[float] = []
    if free.size == 0:
        return Extension(Y, reached, history, "converged")

    pull = np.asarray(W_ut[free] @ Z) + np.asarray(W_uu[free] @ np.where(fixed[:, None], Y, 0.0))
    # Scaled by the degrees from both sides the matrix has a unit diagonal.
    scale = 1.0 / np.sqrt(degrees[free])
    S = sparse.csr_array(sparse.diags(scale) @ W_uu[free][:, free] @ sparse.diags(scale))
    M = sparse.csr_array(sparse.identity(free.size)) - S
    right = pull * scale[:, None]
    solution = np.zeros_like(right)
    size = float(np.linalg.norm(right)) or 1.0
    stopping = "max_rounds"
    for _ in range(MAX_ROUNDS):
        residual = right - M @ solution
        history.append(float(np.linalg.norm(residual)) / size)
        if history[-1] <= RELATIVE_RESIDUAL:
            stopping = "converged"
            break
        for column in range(right.shape[1]):
            solution[:, column] += cg(M, residual[:, column], atol=0.0)[0]
    Y[free] = solution * scale[:, None]
    return Extension(Y, reached, history, stopping)


def _reachable(W: sparse.csr_array, start: np.ndarray) -> np.ndarray:
    """Tell which nodes share a connected part with a node of `start`."""
    parts = parts_of(W)
    return np.isin(parts, parts[start])
