"""The parts of MaxMarginProjection with kernel="rbf-diagonal".

Its SVMs are LIBSVM's, not the g step of :mod:`supred.numerics.linear_svm`: that one works on rows
of few dimensions, and a kernel SVM needs a solver that works on the kernel.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from supred.max_margin.parameters import n_components_of, tol_of
from supred.max_margin.rbf_scales import KernelSVMs, ScalesResult, learn_scales, scaled_kernel
from supred.numerics.decisions import decision_scores
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
    converged: bool
    reason: str


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
    return FittedScales(scales, kept, found.svms, history, found.converged, found.reason)


def gamma_of(gamma: Any, X: np.ndarray, row_weights: np.ndarray) -> float:
    """Return gamma as a number."""
    return scale_gamma(X, row_weights) if isinstance(gamma, str) else float(gamma)


def choose_gamma(
    model: Any, X: np.ndarray, signs: np.ndarray, weights: np.ndarray
) -> tuple[float, dict[float, float]]:
    """Return the gamma of the best cross-validated accuracy, and the accuracy of each tried."""
    base = scale_gamma(X, weights.sum(axis=1))
    splits = _folds(model, signs, weights)
    candidates = [base * factor for factor in CV_FACTORS]
    accuracies = Parallel(n_jobs=model.n_jobs, prefer="threads")(
        delayed(_fold_accuracy)(model, X, signs, weights, gamma, train, test)
        for gamma in candidates
        for train, test in splits
    )
    means = np.reshape(accuracies, (len(candidates), -1)).mean(axis=1)
    scores = dict(zip(candidates, means.tolist(), strict=True))
    return candidates[int(np.argmax(means))], scores


def _folds(
    model: Any, signs: np.ndarray, weights: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and test rows of each fold, without rows of weight 0.

    Folds of classes are stratified; those of a matrix Y, whose tasks have rows of their own, are
    shuffled.
    """
    positive = weights.sum(axis=1) > 0
    used = np.flatnonzero(positive)
    # The rows of a class have the same signs in all tasks.
    groups = np.unique(signs, axis=0, return_inverse=True)[1].ravel()
    if not isinstance(model.cv, int):
        rows = np.arange(len(signs))
        given = check_cv(model.cv, groups, classifier=True).split(signs, groups)
        pairs = [(rows[train], rows[test]) for train, test in given]
        splits = [(train[positive[train]], test[positive[test]]) for train, test in pairs]
    else:
        smallest = int(np.unique(groups[used], return_counts=True)[1].min())
        if not model.multitask_ and smallest < model.cv:
            raise ValueError(
                f"cv={model.cv} folds are more than the {smallest} row(s) of the smallest class; "
                "use fewer folds or give gamma."
            )
        splitter = (
            KFold(model.cv, shuffle=True, random_state=0)
            if model.multitask_
            else StratifiedKFold(model.cv)
        )
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
                "other folds or give gamma."
            )
    return splits


def _fold_accuracy(
    model: Any,
    X: np.ndarray,
    signs: np.ndarray,
    weights: np.ndarray,
    gamma: float,
    train: np.ndarray,
    test: np.ndarray,
) -> float:
    """Return the accuracy on the `test` rows of scales learned on the `train` rows."""
    found = fit_scales(
        X[train],
        signs[train],
        model.C * weights[train],
        gamma,
        n_features=n_components_of(model, X.shape[1]),
        max_iter=model.max_iter,
        tol=tol_of(model),
    )
    kernel = scaled_kernel(X[test], X[train], found.scales)
    scores = kernel @ found.svms.dual_coef + found.svms.intercept
    if model.multitask_ or len(model.classes_) == 2:
        right = np.where(scores > 0, 1, -1) == signs[test]
        return float(np.vdot(weights[test], right) / weights[test].sum())
    n_classes = len(model.classes_)
    scores = decision_scores(scores, n_classes, model.tasks)
    truth = decision_scores(signs[test], n_classes, model.tasks)
    right = scores.argmax(axis=1) == truth.argmax(axis=1)
    row_weights = weights[test].sum(axis=1)
    return float(row_weights @ right / row_weights.sum())
