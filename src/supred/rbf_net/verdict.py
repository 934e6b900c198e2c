"""How networks did on held-out rows, and the factor that calibrates their scores."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from supred.common.arrays import cast, place_of

# The criterion is the error plus this much of the log-loss, which is less a matter of chance.
LOG_LOSS_SHARE = 0.2


@dataclass(frozen=True)
class Verdict:
    """How networks did on held-out rows.

    Attributes
    ----------
    error : float
        Share of the weight that is misclassified.
    log_loss : float
        After calibration.
    factor : float
        Factor of the scores that calibrates them.
    """

    error: float
    log_loss: float
    factor: float

    @property
    def merit(self) -> float:
        """What should be small."""
        return self.error + LOG_LOSS_SHARE * self.log_loss


def verdict_of(values: np.ndarray, index: np.ndarray, weights: np.ndarray) -> Verdict:
    """Return error and calibrated log-loss of scores.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_scores)
    index : ndarray of int, shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    """
    full = class_scores(values)
    shares = weights / weights.sum()
    error = float(shares[full.argmax(axis=1) != index].sum())
    factor, log_loss = calibration(full, index, shares)
    return Verdict(error, log_loss, factor)


def class_scores(values: np.ndarray) -> np.ndarray:
    """Return one score per class, of one score in all for two classes."""
    values, place = cast(values, float), place_of(values)
    if values.shape[1] > 1:
        return values
    return place.xp.concatenate([place.xp.zeros_like(values), values], axis=1)


def calibration(full: np.ndarray, index: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Return the factor of all scores with the least log-loss, and that log-loss.

    Scores that were learned until they fit the training rows well are too large, those of
    smoothed labels too small. One factor changes no prediction. The labels are smoothed by about
    one row: without an error among few rows, no factor would be large enough.
    """
    rows = np.arange(len(index))
    doubt = 1.0 / (len(index) + full.shape[1])

    def cost(log_factor: float) -> float:
        logs = log_softmax(np.exp(log_factor) * full, axis=1)
        return -float(shares @ ((1 - doubt) * logs[rows, index] + doubt * logs.mean(axis=1)))

    found = minimize_scalar(cost, bounds=(-4.0, 3.0), method="bounded", options={"xatol": 0.02})
    return float(np.exp(found.x)), float(found.fun)
