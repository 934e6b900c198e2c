"""What a decision rests on: slopes by feature, and the centres that speak loudest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supred.rbf_net.fitted import GaussianNetwork, slopes_through


@dataclass(frozen=True)
class Reasons:
    """See :class:`supred.rbf_net.classifier.Explanation`."""

    winners: np.ndarray
    score_slopes: np.ndarray
    loudest: np.ndarray
    contributions: np.ndarray
    latent_slopes: np.ndarray | None

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Return all but the winners."""
        return self.score_slopes, self.loudest, self.contributions, self.latent_slopes


def explain_rows(
    stages: Sequence[GaussianNetwork],
    coef: np.ndarray,
    intercept: np.ndarray,
    X: np.ndarray,
    *,
    n_loudest: int,
    latent: bool,
) -> Reasons:
    """Return the derivatives of the winning scores and the loudest centres.

    Parameters
    ----------
    stages : sequence of GaussianNetwork
    coef, intercept : ndarrays
        V and b.
    X : ndarray of shape (n_rows, n_features)
    n_loudest : int
    latent : bool
        Whether to add the derivatives of each latent coordinate.
    """
    phi = stages[0].features(X)
    Z = [phi @ stages[0].W + stages[0].w0]
    for stage in stages[1:]:
        Z.append(stage.project_block(Z[-1]))
    values = Z[-1] @ coef.T + intercept
    if values.shape[1] == 1:
        winners = (values[:, 0] > 0).astype(int)
        directions = np.where(winners == 1, 1.0, -1.0)[:, None] * coef
    else:
        winners = values.argmax(axis=1)
        directions = coef[winners]
    # what moves the winning score, seen from the first network's latent coordinates
    inner = directions
    for stage, rows in zip(stages[:0:-1], Z[-2::-1], strict=True):
        inner = stage.slopes(rows, inner)
    parts = (inner @ stages[0].W.T) * phi
    count = min(n_loudest, parts.shape[1])
    loudest = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :count]
    slopes = stages[0].slopes(X, inner, phi)
    latent_slopes = None
    if latent:
        eye = np.eye(Z[-1].shape[1], dtype=X.dtype)
        latent_slopes = np.stack(
            [slopes_through(stages, X, np.broadcast_to(row, Z[-1].shape)) for row in eye], axis=1
        )
    return Reasons(
        winners, slopes, loudest, np.take_along_axis(parts, loudest, axis=1), latent_slopes
    )
