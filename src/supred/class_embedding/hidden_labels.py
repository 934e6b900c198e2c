"""What hidden labels tell: how many neighbours to take, how sure to be, how strong ties are.

Some of the labelled rows are treated as unlabelled, and decided on by the others. All trials of
one choice share the search of neighbours.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import logsumexp

from supred.class_embedding.embedding import (
    Coordinates,
    TooFewNodesError,
    class_ties,
    embed_with_classes,
)
from supred.class_embedding.graph import extension_weights, nearest_of, symmetric_weights
from supred.class_embedding.propagation import auto_flow_beta, flows_from_classes

# Labels are hidden where there are this many per class; each trial is one more solve.
LABELS_PER_CLASS = 20
N_FLOW_FOLDS = 3
NEIGHBORS = (10, 5, 3)
# Without hidden labels: from other rows of MNIST and other draws of digits than the benchmark's.
TEMPERATURE = 0.2
TEMPERATURES = np.geomspace(0.02, 2.0, 25)
# Rows from which a temperature is found.
MOST_ROWS = 2000
# Decisions need no more accuracy.
COARSE_FLOW = 1e-3


BETAS = (0.01, 0.03, 0.1, 0.3, 1.0)
DEFAULT_BETA = 0.1
# Each trial solves an eigenproblem: fewer where one takes long.
N_FOLDS, N_FOLDS_LARGE, LARGE = 5, 3, 5000
# Eigenvectors to this relative accuracy give the same decisions.
COARSE = 1e-6

# Given an embedding, the rows to learn from and the rows to decide on: class indices of the latter.
Decide = Callable[[Coordinates, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class HeldOut:
    """What was chosen.

    Attributes
    ----------
    n_neighbors : int
    temperature : float
        Of the softmax that makes probabilities of memberships.
    history : list of dict
        One entry for each number of neighbours tried: n_neighbors, error.
    """

    n_neighbors: int
    temperature: float
    history: list[dict[str, float]]


def enough_to_hide(class_index: np.ndarray) -> bool:
    """Tell whether there are 20 labels per class, so that some can be hidden."""
    n_classes = int(class_index.max()) + 1
    return bool(np.count_nonzero(class_index >= 0) >= LABELS_PER_CLASS * n_classes)


def choose_by_hidden_labels(
    graph: sparse.csr_array,
    class_index: np.ndarray,
    weights: np.ndarray,
    epsilon: float | None,
    beta: float | str,
    neighbors: tuple[int, ...],
    random_state: np.random.RandomState,
) -> HeldOut:
    """Hide labels, and decide on these rows by the others.

    A third of the labels in turn, by flow. With all rows labelled, one label at a time: the flow
    of the others is then a vote of the neighbours. With fewer than 20 labels per class nothing is
    hidden, and the first of `neighbors` and a fixed temperature are taken.

    Parameters
    ----------
    graph : sparse array of shape (n_rows, n_rows)
        Squared distances to neighbours.
    class_index, weights : ndarray of shape (n_rows,)
    epsilon : float or None
    beta : float or "auto"
    neighbors : tuple of int
        Numbers of neighbours to try. Of equal ones the first wins.
    random_state : RandomState
    """
    n_classes = int(class_index.max()) + 1
    if not enough_to_hide(class_index):
        return HeldOut(neighbors[0], TEMPERATURE, [])
    all_labelled = bool((class_index >= 0).all())
    folds = hide_in_folds(class_index, 1 if all_labelled else N_FLOW_FOLDS, random_state)
    hidden = folds >= 0
    names = range(int(folds.max()) + 1)
    ties = [class_ties(np.where(folds == k, -1, class_index), weights, n_classes) for k in names]
    votes = class_ties(class_index, weights, n_classes).T.toarray()
    history, best, kept = [], np.inf, np.empty(0)
    chosen = neighbors[0]
    for count in neighbors:
        near = nearest_of(graph, count)
        if all_labelled:
            v = extension_weights(near, epsilon) @ votes
        else:
            W = symmetric_weights(near, epsilon)
            betas = [auto_flow_beta(W, C) if isinstance(beta, str) else beta for C in ties]
            flows = flows_from_classes(W, ties, betas, tol=COARSE_FLOW)
            v = np.select([(folds == k)[:, None] for k in names], [f.values for f in flows])
        error = float(np.mean(v[hidden].argmax(axis=1) != class_index[hidden]))
        history.append({"n_neighbors": float(count), "error": error})
        if error < best:
            chosen, best, kept = count, error, v[hidden]
    return HeldOut(chosen, best_temperature(kept, class_index[hidden]), history)


def best_temperature(v: np.ndarray, class_index: np.ndarray) -> float:
    """Return the temperature at which the softmax of `v` has the least log loss.

    Some rows tell it well enough: of more than 2000, those at even distances.
    """
    few = slice(None, None, -(-len(v) // MOST_ROWS))
    scaled = v[few] / TEMPERATURES[:, None, None]
    own = np.take_along_axis(scaled, class_index[few][None, :, None], axis=2)[..., 0]
    losses = (logsumexp(scaled, axis=2) - own).mean(axis=1)
    return float(TEMPERATURES[int(np.argmin(losses))])


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
) -> tuple[float, list[dict[str, float]]]:
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

    Returns
    -------
    beta : float
        The one with the fewest errors; of several, the one in the middle. 0.1 if no row could
        be hidden.
    history : list of dict
        One entry for each beta tried: beta, seconds, error.
    """
    if n_folds is None:
        n_folds = N_FOLDS if len(class_index) <= LARGE else N_FOLDS_LARGE
    folds = hide_in_folds(class_index, n_folds, random_state)
    n_folds = int(folds.max()) + 1
    if n_folds == 0:
        return DEFAULT_BETA, []
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
    return float(betas[best[len(best) // 2]]), history


def error_by_hiding(
    class_index: np.ndarray,
    n_folds: int,
    transduce: Callable[[np.ndarray], np.ndarray],
    random_state: np.random.RandomState,
) -> tuple[float, float]:
    """Return the share of hidden labels that are not found, and its standard error.

    With e errors in n rows the standard error is sqrt(p (1 - p) / n), p = (e + 1) / (n + 2): no
    error in a few rows does not mean none in many.

    Parameters
    ----------
    class_index : ndarray of shape (n_rows,)
        -1 for an unlabelled row.
    n_folds : int
    transduce : callable
        Makes of class indices, -1 for none, those of all rows.
    random_state : RandomState
    """
    folds = hide_in_folds(class_index, n_folds, random_state)
    hidden = folds >= 0
    if not hidden.any():
        raise ValueError("no class has two labelled rows, of which one could be hidden.")
    found = np.full(len(folds), -1)
    for fold in range(int(folds.max()) + 1):
        own = folds == fold
        found[own] = transduce(np.where(own, -1, class_index))[own]
    n_rows, wrong = np.count_nonzero(hidden), np.count_nonzero((found != class_index)[hidden])
    share = (wrong + 1) / (n_rows + 2)
    return wrong / n_rows, float(np.sqrt(share * (1 - share) / n_rows))


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
