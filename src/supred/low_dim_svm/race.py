"""Which candidates of a search are judged on which folds: all, or the survivors of a race."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from supred.low_dim_svm.search_fold import Judged

# Fewer candidates are not worth a race; so many are left to be judged on every fold.
FEWEST_TO_RACE, FINALISTS = 10, 3
# A third of the candidates survives a round.
SURVIVORS = 3
# The first round trains on this share of a fold's rows, and on so many at least.
FIRST_SHARE, FIRST_ROWS = 0.25, 300

# Train on the rows with these indices and judge the candidates with these numbers on others.
Judge = Callable[[np.ndarray, np.ndarray, Sequence[int]], Iterator[Judged]]
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Verdicts:
    """What is known of the candidates.

    Attributes
    ----------
    scores : ndarray of shape (n_candidates, n_folds)
        Accuracy on the test rows of each fold; NaN where a candidate was not judged.
    seconds : ndarray of shape (2, n_candidates, n_folds)
        Of the fit and of the scoring.
    first_scores : ndarray of shape (n_candidates,) or None
        Accuracy of the first round, in which some of the rows trained; None without a race.
    """

    scores: np.ndarray
    seconds: np.ndarray
    first_scores: np.ndarray | None

    @property
    def n_folds(self) -> np.ndarray:
        """On how many folds each candidate was judged."""
        return np.isfinite(self.scores).sum(axis=1)


def judge_all(n_candidates: int, splits: Sequence[Split], judge: Judge) -> Verdicts:
    """Judge every candidate on every fold."""
    scores = np.empty((n_candidates, len(splits)))
    seconds = np.empty((2, n_candidates, len(splits)))
    for column, (train, test) in enumerate(splits):
        for row, (score, *spent) in enumerate(judge(train, test, range(n_candidates))):
            scores[row, column], seconds[:, row, column] = score, spent
    return Verdicts(scores, seconds, None)


def race(
    n_candidates: int,
    splits: Sequence[Split],
    class_index: np.ndarray,
    judge: Judge,
    rng: np.random.RandomState,
) -> Verdicts:
    """Drop losers early: successive halving over rows and folds, a third surviving each round.

    The first round trains all candidates on a part of the first fold's rows. Its best third is
    judged on the first fold, the best third of that on the second, until three are left, which
    are judged on every fold. Where the part is all of its rows, that is the first fold's verdict.

    Parameters
    ----------
    n_candidates : int
    splits : sequence of (train, test)
    class_index : ndarray of shape (n_rows,)
    judge : callable
    rng : RandomState
        Draws the rows of the first round.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.race import race
    >>> from supred.low_dim_svm.search_fold import Judged
    >>> def judge(train, test, chosen):  # candidate 7 is the best
    ...     return (Judged(1.0 - abs(k - 7) / 100, 0.0, 0.0) for k in chosen)
    >>> folds = [(np.arange(80), np.arange(80, 90))] * 3
    >>> verdicts = race(27, folds, np.arange(90) % 2, judge, np.random.RandomState(0))
    >>> verdicts.n_folds.tolist().count(0), np.flatnonzero(verdicts.n_folds == 3).tolist()
    (0, [6, 7, 8])
    """
    train, test = splits[0]
    some = _part_of(train, class_index, rng)
    found = np.array(list(judge(some, test, range(n_candidates))))
    first_scores = found[:, 0]
    scores = np.full((n_candidates, len(splits)), np.nan)
    seconds = np.full((2, n_candidates, len(splits)), np.nan)
    left = _best_third(np.arange(n_candidates), first_scores)
    known = int(len(some) == len(train))
    if known:
        scores[:, 0], seconds[:, :, 0] = first_scores, found[:, 1:].T
    for column, (train, test) in enumerate(splits[known:], start=known):
        for row, (score, *spent) in zip(left, judge(train, test, left.tolist()), strict=True):
            scores[row, column], seconds[:, row, column] = score, spent
        left = _best_third(left, scores[left, : column + 1].mean(axis=1))
    return Verdicts(scores, seconds, first_scores)


def _best_third(candidates: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the best third, three at least, in their old order; of equal scores the first."""
    size = max(FINALISTS, -(-len(candidates) // SURVIVORS))
    return np.sort(candidates[np.argsort(-scores, kind="stable")[:size]])


def _part_of(train: np.ndarray, class_index: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return some of the rows, stratified where the classes allow it."""
    size = max(FIRST_ROWS, int(FIRST_SHARE * len(train)))
    counts = np.bincount(class_index[train])
    n_classes = np.count_nonzero(counts)
    if size > len(train) - n_classes or counts[counts > 0].min() < 2:
        return train
    labels = class_index[train]
    part, _ = train_test_split(train, train_size=size, stratify=labels, random_state=rng)
    if len(np.unique(class_index[part])) < n_classes:
        return train
    return np.sort(part)
