"""Decisions of several linear SVMs: which rows each one sees, and what they say together."""

from itertools import combinations

import numpy as np

from supred.common.arguments import largest_magnitude
from supred.common.arrays import cast, on_host, place_of, type_name

# Scores of coordinates far from the training, times larger weights, overflow in single precision.
LARGE_WEIGHT = 1e4


def task_signs(class_index: np.ndarray, n_classes: int, multi_class: str) -> np.ndarray:
    """Return the sign of each row in each SVM, shape (n_rows, n_svms), entries -1, 0, +1.

    Two classes make one SVM with class 1 positive. ``"ovr"`` has one SVM per class, against the
    rest; ``"ovo"`` one per pair of classes, in the order of `itertools.combinations`, the first
    class positive and rows of other classes left out (0).

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.decisions import task_signs
    >>> task_signs(np.array([0, 1, 2]), 3, "ovo")
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    """
    if n_classes == 2:
        return np.where(class_index[:, None] == 1, 1, -1).astype(np.int8)
    if multi_class == "ovr":
        return np.where(class_index[:, None] == np.arange(n_classes), 1, -1).astype(np.int8)
    pairs = list(combinations(range(n_classes), 2))
    signs = np.zeros((len(class_index), len(pairs)), dtype=np.int8)
    for column, (first, second) in enumerate(pairs):
        signs[class_index == first, column] = 1
        signs[class_index == second, column] = -1
    return signs


def decision_scores(values: np.ndarray, n_classes: int, multi_class: str) -> np.ndarray:
    """Turn the values ``w_k . z + b_k`` into one score per class (one in all for two classes).

    With ``"ovo"`` the score is the number of votes plus a term under 1/3 that breaks ties by the
    summed values, as scikit-learn's SVC has it.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_svms)
    n_classes : int
    multi_class : {"ovr", "ovo"}
    """
    if n_classes == 2:
        return values[:, 0]
    if multi_class == "ovr":
        return values
    place = place_of(values)
    votes = place.zeros((len(values), n_classes), type_name(values))
    summed = place.zeros((len(values), n_classes), type_name(values))
    for column, (first, second) in enumerate(combinations(range(n_classes), 2)):
        value = values[:, column]
        votes[:, first] += value > 0
        votes[:, second] += value <= 0
        summed[:, first] += value
        summed[:, second] -= value
    return votes + summed / 3 / (place.xp.abs(summed) + 1)


def scored_in_double(coef: np.ndarray, intercept: np.ndarray) -> bool:
    """Tell whether scores may be too large for single precision."""
    return max(largest_magnitude(coef), largest_magnitude(intercept)) > LARGE_WEIGHT


def linear_scores(
    Z: np.ndarray, coef: np.ndarray, intercept: np.ndarray, n_classes: int, multi_class: str
) -> np.ndarray:
    """Return the scores of the classes for latent coordinates, in their precision.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
    coef : ndarray of shape (n_svms, n_components)
    intercept : ndarray of shape (n_svms,)
    n_classes, multi_class
        As in :func:`decision_scores`.
    """
    if type(Z) is np.ndarray:
        values = Z @ coef.astype(Z.dtype, copy=False).T + intercept.astype(Z.dtype, copy=False)
        return decision_scores(values, n_classes, multi_class)
    put, dtype = place_of(Z).put, type_name(Z)
    values = Z @ put(coef.astype(dtype, copy=False)).T + put(intercept.astype(dtype, copy=False))
    return decision_scores(values, n_classes, multi_class)


def winners(scores: np.ndarray) -> np.ndarray:
    """Return the index of the winning class of each row of scores."""
    if scores.ndim == 1:
        return cast(scores > 0, int)
    return place_of(scores).xp.argmax(scores, axis=1)


def labels_of(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the label of the winning class of each row of scores.

    Numbers are where the scores are; labels of other types are NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.decisions import labels_of
    >>> labels_of(np.array([-1.0, 2.0]), np.array(["a", "b"])).tolist()
    ['a', 'b']
    """
    index = winners(scores)
    if classes.dtype.kind in "iufb":
        return place_of(scores).put(classes)[index]
    return classes[on_host(index)]
