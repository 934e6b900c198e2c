"""The choice of beta, the weight of the neighbour graph against the ties to the classes.

Some of the labelled rows are treated as unlabelled, the graph is embedded, and the classifier
decides on them. All trials share the neighbour graph; only ties differ.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from supred.class_embedding.embedding import (
    ClassEmbedding,
    TooFewNodesError,
    class_ties,
    embed_with_classes,
)

BETAS = (0.01, 0.03, 0.1, 0.3, 1.0)
DEFAULT_BETA = 0.1
# Each trial solves an eigenproblem: fewer where one takes long.
N_FOLDS, N_FOLDS_LARGE, LARGE = 5, 3, 5000
# Eigenvectors to this relative accuracy give the same decisions.
COARSE = 1e-6

# Given an embedding, the rows to learn from and the rows to decide on: class indices of the latter.
Decide = Callable[[ClassEmbedding, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class BetaSearch:
    """Errors on labelled rows that were hidden, for each beta.

    Attributes
    ----------
    beta : float
        The one with the fewest errors; of several, the one in the middle. 0.1 if no row could
        be hidden.
    betas : ndarray of shape (n_betas,)
    errors : ndarray of shape (n_betas,)
        Part of the hidden rows that was misclassified; NaN if no row could be hidden.
    history : list of dict
        One entry for each beta: beta, seconds, error.
    """

    beta: float
    betas: np.ndarray
    errors: np.ndarray
    history: list[dict[str, float]]


def choose_beta(
    W: sparse.csr_array,
    class_index: np.ndarray,
    weights: np.ndarray,
    n_components: int,
    decide: Decide,
    *,
    random_state: np.random.RandomState,
    betas: Sequence[float] = BETAS,
    n_folds: int | None = None,
    method: str = "auto",
    n_jobs: int | None = None,
) -> BetaSearch:
    """Choose beta by leaving some of the labelled rows out.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
        Symmetric weights of the neighbour graph.
    class_index : ndarray of shape (n_rows,)
        Class of each row, -1 for none.
    weights : ndarray of shape (n_rows,)
        Weight of each row's tie.
    n_components : int
    decide : callable
        ``decide(embedding, learn, test)`` returns the class indices of the rows `test`.
    random_state : RandomState
        Which rows are left out together.
    betas : sequence of float
    n_folds : int or None
        None is 5, and 3 for more than 5000 rows.
    method : str
        See :func:`supred.class_embedding.eigenvectors.leading_eigenvectors`.
    n_jobs : int or None
    """
    if n_folds is None:
        n_folds = N_FOLDS if len(class_index) <= LARGE else N_FOLDS_LARGE
    folds = hide_in_folds(class_index, n_folds, random_state)
    n_folds = int(folds.max()) + 1
    if n_folds == 0:
        errors = np.full(len(betas), np.nan)
        return BetaSearch(DEFAULT_BETA, np.array(betas), errors, [])
    trials = [(beta, fold) for beta in betas for fold in range(n_folds)]
    results = Parallel(n_jobs=n_jobs)(
        delayed(_try)(W, class_index, weights, n_components, decide, beta, folds == fold, method)
        for beta, fold in trials
    )
    wrong = np.array([count for count, _ in results]).reshape(len(betas), n_folds).sum(axis=1)
    seconds = np.array([spent for _, spent in results]).reshape(len(betas), n_folds).sum(axis=1)
    errors = wrong / np.count_nonzero(folds >= 0)
    best = np.flatnonzero(wrong == wrong.min())
    history = [
        {"beta": float(beta), "seconds": float(spent), "error": float(error)}
        for beta, error, spent in zip(betas, errors, seconds, strict=True)
    ]
    chosen = float(betas[best[len(best) // 2]])
    return BetaSearch(chosen, np.array(betas), errors, history)


def hide_in_folds(
    class_index: np.ndarray, n_folds: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Return the fold in which each row's label is hidden, -1 for never.

    The rows of each class are dealt out in random order, so that each fold holds its share of
    each class. A class's only labelled row is never hidden.
    """
    folds = np.full(len(class_index), -1)
    start = 0
    for k in range(class_index.max() + 1):
        members = random_state.permutation(np.flatnonzero(class_index == k))
        if len(members) < 2:
            continue
        # Classes begin at different folds, or small classes would all lie in the first ones.
        folds[members] = (start + np.arange(len(members))) % n_folds
        start += len(members)
    used = np.unique(folds[folds >= 0])
    folds[folds >= 0] = np.searchsorted(used, folds[folds >= 0])
    return folds


def _try(
    W: sparse.csr_array,
    class_index: np.ndarray,
    weights: np.ndarray,
    n_components: int,
    decide: Decide,
    beta: float,
    hidden: np.ndarray,
    method: str,
) -> tuple[int, float]:
    """Return how many hidden rows were misclassified, and the seconds it took."""
    start = time.perf_counter()
    visible = np.where(hidden, -1, class_index)
    C = class_ties(visible, weights, int(class_index.max()) + 1)
    learn, test = np.flatnonzero(visible >= 0), np.flatnonzero(hidden)
    try:
        embedding = embed_with_classes(W, C, beta, n_components, method=method, tol=COARSE)
    except TooFewNodesError:  # the labels left reach too little of the graph, whatever beta is
        return len(test), time.perf_counter() - start
    wrong = int(np.count_nonzero(decide(embedding, learn, test) != class_index[test]))
    return wrong, time.perf_counter() - start
