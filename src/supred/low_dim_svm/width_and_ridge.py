"""Width of the Gaussians and ridge of the mapping without a search.

The alternation starts from a ridge regression of the class codes. Its leave-one-out errors have a
closed form: one eigendecomposition per width gives those of every ridge, so that four widths and
eighteen ridges cost less than a fit. Where there are many rows or centres, some of them choose.
A search takes from it which settings are worth a fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arrays import on_host
from supred.common.threads import in_order
from supred.low_dim_svm.mappings.centers import draw_rows
from supred.numerics.kernel_choice import distinct_members
from supred.numerics.kernels import GaussianCenters, gaussians_of, scale_gamma
from supred.numerics.leave_one_out import LeaveOneOutScore, RidgePath
from supred.rows.blocks import rows_of

# Widths that are tried, as multiples of the "scale" rule, and ridges of the regression.
GAMMA_FACTORS = (0.25, 1.0, 4.0, 16.0)
RIDGES = np.logspace(2.5, -6, 18)
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
    """

    gamma: float
    ridge: float
    score: LeaveOneOutScore


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
    """Choose by the leave-one-out error of ridge regression to one-hot class codes.

    Of equal scores the larger ridge is chosen.

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
    return _best(tried)


def _best(tried: Sequence[WidthAndRidge]) -> WidthAndRidge:
    best = tried[0]
    for each in tried:
        best = each if each.score.beats(best.score) else best
    return best


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
    for the same centres need less of it.

    Parameters
    ----------
    X, class_index, weights, centers, rng
        As in :func:`choose_width_and_ridge`.
    widths : sequence of float
        Values of gamma, which a linear mapping does not look at.
    ridges : sequence of float or None
    """
    rows, n_rows = rows_of(X), len(class_index)
    some = np.arange(n_rows)
    if n_rows > MOST_ROWS:
        some = draw_rows(n_rows, MOST_ROWS, rng)
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
        return [
            WidthAndRidge(float(width), float(shift * share), score)
            for shift, score in zip(shifts, path.scores(shifts), strict=True)
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
