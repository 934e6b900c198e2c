"""Which rows to label next.

Memberships that are harmonic on the graph are the mean of a Gaussian field with the covariance
K = (beta L + T)^-1: rows far from all labels vary much, and rows close to each other vary
together. A label at row i takes sum_j K_ij^2 / (K_ii + 1) from the variance of all rows. Weighted
by how undecided each row is, that is the gain of the label; rows are chosen one after the other,
each with the field that the ones before leave (V-optimality, Ji and Han, AISTATS 2012).
"""

import numpy as np
from scipy import sparse
from scipy.special import softmax

from supred.class_embedding.conjugate_gradients import conjugate_gradients
from supred.class_embedding.propagation import flow_from_classes

# The field is known by so many draws of it.
N_DRAWS = 64
# Of the flow's memberships, with few labels: by the log loss on other rows of MNIST.
TEMPERATURE = 0.09
# Weights of edges may vanish; one over a degree and its square should be numbers.
LEAST_DEGREE = 1e-150


def suggest_rows(
    W: sparse.csr_array,
    C: sparse.csr_array,
    beta: float,
    probabilities: np.ndarray,
    n_rows: int,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return the unlabelled rows whose labels would help most, the best first.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
    C : sparse array of shape (n_classes, n_rows)
    beta : float
    probabilities : ndarray of shape (n_rows, n_classes)
        Rows are undecided by one minus the lead of the first class over the second.
    n_rows : int
        How many rows to suggest.
    random_state : RandomState
        Draws the field.
    """
    field = draw_field(W, C, beta, random_state)
    top = np.partition(probabilities, -2, axis=1)
    undecided = 1.0 - (top[:, -1] - top[:, -2])
    open_to_choice = np.asarray(C.sum(axis=0)).ravel() == 0
    chosen: list[int] = []
    for _ in range(n_rows):
        variance = np.einsum("ij,ij->i", field, field)
        gains = np.einsum(
            "ij,jk,ik->i", field, field.T @ (undecided[:, None] * field), field, optimize=True
        ) / (variance + 1.0)
        gains[~open_to_choice] = -np.inf
        row = int(np.argmax(gains))
        chosen.append(row)
        open_to_choice[row] = False
        field = condition(field, row)
    return np.array(chosen, dtype=int)


def flow_probabilities(W: sparse.csr_array, C: sparse.csr_array, beta: float) -> np.ndarray:
    """Return what the flow alone says of each row: decisions made since hide where it is weak.

    Parameters
    ----------
    W : sparse array of shape (n_rows, n_rows)
    C : sparse array of shape (n_classes, n_rows)
    beta : float
    """
    return np.asarray(softmax(flow_from_classes(W, C, beta).values / TEMPERATURE, axis=1))


def draw_field(
    W: sparse.csr_array, C: sparse.csr_array, beta: float, random_state: np.random.RandomState
) -> np.ndarray:
    """Return draws x of the field, shape (n_rows, n_draws), scaled so that x x^T estimates K.

    x = (beta L + T)^-1 (B^T z), where z is normal noise on edges and ties and B B^T = beta L + T.
    """
    edges = sparse.triu(W, k=1).tocoo()
    ties = np.asarray(C.sum(axis=0)).ravel()
    degrees = beta * np.asarray(W.sum(axis=1)).ravel()
    noise = random_state.normal(size=(edges.nnz, N_DRAWS)) * np.sqrt(beta * edges.data)[:, None]
    ends = np.concatenate([edges.row, edges.col]), np.tile(np.arange(edges.nnz), 2)
    incidence = sparse.csr_array(
        (np.repeat([1.0, -1.0], edges.nnz), ends), shape=(W.shape[0], edges.nnz)
    )
    # A component without a label would vary without limit: a weak tie everywhere.
    weak = 1e-3 * max(float(degrees.mean()), LEAST_DEGREE)
    total = ties + weak
    right = incidence @ noise
    right += np.sqrt(total)[:, None] * random_state.normal(size=right.shape)
    solved = conjugate_gradients((beta * W).tocsr(), degrees + total, right, tol=1e-2)
    return np.asarray(solved.values / np.sqrt(N_DRAWS))


def condition(field: np.ndarray, row: int) -> np.ndarray:
    """Return draws of the field once a row is labelled with a tie of weight one.

    K - K_i K_i^T / (K_ii + 1) = x (I - g w w^T)^2 x^T with w = x_i and a suitable g.
    """
    direction = field[row]
    variance = float(direction @ direction)
    if variance <= np.finfo(float).tiny:
        return field
    shrink = (1.0 - 1.0 / np.sqrt(1.0 + variance)) / variance
    return np.asarray(field - shrink * np.outer(field @ direction, direction))
