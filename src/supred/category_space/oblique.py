"""Category space with axes that need not be orthogonal: unit vectors whose overlap costs.

The paper names this as future work: "we can also remove the orthogonality assumption".
"""

from time import perf_counter

import numpy as np

from supred.category_space.ascent import DEFAULT_OPTIONS, AscentOptions, CategorySolution
from supred.category_space.criteria import squared_pull
from supred.category_space.decisions import unit_rows
from supred.numerics.class_scatter import Scatters, largest_eigenpair, leading_eigenpair


def solve_oblique(
    scatters: Scatters, penalty: float, W: np.ndarray, options: AscentOptions = DEFAULT_OPTIONS
) -> CategorySolution:
    """Maximise 1/2 sum_k w_k^T R_k w_k - 1/2 lambda sum_{k<l} (w_k . w_l)^2 over unit vectors.

    One axis at a time: given the others, the best w_k is the leading eigenvector of
    R_k - lambda sum_{l != k} w_l w_l^T, so that the objective never falls.

    Parameters
    ----------
    scatters : MatrixScatters or RowScatters
    penalty : float
        lambda, in units of the mean of lambda_max(R_k). With 0 each axis is the leading
        eigenvector of its own class; large penalties make the axes orthogonal.
    W : ndarray of shape (n_dims, n_classes)
        Start.
    options : AscentOptions

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.oblique import solve_oblique
    >>> from supred.numerics.class_scatter import MatrixScatters
    >>> R = np.array([[[2.0, 0.0], [0.0, 1.0]], [[2.0, 0.5], [0.5, 1.0]]])
    >>> overlaps = []
    >>> for penalty in (0.0, 1.0, 100.0):
    ...     w, v = solve_oblique(MatrixScatters(R), penalty, np.eye(2)).axes.T
    ...     overlaps.append(round(abs(float(w @ v)), 2))
    >>> overlaps
    [0.92, 0.23, 0.0]
    """
    began = perf_counter()
    K = scatters.n_classes
    leading = [leading_eigenpair(scatters, k)[0] for k in range(K)]
    strength = penalty * float(np.mean(leading))
    W = unit_rows(W.T).T.copy()  # of more classes than dimensions some may have vanished
    objectives: list[float] = []
    residuals: list[float] = []
    seconds: list[float] = []
    reason = "max_iter"
    for _ in range(options.max_iter + 1):
        last = W.copy()
        overlap = np.triu(W.T @ W, 1)
        value = squared_pull(scatters, W)[0] - 0.5 * strength * float(np.sum(overlap**2))
        objectives.append(value)
        for k in range(K):
            others = np.delete(W, k, axis=1)

            def apply(U: np.ndarray, k: int = k, others: np.ndarray = others) -> np.ndarray:
                return scatters.apply_one(k, U) - strength * (others @ (others.T @ U))

            w = largest_eigenpair(apply, scatters.n_dims)[1]
            W[:, k] = w if w @ last[:, k] >= 0 else -w
        residuals.append(float(np.linalg.norm(W - last)) / np.sqrt(K))
        seconds.append(perf_counter() - began)
        if residuals[-1] <= options.tol:
            reason = "converged"
            break
    history = tuple(objectives), tuple(residuals), tuple(seconds)
    return CategorySolution(last, objectives[-1], *history, len(objectives) - 1, reason)
