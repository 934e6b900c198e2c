"""Whether there is any structure at all: a quick method on the labels and on shuffled labels."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.neighbors import kneighbors_graph

from supred.app.comparison.result import Structure
from supred.app.tables.assemble import stratified_part

# p-values up to this count as evidence.
SIGNIFICANT = 0.01
N_PERMUTATIONS = 499
MOST_ROWS = 600
MOST_DIMENSIONS = 50
N_NEIGHBORS = 5


def check_structure(X: Any, class_index: np.ndarray, seed: int) -> Structure:
    r"""Compare two quick methods on the labels with the same methods on shuffled labels.

    Ridge regression to the class indicators and nearest neighbours are linear in the indicators
    Y: the leave-one-out prediction is P Y with a matrix P that knows the rows only. So one
    product gives the leave-one-out fit of each permutation,

    .. math:: R^2 = 1 - \frac{1}{K} \sum_k \|y_k - P y_k\|^2 / \|y_k - \bar y_k\|^2,

    in which a rare class counts as much as a frequent one. The statistic is the larger of the
    two methods' values; under exchangeable labels the p-value is exact.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_rows, n_features)
        Prepared rows; a stratified part of them is looked at.
    class_index : ndarray of int of shape (n_rows,)
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from supred.app.comparison.structure import check_structure
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> check_structure(rng.normal(size=(60, 3)) + 2 * y[:, None], y, 0).p_value
    0.002
    """
    rows = stratified_part(class_index, MOST_ROWS, seed)
    X, class_index = X[rows], class_index[rows]
    if min(X.shape) > MOST_DIMENSIONS:
        reduce = TruncatedSVD if sparse.issparse(X) else PCA
        X = reduce(MOST_DIMENSIONS, random_state=seed).fit_transform(X)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    predictors = [leave_one_out_ridge(X), leave_one_out_neighbors(X)]
    _, counts = np.unique(class_index, return_counts=True)
    kept = np.flatnonzero(counts > 1)  # a class of one row is never predicted without it
    if not len(kept):  # nothing can be said: any labels fit these rows equally well
        return Structure(1.0, len(rows), N_PERMUTATIONS)
    Y = (np.unique(class_index, return_inverse=True)[1][:, None] == kept).astype(float)
    rng = np.random.RandomState(seed)
    fits = np.empty(N_PERMUTATIONS + 1)
    for k in range(N_PERMUTATIONS + 1):
        shuffled = Y if k == 0 else Y[rng.permutation(len(Y))]
        fits[k] = max(_fit(P, shuffled) for P in predictors)
    p_value = float(np.mean(fits >= fits[0] - 1e-12))
    return Structure(round(p_value, 4), len(rows), N_PERMUTATIONS)


def leave_one_out_ridge(X: np.ndarray) -> np.ndarray:
    """Return P of ridge regression with an intercept: (H - diag H) / (1 - diag H), row by row."""
    X = X - X.mean(axis=0)
    alpha = 0.1 * max(float((X**2).sum()) / max(X.shape[1], 1), 1e-12)
    H = X @ np.linalg.solve(X.T @ X + alpha * np.eye(X.shape[1]), X.T) + 1 / len(X)
    own = np.diag(H).copy()
    return (H - np.diag(own)) / (1 - own)[:, None]


def leave_one_out_neighbors(X: np.ndarray) -> Any:
    """Return P of the mean over the nearest other rows."""
    n_neighbors = min(N_NEIGHBORS, len(X) - 1)
    return kneighbors_graph(X, n_neighbors) / n_neighbors


def _fit(P: Any, Y: np.ndarray) -> float:
    residuals = ((Y - P @ Y) ** 2).sum(axis=0)
    return float(np.mean(1 - residuals / ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)))
