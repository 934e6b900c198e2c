"""What hidden labels tell: how many neighbours to take, how sure to be, how strong ties are.

Some of the labelled rows are treated as unlabelled, and decided on by the others. All trials of
one choice share the search of neighbours.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import logsumexp

from supred.class_embedding.embedding import class_ties
from supred.class_embedding.graph import extension_weights, nearest_of, reach_of, symmetric_weights
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
            v = extension_weights(near, epsilon, reach_of(near)) @ votes
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
    class_index: np.ndarray,
    transduce: Callable[[float, np.ndarray], np.ndarray],
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
) -> tuple[float, list[dict[str, float]]]:
    """Choose the weight of the graph against the ties, by hiding labels.

    Parameters
    ----------
    class_index : ndarray of shape (n_rows,)
        Class of each row, -1 for none.
    transduce : callable
        Makes of a beta and class indices, -1 for none, those of all rows.
    random_state : RandomState
        Which labels are hidden together.
    n_jobs : int or None

    Returns
    -------
    beta : float
        The one with the fewest errors; of several, the one in the middle. 0.1 if no row could
        be hidden.
    history : list of dict
        One entry for each beta tried: beta, seconds, error.
    """
    n_folds = N_FOLDS if len(class_index) <= LARGE else N_FOLDS_LARGE
    folds = hide_in_folds(class_index, n_folds, random_state)
    if folds.max() < 0:
        return DEFAULT_BETA, []
    history = Parallel(n_jobs=n_jobs)(
        delayed(_try)(beta, class_index, folds, transduce) for beta in BETAS
    )
    errors = np.array([entry["error"] for entry in history])
    best = np.flatnonzero(errors == errors.min())
    return BETAS[best[len(best) // 2]], history


def _try(
    beta: float,
    class_index: np.ndarray,
    folds: np.ndarray,
    transduce: Callable[[float, np.ndarray], np.ndarray],
) -> dict[str, float]:
    """Return the error of one beta, and the seconds it took."""
    start = time.perf_counter()
    error = np.mean(wrong_when_hidden(class_index, folds, partial(transduce, beta)))
    return {"beta": beta, "seconds": time.perf_counter() - start, "error": float(error)}


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
    if folds.max() < 0:
        raise ValueError("no class has two labelled rows, of which one could be hidden.")
    wrong = wrong_when_hidden(class_index, folds, transduce)
    share = (wrong.sum() + 1) / (len(wrong) + 2)
    return float(wrong.mean()), float(np.sqrt(share * (1 - share) / len(wrong)))


def wrong_when_hidden(
    class_index: np.ndarray, folds: np.ndarray, transduce: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Tell which labels are not found while their fold is hidden, for all that are hidden once."""
    found = np.full(len(folds), -1)
    for fold in range(int(folds.max()) + 1):
        own = folds == fold
        found[own] = transduce(np.where(own, -1, class_index))[own]
    return (found != class_index)[folds >= 0]


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
