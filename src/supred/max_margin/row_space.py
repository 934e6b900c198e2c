"""Rows in coordinates of the space that they span.

A linear SVM's weights lie in the span of its (centred) rows, so with more features than rows
nothing is lost by working in that span: the systems to solve then have at most n_rows unknowns.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from supred.numerics.eigen import eigh

# Directions of a sparse matrix whose variance is below this fraction of the largest are noise of
# the eigenvectors of its Gram matrix.
GRAM_CUTOFF = 1e-12


@dataclass(frozen=True)
class RowSpace:
    """Centred rows and how they lie in the space of the features.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_coordinates)
        Coordinates of the centred rows.
    mean : ndarray of shape (n_features,)
        What was subtracted from each row.
    basis : ndarray of shape (n_features, n_coordinates) or None
        Orthonormal columns; None where the coordinates are the features themselves.
    """

    rows: np.ndarray
    mean: np.ndarray
    basis: np.ndarray | None

    def to_features(self, directions: np.ndarray) -> np.ndarray:
        """Turn columns in row space coordinates into columns in feature space."""
        return directions if self.basis is None else self.basis @ directions


def to_row_space(X: Any, weights: np.ndarray) -> RowSpace:
    """Centre the rows and, with more features than rows, change to the space they span.

    Dense rows go through a thin QR factorisation of their transpose, sparse ones through their
    Gram matrix so that only ``n_rows ** 2`` numbers and the basis are made dense.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    weights : ndarray of shape (n_rows,)
        How often each row counts in the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.max_margin.row_space import to_row_space
    >>> space = to_row_space(np.array([[1.0, 2, 3, 4], [3.0, 2, 1, 0]]), np.ones(2))
    >>> space.rows.shape, space.mean
    ((2, 2), array([2., 2., 2., 2.]))
    """
    n_rows, n_features = X.shape
    if n_features <= n_rows or not sparse.issparse(X):
        dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
        mean = weights @ dense / weights.sum()
        centred = dense - mean
        if n_features <= n_rows:
            return RowSpace(centred, mean, None)
        basis, triangle = linalg.qr(centred.T, mode="economic", overwrite_a=True)
        return RowSpace(np.ascontiguousarray(triangle.T), mean, basis)
    return _sparse_row_space(X.astype(float), np.asarray(weights @ X).ravel() / weights.sum())


def _sparse_row_space(X: Any, mean: np.ndarray) -> RowSpace:
    products = X @ mean
    gram = (X @ X.T).toarray() - products[:, None] - products + mean @ mean
    values, vectors = eigh(gram)
    kept = values > GRAM_CUTOFF * max(values[-1], np.finfo(float).tiny)
    if not kept.any():  # all rows are equal: one coordinate, always zero
        kept[-1] = True
    vectors, roots = vectors[:, kept], np.sqrt(np.maximum(values[kept], np.finfo(float).tiny))
    basis = (X.T @ vectors - np.outer(mean, vectors.sum(axis=0))) / roots
    # One more factorisation makes up for the digits that the Gram matrix lost.
    basis, triangle = linalg.qr(basis, mode="economic")
    return RowSpace((vectors * roots) @ triangle.T, mean, basis)


def fill_directions(
    space: RowSpace, components: np.ndarray, weights: np.ndarray, n_components: int
) -> np.ndarray:
    """Add orthonormal rows to `components`, in feature space, up to `n_components`.

    They are the leading principal directions of what the components leave of the rows, and where
    that has no variance left (constant features, fewer rows than components) any that are
    orthogonal to the rest.

    Parameters
    ----------
    space : RowSpace
    components : ndarray of shape (n_given, n_coordinates)
        Orthonormal rows in the coordinates of the row space.
    weights : ndarray of shape (n_rows,)
    n_components : int
        At most the number of features.

    Returns
    -------
    ndarray of shape (n_components, n_features)
        The given components, in feature space, come first.
    """
    n_missing = n_components - len(components)
    if n_missing > 0:
        left = space.rows - (space.rows @ components.T) @ components
        values, vectors = eigh((left * weights[:, None]).T @ left)
        varying = values > GRAM_CUTOFF * max(values[-1], np.finfo(float).tiny)
        extra = vectors[:, varying][:, ::-1][:, :n_missing].T
        components = np.vstack([components, extra])
    result = space.to_features(components.T)
    n_missing = n_components - result.shape[1]
    if n_missing > 0:
        # Householder's Q is orthonormal whatever is added; features of little use come first.
        unused = np.argsort((result**2).sum(axis=1), kind="stable")[:n_missing]
        units = np.zeros((len(result), n_missing))
        units[unused, np.arange(n_missing)] = 1.0
        added = linalg.qr(np.hstack([result, units]), mode="economic")[0][:, -n_missing:]
        result = np.hstack([result, added])
    return result.T
