"""Discriminant directions as maps from rows: linear, or by a kernel and its landmarks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky

from supred.discriminant.kernel_fisher import FisherSolution, fisher_of_features, fisher_of_kernel
from supred.numerics.class_scatter import members_of
from supred.numerics.kernel_basis import LandmarkKernel, eigenbasis
from supred.numerics.latent_maps import KernelMap, LatentMap, LinearMap


@dataclass(frozen=True)
class Problem:
    """Rows to discriminate, all checked.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Rows, or their kernel matrix.
    class_index : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    n_classes : int
    """

    X: Any
    class_index: np.ndarray
    weights: np.ndarray
    n_classes: int

    def without_empty_rows(self) -> "Problem":
        """Return the problem without the rows of weight zero."""
        used = self.weights > 0
        if used.all():
            return self
        return Problem(self.X[used], self.class_index[used], self.weights[used], self.n_classes)


@dataclass(frozen=True)
class Discriminant:
    """Directions and where the classes lie along them.

    Attributes
    ----------
    map : LinearMap or KernelMap
    class_means : ndarray of shape (n_classes, n_components)
    priors : ndarray of shape (n_classes,)
        Share of the weight that each class has.
    between_ratio : ndarray of shape (n_components,)
        Share of the (regularised) spread along each direction that lies between the classes.
    """

    map: LatentMap
    class_means: np.ndarray
    priors: np.ndarray
    between_ratio: np.ndarray


def discriminate(
    problem: Problem, kernel: LandmarkKernel | None, alpha: float, n_components: int | None
) -> Discriminant:
    """Find the directions, turn them and measure the classes along them.

    Parameters
    ----------
    problem : Problem
    kernel : LandmarkKernel or None
        None for the features as they are.
    alpha : float
        Ridge, in units of the total variance.
    n_components : int or None
        How many directions to keep; None keeps all.
    """
    found: LatentMap
    if kernel is None:
        found, ratios = linear_directions(problem, alpha)
    else:
        found, ratios = kernel_directions(problem, kernel, alpha)
    found = found.leading(n_components or found.n_components)
    shares = members_of(problem.class_index, problem.n_classes) * problem.weights[:, None]
    totals = shares.sum(axis=0)
    means = shares.T @ found.project(problem.X).astype(np.float64) / totals[:, None]
    signs = orientation(means)
    return Discriminant(
        found.along(signs),
        means * signs,
        totals / totals.sum(),
        ratios[: found.n_components],
    )


def orientation(means: np.ndarray) -> np.ndarray:
    """Return the signs that put the last of the classes far out on an axis on its positive side.

    Eigenvectors come with any sign; this one does not depend on rounding.
    """
    far = np.abs(means) > 0.5 * np.abs(means).max(axis=0)
    last = len(far) - 1 - np.argmax(far[::-1], axis=0)
    return np.where(np.take_along_axis(means, last[None], axis=0)[0] < 0, -1.0, 1.0)


def linear_directions(problem: Problem, alpha: float) -> tuple[LinearMap, np.ndarray]:
    """Solve in the space of the features, or of the rows where these are fewer."""
    problem = problem.without_empty_rows()
    X, K = problem.X, problem.n_classes
    weights, class_index = problem.weights, problem.class_index
    center = np.asarray(weights @ X).ravel() / weights.sum()
    if X.shape[1] <= X.shape[0]:

        def centred(block: Any) -> np.ndarray:
            return (block.toarray() if sparse.issparse(block) else block) - center

        n_dims = X.shape[1]
        solution = fisher_of_features(X, centred, class_index, weights, K, alpha, n_dims=n_dims)
    else:
        # Sparse rows stay where they are: the solver centres their kernel matrix.
        rows = X.astype(np.float64) if sparse.issparse(X) else X - center
        gram = rows @ rows.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        solution = fisher_of_kernel(gram, class_index, weights, K, alpha)
        solution = replace(solution, axes=rows.T @ solution.axes)
    return LinearMap(np.ascontiguousarray(solution.axes.T), center), solution.ratios


def kernel_directions(
    problem: Problem, kernel: LandmarkKernel, alpha: float
) -> tuple[KernelMap, np.ndarray]:
    """Solve on the kernel matrix of all rows, or on the features that landmarks span."""
    gram = kernel.gram(problem.X)
    problem = problem.without_empty_rows()
    X, K = problem.X, problem.n_classes
    rounding = kernel.rounding(X)
    solution: FisherSolution
    if kernel.n_landmarks == X.shape[0]:
        if kernel.name != "rbf":  # which can have no negative eigenvalues
            check_definite(gram, rounding)
        solution = fisher_of_kernel(gram, problem.class_index, problem.weights, K, alpha)
    else:
        basis = eigenbasis(gram, rounding=rounding)
        solution = fisher_of_features(
            X,
            lambda block: kernel(block) @ basis,
            problem.class_index,
            problem.weights,
            K,
            alpha,
            n_dims=kernel.n_landmarks,
        )
        solution = replace(solution, axes=basis @ solution.axes)
    return KernelMap(kernel, solution.axes, solution.offset), solution.ratios


def check_definite(gram: np.ndarray, rounding: float) -> None:
    """Raise a ValueError if the kernel matrix has negative eigenvalues beyond rounding."""
    lifted = gram + 1e-8 * np.trace(gram) * np.eye(len(gram))
    try:
        cholesky(lifted, lower=True, overwrite_a=True)
    except LinAlgError:
        eigenbasis(gram, rounding=rounding)
