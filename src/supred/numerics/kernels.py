"""Gaussian kernels in single or double precision, done right.

The expansion ``||x||^2 - 2 x.c + ||c||^2`` loses all digits when the features sit far from
zero. Both sides are therefore shifted by the mean of the centres first, which changes no
distance.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from supred.common.arrays import Place, at_least, cast, is_foreign, on_host, place_of
from supred.common.warn import warn_caller
from supred.rows.blocks import Rows, rows_of

# A tile of this many numbers (1 MB in single precision) stays in the cache of a core.
TILE_NUMBERS = 250_000
# Gaussians of larger exponents than these lose their digits, as the expansion of a distance does.
MOST_IN_SINGLE, MOST_IN_DOUBLE = 1e4, 1e10
# Rows whose total variance is less count as equal: the width of a Gaussian would overflow.
LEAST_VARIANCE = 1e-250
# Where all but this part of the rows has less than that of the total variance, they look equal.
FAR_PART, MOST_HIDDEN = 0.01, 1e-5


@dataclass(frozen=True)
class GaussianCenters:
    """Centres of Gaussians, ready to be compared with many rows.

    Attributes
    ----------
    centers : ndarray of shape (n_centers, n_features)
        The centres minus `shift`.
    shift : ndarray of shape (n_features,)
        Mean of the centres.
    squared_norms : ndarray of shape (n_centers,)
        Squared norms of the shifted centres.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.kernels import GaussianCenters
    >>> GaussianCenters.of(np.array([[0.0], [1.0]])).kernel(np.array([[1.0]]), gamma=1.0)
    array([[0.36787944, 1.        ]])
    """

    centers: np.ndarray
    shift: np.ndarray
    squared_norms: np.ndarray

    @classmethod
    def of(cls, centers: np.ndarray) -> "GaussianCenters":
        """Prepare `centers` of shape (n_centers, n_features)."""
        shift = centers.mean(axis=0, dtype=np.float64)
        shifted = (centers - shift).astype(centers.dtype)
        return cls(shifted, shift.astype(centers.dtype), np.einsum("ij,ij->i", shifted, shifted))

    @property
    def original(self) -> np.ndarray:
        """The centres where the user's features are."""
        return self.centers + self.shift

    def at(self, place: Place) -> "GaussianCenters":
        """Return the centres at a place; as they are for the host, where they are kept."""
        if place.is_host:
            return self
        return GaussianCenters(*map(place.put, (self.centers, self.shift, self.squared_norms)))

    def squared_distances(self, X: Any) -> np.ndarray:
        """Return ``||x_n - c_m||^2``, shape (n_rows, n_centers), never below zero."""
        if sparse.issparse(X):
            # x - shift would be dense: expand (x - shift).c instead, but for full columns.
            row_norms = np.zeros(X.shape[0])
            result = np.zeros((X.shape[0], len(self.centers)))
            for part, columns in _by_fill(X):
                shift, centers = self.shift[columns], self.centers[:, columns]
                row_norms += _norms_of(part, shift)
                if sparse.issparse(part):
                    result += np.asarray(part @ centers.T) - centers @ shift
                else:
                    result += (part - shift) @ centers.T
            row_norms = row_norms[:, None].astype(self.centers.dtype)
            result = result.astype(self.centers.dtype, copy=False)
        elif is_foreign(X):
            here, xp = self.at(place_of(X)), place_of(X).xp
            shifted = X - here.shift
            result = shifted @ here.centers.T
            return _complete(
                result, here.squared_norms, xp.einsum("ij,ij->i", shifted, shifted)[:, None]
            )
        elif len(X) == 1:
            # A single row: vectors take half as long, einsum as long as all the rest.
            shifted = X[0] - self.shift
            row_norms, result = shifted @ shifted, self.centers @ shifted
        else:
            # Rows that lie one after another, whatever the order of X.
            shifted = np.subtract(X, self.shift, order="C")
            row_norms = np.einsum("ij,ij->i", shifted, shifted)[:, None]
            result = shifted @ self.centers.T
        if result.ndim == 1:
            _complete(result, self.squared_norms, row_norms)
            return result[None]
        for tile in tiles(result):
            _complete(result[tile], self.squared_norms, row_norms[tile])
        return result

    def kernel(self, X: Any, gamma: float) -> np.ndarray:
        """Return ``exp(-gamma ||x_n - c_m||^2)``, shape (n_rows, n_centers)."""
        # So narrow that the rounding of a distance would show: a row alone, and among others.
        most = gamma * float(self.squared_norms.max())
        if X.dtype == np.float32 and most > MOST_IN_SINGLE:
            doubles = GaussianCenters.of(self.original.astype(np.float64))
            return doubles.kernel(X.astype(np.float64), gamma).astype(np.float32)
        if most > MOST_IN_DOUBLE and not sparse.issparse(X) and not is_foreign(X):
            return gaussians_of(cdist(X, self.original, "sqeuclidean"), gamma)
        return gaussians_of(self.squared_distances(X), gamma)


def _complete(products: np.ndarray, center_norms: np.ndarray, row_norms: Any) -> np.ndarray:
    """Make squared distances of products x . c, in place."""
    products *= -2
    products += center_norms
    products += row_norms
    return at_least(products, 0)


def gaussians_of(distances: np.ndarray, gamma: Any) -> np.ndarray:
    """Return ``exp(-gamma d)`` of squared distances, in their place.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_centers)
    gamma : float or ndarray of shape (n_centers,)
    """
    if is_foreign(distances):
        distances *= -place_of(distances).put(gamma)
        return place_of(distances).xp.exp(distances, out=distances)
    kind = distances.dtype
    most = float(np.finfo(kind).max)
    factor = -np.minimum(np.asarray(gamma, dtype=float), most).astype(kind)
    for tile in tiles(distances):
        part = distances[tile]
        with np.errstate(over="ignore"):  # to minus infinity, whose exponential is zero
            part *= factor
        np.exp(part, out=part)
    return distances


def tiles(matrix: np.ndarray) -> Iterator[slice]:
    """Yield slices of rows that stay in the cache while several things are done to them."""
    size = max(1, TILE_NUMBERS // max(matrix.shape[1], 1))
    for start in range(0, len(matrix), size):
        yield slice(start, start + size)


def scale_gamma(X: Any, weights: np.ndarray) -> float:
    """Return the width rule ``gamma="scale"``: one over twice the features' total variance.

    In other words, sigma is the root mean square distance of the rows to their mean. The rule
    does not change when features are shifted. On ten data sets it was ahead of the rule of
    scikit-learn's SVC, which has no factor two: few centres want wide Gaussians.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource of shape (n_rows, n_features)
    weights : ndarray of shape (n_rows,)
        How often each row counts.
    """
    total, mean, few = _total_variance(rows_of(X), weights)
    if few and _is_in_memory(X):
        _look_at_far_rows(X, weights, rows_of, total, mean)
    return 0.5 / total if total > 0 else 1.0


def warn_of_far_rows(X: Any, weights: np.ndarray, make_rows: Callable[[Any], Rows]) -> None:
    """Warn if a few rows lie so far away that all others are next to one point beside them.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource of shape (n_rows, n_features)
        Only of rows in memory this is said.
    weights : ndarray of shape (n_rows,)
    make_rows : callable
        Returns what is looked at, of rows of `X`.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from supred.numerics.kernels import warn_of_far_rows
    >>> from supred.rows.blocks import rows_of
    >>> X = np.append(np.arange(99.0), 1e7)[:, None]
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_far_rows(X, np.ones(100), rows_of)
    >>> len(found)
    1
    """
    if _is_in_memory(X):
        total, mean, few = _total_variance(make_rows(X), weights)
        if few:
            _look_at_far_rows(X, weights, make_rows, total, mean)


def _is_in_memory(X: Any) -> bool:
    return type(X) is np.ndarray or sparse.issparse(X)


def _total_variance(rows: Rows, weights: np.ndarray) -> tuple[float, np.ndarray, bool]:
    """Return the total variance, zero if it is lost in rounding, and the mean of all rows.

    And whether a few rows may have it all: a few of equal distance would have these moments.
    """
    mean = on_host(rows.sum(_weighted_sum, weights)) / weights.sum()
    # The variance about a mean that is off by rounding is too large by the square of the error;
    # that of sparse rows is a difference of squares.
    spread, squares = rows.sum(partial(_weighted_spread, origin=mean), weights)
    total = spread / weights.sum()
    error = (16 + np.sqrt(len(weights))) * np.finfo(float).eps
    least = (error if rows.is_sparse else error**2) * float(mean @ mean)
    few = total**2 < (FAR_PART + 1.5 / len(weights)) * squares / weights.sum()
    return (total if total > max(least, LEAST_VARIANCE) else 0.0), mean, bool(few)


def _look_at_far_rows(
    X: Any,
    weights: np.ndarray,
    make_rows: Callable[[Any], Rows],
    total: float,
    mean: np.ndarray,
) -> None:
    """Warn if the rows have next to no variance without the hundredth that lies furthest away."""
    distances = make_rows(X).map(partial(_squared_norms, origin=mean)) * (weights > 0)
    n_near = len(weights) - max(1, int(FAR_PART * len(weights)))
    near = np.sort(np.argpartition(distances, n_near - 1)[:n_near])
    near = near[weights[near] > 0]
    if (
        len(near)
        and 0 < _total_variance(make_rows(X[near]), weights[near])[0] < MOST_HIDDEN * total
    ):
        warn_caller(
            f"a few rows lie so far from the others that these have less than {MOST_HIDDEN:g} of "
            "the total variance, by which widths and ridges are chosen, and may look like one "
            "point. Drop or clip the few rows, or transform the columns (say, to ranks).",
        )


def _weighted_sum(block: Any, weights: np.ndarray) -> np.ndarray:
    return weights @ cast(block, float) if is_foreign(block) else np.asarray(weights @ block)


def _weighted_spread(block: Any, weights: np.ndarray, origin: np.ndarray) -> tuple[float, float]:
    distances = _squared_norms(block, origin)
    return float(weights @ distances), float(weights @ distances**2)


def _by_fill(X: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the columns of sparse rows in which most numbers are zero, and the others as an array.

    A mean can be large beside the spread only in a column that is all but full. There the square
    of a difference has digits that a difference of squares has lost; as an array the column takes
    no more memory than it did.
    """
    X = X.tocsr()
    full = 2 * np.bincount(X.indices, minlength=X.shape[1]) > X.shape[0]
    if not full.any():
        yield X, slice(None)
        return
    for columns in (np.flatnonzero(~full), np.flatnonzero(full)):
        part = X[:, columns]
        yield (part.toarray() if full[columns[:1]].any() else part), columns


def _squared_norms(block: Any, origin: np.ndarray) -> np.ndarray:
    """Return the squared distance of each row to `origin`."""
    if sparse.issparse(block):
        parts = [_norms_of(part, origin[columns]) for part, columns in _by_fill(block)]
        return np.sum(parts, axis=0)
    return _norms_of(block, origin)


def _norms_of(block: Any, origin: np.ndarray) -> np.ndarray:
    if sparse.issparse(block):
        squares = np.asarray(block.multiply(block).sum(axis=1)).ravel()
        return np.maximum(squares - 2 * (block @ origin) + origin @ origin, 0)
    place = place_of(block)
    shifted = block - place.put(origin)
    return place.xp.einsum("ij,ij->i", shifted, shifted)
