"""The parts of MaxMarginProjection with kernel="rbf-diagonal".

Its SVMs are LIBSVM's, not the g step of :mod:`supred.numerics.linear_svm`: that one works on rows
of few dimensions, and a kernel SVM needs a solver that works on the kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold, StratifiedKFold

from supred.common.splits import given_splits
from supred.max_margin.rbf_scales import KernelSVMs, ScalesResult, learn_scales, scaled_kernel
from supred.max_margin.tasks import TaskProblem
from supred.numerics.kernels import scale_gamma

# gamma="cv" tries these multiples of gamma="scale".
CV_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class FittedScales:
    """Scales of all features and the SVMs on those that are kept."""

    scales: np.ndarray
    features: np.ndarray
    svms: KernelSVMs
    history: dict[str, list[float]]
    stopping_reason: str
    message: str


def fit_scales(
    X: np.ndarray,
    signs: np.ndarray,
    bounds: np.ndarray,
    gamma: float,
    *,
    n_features: int,
    max_iter: int,
    tol: float,
) -> FittedScales:
    """Learn the scales, keep the features with the largest ones and learn theirs again.

    The sum of the scales is gamma times the number of all features, before and after.
    """
    total = gamma * X.shape[1]
    learn = partial(learn_scales, signs=signs, bounds=bounds, max_iter=max_iter, tol=tol)
    found = learn(X, start=np.full(X.shape[1], gamma))
    if n_features == X.shape[1]:
        return _fitted(found, np.arange(n_features), X.shape[1], found.history)
    kept = np.sort(np.argsort(-found.scales, kind="stable")[:n_features])
    start = np.maximum(found.scales[kept], 1e-3 * gamma)
    again = learn(X[:, kept], start=start * (total / start.sum()))
    history = {name: found.history[name] + again.history[name] for name in found.history}
    for i in range(len(found.history["seconds"]), len(history["seconds"])):
        history["seconds"][i] += found.history["seconds"][-1]
    return _fitted(again, kept, X.shape[1], history)


def _fitted(
    found: ScalesResult, kept: np.ndarray, n_features: int, history: dict[str, list[float]]
) -> FittedScales:
    scales = np.zeros(n_features)
    scales[kept] = found.scales
    return FittedScales(scales, kept, found.svms, history, found.stopping_reason, found.message)


def choose_gamma(
    problem: TaskProblem,
    fit: Callable[[TaskProblem, float], FittedScales],
    cv: Any,
    *,
    n_jobs: int | None = None,
) -> tuple[float, dict[float, float]]:
    """Return the gamma of the best cross-validated accuracy, and the accuracy of each tried.

    Parameters
    ----------
    problem : TaskProblem
        Dense rows.
    fit : callable
        Learns the scales of a problem for a gamma.
    cv : int, splitter or iterable of splits
    n_jobs : int, optional
        Threads that share the folds.
    """
    base = scale_gamma(problem.X, problem.weights.sum(axis=1))
    candidates = [base * factor for factor in CV_FACTORS]
    splits = folds(problem, cv)
    accuracies = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fold_accuracy)(problem.take(train), problem.take(test), fit, gamma)
        for gamma in candidates
        for train, test in splits
    )
    means = np.reshape(accuracies, (len(candidates), -1)).mean(axis=1)
    scores = dict(zip(candidates, means.tolist(), strict=True))
    return candidates[int(np.argmax(means))], scores


def _fold_accuracy(
    train: TaskProblem,
    test: TaskProblem,
    fit: Callable[[TaskProblem, float], FittedScales],
    gamma: float,
) -> float:
    """Return the accuracy on `test` of scales learned on `train`."""
    found = fit(train, gamma)
    kernel = scaled_kernel(test.X, train.X, found.scales)
    return test.accuracy(kernel @ found.svms.dual_coef + found.svms.intercept)


def folds(problem: TaskProblem, cv: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and test rows of each fold, without rows of weight 0.

    Folds of classes are stratified; those of a matrix Y, whose tasks have rows of their own, are
    shuffled.
    """
    signs, weights = problem.signs, problem.weights
    positive = weights.sum(axis=1) > 0
    used = np.flatnonzero(positive)
    # The rows of a class have the same signs in all tasks.
    groups = np.unique(signs, axis=0, return_inverse=True)[1].ravel()
    if not isinstance(cv, int | np.integer):
        pairs = given_splits(cv, signs, groups)
        splits = [(train[positive[train]], test[positive[test]]) for train, test in pairs]
    else:
        smallest = int(np.unique(groups[used], return_counts=True)[1].min())
        if problem.n_classes and smallest < cv:
            raise ValueError(
                f"cv={cv} folds are more than the {smallest} row(s) of the smallest class; "
                "use fewer folds, or give gamma or C."
            )
        shuffled = KFold(cv, shuffle=True, random_state=0)
        splitter = StratifiedKFold(cv) if problem.n_classes else shuffled
        pairs = splitter.split(used, groups[used])
        splits = [(used[train], used[test]) for train, test in pairs]
    for fold, (train, test) in enumerate(splits):
        if not len(test):
            raise ValueError(f"cv: fold {fold} has no test row with a positive weight.")
        shares = signs[train] * weights[train]
        lacking = np.flatnonzero((shares.min(axis=0) >= 0) | (shares.max(axis=0) <= 0))
        if len(lacking):
            raise ValueError(
                f"cv: fold {fold} has training rows of one class only in task {lacking[0]}; use "
                "other folds, or give gamma or C."
            )
    return splits
