"""What a network is trained on: rows that are shifted and scaled, class indices and weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, train_test_split

from supred.common.arrays import cast, on_host, place_of, type_name
from supred.rows.blocks import RowSource, rows_of, select

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
# Below this many rows, folds take the place of one held-out part.
FOLDED_ROWS, N_FOLDS = 500, 3
# A held-out part has at least this many rows, or this share of the rows.
LEAST_HELD_OUT, MOST_FRACTION = 300, 0.2
# More rows than this tell no more about a candidate.
MOST_HELD_OUT = 10_000
# A column that deviates by less from its mean counts as constant: its factor, times what is
# learned, must be a number in the precision of the rows.
LEAST_DEVIATION = {np.dtype(np.float32): 1e-30, np.dtype(np.float64): 1e-300}
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
    unit = largest if largest > 0 else 1.0
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
    return Scaling.rounded(mean * unit, 1.0 / (deviation * unit))


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
    """

    order: np.ndarray
    weights: np.ndarray


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
    sorted_along, sorted_index = along[order], index[order]
    steps = np.abs(np.diff(sorted_along, axis=0))
    same = (steps <= SAME * np.maximum(1.0, np.abs(sorted_along[1:]))).all(axis=1)
    same &= sorted_index[1:] == sorted_index[:-1]
    first = np.flatnonzero(np.append(True, ~same))
    return DistinctRows(order[first], np.add.reduceat(weights[order], first))


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


@dataclass(frozen=True)
class Part:
    """Rows to train on and rows held out, as indices.

    Attributes
    ----------
    train, held_out : ndarrays of int
    """

    train: np.ndarray
    held_out: np.ndarray


def split_rows(
    index: np.ndarray, fraction: float, rng: np.random.RandomState, *, folds: bool = True
) -> tuple[Part, ...]:
    """Return one held-out part, or folds where rows are few, or nothing where they are too few.

    Rows of classes with fewer rows than folds are never held out. The training parts of folds
    have one length.

    Parameters
    ----------
    index : ndarray of int, shape (n_rows,)
    fraction : float
        Share of the rows to hold out of many.
    rng : RandomState
    folds : bool
        False for one part, however few the rows are.
    """
    counts = np.bincount(index)
    n_parts = N_FOLDS if folds and len(index) < FOLDED_ROWS else 1
    usable = np.flatnonzero(counts[index] >= max(2, n_parts))
    rare = np.setdiff1d(np.arange(len(index)), usable)
    n_classes = len(np.unique(index[usable]))
    if n_classes < 2:
        return ()
    if n_parts > 1:
        splitter = StratifiedKFold(n_parts, shuffle=True, random_state=rng)
        pairs = list(splitter.split(usable, index[usable]))
        shortest = min(len(train) for train, _ in pairs)
        return tuple(
            Part(np.append(usable[np.sort(rng.permutation(train)[:shortest])], rare), usable[held])
            for train, held in pairs
        )
    least = min(LEAST_HELD_OUT, round(MOST_FRACTION * len(usable)))
    size = max(n_classes, least, round(fraction * len(usable)))
    size = min(size, len(usable) - n_classes)
    train, held = train_test_split(usable, test_size=size, stratify=index[usable], random_state=rng)
    return (Part(np.sort(np.append(train, rare)), np.sort(held)),)


def other_parts(index: np.ndarray, part: Part, n_parts: int, seed: int) -> tuple[Part, ...]:
    """Return parts that hold out as many rows, by class, as a part does, all of them others.

    Parameters
    ----------
    index : ndarray of int, shape (n_rows,)
    part : Part
    n_parts : int
    seed : int
    """
    rng = np.random.default_rng((seed, 6))
    everything = np.concatenate([part.train, part.held_out])
    counts = np.bincount(index[part.held_out], minlength=index.max() + 1)
    chosen: list[list[np.ndarray]] = [[] for _ in range(n_parts)]
    for label, count in enumerate(counts):
        rows = rng.permutation(part.train[index[part.train] == label])
        # a class must not lose all of its rows
        count = min(count, (len(rows) - 1) // n_parts)
        for number in range(n_parts):
            chosen[number].append(rows[number * count : (number + 1) * count])
    held = [np.sort(np.concatenate(rows)) for rows in chosen]
    return tuple(Part(np.setdiff1d(everything, rows), rows) for rows in held)


def held_out_sample(parts: Sequence[Part], rng: np.random.RandomState) -> tuple[Part, ...]:
    """Return the parts with no more held-out rows than tell candidates apart."""
    return tuple(
        Part(part.train, np.sort(rng.permutation(part.held_out)[:MOST_HELD_OUT])) for part in parts
    )


def used_rows(X: Any, index: np.ndarray, weights: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the rows of positive weight."""
    used = weights > 0
    if used.all():
        return X, index, weights
    return select(X, np.flatnonzero(used)), index[used], weights[used]
