"""From the user's rows to the problem that the category space solvers take, and back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from supred.category_space.ascent import polar
from supred.category_space.problem import CategoryProblem, build_problem, build_sparse_problem
from supred.numerics.kernel_basis import LandmarkKernel, eigenbasis
from supred.rows.blocks import rows_of


@dataclass(frozen=True)
class Prepared:
    """A problem and what relates its coordinates to the rows.

    Attributes
    ----------
    problem : CategoryProblem
    center : ndarray of shape (n_features,)
        Point from which linear coordinates count; empty for a kernel.
    basis : ndarray of shape (n_features or n_landmarks, n_dims) or None
        Coordinates are ``(x - center) @ basis`` or ``kernel(x) @ basis`` before the whitening;
        None stands for the identity.
    wide : bool
        Whether there are more features than rows.
    """

    problem: CategoryProblem
    center: np.ndarray
    basis: np.ndarray | None
    wide: bool = False

    def forward(self, W: np.ndarray) -> np.ndarray:
        """Return what a row is multiplied with to give its coordinates along the axes W."""
        whitener = self.problem.whitener
        return self._spread_out(W if whitener is None else whitener @ W)

    def backward(self, W: np.ndarray) -> np.ndarray:
        """Return the directions in the space of the rows that the axes W stand for."""
        unwhitener = self.problem.unwhitener
        return self._spread_out(W if unwhitener is None else unwhitener @ W)

    def axes_of(self, maps: np.ndarray) -> np.ndarray:
        """Return the W with ``forward(W) == maps``."""
        W = maps if self.basis is None else np.linalg.lstsq(self.basis, maps, rcond=None)[0]
        if self.problem.unwhitener is not None:
            W = self.problem.unwhitener @ W
        return polar(W)  # removes the rounding of the divisions

    def _spread_out(self, W: np.ndarray) -> np.ndarray:
        return W if self.basis is None else self.basis @ W


def prepare_linear(
    X: Any, codes: np.ndarray, weights: np.ndarray, n_classes: int, **options: Any
) -> Prepared:
    """Prepare rows as they are; with more features than rows nothing of their square is made.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    codes, weights : ndarray of shape (n_rows,)
    n_classes : int
    **options
        origin, whiten and keep_rows of :func:`build_problem`.
    """
    n_rows, n_features = X.shape
    if n_features < n_classes:
        raise ValueError(
            f"kernel='linear' needs at least as many features as classes (one orthonormal "
            f"axis each), but X has {n_features} feature(s) and y {n_classes} classes; use "
            "kernel='rbf', or add features, for instance by "
            "sklearn.preprocessing.PolynomialFeatures."
        )
    center = np.zeros(n_features)
    if options["origin"] != "zero":
        sums = rows_of(X).sum(lambda block, part: part @ block.astype(np.float64), weights)
        center = sums / weights.sum()
    if sparse.issparse(X):
        many_dims = n_classes * n_features > n_rows
        if not options["whiten"] and (many_dims or options["keep_rows"]):
            wanted = {name: options[name] for name in ("origin", "keep_rows")}
            problem = build_sparse_problem(X, center, codes, weights, n_classes, **wanted)
            return Prepared(problem, center, None, n_features > n_rows)
        if n_features > n_rows:  # whitening a wide matrix works on dense rows
            X = X.toarray()
    options["ridge_dims"] = n_features
    if n_features <= n_rows:

        def centred(block: Any) -> np.ndarray:
            return (block.toarray() if sparse.issparse(block) else block) - center

        problem = build_problem(X, centred, codes, weights, n_classes, n_dims=n_features, **options)
        return Prepared(problem, center, None)
    # All happens in the span of the rows, of which Q is an orthonormal basis.
    Q, R = qr((X - center).T, mode="economic")
    problem = build_problem(
        R.T, lambda block: block, codes, weights, n_classes, n_dims=n_rows, **options
    )
    return Prepared(problem, center, Q, wide=True)


def prepare_kernel(
    kernel: LandmarkKernel,
    gram: np.ndarray,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    **options: Any,
) -> Prepared:
    """Prepare the features of a kernel in the span of its landmarks.

    Parameters
    ----------
    kernel : LandmarkKernel
    gram : ndarray of shape (n_landmarks, n_landmarks)
        Kernel of the landmarks with each other.
    X, codes, weights, n_classes, **options
        As in :func:`prepare_linear`.
    """
    basis = eigenbasis(gram, rounding=kernel.rounding(X))
    if basis.shape[1] < n_classes:
        raise ValueError(
            f"kernel: the kernel matrix of the {kernel.n_landmarks} landmarks has rank "
            f"{basis.shape[1]}, but {n_classes} classes need {n_classes} orthonormal axes; use "
            "another kernel, a larger gamma or more landmarks."
        )
    problem = build_problem(
        X,
        lambda block: kernel(block) @ basis,
        codes,
        weights,
        n_classes,
        n_dims=basis.shape[1],
        **options,
    )
    return Prepared(problem, np.empty(0), basis)


def check_spread(
    problem: CategoryProblem, codes: np.ndarray, weights: np.ndarray, classes: np.ndarray
) -> None:
    """Raise a ValueError where a class has no spread about its own mean."""
    spread = problem.scatters.traces() / np.bincount(codes, weights=weights)
    between = np.sum((problem.class_means - problem.mean) ** 2, axis=1)
    flat = np.flatnonzero(spread <= 1e-13 * (spread.max() + between.max()))
    if flat.size:
        raise ValueError(
            f"origin='class' needs at least two different rows of each class, but class "
            f"{classes.tolist()[flat[0]]!r} has {np.sum(codes == flat[0])} row(s) without any "
            "spread; use origin='global', or drop the class."
        )
