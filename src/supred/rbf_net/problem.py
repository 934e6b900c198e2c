"""What a network is trained on: rows that are shifted and scaled, class indices and weights."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arrays import cast, on_host, place_of, type_name
from supred.rows.blocks import Rows, RowSource, rows_of, select

# Rows up to this many numbers (1 GB) are kept in single precision; others are made when needed.
KEPT_NUMBERS = 2**28
# Out-of-core rows are fetched for steps that need up to this many numbers (256 MB).
FETCHED_NUMBERS = 2**26
# Rows on a device are fetched for this many steps at once.
STEPS_ON_DEVICE = 64
# Features are brought to unit variance one by one if fewer than this many, or this share, of them
# carry the variance: one in millimetres among others in metres. Otherwise all by one factor.
LEAST_EFFECTIVE, LEAST_EFFECTIVE_SHARE = 1.5, 0.1
# By one factor too if no more than this share of the numbers differs from zero, as in counts of
# words: unit variance would make the rare ones large. The form of the rows has no say in it.
MOST_FILLED = 0.05
# A column that deviates by less from its mean counts as constant: its factor, times what is
# learned, must be a number in the precision of the rows.
LEAST_DEVIATION = {np.dtype(np.float32): 1e-30, np.dtype(np.float64): 1e-300}
# One over this is a number; rows may be smaller beside a held-out row that is far larger.
SMALLEST = 1e-307
# Scaled rows of a further training are no larger: their squares are numbers in single precision.
MOST_SCALED = 1e18
# Binary digits that shifts and factors are rounded to.
DIGITS = 30
# Scaled rows that differ by less are taken for one.
SAME = 1e-9


@dataclass(frozen=True)
class Scaling:
    """Rows that lie about zero with a mean variance of one: ``(x - shift) * factor``.

    Attributes
    ----------
    shift, factor : ndarrays of shape (n_features,)
    """

    shift: np.ndarray
    factor: np.ndarray

    @classmethod
    def rounded(cls, shift: np.ndarray, factor: np.ndarray) -> "Scaling":
        """Return a scaling to `DIGITS` digits, less than double precision has.

        Sums over other blocks of the same rows differ in their last digits; the models of rows
        in memory, in files and on a cluster should not.
        """
        return cls(_shortened(shift), _shortened(factor))

    def __call__(self, block: Any) -> np.ndarray:
        """Return a block in single precision, dense."""
        return cast(self.exact(block), np.float32)

    def rows_of(self, X: Any) -> Rows:
        """Return the scaled rows, made block by block in each pass."""
        return rows_of(X).derive(self.exact, X.shape[1])

    def exact(self, block: Any) -> np.ndarray:
        """Return a block in the precision of the scaling, dense."""
        dense = block.toarray() if sparse.issparse(block) else block
        place = place_of(dense)
        return (dense - place.put(self.shift)) * place.put(self.factor)


def _shortened(values: np.ndarray) -> np.ndarray:
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2.0**DIGITS), exponent - DIGITS)


def scaling_of(X: Any, weights: np.ndarray) -> Scaling:
    """Return the scaling that suits rows, computed so that nothing overflows.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource
    weights : ndarray of shape (n_rows,)
    """
    rows = rows_of(X)
    largest = float(np.max(on_host(rows.map(_largest))))
    unit = max(largest, SMALLEST) if largest > 0 else 1.0
    shares = weights / weights.sum()
    sums, filled = rows.sum(partial(_weighted_sums, unit=unit), shares)
    mean = on_host(sums)
    variance = on_host(rows.sum(partial(_weighted_squares, unit=unit, mean=mean), shares))
    # what is left of a constant column by rounding
    variance = np.where(variance > 1e-20 * np.square(mean), variance, 0.0)
    total = float(variance.sum())
    if total <= 0:
        return Scaling.rounded(mean * unit, np.full(len(mean), 1.0 / unit))
    # the number of features of equal variance that would be as uneven
    effective = 1.0 / float(np.square(variance / total).sum())
    least = max(LEAST_EFFECTIVE, LEAST_EFFECTIVE_SHARE * len(variance))
    deviation = np.sqrt(variance)
    typical = float(np.sqrt(total / np.count_nonzero(variance)))
    few_numbers = float(filled) < MOST_FILLED * len(mean)
    if few_numbers or effective >= min(least, len(variance)):
        deviation = np.full(len(mean), typical)
    least_deviation = LEAST_DEVIATION[np.dtype(type_name(X))] / unit
    deviation = np.where(deviation > least_deviation, deviation, typical)
    # what rounding leaves of a mean must not become large beside columns that are far smaller
    deviation = np.maximum(deviation, 2.0**-DIGITS * np.abs(mean))
    return Scaling.rounded(mean * unit, 1.0 / np.maximum(deviation * unit, SMALLEST))


def check_scaled(X: Any, scaling: Scaling) -> None:
    """Raise an error if rows lie too far from those that a scaling was made of.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource
    scaling : Scaling
    """
    largest = float(np.max(on_host(rows_of(X).map(partial(_largest_scaled, scaling=scaling)))))
    if not largest < MOST_SCALED:
        raise ValueError(
            f"the rows hold numbers that lie {largest:.2g} times further from the mean of a column "
            "than those of the training; give rows of a similar size, or fit anew."
        )


def _largest_scaled(block: Any, *, scaling: Scaling) -> Any:
    return _largest(scaling.exact(block))


def _largest(block: Any) -> Any:
    if sparse.issparse(block):
        return np.asarray(abs(block).max(axis=1).toarray(), dtype=float).reshape(-1, 1)
    xp = place_of(block).xp
    return cast(xp.max(xp.abs(block), axis=1), float).reshape(-1, 1)


def _weighted_sums(block: Any, shares: np.ndarray, *, unit: float) -> tuple[np.ndarray, Any]:
    """Return the sum of a block's rows, and how many numbers of them are not zero."""
    if sparse.issparse(block):
        filled = np.asarray((block != 0).sum(axis=1)).ravel()
    else:
        filled = place_of(block).xp.sum(block != 0, axis=1)
    return shares @ _in_units(block, unit), shares @ cast(filled, float)


def _weighted_squares(
    block: Any, shares: np.ndarray, *, unit: float, mean: np.ndarray
) -> np.ndarray:
    block = _in_units(block, unit)
    if sparse.issparse(block):
        # no difference of large sums: what is constant has a variance of nothing in this form too
        stored = block.tocsr(copy=True)
        counts = np.bincount(stored.indices, minlength=len(mean))
        stored.data = np.ones_like(stored.data)
        rest = np.where(counts < len(shares), shares.sum() - shares @ stored, 0.0)
        stored.data = np.square(block.tocsr().data - mean[stored.indices])
        return np.asarray(shares @ stored) + rest * np.square(mean)
    place = place_of(block)
    return shares @ place.xp.square(block - place.put(mean))


def _in_units(block: Any, unit: float) -> Any:
    return cast(block, float) / unit


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a table, in an order that depends on what they hold alone.

    Whatever is drawn from them does not depend on copies, on the order of the rows or on where
    they live: a weight k is the same as k copies.

    Attributes
    ----------
    order : ndarray of int
        Where each of them comes first.
    weights : ndarray
        Sum of the weights of each one's copies.
    places : ndarray of int
        Equal numbers where two differ in their class only.
    """

    order: np.ndarray
    weights: np.ndarray
    places: np.ndarray


def distinct_rows(X: Any, index: np.ndarray, weights: np.ndarray, scaling: Scaling) -> DistinctRows:
    """Find rows that are equal, class and all, and order the different ones.

    Rows are ordered by class, then along a fixed random direction. Rows that were read in other
    blocks, or prepared by sums over them, differ in their last digits; those move a row along the
    direction by no more, so that the order stays. (An order by a hash of the bits would not.) Two
    rows are equal if they agree along this direction and another to more digits than single
    precision has.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource
    index, weights : ndarrays of shape (n_rows,)
    scaling : Scaling
    """
    directions = np.random.default_rng(0).standard_normal((X.shape[1], 2))
    along = on_host(rows_of(X).map(partial(_along, scaling=scaling, directions=directions)))
    order = np.lexsort((along[:, 0], index))
    sorted_index = index[order]
    other = _differ(along[order]) | (sorted_index[1:] != sorted_index[:-1])
    first = np.flatnonzero(np.append(True, other))
    along = along[order[first]]
    by_place, places = np.argsort(along[:, 0], kind="stable"), np.zeros(len(first), dtype=int)
    places[by_place[1:]] = np.cumsum(_differ(along[by_place]))
    return DistinctRows(order[first], np.add.reduceat(weights[order], first), places)


def _differ(along: np.ndarray) -> np.ndarray:
    """Tell which rows differ from those before them."""
    steps = np.abs(np.diff(along, axis=0))
    return (steps > SAME * np.maximum(1.0, np.abs(along[1:]))).any(axis=1)


def _along(block: Any, *, scaling: Scaling, directions: np.ndarray) -> np.ndarray:
    """Return scaled rows along directions, shape (n_rows, n_directions)."""
    if sparse.issparse(block):
        scaled = scaling.factor[:, None] * directions
        return np.asarray(block @ scaled) - scaling.shift @ scaled
    put = place_of(block).put
    return ((block - put(scaling.shift)) * put(scaling.factor)) @ put(directions)


class Table:
    """Rows, scaled and in single precision, with class indices and weights.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource
    index : ndarray of int, shape (n_rows,)
        Class indices.
    weights : ndarray of shape (n_rows,)
        Positive.
    n_classes : int
    scaling : Scaling
    distinct : DistinctRows, optional
        The rows to look at, in which order, and their weights; by default all, as they are.
    """

    def __init__(
        self,
        X: Any,
        index: np.ndarray,
        weights: np.ndarray,
        n_classes: int,
        scaling: Scaling,
        distinct: DistinctRows | None = None,
    ) -> None:
        self.X, self.n_classes, self.scaling, self.distinct = X, n_classes, scaling, distinct
        self.order = np.arange(len(index)) if distinct is None else distinct.order
        self.index = index[self.order]
        self.places = None if distinct is None else distinct.places
        weights = weights if distinct is None else distinct.weights
        # divided by the largest first: the sum of the largest numbers would overflow
        weights = weights / weights.max()
        self.weights = (weights / weights.mean()).astype(np.float32)
        self.n_rows, self.n_features = len(self.order), X.shape[1]
        self.place = rows_of(X).place
        self._kept: Any = None
        small = X.shape[0] * X.shape[1] <= KEPT_NUMBERS
        if small and (not isinstance(X, RowSource) or X.keeps_blocks):
            self._kept = self.place.put(rows_of(X).map(scaling))

    def steps_at_once(self, batch: int) -> int:
        """Return for how many steps rows should be fetched together."""
        if self._kept is not None or not isinstance(self.X, RowSource):
            return 1 if self.place.is_host else STEPS_ON_DEVICE
        return max(1, FETCHED_NUMBERS // (batch * self.n_features))

    def take(self, chosen: np.ndarray) -> Any:
        """Return rows where they are, in single precision, one more axis than `chosen` has."""
        chosen = self.order[chosen]
        if self._kept is not None:
            return self._kept[self.place.put(chosen)]
        unique, places = np.unique(chosen, return_inverse=True)
        rows = self.scaling(rows_of(self.X).take(unique))
        return rows[self.place.put(places.ravel())].reshape(*chosen.shape, self.n_features)


def used_rows(X: Any, index: np.ndarray, weights: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the rows of positive weight."""
    used = weights > 0
    if used.all():
        return X, index, weights
    return select(X, np.flatnonzero(used)), index[used], weights[used]
