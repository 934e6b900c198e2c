"""Which candidates of a search are judged on which folds: all, or the survivors of a race."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from supred.low_dim_svm.search_fold import Judged
from supred.numerics.leave_one_out import LeaveOneOutScore

# Fewer candidates are not worth a race; so many are left to be judged on every fold.
FEWEST_TO_RACE, FINALISTS = 10, 3
# A third of the candidates survives a round.
SURVIVORS = 3

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
        Accuracy by leave-one-out, the first round of a race; None without a race.
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


def race(first: Sequence[LeaveOneOutScore], splits: Sequence[Split], judge: Judge) -> Verdicts:
    """Drop losers early: successive halving over folds, a third surviving each round.

    The first round has a closed form and trains nobody. Its best third is judged on the first
    fold, the best third of that on the second, until three are left, which are judged on every
    fold. Equal accuracies are told apart by the first round.

    Parameters
    ----------
    first : sequence of LeaveOneOutScore
        Of each candidate.
    splits : sequence of (train, test)
    judge : callable

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.race import race
    >>> from supred.low_dim_svm.search_fold import Judged
    >>> from supred.numerics.leave_one_out import LeaveOneOutScore
    >>> def judge(train, test, chosen):  # candidate 7 is the best
    ...     return (Judged(1.0 - abs(k - 7) / 100, 0.0, 0.0) for k in chosen)
    >>> folds = [(np.arange(80), np.arange(80, 90))] * 3
    >>> verdicts = race([LeaveOneOutScore(0.1, k / 27) for k in range(27)], folds, judge)
    >>> verdicts.n_folds.tolist().count(0), np.flatnonzero(verdicts.n_folds == 3).tolist()
    (18, [6, 7, 8])
    """
    errors = np.array([[score.error, score.squared_error] for score in first]).round(12)
    standing = np.unique(errors, axis=0, return_inverse=True)[1].ravel()
    scores = np.full((len(first), len(splits)), np.nan)
    seconds = np.full((2, len(first), len(splits)), np.nan)
    left = _best_third(np.arange(len(first)), np.zeros(len(first)), standing)
    for column, (train, test) in enumerate(splits):
        for row, (score, *spent) in zip(left, judge(train, test, left.tolist()), strict=True):
            scores[row, column], seconds[:, row, column] = score, spent
        left = _best_third(left, scores[left, : column + 1].mean(axis=1), standing[left])
    return Verdicts(scores, seconds, 1.0 - errors[:, 0])


def _best_third(candidates: np.ndarray, scores: np.ndarray, standing: np.ndarray) -> np.ndarray:
    """Return the best third, three at least, in their old order; of equal ones the first."""
    size = max(FINALISTS, -(-len(candidates) // SURVIVORS))
    return np.sort(candidates[np.lexsort((standing, -scores.round(12)))[:size]])
