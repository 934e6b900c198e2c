"""Coordinates of new rows, given those of their neighbours.

A function on a graph is harmonic where its value at a node is the weighted mean of the values at
the node's neighbours. New rows get the coordinates that are harmonic in them and keep those of
the rows that are embedded already.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from supred.class_embedding.conjugate_gradients import conjugate_gradients
from supred.class_embedding.graph import (
    extension_weights,
    has_copy,
    heat_weights,
    parts_of,
    reach_of,
    symmetrise,
)
from supred.class_embedding.neighbors import GivenDistances, NeighborIndex
from supred.common.warn import warn_caller

RELATIVE_RESIDUAL = 1e-11


def extend_batch(
    index: NeighborIndex | GivenDistances,
    X: Any,
    Z: np.ndarray,
    epsilon: float | None,
    reach: np.ndarray,
) -> np.ndarray:
    """Return coordinates of new rows that are also each other's neighbours.

    Rows that equal an embedded row, and those without a path to one, get the weighted mean of
    their embedded neighbours.

    Parameters
    ----------
    index : NeighborIndex or GivenDistances
        Of the embedded rows.
    X : ndarray or sparse matrix of shape (n_new, n_features)
    Z : ndarray of shape (n_rows, n_components)
        Coordinates of the embedded rows.
    epsilon : float or None
    reach : ndarray of shape (n_rows,)
        Of the embedded rows, see :func:`supred.class_embedding.graph.reach_of`.
    """
    to_embedded, among_new = index.of_batch(X)
    single = extension_weights(index.of_rows(X), epsilon, reach) @ Z
    # Side by side, so that a row's own width is that of both kinds of neighbours.
    both = sparse.hstack([to_embedded, among_new], format="csr")
    weights = heat_weights(both, epsilon, np.concatenate([reach, reach_of(both)]))
    together = extend_together(
        symmetrise(weights[:, len(Z) :]),
        weights[:, : len(Z)],
        Z,
        given=np.where(has_copy(to_embedded)[:, None], single, np.nan),
    )
    return np.where(np.isnan(together), single, together)


def extend_together(
    W_uu: sparse.csr_array, W_ut: sparse.csr_array, Z: np.ndarray, given: np.ndarray | None = None
) -> np.ndarray:
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

    Returns
    -------
    Y : ndarray of shape (n_new, n_components)
        NaN where a row has no path to an embedded row.
    """
    n_new = W_uu.shape[0]
    Y = np.full((n_new, Z.shape[1]), np.nan) if given is None else np.array(given, dtype=float)
    fixed = ~np.isnan(Y).any(axis=1)
    pulled = np.asarray(W_ut.sum(axis=1)).ravel()
    degrees = np.asarray(W_uu.sum(axis=1)).ravel() + pulled
    parts = parts_of(W_uu)
    free = np.flatnonzero(np.isin(parts, parts[fixed | (pulled > 0)]) & ~fixed)
    if free.size == 0:
        return Y
    pull = W_ut[free] @ Z + W_uu[free] @ np.where(fixed[:, None], Y, 0.0)
    solved = conjugate_gradients(
        W_uu[free][:, free].tocsr(), degrees[free], pull, tol=RELATIVE_RESIDUAL
    )
    if solved.stopping_reason != "converged":
        warn_caller(
            "The coordinates of the batch did not converge (the relative residual is "
            f"{solved.residual:.1e}); transform does not iterate.",
            ConvergenceWarning,
        )
    Y[free] = solved.values
    return Y
