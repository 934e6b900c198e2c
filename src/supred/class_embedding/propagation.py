"""Flow from the class nodes: membership of every row, from one label per class upwards.

Each class node of the graph W' = [[I, C], [C^T, beta W]] is held at one for its own class and at
zero for the others, and every row takes the weighted mean of its neighbours, class nodes
included. So the memberships u (n x K) solve one sparse symmetric system for all classes,

    (beta L + T) u = C^T,    L = D - W,  T = diag(C^T 1).

With few labels u is almost constant with narrow peaks at the labelled rows, and comparing its
columns would compare these constants, which say nothing. They are taken out, and what is left is
measured in its own spread:

    v_ik = (u_ik - m_k) / s + pi_k,   s^2 = sum_k var_k / sum_k m_k (1 - m_k),

where m_k and var_k are mean and variance of column k over the nodes, weighted by their degrees,
and pi_k is the share of class k. Once labels decide everything, s = 1 and m = pi, so that v = u:
a vote of the neighbours. As beta grows, s v tends to Poisson learning (Calder, Cook, Thorpe,
Slepcev, ICML 2020), in which class nodes are sources and L u_k = sum_i (1[y_i = k] - pi_k).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supred.class_embedding.conjugate_gradients import TINY, conjugate_gradients
from supred.class_embedding.graph import parts_of

# A row's tie to its class, in mean degrees of the graph, is this times the number of labelled
# rows per class. Chosen on draws of MNIST, digits, satellite and segmentation: weak
# ties spread one label far, strong ones trust many labels. Above STRONGEST_TIE nothing changes.
TIE_PER_LABEL = 0.1
STRONGEST_TIE = 10.0
# Ties that are weaker, beside the graph, leave nothing but Poisson learning, and no digits of it.
LEAST_TIE = 1e-9
# A variance below this is rounding.
LEAST_VARIANCE = 1e-18


@dataclass(frozen=True)
class Flow:
    """Memberships of rows in classes.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_classes)
        v above; rows sum to one. The share of each class in components without a label.
    components : ndarray of shape (n_rows,)
        Connected component of the neighbour graph, without class nodes.
    stranded : ndarray of bool, shape (n_rows,)
        Rows of components without a label.
    residual : float
    n_iter : int
        Products with the graph.
    stopping_reason : str
        "converged" or "max_iter".
    """

    values: np.ndarray
    components: np.ndarray
    stranded: np.ndarray
    residual: float
    n_iter: int
    stopping_reason: str


def auto_flow_beta(W: sparse.csr_array, C: sparse.csr_array) -> float:
    """Return the weight of the graph at which ties grow with the labelled rows per class.

    beta = 1 / (min(0.1 m, 10) d), m the labelled rows per class, d the mean degree.
    """
    per_class = max(C.nnz / C.shape[0], 1.0)
    tie = min(TIE_PER_LABEL * per_class, STRONGEST_TIE)
    # Where the kernel is so narrow that the graph has no weight, any beta will do.
    return float(W.shape[0] / (tie * max(W.sum(), np.finfo(float).eps)))


def flow_from_classes(
    W: sparse.csr_array, C: sparse.csr_array, beta: float, **options: Any
) -> Flow:
    """Return the membership v of every row in every class.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
        Symmetric weights of the neighbour graph.
    C : sparse array of shape (n_classes, n_rows)
        Ties between classes and rows.
    beta : float
        Weight of the neighbour graph against the ties.
    **options
        Those of :func:`flows_from_classes`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from supred.class_embedding.propagation import flow_from_classes
    >>> W = sparse.csr_array(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))  # a path
    >>> C = sparse.csr_array(([1.0, 1.0], ([0, 1], [0, 4])), shape=(2, 5))
    >>> flow_from_classes(W, C, beta=1.0).values.argmax(axis=1)[[0, 1, 3, 4]]
    array([0, 0, 1, 1])
    """
    return flows_from_classes(W, [C], [beta], **options)[0]


def flows_from_classes(
    W: sparse.csr_array,
    ties: Sequence[sparse.csr_array],
    betas: Sequence[float],
    *,
    tol: float = 1e-5,
    max_iter: int = 2000,
) -> list[Flow]:
    """Return the flow on one graph for several sets of labels, all in one solve.

    Each system is divided by its beta, so that they differ in the diagonal only:
    (L + T / beta) u = C^T / beta. No beta is larger than needed for Poisson learning.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
    ties : sequence of sparse arrays of shape (n_classes, n_rows)
    betas : sequence of float
    tol : float
        Relative residual at which the solver stops.
    max_iter : int
    """
    degrees = np.asarray(W.sum(axis=1)).ravel()
    components = parts_of(W)
    right = [C.T.toarray() for C in ties]
    at_row = [tied.sum(axis=1) for tied in right]
    shares = [tied.sum(axis=0) / max(tied.sum(), TINY) for tied in right]
    n_classes = len(shares[0])
    least = float(max(LEAST_TIE * degrees.max(), TINY))
    strongest = [float(tied.max()) or np.inf for tied in at_row]
    betas = [min(beta, tie / least) for beta, tie in zip(betas, strongest, strict=True)]
    diagonals = degrees[:, None] + np.column_stack(at_row) / np.asarray(betas)
    # A component without a label begins, and so stays, at the shares.
    solved = conjugate_gradients(
        W,
        diagonals if len(ties) == 1 else np.repeat(diagonals, n_classes, axis=1),
        np.hstack([tied / beta for tied, beta in zip(right, betas, strict=True)]),
        start=np.tile(np.concatenate(shares), (len(degrees), 1)),
        tol=tol,
        max_iter=max_iter,
    )
    flows = []
    for k, tied in enumerate(right):
        u = solved.values[:, k * n_classes : (k + 1) * n_classes]
        stranded = ~np.isin(components, components[at_row[k] > 0])
        # An isolated labelled row has no degree.
        v = by_spread(u, tied, components, degrees + at_row[k])
        v[stranded] = shares[k]
        flows.append(
            Flow(v, components, stranded, solved.residual, solved.n_iter, solved.stopping_reason)
        )
    return flows


def by_spread(
    u: np.ndarray, ties: np.ndarray, components: np.ndarray, degrees: np.ndarray
) -> np.ndarray:
    """Return v = (u - m) / s + pi, each connected component by itself.

    Parameters
    ----------
    u : ndarray of shape (n_rows, n_classes)
    ties : ndarray of shape (n_rows, n_classes)
        Weight of each row's tie to each class.
    components : ndarray of shape (n_rows,)
    degrees : ndarray of shape (n_rows,)
    """
    names, index = np.unique(components, return_inverse=True)
    member = sparse.csr_array(
        (np.ones(len(u)), (index, np.arange(len(u)))), shape=(len(names), len(u))
    )
    volume = np.maximum(member @ degrees, TINY)
    mean = (member @ (degrees[:, None] * u)) / volume[:, None]
    centred = u - mean[index]
    variance = (member @ (degrees * np.einsum("ij,ij->i", centred, centred))) / volume
    most = np.maximum((mean * (1.0 - mean)).sum(axis=1), LEAST_VARIANCE)
    shares = member @ ties
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), TINY)
    # One class alone, or nothing but rounding, is no flow: v = pi.
    still = ((shares > 0).sum(axis=1) <= 1) | (variance <= LEAST_VARIANCE)
    scale = np.where(still, 0.0, np.sqrt(most / np.where(still, 1.0, variance)))
    v = centred * scale[index][:, None] + shares[index]
    return v + (1.0 - v.sum(axis=1, keepdims=True)) / u.shape[1]  # what the solver left
