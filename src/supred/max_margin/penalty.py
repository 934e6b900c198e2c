"""The penalty C of the SVMs by cross-validation along a path with warm starts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from supred.max_margin.rbf_diagonal import folds
from supred.max_margin.row_space import to_row_space
from supred.max_margin.task_svms import Tasks, solve_task_svms
from supred.max_margin.tasks import TaskProblem
from supred.numerics.kernels import scale_gamma

# From strong to weak: each SVM starts from the one before, whose margin is wider.
PATH = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
# Features that vary by less in all want a C that is larger by as much, though not by more than the
# inverse of the second number. Where they vary by less than one the path goes on, too.
LEAST_VARIANCE, LEAST_UNIT = 1e-3, 1e-26
# Enough to compare accuracies.
PATH_TOL = 1e-3
# Accuracies that differ by less are the same; the smaller C wins.
SAME = 1e-9


def choose_penalty(
    problem: TaskProblem, cv: Any, *, unit_free: bool = False, n_jobs: int | None = None
) -> tuple[float, dict[float, float]]:
    """Return the C of the best cross-validated accuracy, and the accuracy of each tried.

    The SVMs are those of independent tasks on all features: sharing a projection changes little
    about how much they should be regularised, and a path of them is quick.

    Parameters
    ----------
    problem : TaskProblem
    cv : int, splitter or iterable of splits
    unit_free : bool
        Whether C is for a kernel that does not depend on the unit of the features, and is at most
        one; the SVMs that choose it are then those of features whose variances sum to one.
    n_jobs : int, optional
        Threads that share the folds; the result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from supred.max_margin.penalty import choose_penalty
    >>> from supred.max_margin.tasks import TaskProblem
    >>> X, y = load_iris(return_X_y=True)
    >>> problem = TaskProblem.of_classes(X, y, np.ones(150), 3, "ovo")
    >>> C, accuracies = choose_penalty(problem, 3)
    >>> accuracies[C] == max(accuracies.values())
    True
    """
    variance = 0.5 / float(scale_gamma(problem.X, problem.weights.sum(axis=1)))
    path = list(PATH)
    if unit_free:
        path = [C / max(variance, LEAST_VARIANCE * LEAST_UNIT) for C in PATH]
    elif variance < 1.0:
        unit = min(max(variance / LEAST_VARIANCE, LEAST_UNIT), 1.0)
        further = int(np.log10(1.0 / max(variance, LEAST_VARIANCE)) + SAME)
        path = [C / unit for C in (*PATH, *(PATH[-1] * 10.0 ** np.arange(1, further + 1)))]
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_path_accuracies)(problem.take(train), problem.take(test), path)
        for train, test in folds(problem, cv)
    )
    means = np.mean(found, axis=0)
    best = int(np.argmax(means >= means.max() - SAME))
    tried = list(PATH) if unit_free else path
    return tried[best], dict(zip(tried, means.tolist(), strict=True))


def _path_accuracies(train: TaskProblem, test: TaskProblem, path: Sequence[float]) -> list[float]:
    """Return the accuracy on `test` of SVMs trained on `train` with each C."""
    space = to_row_space(train.X, train.weights.sum(axis=1))
    start: tuple[np.ndarray, np.ndarray] | None = None
    accuracies = []
    for C in path:
        tasks = Tasks(space.rows, train.signs, C * train.weights)
        svms = solve_task_svms(space.rows, tasks, tol=PATH_TOL, start=start)
        start = svms.coef, svms.intercept
        coef = space.to_features(svms.coef)
        scores = test.X @ coef + (svms.intercept - space.mean @ coef)
        accuracies.append(test.accuracy(np.asarray(scores)))
    return accuracies
