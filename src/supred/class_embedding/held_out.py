"""What hidden labels tell: how many neighbours to take, and how sure to be."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from supred.class_embedding.embedding import class_ties
from supred.class_embedding.graph import nearest_of, symmetric_weights
from supred.class_embedding.propagation import auto_flow_beta, flow_from_classes
from supred.class_embedding.tie_search import hide_in_folds

# Labels are hidden where there are this many per class; each trial is one more solve.
LABELS_PER_CLASS = 20
N_FOLDS = 3
NEIGHBORS = (10, 5, 3)
# Without hidden labels: from draws of MNIST, digits, satellite and segmentation.
TEMPERATURE = 0.12
TEMPERATURES = np.geomspace(0.02, 2.0, 25)
# Decisions need no more accuracy.
COARSE = 1e-3


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


def choose_by_hidden_labels(
    graph: sparse.csr_array,
    class_index: np.ndarray,
    weights: np.ndarray,
    epsilon: float | None,
    beta: float | str,
    neighbors: tuple[int, ...],
    random_state: np.random.RandomState,
) -> HeldOut:
    """Hide a third of the labels in turn, and decide on them by flow from the others.

    With fewer than 20 labels per class nothing is hidden, and the first of `neighbors` and a
    fixed temperature are taken.

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
    if np.count_nonzero(class_index >= 0) < LABELS_PER_CLASS * n_classes:
        return HeldOut(neighbors[0], TEMPERATURE, [])
    folds = hide_in_folds(class_index, N_FOLDS, random_state)
    hidden = folds >= 0
    history, best, kept = [], np.inf, np.empty(0)
    chosen = neighbors[0]
    for count in neighbors:
        W = symmetric_weights(nearest_of(graph, count), epsilon)
        v = np.empty((len(folds), n_classes))
        for fold in range(int(folds.max()) + 1):
            C = class_ties(np.where(folds == fold, -1, class_index), weights, n_classes)
            weight = auto_flow_beta(W, C) if isinstance(beta, str) else beta
            flow = flow_from_classes(W, C, weight, tol=COARSE)
            v[folds == fold] = flow.values[folds == fold]
        error = float(np.mean(v[hidden].argmax(axis=1) != class_index[hidden]))
        history.append({"n_neighbors": float(count), "error": error})
        if error < best:
            chosen, best, kept = count, error, v[hidden]
    return HeldOut(chosen, best_temperature(kept, class_index[hidden]), history)


def best_temperature(v: np.ndarray, class_index: np.ndarray) -> float:
    """Return the temperature at which the softmax of `v` has the least log loss."""
    rows = np.arange(len(v))
    losses = [-log_softmax(v / t, axis=1)[rows, class_index].mean() for t in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmin(losses))])
