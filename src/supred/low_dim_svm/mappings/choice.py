"""The mapping F that the parameters ask for."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from supred.common.arguments import as_numbers, largest_magnitude
from supred.common.arrays import on_host, type_name
from supred.common.warn import warn_caller
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.mappings.centers import kmeans_centers, random_centers, width_factor
from supred.low_dim_svm.mappings.linear import LinearMapping
from supred.low_dim_svm.mappings.rbf import RBFMapping
from supred.low_dim_svm.mappings.regressor import RegressorMapping
from supred.low_dim_svm.width_and_ridge import choose_width_and_ridge
from supred.numerics.kernels import scale_gamma
from supred.rows.blocks import rows_of

DEFAULT_CENTERS = 1000
# Squares of the numbers of given centres must be finite.
MOST_CENTER = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e18}


def make_mapping(
    mapping: Any,
    X: Any,
    class_index: np.ndarray,
    weights: np.ndarray,
    rng: np.random.RandomState,
    *,
    centers: Any = "kmeans",
    n_centers: int | None = None,
    gamma: float | str = "auto",
    alpha: float | str = "auto",
    mu: float = 2.0,
    cache_size: float = 0.0,
) -> Mapping:
    """Return a mapping that is prepared with the rows.

    Parameters
    ----------
    mapping : {"rbf", "linear"} or regressor
    X : {ndarray, sparse matrix, RowSource} of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,)
        Index of each row's class, by which "auto" chooses.
    weights : ndarray of shape (n_rows,)
    rng : RandomState
        Draws centres, and the seeds of a regressor.
    centers, n_centers
        As in :func:`choose_centers`.
    gamma : "auto", "scale" or float
    alpha : "auto" or float
    mu : float
        The first penalty: "auto" chooses alpha for it.
    cache_size : float
        As in :class:`supred.low_dim_svm.mappings.basis.BasisMapping`.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.mappings.choice import make_mapping
    >>> X = np.arange(6.0)[:, None]
    >>> mapping = make_mapping(
    ...     "rbf", X, np.arange(6) // 3, np.ones(6), np.random.RandomState(0), n_centers=3
    ... )
    >>> mapping.n_basis
    3
    """
    made: Mapping
    if not isinstance(mapping, str):
        made = RegressorMapping(seeded(mapping, rng))
        made.prepare(X, weights)
        return made
    at = choose_centers(centers, n_centers, X, weights, rng) if mapping == "rbf" else None
    if alpha == "auto" or (at is not None and gamma == "auto"):
        ridge = None if isinstance(alpha, str) else 2.0 * alpha / mu
        choose = partial(choose_width_and_ridge, X, class_index, weights, at, rng, ridge=ridge)
        found = choose(gamma=gamma)
        if at is not None and gamma == "auto":
            factor = width_factor(len(at), float(weights.sum()))
            found = found if factor == 1.0 else choose(gamma=factor * found.gamma)
        gamma, alpha = found.gamma, 0.5 * mu * found.ridge
    if at is None:
        made = LinearMapping(float(alpha), cache_size=cache_size)
    else:
        width = gamma_of(gamma, X, weights)
        made = RBFMapping(at, width, float(alpha), cache_size=cache_size)
    made.prepare(X, weights)
    return made


def gamma_of(gamma: float | str, X: Any, weights: np.ndarray) -> float:
    """Return gamma as a number; "scale" is one over twice the sum of the features' variances."""
    return scale_gamma(X, weights) if isinstance(gamma, str) else float(gamma)


def choose_centers(
    centers: Any,
    n_centers: int | None,
    X: Any,
    weights: np.ndarray,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Return the centres of the Gaussians, in the precision of X.

    Parameters
    ----------
    centers : {"kmeans", "random", "all"} or array of shape (n_centers, n_features)
    n_centers : int or None
        By default 1000, or all rows if there are fewer.
    X, weights, rng
        As in :func:`make_mapping`.
    """
    n_rows, n_features = X.shape
    if not isinstance(centers, str):
        return _given_centers(on_host(centers), n_features, type_name(X))
    if n_centers is not None and n_centers > n_rows and centers != "all":
        warn_caller(
            f"n_centers={n_centers} is more than the {n_rows} rows to train on, so all of these "
            "are centres.",
        )
        centers = "all"
    if centers == "all":
        rows = on_host(rows_of(X).whole())
        return rows.toarray() if hasattr(rows, "toarray") else np.array(rows)
    size = DEFAULT_CENTERS if n_centers is None else n_centers
    size = min(size, int(np.count_nonzero(weights)))  # rows of weight zero are none to train on
    choose = random_centers if centers == "random" else kmeans_centers
    return choose(X, weights, size, rng)


def _given_centers(given: Any, n_features: int, dtype: Any) -> np.ndarray:
    given = given.toarray() if hasattr(given, "toarray") else given
    with np.errstate(over="ignore"):
        centers = as_numbers("centers", given, "give an array with one row per centre")
    if centers.ndim != 2 or centers.shape[1] != n_features or len(centers) < 1:
        raise ValueError(
            f"centers has shape {centers.shape}; "
            f"give an array of shape (n_centers, {n_features}), one row per centre."
        )
    if not np.isfinite(centers).all():
        raise ValueError("centers holds a value that is not finite.")
    most = MOST_CENTER[np.dtype(dtype)]
    if largest_magnitude(centers) > most:
        raise ValueError(
            f"centers holds numbers up to {largest_magnitude(centers):.2g} in the unit of the "
            f"rows; give centres near the rows, of at most {most:g}."
        )
    return centers.astype(dtype)


def seeded(regressor: Any, rng: np.random.RandomState) -> Any:
    """Return a copy of the regressor whose open random states are drawn from `rng`."""
    copy = clone(regressor)
    for name, value in sorted(copy.get_params().items()):
        if name.endswith("random_state") and value is None:
            copy.set_params(**{name: rng.randint(2**31 - 1)})
    return copy
