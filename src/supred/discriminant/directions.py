"""Discriminant directions as maps from rows: linear, or by a kernel and its landmarks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky

from supred.discriminant.kernel_fisher import (
    FisherSolution,
    fisher_of_features,
    fisher_of_kernel,
    left_out_coordinates,
)
from supred.numerics.class_scatter import members_of
from supred.numerics.gaussian_classes import GaussianClasses, honest_classes
from supred.numerics.kernel_basis import LandmarkKernel, distinct_rows, eigenbasis
from supred.numerics.kernel_choice import distinct_members
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

    def merged(self, *, copies: bool = True) -> "Problem":
        """Return the problem without rows of weight zero, and with one row for equal ones.

        With ``copies=False`` (rows of a kernel matrix) equal rows stay.
        """
        # Without weight first: a row that is kept is the first of its equals with weight, as a
        # landmark is.
        rows = np.flatnonzero(self.weights > 0)
        weights = self.weights[rows]
        if copies:
            part = self if len(rows) == len(self.weights) else self.take(rows, weights)
            first, same = distinct_members(part.X, members_of(part.class_index, self.n_classes))
            rows, weights = rows[first], np.bincount(same, weights=weights)
        return self if len(rows) == len(self.weights) else self.take(rows, weights)

    def take(self, rows: np.ndarray, weights: np.ndarray) -> "Problem":
        """Return the problem of some of the rows, with weights of their own."""
        return Problem(self.X[rows], self.class_index[rows], weights, self.n_classes)


@dataclass(frozen=True)
class Discriminant:
    """Directions and where the classes lie along them.

    Attributes
    ----------
    map : LinearMap or KernelMap
    class_means : ndarray of shape (n_classes, n_components)
        Of the training rows.
    classes : GaussianClasses
        What new rows are compared with.
    between_ratio : ndarray of shape (n_components,)
        Share of the (regularised) spread along each direction that lies between the classes.
    """

    map: LatentMap
    class_means: np.ndarray
    classes: GaussianClasses
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
        problem = problem.merged()
        found, solution = linear_directions(problem, alpha)
    else:
        gram = kernel.gram(problem.X)
        problem = problem.merged(copies=kernel.name != "precomputed")
        found, solution = kernel_directions(problem, kernel, gram, alpha)
    found = found.leading(n_components or found.n_components)
    count, class_index, weights = found.n_components, problem.class_index, problem.weights
    shares = members_of(class_index, problem.n_classes) * weights[:, None]
    Z = (solution.targets[class_index] - solution.residuals)[:, :count]
    means = shares.T @ Z / shares.sum(axis=0)[:, None]
    signs = orientation(means)
    left_out = left_out_coordinates(solution, class_index)[:, :count] * signs
    return Discriminant(
        found.along(signs),
        means * signs,
        honest_classes(Z * signs, left_out, class_index, weights, problem.n_classes),
        solution.ratios[:count],
    )


def orientation(means: np.ndarray) -> np.ndarray:
    """Return the signs that put the last of the classes far out on an axis on its positive side.

    Eigenvectors come with any sign; this one does not depend on rounding.
    """
    far = np.abs(means) > 0.5 * np.abs(means).max(axis=0)
    last = len(far) - 1 - np.argmax(far[::-1], axis=0)
    return np.where(np.take_along_axis(means, last[None], axis=0)[0] < 0, -1.0, 1.0)


def linear_directions(problem: Problem, alpha: float) -> tuple[LinearMap, FisherSolution]:
    """Solve in the space of the features, or of the rows where these are fewer."""
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
    return LinearMap(np.ascontiguousarray(solution.axes.T), center), solution


def kernel_directions(
    problem: Problem, kernel: LandmarkKernel, gram: np.ndarray, alpha: float
) -> tuple[KernelMap, FisherSolution]:
    """Solve on the kernel matrix of all rows, or on the features that landmarks span.

    `gram` is the kernel of the landmarks with each other.
    """
    X, K = problem.X, problem.n_classes
    class_index, weights = problem.class_index, problem.weights
    rounding = kernel.rounding(X)
    copies = row_copies(X, kernel)
    if copies is not None:
        if kernel.name != "rbf":  # which can have no negative eigenvalues
            check_definite(gram, rounding)
        whole = gram[np.ix_(copies, copies)]
        solution = fisher_of_kernel(whole, class_index, weights, K, alpha)
        axes = np.zeros((len(gram), solution.axes.shape[1]))
        np.add.at(axes, copies, solution.axes)
    else:
        basis = eigenbasis(gram, rounding=rounding)

        def features(block: Any) -> np.ndarray:
            return kernel(block) @ basis

        n_dims = kernel.n_landmarks
        solution = fisher_of_features(X, features, class_index, weights, K, alpha, n_dims=n_dims)
        axes = basis @ solution.axes
    return KernelMap(kernel, axes, solution.offset), solution


def row_copies(X: Any, kernel: LandmarkKernel) -> np.ndarray | None:
    """Return the landmark that each row equals, or None if some rows are not landmarks."""
    if kernel.n_landmarks == X.shape[0]:
        return np.arange(X.shape[0])
    if kernel.name == "precomputed":
        return None
    first, copies = distinct_rows(X)
    return copies if len(first) == kernel.n_landmarks else None


def check_definite(gram: np.ndarray, rounding: float) -> None:
    """Raise a ValueError if the kernel matrix has negative eigenvalues beyond rounding."""
    lifted = gram + 1e-8 * np.trace(gram) * np.eye(len(gram))
    try:
        cholesky(lifted, lower=True, overwrite_a=True)
    except LinAlgError:
        eigenbasis(gram, rounding=rounding)
