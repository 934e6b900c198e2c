"""The g step: train the classifier g on the coordinates Z.

    hinge:   min over w_k, b_k   1/2 ||w_k||^2 + C sum_n s_n max(0, 1 - y_nk (w_k . z_n + b_k))
    log:     min over w, b       1/2 sum_k ||w_k||^2 + C sum_n s_n l(y_n; z_n)

with one problem per SVM for the hinge loss, and the multinomial log-loss l of
:mod:`supred.low_dim_svm.z_step_log`. The coordinates stay in their blocks; both are solved from
sums over the blocks, the SVMs with the help of a few rows near the margins.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from supred.common.arrays import at_least, place_of
from supred.low_dim_svm.z_step_log import class_scores
from supred.numerics.svm_on_device import solve_on_device
from supred.numerics.svm_over_blocks import SVMs, first_survey, solve_over_blocks
from supred.numerics.svm_survey import Survey
from supred.numerics.svm_together import solve_on_rows
from supred.rows.values import RowValues

# Weights w_k and biases b_k: (n_svms, n_components) and (n_svms,).
Parameters = tuple[np.ndarray, np.ndarray]

# Relative duality gap of the SVMs. A coarser one would do for the error, but sums in another order
# (files, a cluster) then lead to models that differ by as much: with 1e-4 by up to 1e-3, with this
# by less than 1e-6.
SVM_TOL = 1e-8
# SVMs of so few rows, and so few numbers together, are solved in one piece.
FEW_ROWS, FEW_NUMBERS = 3000, 2_000_000
# Most steps of the logistic regression.
MAX_ITER = 500


@dataclass(frozen=True)
class Classifier:
    """What a g step found.

    Attributes
    ----------
    parameters : tuple of ndarrays
        Weights and biases.
    objective : float
        The loss on the coordinates, with the regulariser.
    gap : float
        The largest relative duality gap of the SVMs; 0 where there is no certificate.
    """

    parameters: Parameters
    objective: float
    gap: float = 0.0


def hinge_g_step(
    blocks: RowValues,
    n_dimensions: int,
    signs: np.ndarray,
    C: float,
    *,
    start: Parameters | None = None,
    first: Survey | None = None,
    tol: float = SVM_TOL,
    fast: bool = False,
) -> Classifier:
    """Fit one linear SVM per column of `signs` to the coordinates.

    Where the SVM of `start` is better than the new one, which is solved to `tol` only, it stays.

    Parameters
    ----------
    blocks : RowValues
        A :class:`supred.low_dim_svm.visit.BlockRows` for each block.
    n_dimensions : int
        Number of coordinates.
    signs : ndarray of shape (n_classes, n_svms)
        y of each class: +1, -1, or 0 where an SVM does not see its rows.
    C : float
    start : tuple of ndarrays, optional
        Weights and biases of the last g step.
    first : tuple, optional
        The sum of :func:`hinge_look` from `start` over the blocks, if it is at hand.
    tol : float
        Relative duality gap.
    fast : bool
        Use compiled loops where they are there.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.g_step import hinge_g_step
    >>> from supred.low_dim_svm.visit import BlockRows
    >>> from supred.rows.blocks import rows_of
    >>> Z, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> blocks = rows_of(Z).attach(BlockRows, y, np.ones(2), Z)
    >>> found = hinge_g_step(blocks, 1, np.array([[-1], [1]]), C=10.0)
    >>> found.parameters[0].round(6), bool(found.gap <= 1e-8)
    (array([[1.]]), True)
    """
    guess = None if start is None else np.column_stack(start)
    bounded, problem = _Bounded(blocks, C), (signs, n_dimensions)
    n_rows, svms = blocks.rows.n_rows, None
    few = n_rows <= FEW_ROWS and n_rows * signs.shape[1] * n_dimensions <= FEW_NUMBERS
    if few and blocks.place.is_host:
        svms = _solve_few_rows(blocks, signs, C, tol, guess)
        if not (svms.gap <= tol * svms.objective).all():
            guess, svms, first = np.column_stack([svms.coef, svms.intercept]), None, None
    if svms is None and blocks.place.is_host:
        options: dict[str, Any] = {"tol": tol, "start": guess, "fast": fast}
        svms = solve_over_blocks(bounded, *problem, first=first, **options)
    elif svms is None:
        room = blocks.place.block_numbers // 2
        svms = solve_on_device(bounded, *problem, tol=tol, start=guess, most_numbers=room)
    gap = float((svms.gap / np.maximum(svms.objective, 1e-300)).max())
    return Classifier((svms.coef, svms.intercept), float(svms.objective.sum()), gap)


def hinge_look(
    rows: Any, start: Parameters, signs: np.ndarray, C: float, *, fast: bool = False
) -> Survey:
    """Return what a g step that begins at `start` asks of a block first.

    Parameters
    ----------
    rows : BlockRows
        A block with its new coordinates.
    start, signs, C, fast
        Those of :func:`hinge_g_step`.
    """
    guess = np.column_stack(start)
    return _of_block(first_survey, C, rows, guess, np.asarray(signs, dtype=float), fast)


def _solve_few_rows(
    blocks: RowValues, signs: np.ndarray, C: float, tol: float, guess: np.ndarray | None
) -> SVMs:
    """Solve the SVMs in one piece, wherever the blocks are."""
    names = "Z", "class_index", "weights"
    Z, class_index, weights = (blocks.collect(attrgetter(name)) for name in names)
    y = signs[class_index].T.astype(float)
    return solve_on_rows(Z, y, C * weights, tol=tol, start=guess)


@dataclass(frozen=True)
class _Bounded:
    """Blocks as the SVMs ask them: the bounds of the duals are C times the weights."""

    blocks: RowValues
    C: float

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add up over the blocks."""
        return self.blocks.sum(partial(_of_block, function, self.C), *arguments)


def _of_block(function: Callable[..., Any], C: float, rows: Any, *arguments: Any) -> Any:
    return function(rows.first, rows.Z, rows.class_index, C * rows.weights, *arguments)


def log_g_step(
    blocks: RowValues,
    n_dimensions: int,
    n_classes: int,
    C: float,
    *,
    start: Parameters | None = None,
) -> Classifier:
    """Fit a multinomial logistic regression to the coordinates, from `start` if that is given.

    Parameters are those of :func:`hinge_g_step`.
    """
    weight = blocks.sum(_weight)
    shape = (1 if n_classes == 2 else n_classes, n_dimensions + 1)
    first = np.zeros(shape) if start is None else np.column_stack(start)
    # The mean loss and what C leaves of the regulariser are numbers of about one.
    ridge = 1.0 / (C * weight)
    # Weights that a small C keeps small have a unit of their own, or the biases would not move.
    units = np.append(np.full(n_dimensions, 1.0 / np.sqrt(max(ridge, 1.0))), 1.0)

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        v = flat.reshape(shape) * units
        loss, slope = blocks.sum(log_terms, (v[:, :-1], v[:, -1]))
        slope[:, :-1] += weight * ridge * v[:, :-1]
        penalty = 0.5 * ridge * float(np.square(v[:, :-1]).sum())
        return loss / weight + penalty, (slope * units).ravel() / weight

    options = {"maxiter": MAX_ITER, "gtol": 1e-8, "ftol": 64 * np.finfo(float).eps, "maxls": 50}
    found = minimize(value, (first / units).ravel(), jac=True, method="L-BFGS-B", options=options)
    best = found.x.reshape(shape) * units
    return Classifier((best[:, :-1].copy(), best[:, -1].copy()), float(found.fun) / ridge)


def _weight(rows: Any) -> float:
    return float(rows.weights.sum())


def log_terms(rows: Any, parameters: Parameters) -> tuple[float, np.ndarray]:
    """Return ``sum_n s_n l(y_n; z_n)`` of a block and its gradient by (w_k, b_k)."""
    logs = log_softmax(class_scores(rows.Z, *parameters), axis=1)
    some = np.arange(len(logs))
    loss = -float(rows.weights @ logs[some, rows.class_index])
    slope = np.exp(logs)
    slope[some, rows.class_index] -= 1.0
    slope *= rows.weights[:, None]
    if len(parameters[1]) == 1:
        slope = slope[:, 1:]  # the first of two classes has the score 0
    return loss, np.column_stack([slope.T @ rows.Z, slope.sum(axis=0)])


def hinge_slacks(Z: np.ndarray, signs: np.ndarray, parameters: Parameters) -> np.ndarray:
    """Return xi_nk, shape (n_rows, n_svms), 0 where the SVM does not see the row."""
    coef, intercept = parameters
    put = place_of(Z).put
    xi = 1.0 - signs * (Z @ put(coef.T) + put(intercept))
    at_least(xi, 0.0)
    xi *= signs != 0
    return xi
