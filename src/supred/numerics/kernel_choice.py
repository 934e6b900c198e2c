"""Width of a kernel and ridge by closed-form leave-one-out: no search, no held-out part."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from sklearn.metrics.pairwise import euclidean_distances

from supred.numerics.kernel_basis import (
    KernelName,
    check_square,
    distinct_rows,
    kernel_at_landmarks,
)
from supred.numerics.kernels import GaussianCenters, gaussians_of, scale_gamma
from supred.numerics.leave_one_out import LeaveOneOutScore, RidgePath, choose_ridge

# Widths that are tried, as factors of gamma="scale", and ridges in units of the total variance.
WIDTH_FACTORS = (1.0, 0.25, 4.0, 16.0)  # the last if the one before it is the best so far
ALPHAS = tuple((10.0 ** np.arange(-6.0, 0.5, 0.5)).tolist())
# Rows that are looked at, and landmarks that stand for them: all up to the first number, else a
# part of the rows, within bounds.
CHOICE_ROWS = 2000
CHOICE_ALL, CHOICE_LANDMARKS = 150, (100, 300)
LANDMARK_PART = 0.3
# Added to the diagonal of the landmarks' kernel matrix, which may be singular.
JITTER = 1e-10


@dataclass(frozen=True)
class KernelChoice:
    """A width and a ridge.

    Attributes
    ----------
    gamma : float or str
        What to give to :func:`supred.numerics.kernel_basis.kernel_at_landmarks`.
    alpha : float
        Ridge in units of the total variance of the kernel's features.
    score : LeaveOneOutScore or None
        How well the rows are predicted by each other; None where there was nothing to choose.
    """

    gamma: float | str
    alpha: float
    score: LeaveOneOutScore | None


def choose_kernel(
    X: Any,
    members: np.ndarray,
    weights: np.ndarray,
    kernel: KernelName,
    *,
    gamma: float | str = "auto",
    alpha: float | str = "auto",
    degree: float = 3,
    coef0: float = 1.0,
    exclusive: bool = True,
) -> KernelChoice:
    """Choose what is "auto" by the leave-one-out error of ridge regression on the classes.

    Ridge regression on class membership has the same directions as Fisher's discriminant with
    that ridge. Ties go to the smaller squared error.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Rows, or their kernel matrix.
    members : ndarray of bool, shape (n_rows, n_classes)
    weights : ndarray of shape (n_rows,)
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable
    gamma : "auto", "scale" or float
        "auto" tries multiples of "scale" with the "rbf" kernel, and is "scale" with others.
    alpha : "auto" or float
    degree, coef0 : float
        Of the "poly" kernel.
    exclusive : bool
        Whether each row belongs to one class.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from supred.numerics.class_scatter import members_of
    >>> from supred.numerics.kernel_choice import choose_kernel
    >>> import numpy as np
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> choose_kernel(X, members_of(y, 3), np.ones(len(y)), "rbf").score.error < 0.03
    True
    """
    widths_differ = kernel == "rbf" and gamma == "auto"
    if gamma == "auto" and not widths_differ:
        gamma = "scale"
    if not widths_differ and alpha != "auto":
        return KernelChoice(gamma, float(alpha), None)
    if widths_differ:
        unit = scale_gamma(X, weights)
        gammas: list[float | str] = [unit * factor for factor in WIDTH_FACTORS]
    else:
        gammas = [gamma]
    if kernel == "precomputed":
        check_square(X)
    used = np.flatnonzero(weights > 0)
    weighted = X if len(used) == len(weights) else X[used]
    first, copies = distinct_members(weighted, members[used])
    rows, weights = used[first], np.bincount(copies, weights=weights[used])
    if len(rows) > CHOICE_ROWS:
        rng = np.random.default_rng(0)  # the choice is the same whatever the random_state
        drawn = np.sort(rng.choice(len(rows), CHOICE_ROWS, replace=False))
        rows, weights = rows[drawn], weights[drawn]
    targets = members[rows].astype(float)
    alphas = ALPHAS if alpha == "auto" else (float(alpha),)
    part = X[rows][:, rows] if kernel == "precomputed" else X[rows]
    path_of = _paths(part, targets, weights, kernel, degree, coef0)
    best: KernelChoice | None = None
    for k, width in enumerate(gammas):
        if best is not None and k == len(WIDTH_FACTORS) - 1 and best.gamma != gammas[k - 1]:
            break
        found, score = choose_ridge(path_of(width), alphas, exclusive=exclusive)
        if best is None or best.score is None or score.beats(best.score):
            best = KernelChoice(width, found, score)
    assert best is not None  # there is at least one gamma
    return best


def distinct_members(X: Any, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of each set of equal rows of the same classes, and which each row equals.

    Copies would predict each other: they are left out together.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.kernel_choice import distinct_members
    >>> members = np.array([[True], [True], [False], [True]])
    >>> distinct_members(np.array([[2.0], [1.0], [2.0], [2.0]]), members)
    (array([0, 1, 2]), array([0, 1, 2, 0]))
    """
    _, copies = distinct_rows(X)
    # As strings: while NumPy compares rows it takes an interrupt for an error of their types.
    packed = np.ascontiguousarray(np.packbits(members, axis=1))
    groups = np.unique(packed.view(f"S{packed.shape[1]}"), return_inverse=True)[1].ravel()
    keys = copies * (groups.max() + 1) + groups
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[same]


def _paths(
    X: Any,
    targets: np.ndarray,
    weights: np.ndarray,
    kernel: KernelName,
    degree: float,
    coef0: float,
) -> Callable[[float | str], RidgePath]:
    """Return the function of gamma that makes the regression on the kernel's features."""
    if kernel == "linear":
        return lambda gamma: _linear_path(X, targets, weights)
    low, high = CHOICE_LANDMARKS
    count = min(max(int(LANDMARK_PART * X.shape[0]), low), high)
    count = X.shape[0] if X.shape[0] <= CHOICE_ALL else count
    shape: dict[str, Any] = {"degree": degree, "coef0": coef0, "n_landmarks": count}
    if kernel != "rbf":

        def any_path(gamma: float | str) -> RidgePath:
            made = kernel_at_landmarks(X, weights, kernel, gamma=gamma, **shape)
            return _landmark_path(made(X), made.gram(X), targets, weights)

        return any_path
    # One matrix of distances serves all widths.
    landmarks = kernel_at_landmarks(X, weights, kernel, gamma=1.0, **shape).landmarks
    if isinstance(landmarks, GaussianCenters):
        distances = landmarks.squared_distances(X.astype(np.float64, copy=False))
        between = landmarks.squared_distances(landmarks.original)
    else:
        distances = euclidean_distances(X.astype(np.float64), landmarks, squared=True)
        between = euclidean_distances(landmarks, squared=True)

    def gaussian_path(gamma: float | str) -> RidgePath:
        width = scale_gamma(X, weights) if isinstance(gamma, str) else gamma
        values = gaussians_of(distances.copy(), width)
        if values.shape[0] == values.shape[1]:  # the landmarks are the rows
            return RidgePath.of_gram(values, targets, weights)
        return _landmark_path(values, gaussians_of(between.copy(), width), targets, weights)

    return gaussian_path


def _landmark_path(
    values: np.ndarray, gram: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> RidgePath:
    """Return the regression on the features in the span of the landmarks."""
    lifted = gram + JITTER * max(float(np.trace(gram)), np.finfo(float).tiny) * np.eye(len(gram))
    try:
        factor = cholesky(lifted, lower=True, check_finite=False)
    except np.linalg.LinAlgError:  # not a kernel: the fit says what is wrong with it
        return RidgePath.of_features(values, targets, weights)
    Phi = solve_triangular(factor, values.T, lower=True, check_finite=False).T
    return RidgePath.of_features(Phi, targets, weights)


def _linear_path(X: Any, targets: np.ndarray, weights: np.ndarray) -> RidgePath:
    if not sparse.issparse(X):
        return RidgePath.of_features(X.astype(np.float64), targets, weights)
    X = X.astype(np.float64)
    if X.shape[1] <= X.shape[0]:
        return RidgePath.of_features(X.toarray(), targets, weights)
    return RidgePath.of_gram((X @ X.T).toarray(), targets, weights)
