"""Several binary tasks on one table of rows: making, checking and weighting them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from supred._validation import check_weights, encode_labels


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
    for k, (X, y) in enumerate(tasks):
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
        if blocks and X.shape[1] != blocks[0].shape[1]:
            raise ValueError(
                f"tasks: task {k} has {X.shape[1]} features, but task 0 has "
                f"{blocks[0].shape[1]}; all tasks must have the same features."
            )
        classes, codes = encode_labels(y, name=f"y of task {k}")
        if len(classes) > 2:
            raise ValueError(
                f"tasks: task {k} has {len(classes)} classes; each task must have two."
            )
        if len(codes) != X.shape[0]:
            raise ValueError(
                f"tasks: task {k} has {X.shape[0]} rows, but {len(codes)} labels; "
                "give one label per row."
            )
        blocks.append(X)
        columns.append(np.where(codes == 1, 1, -1))
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
    """Tell whether `y` is a matrix of several tasks rather than a list of labels."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # a ragged list; the checks of labels say what is wrong with it
        return False
    return len(shape) == 2 and shape[1] > 1


def check_task_matrix(Y: Any, n_rows: int) -> np.ndarray:
    """Return the signs -1, 0, +1 of a task matrix, or raise a ValueError that names the task.

    Parameters
    ----------
    Y : array-like of shape (n_rows, n_tasks)
        -1 and +1; 0 or NaN where a row is not part of the task.
    n_rows : int
        Rows of X.
    """
    try:
        signs = np.array(Y, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            "Y holds entries that are not numbers; use -1 and +1, and 0 or NaN where a row is "
            "not part of a task."
        ) from None
    if len(signs) != n_rows:
        raise ValueError(
            f"Y has {len(signs)} rows, but X has {n_rows}; give one row of Y for each row of X."
        )
    signs[np.isnan(signs)] = 0.0
    strange = np.argwhere(~np.isin(signs, (-1.0, 0.0, 1.0)))
    if len(strange):
        row, task = strange[0]
        raise ValueError(
            f"Y holds {signs[row, task]:g} in row {row} of task {task}; use -1 and +1, and 0 or "
            "NaN where a row is not part of a task."
        )
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
    weights = check_weights(sample_weight, None, np.zeros(len(signs), dtype=int), np.zeros(1))
    result = np.zeros(signs.shape)
    for task in range(signs.shape[1]):
        own = np.flatnonzero(signs[:, task])
        codes = (signs[own, task] > 0).astype(int)
        name = f"sample_weight of task {task}"
        result[own, task] = check_weights(
            weights[own], class_weight, codes, np.array([-1, 1]), name=name
        )
    return result


def task_accuracy(signs: np.ndarray, predicted: np.ndarray, sample_weight: Any) -> float:
    """Return the mean over the tasks of the accuracy on their own rows.

    Parameters
    ----------
    signs : ndarray of shape (n_rows, n_tasks)
        0 where a row is not part of the task.
    predicted : ndarray of shape (n_rows, n_tasks)
    sample_weight : None or array-like of shape (n_rows,)
    """
    weights = np.ones(len(signs)) if sample_weight is None else np.asarray(sample_weight)
    shares = weights[:, None] * np.abs(signs)
    right = (shares * (predicted == signs)).sum(axis=0)
    return float(np.mean(right / shares.sum(axis=0)))


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
