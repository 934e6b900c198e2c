"""Gaussian classes with one covariance: the classifier of linear discriminant analysis."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from supred.numerics.class_scatter import members_of

# Added to the covariance, relative to its trace: a direction may have no spread at all.
LEAST_SPREAD = 1e-9
# Means that leaving out draws in further than this are noise.
LEAST_SHRINKAGE = 1e-4


@dataclass(frozen=True)
class GaussianClasses:
    """Classes of Gaussian shape in latent space, all with the same covariance.

    Attributes
    ----------
    means : ndarray of shape (n_classes, n_components)
    factor : ndarray of shape (n_components, n_components)
        Lower Cholesky factor of the covariance.
    priors : ndarray of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.gaussian_classes import GaussianClasses
    >>> classes = GaussianClasses(np.array([[0.0], [2.0]]), np.eye(1), np.array([0.5, 0.5]))
    >>> classes.scores(np.array([[1.0], [0.0]])).round(3)
    array([[-1.193, -1.193],
           [-0.693, -2.693]])
    """

    means: np.ndarray
    factor: np.ndarray
    priors: np.ndarray

    @classmethod
    def of_rows(
        cls, Z: np.ndarray, class_index: np.ndarray, weights: np.ndarray, means: np.ndarray
    ) -> "GaussianClasses":
        """Measure the covariance about given means, and the priors.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_components)
        class_index, weights : ndarray of shape (n_rows,)
        means : ndarray of shape (n_classes, n_components)
        """
        totals = np.bincount(class_index, weights=weights, minlength=len(means))
        centred = (Z - means[class_index]) * np.sqrt(weights / weights.sum())[:, None]
        covariance = centred.T @ centred
        least = LEAST_SPREAD * float(np.trace(covariance)) or 1.0
        covariance[np.diag_indices_from(covariance)] += least
        return cls(means, cholesky(covariance, lower=True), totals / totals.sum())

    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Return -1/2 (z - m_k)^T S^-1 (z - m_k) + log prior_k, shape (n_rows, n_classes)."""
        rows, means = self._whiten(np.asarray(Z, dtype=float)), self._whiten(self.means)
        squares = np.sum(rows**2, axis=1)[:, None] - 2 * rows @ means.T + np.sum(means**2, axis=1)
        return -0.5 * np.maximum(squares, 0.0) + np.log(self.priors)

    def _whiten(self, Z: np.ndarray) -> np.ndarray:
        return solve_triangular(self.factor, Z.T, lower=True).T

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the classes keep."""
        return [self.means, self.factor, self.priors]


def honest_classes(
    Z: np.ndarray,
    left_out: np.ndarray,
    class_index: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
) -> GaussianClasses:
    """Fit the classes on coordinates that each row has when it is left out.

    The coordinates of training rows lie too near to their class mean, the more the narrower the
    kernel: new rows would be given to a class with far too much confidence. A class that the
    other rows do not find (it may have one row) takes its own mean, drawn in as far as the
    means of all classes are; where leaving out leaves nothing, all is taken as it is.

    Parameters
    ----------
    Z, left_out : ndarray of shape (n_rows, n_components)
        Coordinates of the training rows, and of each by a fit without it.
    class_index, weights : ndarray of shape (n_rows,)
    n_classes : int
    """
    shares = members_of(class_index, n_classes) * weights[:, None]
    totals = shares.sum(axis=0)[:, None]
    own, honest = shares.T @ Z / totals, shares.T @ left_out / totals
    agreement = np.sum(own * honest, axis=1)
    shrinkage = float(totals[:, 0] @ agreement) / max(float(np.sum(totals * own**2)), 1e-300)
    if not (np.isfinite(left_out).all() and shrinkage > LEAST_SHRINKAGE):
        return GaussianClasses.of_rows(Z, class_index, weights, own)
    means = np.where(agreement[:, None] > 0, honest, min(shrinkage, 1.0) * own)
    return GaussianClasses.of_rows(left_out, class_index, weights, means)
