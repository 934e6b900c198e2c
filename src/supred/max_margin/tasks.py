"""Several binary tasks on one table of rows: making, checking and weighting them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from supred.base.validation import check_weights, in_safe_unit, row_weights, weigh_classes
from supred.common.labels import encode_labels
from supred.numerics.decisions import decision_scores, task_signs

# What a task matrix may hold: 0 where a row is not part of a task.
SIGNS = (-1.0, 0.0, 1.0)


@dataclass(frozen=True)
class TaskProblem:
    """Rows and the tasks to learn on them, all checked.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    signs : ndarray of shape (n_rows, n_tasks)
        +1, -1, or 0 for a row that is not part of the task.
    weights : ndarray of shape (n_rows, n_tasks)
        Weight of each row in each task, 0 where it is not part.
    n_classes : int
        Classes that the tasks were made of; 0 for the tasks of a matrix Y.
    kind : {"ovr", "ovo"}
        How they were made.
    """

    X: Any
    signs: np.ndarray
    weights: np.ndarray
    n_classes: int = 0
    kind: str = "ovr"

    @classmethod
    def of_classes(
        cls, X: Any, class_index: np.ndarray, weights: np.ndarray, n_classes: int, kind: str
    ) -> "TaskProblem":
        """Make the tasks of classes, whose rows have the given weights."""
        signs = task_signs(class_index, n_classes, kind).astype(float)
        return cls(X, signs, weights[:, None] * np.abs(signs), n_classes, kind)

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return int(self.signs.shape[1])

    @property
    def n_groups(self) -> int:
        """Number of classes, or of tasks of a matrix Y."""
        return self.n_classes or self.n_tasks

    def take(self, rows: np.ndarray) -> "TaskProblem":
        """Return the problem of some of the rows."""
        chosen = self.X[rows], self.signs[rows], self.weights[rows]
        return TaskProblem(*chosen, self.n_classes, self.kind)

    def accuracy(self, scores: np.ndarray) -> float:
        """Return the share of the weight that the tasks' scores decide rightly."""
        if self.n_classes <= 2:
            right = np.where(scores > 0, 1, -1) == self.signs
            return float(np.vdot(self.weights, right) / self.weights.sum())
        chosen = decision_scores(scores, self.n_classes, self.kind).argmax(axis=1)
        truth = decision_scores(self.signs, self.n_classes, self.kind).argmax(axis=1)
        row_weights = self.weights.sum(axis=1)
        return float(row_weights @ (chosen == truth) / row_weights.sum())


def stack_tasks(tasks: Iterable[tuple[Any, Any]]) -> tuple[Any, np.ndarray]:
    """Stack tasks with their own rows into one table and one matrix of signs.

    Parameters
    ----------
    tasks : iterable of (X_k, y_k)
        `X_k` is {array-like, sparse matrix} of shape (n_rows_k, n_features), `y_k` holds the
        labels of its rows: two classes, the greater one positive. All tasks have the same
        features.

    Returns
    -------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        All rows, task by task; sparse if any task is.
    Y : ndarray of shape (n_rows, n_tasks)
        -1 and +1 in the rows of the task, 0 elsewhere.

    See Also
    --------
    MaxMarginProjection : Learns one projection for these tasks.

    Examples
    --------
    >>> from supred import stack_tasks
    >>> X, Y = stack_tasks([([[0.0], [1.0]], ["no", "yes"]), ([[2.0], [3.0]], [7, 4])])
    >>> X.ravel()
    array([0., 1., 2., 3.])
    >>> Y
    array([[-1,  0],
           [ 1,  0],
           [ 0,  1],
           [ 0, -1]], dtype=int8)
    """
    blocks: list[Any] = []
    columns: list[np.ndarray] = []
    if not isinstance(tasks, Iterable):
        raise ValueError(f"tasks={tasks!r} is not a list of pairs (X_k, y_k).")
    for k, pair in enumerate(tasks):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(
                f"tasks: task {k} is a {type(pair).__name__}, not a pair (X_k, y_k); give each "
                "task's rows together with their labels."
            )
        X, y = pair
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
        if blocks and X.shape[1] != blocks[0].shape[1]:
            raise ValueError(
                f"tasks: task {k} has {X.shape[1]} features, but task 0 has "
                f"{blocks[0].shape[1]}; all tasks must have the same features."
            )
        classes, class_index = encode_labels(y, name=f"y of task {k}")
        if len(classes) > 2:
            raise ValueError(
                f"tasks: task {k} has {len(classes)} classes; each task must have two."
            )
        if len(class_index) != X.shape[0]:
            raise ValueError(
                f"tasks: task {k} has {X.shape[0]} rows, but {len(class_index)} labels; "
                "give one label per row."
            )
        blocks.append(X)
        columns.append(np.where(class_index == 1, 1, -1))
    if not blocks:
        raise ValueError("tasks is empty; give at least one pair (X_k, y_k).")
    Y = np.zeros((sum(len(column) for column in columns), len(columns)), dtype=np.int8)
    start = 0
    for k, column in enumerate(columns):
        Y[start : start + len(column), k] = column
        start += len(column)
    if any(sparse.issparse(block) for block in blocks):
        return sparse.vstack(blocks, format="csr"), Y
    return np.vstack(blocks), Y


def is_task_matrix(y: Any) -> bool:
    """Tell whether `y` is a matrix of tasks rather than a list of labels.

    A matrix of one column is, if it holds -1 and beside it +1, 0 and NaN only; a column of 0 and
    1, or of other labels, is a list of labels.
    """
    if sparse.issparse(y):
        return True
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # a ragged list; the checks of labels say what is wrong with it
        return False
    if len(shape) != 2 or shape[1] != 1:
        return len(shape) == 2 and shape[1] > 1
    column = _signs(np.asarray(y))
    return bool((column == -1).any() and np.isin(column, SIGNS).all())


def _signs(entries: np.ndarray) -> np.ndarray:
    """Return the entries of a task matrix as numbers: 0 for NaN, infinity for what is none."""
    if entries.dtype.kind not in "biuf":
        numbers = [_number(entry) for entry in entries.ravel().tolist()]
        entries = np.reshape(numbers, entries.shape)
    signs = entries.astype(float)
    signs[np.isnan(signs)] = 0.0
    return signs


def _number(entry: Any) -> float:
    try:
        return np.inf if isinstance(entry, str) else float(entry)
    except (TypeError, ValueError):
        return np.nan if entry is None else np.inf


def read_task_matrix(Y: Any, n_rows: int) -> np.ndarray:
    """Return the signs -1, 0, +1 of a task matrix, or raise a ValueError that names the entry.

    A task may have no rows, or rows of one class: enough to score a model.

    Parameters
    ----------
    Y : array-like of shape (n_rows, n_tasks)
        -1 and +1; 0 or NaN where a row is not part of the task.
    n_rows : int
        Rows of X.
    """
    if sparse.issparse(Y):
        raise ValueError("Y is a sparse matrix; give a dense one, such as Y.toarray().")
    entries = np.asarray(Y)
    if entries.ndim != 2:
        raise ValueError(
            f"Y has the shape {entries.shape}; give a matrix with one column for each task."
        )
    if len(entries) != n_rows:
        raise ValueError(
            f"Y has {len(entries)} rows, but X has {n_rows}; give one row of Y for each row of X."
        )
    signs = _signs(entries)
    strange = np.argwhere(~np.isin(signs, SIGNS))
    if len(strange):
        row, task = strange[0]
        raise ValueError(
            f"Y holds {entries[row].tolist()[task]!r} in row {row} of task {task}; use -1 and +1, "
            "and 0 or NaN where a row is not part of a task."
        )
    return signs


def check_task_matrix(Y: Any, n_rows: int) -> np.ndarray:
    """Return the signs of a task matrix whose tasks all have rows of both classes.

    Parameters and errors are those of :func:`read_task_matrix`, and a ValueError names a task
    that cannot be learned.
    """
    signs = read_task_matrix(Y, n_rows)
    for task, column in enumerate(signs.T):
        found = np.unique(column[column != 0])
        if not len(found):
            raise ValueError(f"Y: task {task} has no rows; drop its column.")
        if len(found) < 2:
            hint = " (0 means 'not part of the task')" if found[0] > 0 else ""
            raise ValueError(
                f"Y: task {task} has rows of one class only ({found[0]:+g}); a task needs rows "
                f"with -1 and rows with +1{hint}."
            )
    return signs


def task_weights(signs: np.ndarray, sample_weight: Any, class_weight: Any) -> np.ndarray:
    """Return the weight of each row in each task of a task matrix, 0 where it is not part.

    Parameters
    ----------
    signs : ndarray of shape (n_rows, n_tasks)
    sample_weight : None, number or array-like of shape (n_rows,)
    class_weight : None, "balanced" or dict with the keys -1 and 1
        "balanced" is meant within each task.
    """
    weights = _row_weights(sample_weight, len(signs))
    result = np.zeros(signs.shape)
    for task in range(signs.shape[1]):
        own = np.flatnonzero(signs[:, task])
        class_index = (signs[own, task] > 0).astype(int)
        name = f"sample_weight of task {task}"
        result[own, task] = weigh_classes(
            weights[own], class_weight, class_index, np.array([-1, 1]), name=name
        )
    return in_safe_unit(result, "sample_weight times class_weight")  # one unit for all tasks


def _row_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return one weight per row, some of them positive."""
    sample_weight = row_weights(sample_weight, n_rows)
    if not sample_weight.any():
        raise ValueError("sample_weight: all weights are zero; give some rows a positive weight.")
    return check_weights(sample_weight, None, np.zeros(n_rows, dtype=int), np.zeros(1))


def task_accuracy(signs: np.ndarray, predicted: np.ndarray, sample_weight: Any) -> float:
    """Return the mean accuracy of the tasks that have rows, each on its own rows.

    Parameters
    ----------
    signs : ndarray of shape (n_rows, n_tasks)
        0 where a row is not part of the task.
    predicted : ndarray of shape (n_rows, n_tasks)
    sample_weight : None or array-like of shape (n_rows,)
    """
    shares = _row_weights(sample_weight, len(signs))[:, None] * np.abs(signs)
    right = (shares * (predicted == signs)).sum(axis=0)
    totals = shares.sum(axis=0)
    if not totals.any():
        raise ValueError("Y: no task has a row with a positive weight; there is nothing to score.")
    return float(np.mean(right[totals > 0] / totals[totals > 0]))


def merge_equal_rows(
    X: Any, signs: np.ndarray, weights: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Drop rows without weight, and make one row of equal rows, in an order of their own.

    The solvers follow rounding errors into different local optima; after this, weights and
    copies, and any order of the rows, are the same problem to the last digit. Sparse rows with
    more features than rows stay as they are.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    signs, weights : ndarrays of shape (n_rows, n_tasks)

    Returns
    -------
    X, signs, weights
        `X` in double precision, dense unless it was sparse with more features than rows.
    """
    used = weights.sum(axis=1) > 0
    if not used.all():
        X, signs, weights = X[used], signs[used], weights[used]
    n_rows, n_features = X.shape
    if sparse.issparse(X):
        if n_features > n_rows:
            return X.astype(float), signs, weights
        X = X.toarray()
    # Adding zero turns -0.0 into 0.0.
    both, inverse = np.unique(
        np.hstack([np.asarray(X, dtype=float), signs]) + 0.0, axis=0, return_inverse=True
    )
    merged = np.zeros((len(both), weights.shape[1]))
    np.add.at(merged, inverse.ravel(), weights)
    return np.ascontiguousarray(both[:, :n_features]), both[:, n_features:], merged
