"""Width of the Gaussians and ridge of the mapping without a search.

The alternation starts from a ridge regression of the class codes. Its leave-one-out errors have a
closed form: one eigendecomposition per width gives those of every ridge, so that four widths and
eighteen ridges cost less than a fit. Where there are many rows or centres, some of them choose.
Few rows cannot tell dozens of settings apart by the number of their errors: rows near the boundary
count in part, and the usual setting stays unless another is clearly better.
A search takes from it which settings are worth a fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from supred.common.arrays import on_host
from supred.common.threads import in_order
from supred.low_dim_svm.mappings.centers import draw_rows
from supred.numerics.kernel_choice import distinct_members
from supred.numerics.kernels import GaussianCenters, gaussians_of, scale_gamma
from supred.numerics.leave_one_out import (
    ROUNDING,
    LeaveOneOutScore,
    RidgePath,
    score_classes,
)
from supred.rows.blocks import rows_of

# Widths that are tried, as multiples of the "scale" rule, and ridges of the regression.
GAMMA_FACTORS = (0.25, 2.0, 4.0, 16.0)
RIDGES = np.logspace(2.5, -6, 18)
# Features of a linear mapping that vary by less in all get ridges that are smaller by as much,
# though not smaller than the second number times the usual ones.
LEAST_SPREAD, LEAST_UNIT = 1e-4, 1e-36
# Places of the usual width, that of scikit-learn's SVC, and ridge, 0.1; they stay unless others are
# better by so many standard errors.
USUAL_WIDTH, USUAL_RIDGE, CLEARLY = 1, 7, 1.5
# Rows whose own class leads by this much count as a quarter of an error, others as more.
LEAD = 0.2
# A search tries the best ridge of a width and those so many places away: ten times and a tenth.
PLACES = (-2, 0, 2)
# At most this many rows and centres choose.
MOST_ROWS, MOST_CENTERS = 1500, 500


@dataclass(frozen=True)
class WidthAndRidge:
    """What was chosen.

    Attributes
    ----------
    gamma : float
    ridge : float
        The shift ``2 alpha / mu`` of the normal equations.
    score : LeaveOneOutScore
        Of the rows that chose.
    doubts : ndarray of shape (n_rows,)
        What each of these rows counts as an error, see :func:`doubts_of`.
    weights : ndarray of shape (n_rows,)
        Their weights.
    """

    gamma: float
    ridge: float
    score: LeaveOneOutScore
    doubts: np.ndarray = field(compare=False, repr=False)
    weights: np.ndarray = field(compare=False, repr=False)

    @property
    def doubt(self) -> float:
        """Mean of the doubts."""
        return float(self.weights @ self.doubts / self.weights.sum())

    def clearly_beats(self, other: "WidthAndRidge") -> bool:
        """Tell whether its doubts are fewer by more than chance, row by row."""
        gains, shares = other.doubts - self.doubts, self.weights / self.weights.sum()
        mean = shares @ gains
        variance = shares @ np.square(gains - mean) * np.square(shares).sum()
        return bool(mean > CLEARLY * np.sqrt(variance))


def choose_width_and_ridge(
    X: Any,
    class_index: np.ndarray,
    weights: np.ndarray,
    centers: np.ndarray | None,
    rng: np.random.RandomState,
    *,
    gamma: float | str = "auto",
    ridge: float | None = None,
) -> WidthAndRidge:
    """Choose by the leave-one-out predictions of ridge regression to one-hot class codes.

    The least doubt is chosen, of equal ones the larger ridge; with Gaussians it must clearly beat
    that of the usual width and ridge.

    Parameters
    ----------
    X : {ndarray, sparse matrix, RowSource} of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    centers : ndarray of shape (n_centers, n_features) or None
        None for a mapping that is linear in the features.
    rng : RandomState
        Draws rows and centres where there are many.
    gamma : "auto", "scale" or float
        Anything but "auto" is taken as it is.
    ridge : float, optional
        The ridge, if only gamma is to be chosen.

    Examples
    --------
    Two classes side by side many times over need narrow Gaussians.

    >>> import numpy as np
    >>> from supred.low_dim_svm.width_and_ridge import choose_width_and_ridge
    >>> X, rng = np.linspace(0, 1, 80)[:, None], np.random.RandomState(0)
    >>> y = (8 * X.ravel()).astype(int) % 2
    >>> found = choose_width_and_ridge(X, y, np.ones(80), X[::2], rng)
    >>> found.gamma > 20, found.score.error < 0.2
    (True, True)
    """
    widths = [1.0] if centers is None else _widths(X, weights, gamma)
    ridges = None if ridge is None else [ridge]
    tried = leave_one_out_scores(X, class_index, weights, centers, rng, widths, ridges)
    best, n_ridges = _best(tried), len(tried) // len(widths)
    if centers is None:  # what is usual depends on the size of the features
        return best
    width, place = min(USUAL_WIDTH, len(widths) - 1), min(USUAL_RIDGE, n_ridges - 1)
    usual = tried[width * n_ridges + place]
    return best if best.clearly_beats(usual) else usual


def _best(tried: Sequence[WidthAndRidge]) -> WidthAndRidge:
    best = tried[0]
    for each in tried:
        best = each if each.doubt < best.doubt * (1.0 - ROUNDING) else best
    return best


def doubts_of(predictions: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return what rows count as errors: near 1 if another class leads by far, near 0 if their own.

    Parameters
    ----------
    predictions : ndarray of shape (n_ridges, n_rows, n_classes)
        Of the class codes.
    members : ndarray of shape (n_rows, n_classes)
        The codes: 1 for the class of the row, else 0.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.width_and_ridge import doubts_of
    >>> doubts_of(np.array([[[0.5, 0.5], [0.1, 0.9]]]), np.eye(2)).round(3)
    array([[0.5  , 0.018]])
    """
    own = (predictions * members).sum(axis=2)
    other = np.where(members > 0, -np.inf, predictions).max(axis=2)
    return expit((other - own) / LEAD)


def worth_a_fit(tried: Sequence[WidthAndRidge]) -> list[WidthAndRidge]:
    """Return the best ridge of each width, and those ten times as large and as small.

    Parameters
    ----------
    tried : sequence of WidthAndRidge
        What :func:`leave_one_out_scores` returned for the usual ridges.
    """
    chosen = []
    for begin in range(0, len(tried), len(RIDGES)):
        of_width = tried[begin : begin + len(RIDGES)]
        best = of_width.index(_best(of_width))
        places = sorted({min(max(best + way, 0), len(RIDGES) - 1) for way in PLACES})
        chosen += [of_width[place] for place in places]
    return chosen


def leave_one_out_scores(
    X: Any,
    class_index: np.ndarray,
    weights: np.ndarray,
    centers: np.ndarray | None,
    rng: np.random.RandomState,
    widths: Sequence[float],
    ridges: Sequence[float] | None,
) -> list[WidthAndRidge]:
    """Return the score of every width with every ridge, by default the usual ones.

    Where a sample of n of the N rows is asked, the usual ridges are multiplied by n / N: more rows
    for the same centres need less of it. Those of tiny features of a linear mapping are smaller.

    Parameters
    ----------
    X, class_index, weights, centers, rng
        As in :func:`choose_width_and_ridge`.
    widths : sequence of float
        Values of gamma, which a linear mapping does not look at.
    ridges : sequence of float or None
    """
    rows, n_rows = rows_of(X), len(class_index)
    some = draw_rows(n_rows, MOST_ROWS, rng) if n_rows > MOST_ROWS else np.arange(n_rows)
    if centers is not None and len(centers) > MOST_CENTERS:
        centers = centers[rng.choice(len(centers), size=MOST_CENTERS, replace=False)]
    taken, share = on_host(rows.take(some)), len(some) / n_rows
    members = np.eye(class_index.max() + 1)[class_index[some]]
    # Copies would predict each other: they are left out together.
    distinct, copies = distinct_members(taken, members > 0)
    taken, members = taken[distinct], members[distinct]
    totals = np.bincount(copies, weights=weights[some])
    shifts = (RIDGES if ridges is None else np.array(ridges) / share).tolist()
    if centers is not None:
        distances = GaussianCenters.of(centers.astype(float)).squared_distances(taken.astype(float))

    def of_width(width: float) -> list[WidthAndRidge]:
        if centers is not None:
            Phi = gaussians_of(distances.copy(), width)
            path = RidgePath.of_features(Phi, members, totals)
        else:
            path = RidgePath.of_gram(_inner_products(taken), members, totals)
        unit = 1.0
        if centers is None and ridges is None and path.spread > 0:
            unit = min(max(path.spread / LEAST_SPREAD, LEAST_UNIT), 1.0)
        tried = [unit * shift for shift in shifts]
        predictions = path.leave_one_out(tried)
        scores = score_classes(predictions, members > 0, totals)
        doubts = doubts_of(predictions, members)
        return [
            WidthAndRidge(float(width), float(shift * share), score, doubt, totals)
            for shift, score, doubt in zip(tried, scores, doubts, strict=True)
        ]

    return [each for tried in in_order(of_width, zip(widths)) for each in tried]


def _inner_products(X: Any) -> np.ndarray:
    """Return X X^T; dense features far from zero are moved there, or they would lose digits."""
    if sparse.issparse(X):
        return (X @ X.T).toarray().astype(float, copy=False)
    moved = X.astype(float) - X.mean(axis=0, dtype=float)
    return moved @ moved.T


def _widths(X: Any, weights: np.ndarray, gamma: float | str) -> list[float]:
    if not isinstance(gamma, str):
        return [float(gamma)]
    scale = scale_gamma(X, weights)
    return [factor * scale for factor in (GAMMA_FACTORS if gamma == "auto" else (1.0,))]
