"""Width of a kernel and ridge by closed-form leave-one-out: no search, no held-out part."""

from collections.abc import Iterator
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
WIDTH_FACTORS = (0.0625, 0.25, 1.0, 4.0, 16.0)
ALPHAS = tuple((10.0 ** np.arange(-8.0, 0.5, 0.5)).tolist())
# Rows that are looked at, and landmarks that stand for all of them: the choice needs no more.
CHOICE_ROWS, CHOICE_LANDMARKS = 2000, 300
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
    seed: int = 0,
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
    seed : int
        Of the rows and landmarks, where there are too many.
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
    rows, copies = distinct_members(X, members)
    weights = np.bincount(copies, weights=weights)
    used = np.flatnonzero(weights > 0)
    if len(used) > CHOICE_ROWS:
        rng = np.random.default_rng(seed)
        used = np.sort(rng.choice(used, CHOICE_ROWS, replace=False))
    rows, weights = rows[used], weights[used]
    targets = members[rows].astype(float)
    alphas = ALPHAS if alpha == "auto" else (float(alpha),)
    part = X[rows][:, rows] if kernel == "precomputed" else X[rows]
    paths = _paths(part, targets, weights, kernel, gammas, degree, coef0, seed)
    choices = []
    for width, path in zip(gammas, paths, strict=True):
        found, score = choose_ridge(path, alphas, exclusive=exclusive)
        choices.append(KernelChoice(width, found, score))
    return min(choices, key=lambda choice: choice.score)  # type: ignore[arg-type,return-value]


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
    _, groups = np.unique(members, axis=0, return_inverse=True)
    return distinct_rows(np.column_stack([copies, groups.ravel()]))


def _paths(
    X: Any,
    targets: np.ndarray,
    weights: np.ndarray,
    kernel: KernelName,
    gammas: list[float | str],
    degree: float,
    coef0: float,
    seed: int,
) -> Iterator[RidgePath]:
    """Yield the regression on the features of the kernel of each gamma."""
    if kernel == "linear":
        yield _linear_path(X, targets, weights)
        return
    first = kernel_at_landmarks(
        X,
        weights,
        kernel,
        gamma=1.0 if kernel == "rbf" else gammas[0],
        degree=degree,
        coef0=coef0,
        n_landmarks=CHOICE_LANDMARKS,
        seed=seed,
    )
    if kernel != "rbf":
        yield _landmark_path(first(X), first.gram(X), targets, weights)
        return
    # One matrix of distances serves all widths.
    landmarks = first.landmarks
    if isinstance(landmarks, GaussianCenters):
        distances = landmarks.squared_distances(X.astype(np.float64, copy=False))
        between = landmarks.squared_distances(landmarks.original)
    else:
        distances = euclidean_distances(X.astype(np.float64), landmarks, squared=True)
        between = euclidean_distances(landmarks, squared=True)
    for gamma in gammas:
        values = gaussians_of(distances.copy(), gamma)
        if values.shape[0] == values.shape[1]:  # the landmarks are the rows
            yield RidgePath.of_gram(values, targets, weights)
        else:
            yield _landmark_path(values, gaussians_of(between.copy(), gamma), targets, weights)


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
