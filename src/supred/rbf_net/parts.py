"""Which rows are held out of a training: a part, folds, or other parts of the same size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

# Below this many rows, folds take the place of one held-out part.
FOLDED_ROWS, N_FOLDS = 500, 3
# A held-out part has at least this many rows, or this share of the rows.
LEAST_HELD_OUT, MOST_FRACTION = 300, 0.2
# More rows than this tell no more about a candidate.
MOST_HELD_OUT = 10_000
# Fewer places than this, with so many times as many rows that differ in place or class, are those
# of the rows to predict, too: how well some are learned from others tells nothing.
FEW_PLACES, SHARED = 50, 1.5


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
    index: np.ndarray,
    fraction: float,
    rng: np.random.RandomState,
    *,
    folds: bool = True,
    places: np.ndarray | None = None,
) -> tuple[Part, ...]:
    """Return one held-out part, or folds where rows are few, or nothing where they are too few.

    Rows of classes with fewer rows than folds are never held out. The training parts of folds
    have one length. Rows of one place stay together.

    Parameters
    ----------
    index : ndarray of int, shape (n_rows,)
    fraction : float
        Share of the rows to hold out of many.
    rng : RandomState
    folds : bool
        False for one part, however few the rows are.
    places : ndarray of int, shape (n_rows,), optional
        Equal numbers where rows differ in their class only.
    """
    n_places = len(index) if places is None else len(np.unique(places))
    if n_places < FEW_PLACES and len(index) >= SHARED * n_places:
        return ()
    counts = np.bincount(index)
    n_parts = N_FOLDS if folds and len(index) < FOLDED_ROWS else 1
    usable = np.flatnonzero(counts[index] >= max(2, n_parts))
    rare = np.setdiff1d(np.arange(len(index)), usable)
    n_classes = len(np.unique(index[usable]))
    if n_classes < 2:
        return ()
    if n_parts > 1:
        splitter = StratifiedKFold(n_parts, shuffle=True, random_state=rng)
        pairs = splitter.split(usable, index[usable])
        parts = _together([Part(usable[train], usable[held]) for train, held in pairs], places)
        if any(_is_too_small(part, index[usable], index) for part in parts):
            return ()
        shortest = min(len(part.train) for part in parts)
        return tuple(
            Part(np.append(np.sort(rng.permutation(part.train)[:shortest]), rare), part.held_out)
            for part in parts
        )
    least = min(LEAST_HELD_OUT, round(MOST_FRACTION * len(usable)))
    size = max(n_classes, least, round(fraction * len(usable)))
    size = min(size, len(usable) - n_classes)
    train, held = train_test_split(usable, test_size=size, stratify=index[usable], random_state=rng)
    parts = _together([Part(np.sort(np.append(train, rare)), np.sort(held))], places)
    return () if _is_too_small(parts[0], index, index) else tuple(parts)


def _together(parts: list[Part], places: np.ndarray | None) -> list[Part]:
    """Return parts in which the rows of a place go with the first of them.

    A row that is in the training under one label and held out under another would make what is
    learned look worse than nothing.
    """
    if places is None:
        return parts
    _, first, numbers = np.unique(places, return_index=True, return_inverse=True)
    if len(first) == len(places):
        return parts
    result = []
    for part in parts:
        held = np.isin(first, part.held_out)[numbers.ravel()]
        rows = np.sort(np.append(part.train, part.held_out))
        result.append(Part(rows[~held[rows]], rows[held[rows]]))
    return result


def _is_too_small(part: Part, classes: np.ndarray, index: np.ndarray) -> bool:
    return not len(part.held_out) or not np.isin(classes, index[part.train]).all()


def other_parts(
    index: np.ndarray, part: Part, n_parts: int, seed: int, places: np.ndarray | None = None
) -> tuple[Part, ...]:
    """Return parts that hold out as many rows, by class, as a part does, all of them others.

    Parameters
    ----------
    index : ndarray of int, shape (n_rows,)
    part : Part
    n_parts : int
    seed : int
    places : ndarray of int, shape (n_rows,), optional
        As in :func:`split_rows`; a part that would lose a class is left out.
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
    parts = _together([Part(np.setdiff1d(everything, rows), rows) for rows in held], places)
    return tuple(part for part in parts if not _is_too_small(part, index[everything], index))


def held_out_sample(parts: Sequence[Part], rng: np.random.RandomState) -> tuple[Part, ...]:
    """Return the parts with no more held-out rows than tell candidates apart."""
    return tuple(
        Part(part.train, np.sort(rng.permutation(part.held_out)[:MOST_HELD_OUT])) for part in parts
    )
