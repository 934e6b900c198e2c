"""Coordinates of new rows, given those of their neighbours.

A function on a graph is harmonic where its value at a node is the weighted mean of the values at
the node's neighbours. New rows get the coordinates that are harmonic in them and keep those of
the rows that are embedded already.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from supred.class_embedding.conjugate_gradients import conjugate_gradients
from supred.class_embedding.graph import parts_of

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
    residual : float
        Relative residual of the solution.
    stopping_reason : str
        "converged" or "max_iter".
    """

    coordinates: np.ndarray
    reached: np.ndarray
    residual: float
    stopping_reason: str


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
    if free.size == 0:
        return Extension(Y, reached, 0.0, "converged")
    pull = np.asarray(W_ut[free] @ Z) + np.asarray(W_uu[free] @ np.where(fixed[:, None], Y, 0.0))
    solved = conjugate_gradients(
        W_uu[free][:, free].tocsr(), degrees[free], pull, tol=RELATIVE_RESIDUAL
    )
    Y[free] = solved.values
    return Extension(Y, reached, solved.residual, solved.stopping_reason)


def _reachable(W: sparse.csr_array, start: np.ndarray) -> np.ndarray:
    """Tell which nodes share a connected part with a node of `start`."""
    parts = parts_of(W)
    return np.isin(parts, parts[start])
