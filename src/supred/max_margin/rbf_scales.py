"""One scale per feature of a Gaussian kernel, learned from the SVM dual.

    K(x, x') = exp(-sum_j s_j (x_j - x'_j)^2),    s >= 0, sum_j s_j fixed,

    F(s) = sum_k max over a_k   sum a_k - 1/2 (a_k y_k)^T K (a_k y_k),

the sum of the SVMs' optimal values over the tasks, which share the scales. F prefers ever larger
scales, so their sum is held fixed. The duals are optimal, so the gradient needs none of theirs:

    dF / ds_j = 1/2 sum_k sum_ii' (a_k y_k)_i (a_k y_k)_i' K_ii' (x_ij - x_i'j)^2.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn.svm import SVC

from supred.numerics.kernels import GaussianCenters

# Tolerance of LIBSVM: the gradient at an SVM solution is as good as the solution.
SVM_TOL = 1e-5
# Sufficient decrease of a step, as a fraction of what the gradient promises.
ARMIJO = 1e-4
MAX_HALVINGS = 25
# Iterations over which F must fall by the tolerance.
PATIENCE = 5
# LIBSVM may take for ever on a large C; more steps than this, or this many per row, it never needs.
MOST_STEPS, MOST_STEPS_PER_ROW = 1_000_000, 100


@dataclass(frozen=True)
class KernelSVMs:
    """The SVMs of all tasks on one kernel.

    Attributes
    ----------
    dual_coef : ndarray of shape (n_rows, n_tasks)
        Dual variables times signs.
    intercept : ndarray of shape (n_tasks,)
    objective : float
        F: the sum of the dual objectives.
    solved : bool
        Whether LIBSVM came to an end with every task, one that can be.
    """

    dual_coef: np.ndarray
    intercept: np.ndarray
    objective: float
    solved: bool


@dataclass(frozen=True)
class ScalesResult:
    """Learned scales with their SVMs.

    Attributes
    ----------
    scales : ndarray of shape (n_features,)
    svms : KernelSVMs
    history : dict of lists
        ``objective``, ``train_error`` and ``seconds`` since the start, one entry per iteration.
    stopping_reason : {"converged", "max_iter", "completed"}
        "completed" where no step was found: `message` says why.
    message : str
        Why the solver stopped, in words.
    """

    scales: np.ndarray
    svms: KernelSVMs
    history: dict[str, list[float]]
    stopping_reason: str
    message: str


def scaled_kernel(X: np.ndarray, centers: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return exp(-sum_j s_j (x_j - c_j)^2), shape (n_rows, n_centers)."""
    used = scales > 0
    roots = np.sqrt(scales[used])
    if not used.any():
        return np.ones((len(X), len(centers)))
    return GaussianCenters.of(centers[:, used] * roots).kernel(X[:, used] * roots, 1.0)


def solve_kernel_svms(kernel: np.ndarray, signs: np.ndarray, bounds: np.ndarray) -> KernelSVMs:
    """Solve one SVM per task on a kernel matrix, by LIBSVM.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
    signs : ndarray of shape (n_rows, n_tasks)
        +1, -1, or 0 for a row that is not part of the task.
    bounds : ndarray of shape (n_rows, n_tasks)
        Upper bounds of the dual variables.
    """
    dual_coef = np.zeros(signs.shape)
    intercept = np.zeros(signs.shape[1])
    solved = True
    for k in range(signs.shape[1]):
        own = np.flatnonzero((signs[:, k] != 0) & (bounds[:, k] > 0))
        # LIBSVM's bounds are C times the weights; with C at their mean the weights are near 1.
        C = float(bounds[own, k].mean())
        most = max(MOST_STEPS, MOST_STEPS_PER_ROW * len(own))
        svm = SVC(kernel="precomputed", C=C, tol=SVM_TOL, max_iter=most)
        svm.fit(kernel[np.ix_(own, own)], signs[own, k], sample_weight=bounds[own, k] / C)
        dual_coef[own[svm.support_], k] = svm.dual_coef_[0]
        intercept[k] = svm.intercept_[0]
        solved &= svm.fit_status_ == 0 and int(svm.n_iter_.max()) < most
    objective = np.abs(dual_coef).sum() - 0.5 * np.vdot(dual_coef, kernel @ dual_coef)
    # No maximum of a dual objective is below zero, which it is where nothing is a support vector.
    return KernelSVMs(dual_coef, intercept, float(objective), solved and bool(objective >= 0))


def scales_gradient(X: np.ndarray, kernel: np.ndarray, dual_coef: np.ndarray) -> np.ndarray:
    """Return dF / ds of all features, in O(n_rows^2 n_features).

    With M = K * sum_k (a_k y_k)(a_k y_k)^T (symmetric) and the features centred, the sum over
    pairs is sum_i M_i. x_ij^2 - sum_ii' x_ij M_ii' x_i'j.
    """
    used = np.flatnonzero(np.any(dual_coef != 0, axis=1))
    rows = X[used] - X[used].mean(axis=0)
    M = kernel[np.ix_(used, used)] * (dual_coef[used] @ dual_coef[used].T)
    return M.sum(axis=1) @ rows**2 - np.einsum("ij,ij->j", rows, M @ rows)


def project_to_simplex(values: np.ndarray, total: float) -> np.ndarray:
    """Return the nearest point with s >= 0 and sum s = total."""
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def learn_scales(
    X: np.ndarray,
    signs: np.ndarray,
    bounds: np.ndarray,
    start: np.ndarray,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
) -> ScalesResult:
    """Lower F over the scales with their sum fixed, by projected gradient steps.

    The step lengths are Barzilai and Borwein's, halved until F falls enough, so that F never
    rises.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    signs, bounds : ndarrays of shape (n_rows, n_tasks)
        As in :func:`solve_kernel_svms`.
    start : ndarray of shape (n_features,)
        First scales; they set the sum.
    max_iter : int, default=100
    tol : float, default=1e-3
        Stop when no scales promise to lower F by more than this fraction, to first order, or
        five iterations have not lowered it by that.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.max_margin.rbf_scales import learn_scales
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> signs = np.where(X[:, :1] ** 2 > 0.5, 1.0, -1.0)
    >>> result = learn_scales(X, signs, np.full((60, 1), 10.0), np.full(3, 0.5))
    >>> bool(result.scales[0] > 1.2), round(float(result.scales.sum()), 6)
    (True, 1.5)
    """
    began = perf_counter()
    scales, total = np.array(start, dtype=float), float(start.sum())
    kernel = scaled_kernel(X, X, scales)
    svms = solve_kernel_svms(kernel, signs, bounds)
    gradient = scales_gradient(X, kernel, svms.dual_coef)
    history: dict[str, list[float]] = {"objective": [], "train_error": [], "seconds": []}

    def record() -> None:
        wrong = np.where(kernel @ svms.dual_coef + svms.intercept > 0, 1, -1) != signs
        history["objective"].append(svms.objective)
        history["train_error"].append(float(np.vdot(bounds, wrong) / bounds.sum()))
        history["seconds"].append(perf_counter() - began)

    record()
    # The first step moves the scales by about their mean, wherever the gradient is not nothing.
    nothing = max(total, 1.0) * np.finfo(float).tiny
    length = total / len(scales) / max(float(np.abs(gradient).max()), nothing)
    reason, message = "max_iter", f"max_iter={max_iter} iterations were done"
    for _ in range(max_iter):
        if not svms.solved:
            reason, message = "completed", "LIBSVM does not solve the SVMs; choose a smaller C"
            break
        if stationarity(scales, gradient, total) <= tol * svms.objective:
            reason, message = "converged", f"no step promises more than tol={tol:g}"
            break
        step = project_to_simplex(scales - length * gradient, total) - scales
        slope = float(gradient @ step)
        share = 1.0
        for _ in range(MAX_HALVINGS):
            tried = np.maximum(scales + share * step, 0.0)
            kernel = scaled_kernel(X, X, tried)
            found = solve_kernel_svms(kernel, signs, bounds)
            if found.objective <= svms.objective + ARMIJO * share * slope:
                break
            share *= 0.5
        else:
            # LIBSVM's tolerance hides what is left to gain.
            reason, message = "completed", "no shorter step lowers the objective"
            break
        new_gradient = scales_gradient(X, kernel, found.dual_coef)
        moved, turned = tried - scales, new_gradient - gradient
        curvature = float(moved @ turned)
        length = float(moved @ moved) / curvature if curvature > 0 else 2.0 * length
        scales, svms, gradient = tried, found, new_gradient
        record()
        past = history["objective"][-1 - PATIENCE :]
        if len(past) > PATIENCE and past[0] - past[-1] <= tol * past[-1]:
            reason, message = "converged", f"{PATIENCE} iterations gained less than tol={tol:g}"
            break
    return ScalesResult(scales, svms, history, reason, message)


def stationarity(scales: np.ndarray, gradient: np.ndarray, total: float) -> float:
    """Return how much F could fall, to first order, over the simplex: zero at an optimum.

    max over s' >= 0 with sum s' = total of gradient . (s - s') = gradient . s - total min gradient.
    """
    return float(gradient @ scales - total * gradient.min())
