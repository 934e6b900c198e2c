"""Category space: one axis per class, the axes orthonormal.

Smith and Rangarajan, "A category space approach to supervised dimensionality reduction". W has
shape (n_dims, n_classes) and W^T W = I. The criteria (:mod:`supred.category_space.criteria`) are
all raised by the same step, W <- polar(B), B the gradient at W: the criterion is convex in W, so it
lies above its tangent at the current W, <W, B> plus a constant, and the polar factor of B
maximises that over orthonormal W. So the objective never falls. With more classes than dimensions
W is a tight frame, W W^T = I: the polar factor still maximises the tangent, over the W of spectral
norm one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed

from supred.category_space.criteria import absolute_pull, squared_pull
from supred.numerics.class_scatter import (
    ClassRows,
    Scatters,
    leading_eigenpair,
    polar,
)

# The absolute criterion is rounded off at this fraction of the rms distance to the mean.
SMOOTHING = 1e-3
# A relative rise of the objective below this, this many times in a row, is rounding.
ROUNDING, PATIENCE = 1e-15, 50
# Objectives that differ by less than this, relatively, are the same optimum.
SAME = 1e-9
# Axes this near, by their cosine, to an optimum that is known lead to it.
NEAR = 0.9999


@dataclass(frozen=True)
class CategorySolution:
    """Axes and how they were found.

    Attributes
    ----------
    axes : ndarray of shape (n_dims, n_classes)
        W, with orthonormal columns.
    objective : float
    objectives, residuals, seconds : tuple of float
        The objective, the relative distance to a stationary point and the time since the start
        before each step, and after the last.
    n_iter : int
        Steps taken.
    stopping_reason : {"converged", "max_iter"}
    start : int
        Which start led here; 0 is the one that was computed, the others are random.
    """

    axes: np.ndarray
    objective: float
    objectives: tuple[float, ...]
    residuals: tuple[float, ...]
    seconds: tuple[float, ...]
    n_iter: int
    stopping_reason: str
    start: int = 0

    @property
    def converged(self) -> bool:
        """Whether it stopped because there was nothing left to gain."""
        return self.stopping_reason == "converged"


def greedy_start(scatters: Scatters) -> tuple[np.ndarray, float]:
    """Return the polar factor of the leading eigenvectors of the R_k, and a bound.

    Returns
    -------
    W : ndarray of shape (n_dims, n_classes)
    bound : float
        1/2 sum_k lambda_max(R_k): the objective if each axis were free of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.ascent import greedy_start
    >>> from supred.numerics.class_scatter import MatrixScatters
    >>> R = np.array([np.diag([2.0, 1.0]), np.diag([1.0, 2.0])])
    >>> W, bound = greedy_start(MatrixScatters(R))
    >>> np.abs(W), bound
    (array([[1., 0.],
           [0., 1.]]), 2.0)
    """
    pairs = [leading_eigenpair(scatters, k) for k in range(scatters.n_classes)]
    return polar(np.column_stack([v for _, v in pairs])), 0.5 * sum(value for value, _ in pairs)


def random_start(n_dims: int, n_classes: int, seed: int) -> np.ndarray:
    """Return axes drawn uniformly from all orthonormal ones."""
    return polar(np.random.default_rng(seed).standard_normal((n_dims, n_classes)))


def start_from_rows(classes: Sequence[ClassRows], seed: int) -> np.ndarray:
    """Return the polar factor of random combinations of the rows about their origins.

    Any orthonormal basis of the span of the rows gives the same axes, Q polar(R g) =
    polar(Q R g): with more features than rows, sparse rows as they are and dense ones in the
    coordinates of their span start from the same point.
    """
    rng = np.random.default_rng(seed)
    K = len(classes)
    B = np.zeros((classes[0].rows.shape[1], K))
    for c in classes:
        B += c.pull(rng.standard_normal((len(c.weights), K)))
    return polar(B)


def ascend(
    pull: Callable[[np.ndarray], tuple[float, np.ndarray]],
    W: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    momentum: bool = False,
    known: np.ndarray | None = None,
    start: int = 0,
) -> CategorySolution:
    """Repeat W <- polar(B(W)) (Algorithm 1) until W is stationary.

    Parameters
    ----------
    pull : callable
        Returns the objective and its gradient B at W.
    W : ndarray of shape (n_dims, n_classes)
        Orthonormal axes to start from.
    max_iter : int
    tol : float
        Stop when ||B - W M|| <= tol ||B||, M the symmetric part of W^T B: then B = W M, the
        condition of a stationary point.
    momentum : bool, default=False
        Carry on some of the last step, W <- polar(B + beta (W - W_last) diag(M)), wherever the
        objective does not fall by it; else the plain step is taken, which never lets it fall.
        Where the plain steps are slow this saves up to thirty in thirty-one.
    known : ndarray of shape (n_dims, n_classes), optional
        An optimum; stop when each axis comes within a cosine of 0.9999 of its own, up to sign.
    start : int
        Kept in the result.
    """
    began = perf_counter()
    objectives: list[float] = []
    residuals: list[float] = []
    seconds: list[float] = []
    last, idle, age = W, 0, 0
    objective, B = pull(W)
    while True:
        M = W.T @ B
        M = 0.5 * (M + M.T)
        size = float(np.linalg.norm(B))
        residuals.append(float(np.linalg.norm(B - W @ M)) / size if size else 0.0)
        objectives.append(objective)
        seconds.append(perf_counter() - began)
        n_iter = len(objectives) - 1
        reached = known is not None and (np.abs((W * known).sum(axis=0)) > NEAR).all()
        if residuals[-1] <= tol or idle >= PATIENCE or reached:
            reason = "converged"
        elif n_iter >= max_iter:
            reason = "max_iter"
        else:
            carried = age / (age + 3) * (W - last) * np.diag(M) if momentum else 0.0
            last, W = W, polar(B + carried)
            gradient = B
            objective, B = pull(W)
            age += 1
            if momentum and objective < objectives[-1]:
                W, age = polar(gradient), 1
                objective, B = pull(W)
            idle = idle + 1 if objective - objectives[-1] <= ROUNDING * abs(objective) else 0
            continue
        history = tuple(objectives), tuple(residuals), tuple(seconds)
        return CategorySolution(W, objective, *history, n_iter, reason, start)


@dataclass(frozen=True)
class AscentOptions:
    """How to look for the axes.

    Attributes
    ----------
    n_init : int
        Random starts beside the computed one.
    max_iter, tol
        As in :func:`ascend`.
    seed : int
        Of the random starts.
    n_jobs : int, optional
        Threads that share the starts; the result does not depend on it.
    """

    n_init: int = 5
    max_iter: int = 5000
    tol: float = 1e-6
    seed: int = 0
    n_jobs: int | None = None


DEFAULT_OPTIONS = AscentOptions()
Draw = Callable[[int], np.ndarray]


def solve_squared(
    scatters: Scatters, options: AscentOptions = DEFAULT_OPTIONS, *, draw: Draw | None = None
) -> CategorySolution:
    """Maximise 1/2 sum_k w_k^T R_k w_k over orthonormal W; the best of several starts.

    Parameters
    ----------
    scatters : MatrixScatters or RowScatters
        The R_k.
    options : AscentOptions
    draw : callable, optional
        Makes a random start of a seed; :func:`random_start` if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.ascent import solve_squared
    >>> from supred.numerics.class_scatter import MatrixScatters
    >>> R = np.array([np.diag([4.0, 1.0, 0.0]), np.diag([3.0, 2.0, 0.0])])
    >>> solution = solve_squared(MatrixScatters(R))
    >>> np.abs(solution.axes).round(4)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    >>> round(solution.objective, 8)
    3.0
    """
    W, bound = greedy_start(scatters)
    pull = partial(squared_pull, scatters)
    return best_of(pull, W, options, bound=bound, momentum=True, draw=draw)


def solve_absolute(
    classes: Sequence[ClassRows],
    eps: float,
    W: np.ndarray,
    options: AscentOptions = DEFAULT_OPTIONS,
    *,
    free_origin: bool,
    heuristic: bool = False,
    draw: Draw | None = None,
) -> CategorySolution:
    """Maximise sum_k sum_i v_i sqrt((w_k . x_i - m_k)^2 + eps^2) over orthonormal W.

    Parameters
    ----------
    classes : sequence of ClassRows
        The rows of each class, about the origin where it is fixed.
    eps : float
        Rounds the corner of the absolute value.
    W : ndarray of shape (n_dims, n_classes)
        Start, such as the axes of the squared criterion.
    options, draw
        As in :func:`solve_squared`.
    free_origin : bool
        Whether m_k is the smoothed median of each class; else 0.
    heuristic : bool, default=False
        Take the auxiliary step by the paper's heuristic.
    """
    pull = partial(absolute_pull, classes, eps=eps, free_origin=free_origin, heuristic=heuristic)
    # This criterion is near to piecewise linear: plain steps are few.
    return best_of(pull, W, options, momentum=False, draw=draw)


def best_of(
    pull: Callable[[np.ndarray], tuple[float, np.ndarray]],
    W: np.ndarray,
    options: AscentOptions,
    *,
    bound: float = np.inf,
    momentum: bool,
    draw: Draw | None,
) -> CategorySolution:
    """Ascend from `W` and from random starts; the highest objective wins.

    The random starts are left out where the first has reached the `bound` on the objective.
    """
    climb = partial(ascend, pull, max_iter=options.max_iter, tol=options.tol, momentum=momentum)
    first = climb(W)
    if options.n_init == 0 or first.objective >= bound * (1 - SAME):
        return first
    known = first.axes if first.converged else None
    draw = draw or partial(random_start, W.shape[0], W.shape[1])
    seeds = np.random.SeedSequence(options.seed).generate_state(options.n_init).tolist()
    others = Parallel(n_jobs=options.n_jobs, prefer="threads")(
        delayed(climb)(draw(seed), start=i, known=known) for i, seed in enumerate(seeds, start=1)
    )
    solutions = [first, *others]
    best = max(solution.objective for solution in solutions)
    # Of the starts that end at the same value up to rounding the first wins: on another
    # machine the last digits differ.
    return next(s for s in solutions if s.objective >= best - SAME * abs(best))
