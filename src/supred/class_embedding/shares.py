"""Known shares of the classes: memberships that bring the predicted shares there.

Classes get an offset each, so that the class with the largest membership plus offset wins in as
many rows as its share asks for. Rows then move towards the class that they won, memberships are
smoothed over the graph once more, and offsets are found anew, as in the volume constrained
threshold dynamics of Merriman, Bence and Osher (Jacobs, Merkurjev, Esedoglu 2018; PoissonMBO).
Each round is one implicit step, a linear system of which the solution is near.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from supred.class_embedding.conjugate_gradients import conjugate_gradients

# Pull of a row's own class, in degrees: memberships spread over about 1 / PULL steps of a walk.
PULL = 0.03
MAX_ROUNDS = 10
MAX_SWEEPS = 50
# Stop once this part of the rows, or less, changes its class in a round.
STILL = 1e-3


@dataclass(frozen=True)
class SharedFlow:
    """Memberships whose largest value names each class as often as asked.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_classes)
        Rows sum to one.
    n_iter : int
        Products with the graph.
    rounds : int
    stopping_reason : str
        "converged" or "max_iter".
    """

    values: np.ndarray
    n_iter: int
    rounds: int
    stopping_reason: str


def match_shares(
    W: sparse.csr_array,
    C: sparse.csr_array,
    beta: float,
    values: np.ndarray,
    free: np.ndarray,
    prior: np.ndarray,
    tolerance: float = 0.0,
) -> SharedFlow:
    """Move memberships until the classes win their shares of the rows.

    (beta (L + mu D) + T) u = C^T + beta mu D E,    E the classes won with offsets.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
    C : sparse array of shape (n_classes, n_rows)
    beta : float
    values : ndarray of shape (n_rows, n_classes)
        Memberships to begin with.
    free : ndarray of bool, shape (n_rows,)
        Rows that take part: those with a path to a label.
    prior : ndarray of shape (n_classes,)
        Shares, which sum to one.
    tolerance : float
        See :func:`share_offsets`.
    """
    rows = np.flatnonzero(free)
    edges = (beta * W[rows][:, rows]).tocsr()
    ties = C.T.tocsr()[rows].toarray()
    degrees = np.asarray(edges.sum(axis=1)).ravel()
    pull = PULL * degrees
    diagonal = degrees + pull + ties.sum(axis=1)
    labelled = ties.sum(axis=1) > 0
    classes = np.eye(len(prior))
    u, n_iter, won, reason = values[rows], 0, None, "max_iter"
    rounds = 0
    while rounds < MAX_ROUNDS:
        before, won = won, (u + share_offsets(u, prior, tolerance)).argmax(axis=1)
        won = np.where(labelled, ties.argmax(axis=1), won)
        if before is not None and np.mean(won != before) <= STILL:
            reason = "converged"
            break
        target = classes[won]
        solved = conjugate_gradients(
            edges, diagonal, ties + pull[:, None] * target, start=target, tol=1e-3
        )
        u, n_iter, rounds = solved.values, n_iter + solved.n_iter, rounds + 1
    result = np.array(values)
    u = u + share_offsets(u, prior, tolerance)
    result[rows] = u + (1.0 - u.sum(axis=1, keepdims=True)) / len(prior)
    return SharedFlow(result, n_iter, rounds, reason)


def share_offsets(u: np.ndarray, prior: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
    """Return an offset per class with which each wins its share of the rows.

    One class after the other gets the offset at which it wins as many rows as it should while
    the others keep theirs: the coordinate steps of the dual of the assignment problem.

    Parameters
    ----------
    u : ndarray of shape (n_rows, n_classes)
    prior : ndarray of shape (n_classes,)
    tolerance : float
        Part of its share by which a class may win more or fewer rows.

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
    offsets = np.zeros(n_classes)
    for _ in range(MAX_SWEEPS):
        moved = False
        for k in range(n_classes):
            lead = np.delete(u + offsets, k, axis=1).max(axis=1) - u[:, k]
            wins = int(np.count_nonzero(lead < offsets[k]))
            wanted = int(np.clip(wins, fewest[k], most[k]))
            if abs(wins - wanted) <= slack:
                continue
            offsets[k] = _between(lead, wanted)
            moved = True
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
