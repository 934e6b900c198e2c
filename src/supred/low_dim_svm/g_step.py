"""The g step: train the classifier g on the coordinates Z.

    hinge:   min over w_k, b_k   1/2 ||w_k||^2 + C sum_n s_n max(0, 1 - y_nk (w_k . z_n + b_k))
    log:     min over w, b       1/2 sum_k ||w_k||^2 + C sum_n s_n l(y_n; z_n)

with one problem per SVM for the hinge loss, and the multinomial log-loss l of
:mod:`supred.low_dim_svm.z_step_log`.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from supred.low_dim_svm.z_step_log import class_scores, row_losses
from supred.numerics.linear_svm import solve_linear_svms

# Weights w_k and biases b_k: (n_svms, n_components) and (n_svms,).
Parameters = tuple[np.ndarray, np.ndarray]

# Relative duality gap of the SVMs. A coarser one would do for the error, but sums in another order
# (files, a cluster, threads) then lead to models that differ by as much: with 1e-4 by up to 1e-3,
# with this by less than 1e-6.
SVM_TOL = 1e-8


def hinge_g_step(
    Z: np.ndarray,
    class_index: np.ndarray,
    signs: np.ndarray,
    weights: np.ndarray,
    C: float,
    *,
    start: Parameters | None = None,
    tol: float = SVM_TOL,
    n_jobs: int | None = None,
) -> tuple[Parameters, float]:
    """Fit one linear SVM per column of `signs` to Z.

    Where the SVM of `start` is better than the new one, which is solved to `tol` only, it stays.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
    class_index : ndarray of shape (n_rows,)
        Index of each row's class.
    signs : ndarray of shape (n_rows, n_svms)
        y_nk: +1, -1, or 0 where an SVM does not see the row.
    weights : ndarray of shape (n_rows,)
        s_n.
    C : float
    start : tuple of ndarrays, optional
        Weights and biases of the last g step.
    tol : float
        Relative duality gap.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    parameters : tuple of ndarrays
    gap : float
        The largest relative duality gap of the SVMs.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.g_step import hinge_g_step
    >>> Z, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> (coef, intercept), gap = hinge_g_step(Z, y, np.array([[-1], [1]]), np.ones(2), C=10.0)
    >>> coef.round(6), bool(gap <= 1e-8)
    (array([[1.]]), True)
    """
    rows, row_signs, row_weights = merge_equal_rows(Z, class_index, signs, weights)
    svms = solve_linear_svms(
        rows,
        row_signs,
        C * row_weights,
        tol=tol,
        starts=None if start is None else [(w, float(b)) for w, b in zip(*start, strict=True)],
        n_jobs=n_jobs,
    )
    gap = max(svm.gap / max(svm.objective, 1e-300) for svm in svms)
    new = np.array([svm.coef for svm in svms]), np.array([svm.intercept for svm in svms])
    if start is not None:
        worse = hinge_objectives(Z, signs, weights, C, new) > hinge_objectives(
            Z, signs, weights, C, start
        )
        new[0][worse], new[1][worse] = start[0][worse], start[1][worse]
    return new, gap


def log_g_step(
    Z: np.ndarray,
    class_index: np.ndarray,
    n_classes: int,
    weights: np.ndarray,
    C: float,
    *,
    start: Parameters | None = None,
) -> Parameters:
    """Fit a multinomial logistic regression to Z, from `start` if that is given.

    Parameters are those of :func:`hinge_g_step`.
    """
    classifier = LogisticRegression(C=C, tol=1e-8, max_iter=500, warm_start=True)
    if start is not None:
        classifier.classes_ = np.arange(n_classes)
        classifier.coef_, classifier.intercept_ = (part.copy() for part in start)
    classifier.fit(Z, class_index, sample_weight=weights)
    new = classifier.coef_, classifier.intercept_
    if start is None:
        return new
    better = log_objective(Z, class_index, weights, C, new) <= log_objective(
        Z, class_index, weights, C, start
    )
    return new if better else start


def merge_equal_rows(
    Z: np.ndarray, class_index: np.ndarray, signs: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, signs and weights, one row per class if the rows of each class are equal.

    So they are at the start, when each row is at the code of its class.
    """
    present, first = np.unique(class_index, return_index=True)
    if not np.array_equal(Z, Z[first][np.searchsorted(present, class_index)]):
        return Z, signs, weights
    totals = np.bincount(class_index, weights=weights)[present]
    return Z[first], signs[first], totals


def hinge_slacks(Z: np.ndarray, signs: np.ndarray, parameters: Parameters) -> np.ndarray:
    """Return xi_nk, shape (n_rows, n_svms), 0 where the SVM does not see the row."""
    coef, intercept = parameters
    xi = 1.0 - signs * (Z @ coef.T + intercept)
    np.maximum(xi, 0.0, out=xi)
    xi *= signs != 0
    return xi


def hinge_objectives(
    Z: np.ndarray, signs: np.ndarray, weights: np.ndarray, C: float, parameters: Parameters
) -> np.ndarray:
    """Return the objective of each SVM."""
    losses = weights @ hinge_slacks(Z, signs, parameters)
    return 0.5 * np.square(parameters[0]).sum(axis=1) + C * losses


def log_objective(
    Z: np.ndarray, class_index: np.ndarray, weights: np.ndarray, C: float, parameters: Parameters
) -> float:
    """Return ``1/2 sum_k ||w_k||^2 + C sum_n s_n l(y_n; z_n)``."""
    losses = row_losses(class_scores(Z, *parameters), class_index)
    return float(0.5 * np.square(parameters[0]).sum() + C * (weights @ losses))
