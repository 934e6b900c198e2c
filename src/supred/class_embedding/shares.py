"""Decisions that hold together: threshold dynamics with shares of the classes.

The flow decides row by row, and cuts through groups of rows that belong together. Here every row
takes the class that wins among its neighbours, then again, as in the volume constrained threshold
dynamics of Merriman, Bence and Osher (Jacobs, Merkurjev, Esedoglu 2018; PoissonMBO of Calder et
al. 2020): decisions become memberships of 0 and 1, these spread over the graph for a few steps,
and the largest of them, with an offset for each class, is the next decision. The offsets keep the
classes at their shares, without which the large ones would swallow the small.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

# Steps of the walk over which memberships spread between two decisions, and rounds of decisions.
# Chosen on other rows of MNIST and other draws of digits than those of the benchmark.
N_STEPS, MAX_ROUNDS = 5, 40
MAX_SWEEPS = 50
# Stop once this part of the rows, or less, changes its class in a round.
STILL = 4e-3


@dataclass(frozen=True)
class ClassShares:
    """What is known of how frequent the classes are.

    Attributes
    ----------
    prior : ndarray of shape (n_classes,)
        Shares, which sum to one.
    trust : float
        Weight of `prior` against the shares that the flow decided for.
    tolerance : float
        Part of its share by which a class may be predicted more or less often.
    """

    prior: np.ndarray
    trust: float
    tolerance: float

    @classmethod
    def of(cls, class_prior: np.ndarray | str | None, n_classes: int) -> "ClassShares":
        """Return the shares of a parameter `class_prior` that was checked.

        "uniform" is said of classes that are about equally frequent, an array is taken at its
        word, and without either the shares of the flow's decisions stay about as they are.
        """
        uniform = np.full(n_classes, 1.0 / n_classes)
        if class_prior is None:
            return cls(uniform, 0.0, 0.05)
        if isinstance(class_prior, str):
            return cls(uniform, 0.5, 0.1)
        return cls(class_prior, 1.0, 0.0)


def match_shares(
    W: sparse.csr_array,
    C: sparse.csr_array,
    values: np.ndarray,
    free: np.ndarray,
    shares: ClassShares,
) -> tuple[np.ndarray, int]:
    """Decide in rounds: u = (D^-1 W)^5 E, E the classes won with offsets, known labels held.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
    C : sparse array of shape (n_classes, n_rows)
    values : ndarray of shape (n_rows, n_classes)
        Memberships to begin with.
    free : ndarray of bool, shape (n_rows,)
        Rows that take part: those with a path to a label.
    shares : ClassShares

    Returns
    -------
    values : ndarray of shape (n_rows, n_classes)
        Memberships; rows sum to one.
    n_iter : int
        Products with the graph.
    """
    rows = np.flatnonzero(free)
    edges = W if free.all() else W[rows][:, rows]
    degrees = np.maximum(np.asarray(edges.sum(axis=1)).ravel(), np.finfo(float).tiny)
    walk = sparse.csr_array(edges.multiply(1.0 / degrees[:, None]))
    ties = C.T.tocsr()[rows].toarray()
    known = np.flatnonzero(ties.any(axis=1))
    n_classes = ties.shape[1]
    classes = np.eye(n_classes)
    own = ties[known].argmax(axis=1)
    won = values[rows].argmax(axis=1)
    won[known] = own
    decided = np.bincount(won, minlength=n_classes) / max(len(won), 1)
    wanted = shares.trust * shares.prior + (1.0 - shares.trust) * decided
    offsets, n_iter = np.zeros(n_classes), 0
    for _ in range(MAX_ROUNDS):
        u = classes[won]
        for _ in range(N_STEPS):
            u = walk @ u
            u[known] = classes[own]
        n_iter += N_STEPS
        offsets = share_offsets(u, wanted, shares.tolerance, offsets)
        before, won = won, (u + offsets).argmax(axis=1)
        won[known] = own
        if np.mean(won != before) <= STILL:
            break
    result = np.array(values)
    # The class won is the largest value, and new rows take the mean of what their neighbours won.
    result[rows] = 0.5 * (u + classes[won])
    return result, n_iter


def share_offsets(
    u: np.ndarray, prior: np.ndarray, tolerance: float = 0.0, start: np.ndarray | None = None
) -> np.ndarray:
    """Return an offset per class with which each wins its share of the rows.

    One class after the other gets the offset at which it wins as many rows as it should while
    the others keep theirs: the coordinate steps of the dual of the assignment problem.

    Parameters
    ----------
    u : ndarray of shape (n_rows, n_classes)
    prior : ndarray of shape (n_classes,)
    tolerance : float
        Part of its share by which a class may win more or fewer rows.
    start : ndarray of shape (n_classes,) or None
        Offsets to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.class_embedding.shares import share_offsets
    >>> u = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
    >>> (u + share_offsets(u, np.array([0.5, 0.5]))).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    n_rows, n_classes = u.shape
    slack = max(1, n_rows // 1000)
    fewest = np.rint((1.0 - tolerance) * prior * n_rows).astype(int)
    most = np.rint((1.0 + tolerance) * prior * n_rows).astype(int)
    offsets = np.zeros(n_classes) if start is None else np.array(start)
    won = np.bincount((u + offsets).argmax(axis=1), minlength=n_classes)
    if (np.abs(won - np.clip(won, fewest, most)) <= slack).all():
        return offsets  # as most often, from the second round on
    raised = np.ascontiguousarray(u.T) + offsets[:, None]  # a class's values side by side
    for _ in range(MAX_SWEEPS):
        moved = False
        for k in range(n_classes):
            own = raised[k] - offsets[k]
            raised[k] = -np.inf
            lead = raised.max(axis=0) - own
            wins = int(np.count_nonzero(lead < offsets[k]))
            wanted = int(np.clip(wins, fewest[k], most[k]))
            if abs(wins - wanted) > slack:
                offsets[k] = _between(lead, wanted)
                moved = True
            raised[k] = own + offsets[k]
        if not moved:
            break
    return offsets


def _between(values: np.ndarray, count: int) -> float:
    """Return a number that is larger than `count` of the values."""
    if count <= 0:
        return float(values.min()) - 1.0
    if count >= len(values):
        return float(values.max()) + 1.0
    ordered = np.partition(values, [count - 1, count])
    return 0.5 * float(ordered[count - 1] + ordered[count])
