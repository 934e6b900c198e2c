"""From rows to the scatters of a category space: origin, whitening, and the way back.

Rows enter as features: a dense array per block of rows (the features themselves about a fixed
point, or those of a kernel in the span of its landmarks). The solvers see a
:class:`CategoryProblem`, in coordinates in which the axes are orthonormal.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, solve_triangular

from supred.numerics.class_scatter import (
    ClassRows,
    MatrixScatters,
    RowScatters,
    Scatters,
    class_means,
    polar,
    within_scatters,
)
from supred.numerics.kernel_basis import LandmarkKernel
from supred.numerics.latent_maps import KernelMap, LatentMap, LinearMap
from supred.numerics.shifted_cholesky import shifted_cholesky
from supred.rows.blocks import rows_of

ORIGINS = ("global", "class", "zero")
# Relative error of a feature that a kernel makes.
ROUNDING = 16 * np.finfo(float).eps


@dataclass(frozen=True)
class CategoryProblem:
    """What the solvers need, and how its coordinates relate to the rows.

    Attributes
    ----------
    scatters : MatrixScatters or RowScatters
        The R_k.
    class_rows : tuple of ClassRows, or None
        The rows of each class about its origin; only made for the absolute criterion.
    class_means : ndarray of shape (n_classes, n_dims)
        Mean of each class.
    mean : ndarray of shape (n_dims,)
        Mean of all rows.
    rms_distance : float
        Root mean square distance of the rows to their mean.
    whitener, unwhitener : ndarray of shape (n_dims, n_dims), or None
        L^-T and L of the covariance within the classes plus its ridge, S = L L^T.
    kernel : LandmarkKernel or None
        None for the features as they are.
    center : ndarray of shape (n_features,)
        Point from which linear coordinates count; empty for a kernel.
    basis : ndarray of shape (n_features or n_landmarks, n_dims) or None
        Coordinates are ``(x - center) @ basis`` or ``kernel(x) @ basis`` before the whitening;
        None stands for the identity.
    wide : bool
        Whether there are more features than rows.
    """

    scatters: Scatters
    class_rows: tuple[ClassRows, ...] | None
    class_means: np.ndarray
    mean: np.ndarray
    rms_distance: float
    whitener: np.ndarray | None = None
    unwhitener: np.ndarray | None = None
    kernel: LandmarkKernel | None = None
    center: np.ndarray = field(default_factory=lambda: np.empty(0))
    basis: np.ndarray | None = None
    wide: bool = False

    def latent_map(self, W: np.ndarray) -> LatentMap:
        """Return the map from rows to their coordinates along the axes W."""
        maps = self._spread_out(W if self.whitener is None else self.whitener @ W)
        if self.kernel is None:
            return LinearMap(np.ascontiguousarray(maps.T), self.center)
        return KernelMap(self.kernel, maps, np.zeros(W.shape[1]))

    def directions(self, W: np.ndarray) -> np.ndarray:
        """Return the directions in the space of the rows that the axes W stand for."""
        return self._spread_out(W if self.unwhitener is None else self.unwhitener @ W)

    def axes_of(self, latent_map: LatentMap) -> np.ndarray:
        """Return the W whose :meth:`latent_map` is the given one."""
        W = latent_map.components.T if isinstance(latent_map, LinearMap) else latent_map.dual_coef
        if self.basis is not None:
            W = np.linalg.lstsq(self.basis, W, rcond=None)[0]
        if self.unwhitener is not None:
            W = self.unwhitener.T @ W
        return polar(W)  # removes the rounding of the divisions

    def _spread_out(self, W: np.ndarray) -> np.ndarray:
        return W if self.basis is None else self.basis @ W


def linear_problem(
    X: Any, members: np.ndarray, weights: np.ndarray, **options: Any
) -> CategoryProblem:
    """Make the problem of rows as they are, without any square of more features than rows.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    members : ndarray of bool, shape (n_rows, n_classes)
    weights : ndarray of shape (n_rows,)
    **options
        origin, alpha and keep_rows of :func:`build_problem`.
    """
    n_rows, n_features = X.shape
    n_classes = members.shape[1]
    center = np.zeros(n_features)
    if options["origin"] != "zero":
        sums = rows_of(X).sum(lambda block, part: part @ block.astype(np.float64), weights)
        center = sums / weights.sum()
    if sparse.issparse(X):
        many_dims = n_classes * n_features > n_rows
        if options["alpha"] is None and (many_dims or options["keep_rows"]):
            wanted = {name: options[name] for name in ("origin", "keep_rows")}
            problem = build_sparse_problem(X, center, members, weights, **wanted)
            return replace(problem, center=center, wide=n_features > n_rows)
        if n_features > n_rows:  # whitening a wide matrix works on dense rows
            X = X.toarray()
    if n_features <= n_rows:

        def centred(block: Any) -> np.ndarray:
            return (block.toarray() if sparse.issparse(block) else block) - center

        problem = build_problem(X, centred, members, weights, n_dims=n_features, **options)
        return replace(problem, center=center)
    # All happens in the span of the rows, of which Q is an orthonormal basis.
    Q, R = qr((X - center).T, mode="economic")
    problem = build_problem(R.T, _as_they_are, members, weights, n_dims=n_rows, **options)
    return replace(problem, center=center, basis=Q, wide=True)


def kernel_problem(
    kernel: LandmarkKernel,
    basis: np.ndarray,
    X: Any,
    members: np.ndarray,
    weights: np.ndarray,
    **options: Any,
) -> CategoryProblem:
    """Make the problem of the features of a kernel in the span of its landmarks.

    Parameters
    ----------
    kernel : LandmarkKernel
    basis : ndarray of shape (n_landmarks, n_dims)
        Makes orthonormal features of the kernel.
    X, members, weights, **options
        As in :func:`linear_problem`.
    """
    n_dims = basis.shape[1]

    def features(block: Any) -> np.ndarray:
        return kernel(block) @ basis

    problem = build_problem(X, features, members, weights, n_dims=n_dims, **options)
    return replace(problem, kernel=kernel, basis=basis)


def build_problem(
    X: Any,
    features: Callable[[Any], np.ndarray],
    members: np.ndarray,
    weights: np.ndarray,
    *,
    n_dims: int,
    origin: str,
    alpha: float | None = None,
    keep_rows: bool = False,
) -> CategoryProblem:
    """Make the scatters of each class.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    features : callable
        Makes a dense array of shape (n_rows_of_block, n_dims) of a block of rows.
    members : ndarray of bool, shape (n_rows, n_classes)
        Which rows belong to which class.
    weights : ndarray of shape (n_rows,)
        Positive.
    n_dims : int
    origin : {"global", "class", "zero"}
        The o_k: the mean of all rows, the mean of class k, or zero.
    alpha : float, optional
        First divide by the pooled covariance within the classes, with this ridge in units of the
        total variance; None leaves the features as they are.
    keep_rows : bool, default=False
        Whether the rows of the classes are needed (absolute criterion, margin).
    """
    rows = rows_of(X, n_dims)
    n_classes = members.shape[1]
    totals = weights @ members
    # The matrices take K D^2 numbers, the rows n D.
    few_dims = n_classes * n_dims <= rows.n_rows
    exclusive = bool((members.sum(axis=1) == 1).all())
    by_blocks = few_dims and not keep_rows and (exclusive or alpha is None)
    Phi = np.empty(0)
    if not by_blocks:
        Phi = rows.map(features)  # (n, D)
        rows, features = rows_of(Phi), _as_they_are
    # One more "class" of all rows gives their mean.
    everyone = np.column_stack([members, np.ones(len(members), dtype=bool)])
    *class_rows_means, mean = class_means(rows, features, everyone, weights)
    means = np.array(class_rows_means)
    origins = _origins(origin, means, mean)
    whitener = unwhitener = None
    if by_blocks:
        R = within_scatters(rows, features, members, weights, means)
        if alpha is not None:
            within = R.sum(axis=0) / totals.sum()
            between = totals @ np.sum((means - mean) ** 2, axis=1) / totals.sum()
            variance = float(np.trace(within)) + float(between)
            whitener, unwhitener = whitening(within, _ridge(alpha, variance, mean))
        offsets = means - origins
        R += totals[:, None, None] * offsets[:, :, None] * offsets[:, None, :]
        if whitener is not None:
            R, means, mean = whitener.T @ R @ whitener, means @ whitener, mean @ whitener
        return CategoryProblem(MatrixScatters(R), None, means, mean, np.nan, whitener, unwhitener)
    chosen = [np.flatnonzero(column) for column in members.T]
    distances = np.einsum("ij,ij->i", Phi - mean, Phi - mean)
    variance = float(weights @ distances / weights.sum())
    if alpha is not None:
        if exclusive:
            centred = (Phi - means[members.argmax(axis=1)]) * np.sqrt(weights)[:, None]
        else:
            centred = unexplained(Phi, everyone, weights)
        within = centred.T @ centred / weights.sum()
        whitener, unwhitener = whitening(within, _ridge(alpha, variance, mean))
        Phi, means, mean, origins = (A @ whitener for A in (Phi, means, mean, origins))
    nothing = np.zeros(n_dims)
    class_rows = tuple(
        ClassRows(Phi[own] - origins[k], weights[own], nothing) for k, own in enumerate(chosen)
    )
    scatters: Scatters = RowScatters(class_rows)
    if few_dims:
        scatters = MatrixScatters(
            np.array([(c.rows * c.weights[:, None]).T @ c.rows for c in class_rows])
        )
    if alpha is not None:
        distances = np.einsum("ij,ij->i", Phi - mean, Phi - mean)
        variance = float(weights @ distances / weights.sum())
    kept = class_rows if keep_rows else None
    rms = float(np.sqrt(variance))
    return CategoryProblem(scatters, kept, means, mean, rms, whitener, unwhitener)


def _as_they_are(block: np.ndarray) -> np.ndarray:
    return block


def unexplained(Phi: np.ndarray, members: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return what least squares on the labels leave of the features, times roots of the weights.

    With one class per row it is the distance to the class mean; with several labels each adds
    its own part to a row.
    """
    roots = np.sqrt(weights)[:, None]
    design = members * roots
    return Phi * roots - design @ np.linalg.lstsq(design, Phi * roots, rcond=None)[0]


def build_sparse_problem(
    X: Any,
    center: np.ndarray,
    members: np.ndarray,
    weights: np.ndarray,
    *,
    origin: str,
    keep_rows: bool = False,
) -> CategoryProblem:
    """Make the scatters of sparse rows of many features without making anything dense.

    Means are given about `center`, as :func:`build_problem` gives them for the features
    ``x - center``; the other parameters are the same.
    """
    chosen = [np.flatnonzero(column) for column in members.T]
    totals = weights @ members
    X = X.tocsr().astype(np.float64)
    means = np.array([weights[own] @ X[own] / totals[k] for k, own in enumerate(chosen)])
    mean = np.asarray(weights @ X).ravel() / weights.sum()
    origins = _origins(origin, means, mean)
    class_rows = tuple(ClassRows(X[own], weights[own], origins[k]) for k, own in enumerate(chosen))
    whole = RowScatters((ClassRows(X, weights, mean),))
    rms = float(np.sqrt(whole.traces()[0] / weights.sum()))
    kept = class_rows if keep_rows else None
    return CategoryProblem(RowScatters(class_rows), kept, means - center, mean - center, rms)


def _origins(origin: str, means: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the o_k, shape (n_classes, n_dims)."""
    return {"global": np.tile(mean, (len(means), 1)), "class": means, "zero": 0 * means}[origin]


def _ridge(alpha: float, variance: float, mean: np.ndarray) -> float:
    """Return alpha times the variance, but no less than rounding leaves of equal features.

    Where the variance is no more than that, nothing is there to be whitened: one.
    """
    least = ROUNDING**2 * float(mean @ mean)
    return max(alpha * variance, least) if variance > least else 1.0


def whitening(S: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Return T and L with S + ridge I = L L^T and T = L^-T: rows times T have covariance one.

    Any such T serves: another turns the axes with it. The triangular one takes a tenth of the
    time of the symmetric root.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.problem import whitening
    >>> whitener, unwhitener = whitening(np.diag([4.0, 9.0]), 0.0)
    >>> whitener.round(3)
    array([[0.5  , 0.   ],
           [0.   , 0.333]])
    """
    identity = np.eye(len(S))
    factor = np.tril(shifted_cholesky(S.copy(), ridge)[0])
    return solve_triangular(factor, identity, lower=True).T, factor


def check_spread(
    problem: CategoryProblem, members: np.ndarray, weights: np.ndarray, classes: np.ndarray
) -> None:
    """Raise a ValueError where a class has no spread about its own mean."""
    spread = problem.scatters.traces() / (weights @ members)
    between = np.sum((problem.class_means - problem.mean) ** 2, axis=1)
    flat = np.flatnonzero(spread <= 1e-13 * (spread.max() + between.max()))
    if flat.size:
        raise ValueError(
            f"origin='class' needs at least two different rows of each class, but class "
            f"{classes.tolist()[flat[0]]!r} has {members[:, flat[0]].sum()} row(s) without any "
            "spread; use origin='global', or drop the class."
        )


def orient(W: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Turn each axis so that the mean of its class is on its positive side.

    The criteria do not see the sign of an axis.
    """
    side = np.einsum("dk,kd->k", W, means)
    largest = np.take_along_axis(W, np.abs(W).argmax(axis=0)[None], axis=0)[0]
    clear = np.abs(side) > 1e-9 * np.linalg.norm(means, axis=1)
    return W * np.where(np.where(clear, side, largest) < 0, -1.0, 1.0)
