"""Which basis functions a mapping can spare."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve


@dataclass(frozen=True)
class Pruned:
    """What is left of a mapping.

    Attributes
    ----------
    kept : ndarray of int
        Basis functions that stay, in their old order.
    W : ndarray of shape (n_kept, n_components)
        Their weights, which make up for the others as well as they can.
    shift : ndarray of shape (n_components,)
        What the intercept must gain for the mean to stay.
    cost : float
        What the squared error of the scores has gained.
    """

    kept: np.ndarray
    W: np.ndarray
    shift: np.ndarray
    cost: float


def prune_basis(
    phi: np.ndarray,
    weights: np.ndarray,
    W: np.ndarray,
    coef: np.ndarray,
    n_keep: int,
    *,
    ridge: float = 1e-4,
) -> Pruned:
    """Take away basis functions one by one, each time the one that costs least.

    With ``H = (Phi^T S Phi + shift I)^-1``, Phi centred, taking m away and refitting the rest to
    what F was raises the squared error of the scores V F by ``||V w_m||^2 / H_mm``; the new
    weights are ``W - H_:m w_m / H_mm`` and the new inverse ``H - H_:m H_m: / H_mm``. (B. Hassibi
    and D. G. Stork, "Second order derivatives for network pruning", 1993.)

    Parameters
    ----------
    phi : ndarray of shape (n_rows, n_basis)
        Values of the basis functions.
    weights : ndarray of shape (n_rows,)
        s_n.
    W : ndarray of shape (n_basis, n_components)
    coef : ndarray of shape (n_scores, n_components)
        V.
    n_keep : int
    ridge : float
        shift per unit of weight.

    Examples
    --------
    Of two equal basis functions one can go at no cost.

    >>> import numpy as np
    >>> from supred.rbf_net.pruning import prune_basis
    >>> phi = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [2.0, 2.0, 5.0]])
    >>> found = prune_basis(phi, np.ones(3), np.ones((3, 1)), np.eye(1), 2, ridge=1e-9)
    >>> len(found.kept), found.W.round(3).ravel()
    (2, array([2., 1.]))
    """
    phi = np.asarray(phi, dtype=float)
    total = float(weights.sum())
    mean = weights @ phi / total
    centred = phi - mean
    gram = (centred * weights[:, None]).T @ centred
    gram[np.diag_indices_from(gram)] += ridge * total
    inverse = cho_solve(cho_factor(gram), np.eye(len(gram)))
    metric = coef.T @ coef
    W = np.array(W, dtype=float)
    before = mean @ W
    left = np.ones(len(W), dtype=bool)
    cost = 0.0
    for _ in range(len(W) - n_keep):
        costs = np.full(len(W), np.inf)
        costs[left] = np.einsum("mi,ij,mj->m", W[left], metric, W[left]) / inverse.diagonal()[left]
        m = int(np.argmin(costs))
        cost += float(costs[m])
        column = inverse[:, m] / inverse[m, m]
        W -= np.outer(column, W[m])
        inverse -= np.outer(column, inverse[m])
        left[m] = False
        W[m] = 0.0
    kept = np.flatnonzero(left)
    return Pruned(kept, W[kept], before - mean[kept] @ W[kept], cost)
