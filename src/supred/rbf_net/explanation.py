"""What a decision rests on: slopes by feature, and the centres that speak loudest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supred.rbf_net.fitted import GaussianNetwork


@dataclass(frozen=True)
class Explanation:
    """Why rows were classified as they were.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        The winning class of each row.
    score_slopes : ndarray of shape (n_rows, n_features)
        Derivative of the winning score by feature; with two classes, of the score in favour of
        the winner.
    loudest : ndarray of int, shape (n_rows, n_loudest)
        Centres that speak loudest for or against the winner, the loudest first.
    contributions : ndarray of shape (n_rows, n_loudest)
        What each of them adds to the winning score. For a map, to the first network's part in
        it, to first order.
    latent_slopes : ndarray of shape (n_rows, n_components, n_features) or None
        Derivative of each latent coordinate by feature.
    """

    labels: np.ndarray
    score_slopes: np.ndarray
    loudest: np.ndarray
    contributions: np.ndarray
    latent_slopes: np.ndarray | None


def explain_rows(
    stages: Sequence[GaussianNetwork],
    coef: np.ndarray,
    intercept: np.ndarray,
    classes: np.ndarray,
    X: np.ndarray,
    *,
    n_loudest: int,
    latent: bool,
) -> Explanation:
    """Return the derivatives of the winning scores and the loudest centres.

    Parameters
    ----------
    stages : sequence of GaussianNetwork
    coef, intercept : ndarrays
        V and b.
    classes : ndarray of shape (n_classes,)
    X : ndarray of shape (n_rows, n_features)
    n_loudest : int
    latent : bool
        Whether to add the derivatives of each latent coordinate.
    """
    inputs, coordinates, features = [X], [], []
    for stage in stages:
        coordinates.append(stage.coordinates(inputs[-1]).astype(X.dtype, copy=False))
        features.append(stage.gaussians(coordinates[-1]))
        inputs.append(features[-1] @ stage.W + stage.w0)
    values = inputs[-1] @ coef.T + intercept
    if values.shape[1] == 1:
        winners = (values[:, 0] > 0).astype(int)
        directions = np.where(winners == 1, 1, -1)[:, None].astype(X.dtype) * coef
    else:
        winners = values.argmax(axis=1)
        directions = coef[winners]

    def to_first(towards: np.ndarray) -> np.ndarray:
        """Return directions in the latent space of the first network."""
        for k in range(len(stages) - 1, 0, -1):
            towards = stages[k].slopes(coordinates[k], stages[k].parts(features[k], towards))
        return towards

    inner = to_first(directions)
    parts = stages[0].parts(features[0], inner)
    loudest = _largest(np.abs(parts), min(n_loudest, parts.shape[1]))
    slopes = stages[0].slopes(coordinates[0], parts)
    latent_slopes = None
    if latent:
        n_components = inputs[-1].shape[1]
        each = [
            to_first(np.broadcast_to(row, inputs[-1].shape))
            for row in np.eye(n_components, dtype=X.dtype)
        ]
        latent_slopes = np.stack(
            [
                stages[0].slopes(coordinates[0], stages[0].parts(features[0], towards))
                for towards in each
            ],
            axis=1,
        )
    return Explanation(
        classes[winners], slopes, loudest, np.take_along_axis(parts, loudest, axis=1), latent_slopes
    )


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return where the largest values of each row are, the largest first."""
    if count < values.shape[1]:
        found = np.argpartition(values, values.shape[1] - count, axis=1)[:, -count:]
    else:
        found = np.broadcast_to(np.arange(count), values.shape)
    order = np.argsort(-np.take_along_axis(values, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)
