"""Where the Gaussians sit: a choice of centres among or near the rows."""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from supred.common.arrays import cast, on_host, place_of, tall_product, type_name
from supred.numerics.kernels import GaussianCenters
from supred.rows.blocks import rows_of

# The k-means step looks at this many rows per centre; more changes the centres little.
ROWS_PER_CENTER = 10
# From this many rows on they are drawn without an array of all of them.
MANY_ROWS = 2**20
# From so many centres per row on the alternation only fits the training rows.
CENTERS_PER_ROW = 0.25
# By this factor the gamma of a long alternation is smaller than that of the best ridge regression:
# with 0.6 or 0.7, 16 of 17 cases of six tables with 2 000 to a million rows had fewer errors.
WIDER = 0.6


def draw_rows(
    n_rows: int, size: int, rng: np.random.RandomState, weights: np.ndarray | None = None
) -> np.ndarray:
    """Draw different rows, heavier ones more often; return their numbers in order.

    Parameters
    ----------
    n_rows, size : int
    rng : RandomState
    weights : ndarray of shape (n_rows,), optional
    """
    if n_rows > MANY_ROWS and (weights is None or weights.strides[0] == 0):
        # rng.choice would make an array of all rows.
        return np.sort(sample_without_replacement(n_rows, size, random_state=rng))
    share = None if weights is None else weights / weights.sum()
    return np.sort(rng.choice(n_rows, size=size, replace=False, p=share))


def are_many(n_centers: int, n_rows: float) -> bool:
    """Tell whether there are so many centres per row that few iterations will do."""
    return n_centers >= CENTERS_PER_ROW * n_rows


def width_factor(n_centers: int, n_rows: float) -> float:
    """Return by what the gamma of the best ridge regression is multiplied for the alternation.

    Few iterations end near that regression. Many of them leave it: a sum of hinge losses asks less
    of rows that are far from the margins than squares do, and smoother functions will do.
    """
    return 1.0 if are_many(n_centers, n_rows) else WIDER


def random_centers(
    X: Any, weights: np.ndarray, n_centers: int, rng: np.random.RandomState
) -> np.ndarray:
    """Take `n_centers` different rows at random, heavier rows more often.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource of shape (n_rows, n_features)
    weights : ndarray of shape (n_rows,)
        Rows of weight zero are never taken.
    n_centers : int
    rng : RandomState
    """
    chosen = draw_rows(len(weights), n_centers, rng, weights)
    return _dense_rows(rows_of(X).take(chosen))


def kmeans_centers(
    X: Any, weights: np.ndarray, n_centers: int, rng: np.random.RandomState
) -> np.ndarray:
    """Take random rows and improve them by one step of k-means.

    One Lloyd step from random rows serves as well as many, and k-means++ costs more than all
    the rest of the fit and buys nothing; both were measured on MNIST. The step looks at no more
    than ten rows per centre.

    Parameters are those of :func:`random_centers`.
    """
    centers = random_centers(X, weights, n_centers, rng)
    rows = rows_of(X)
    if n_centers == rows.n_rows:
        return centers  # each row is nearest to itself
    if rows.n_rows <= ROWS_PER_CENTER * n_centers:
        return lloyd_step(rows.whole(), weights, centers)
    chosen = draw_rows(rows.n_rows, ROWS_PER_CENTER * n_centers, rng)
    return lloyd_step(rows.take(chosen), weights[chosen], centers)


def lloyd_step(X: Any, weights: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Move each centre to the weighted mean of the rows that are nearest to it.

    A centre that no row is nearest to stays.
    """
    gaussians = GaussianCenters.of(centers)
    rows = rows_of(X, len(centers))
    nearest = rows.map(partial(_nearest, gaussians))
    totals = np.bincount(on_host(nearest), weights=weights, minlength=len(centers))
    if rows.place.is_host:
        members = sparse.csr_matrix(
            (weights.astype(type_name(X)), (nearest, np.arange(X.shape[0]))),
            shape=(len(centers), X.shape[0]),
        )
        sums = _dense_rows(members @ X)
    else:
        sums = on_host(rows.sum(partial(_sums_of_members, len(centers)), nearest, weights))
    occupied = totals > 0
    moved = centers.copy()
    moved[occupied] = sums[occupied] / totals[occupied, None]
    return moved


def _sums_of_members(n_centers: int, block: Any, nearest: Any, weights: Any) -> Any:
    """Return the weighted sum of a block's rows that are nearest to each centre."""
    members = nearest[:, None] == place_of(block).arange(n_centers)
    return tall_product(cast(members * weights[:, None], type_name(block)), block)


def _nearest(gaussians: GaussianCenters, block: Any) -> np.ndarray:
    return place_of(block).xp.argmin(gaussians.squared_distances(block), axis=1)


def _dense_rows(rows: Any) -> np.ndarray:
    return rows.toarray() if sparse.issparse(rows) else np.array(on_host(rows))
