"""Checks of rows and weights, shared by all estimators."""

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import accuracy_score

from supred.base.scales import MOST_SPREAD, SAFE_NUMBER, SAFE_WEIGHTS, in_unit, unit_exponent
from supred.common.arguments import as_numbers, check_one_per_row

# Rows of up to this many numbers are looked at here, before scikit-learn does.
MOST_NUMBERS = 100_000
# Class weights up to this power of two, and not below its inverse, may be multiplied with weights.
SAFE_CLASS_WEIGHTS = 600


def are_ready(X: Any, n_features: int | None) -> bool:
    """Tell whether rows to predict are such that scikit-learn's `validate_data` changes nothing.

    True for a plain array of one or more rows of `n_features` finite numbers of a safe size, in
    single or double precision. All else, and what must get an error or a warning, is for
    `validate_data`; so are many rows, among which its time does not show.

    Parameters
    ----------
    X : object
    n_features : int, optional
        Columns that the model was fitted on; None if it is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.base.validation import are_ready
    >>> are_ready(np.zeros((1, 3)), 3), are_ready(np.full((1, 3), np.nan), 3)
    (True, False)
    """
    return bool(
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == n_features
        and 0 < X.size <= MOST_NUMBERS
        and X.dtype in SAFE_NUMBER
        # As X.max() and X.min(), with fewer calls; false for NaN.
        and np.maximum.reduce(X, axis=None) < SAFE_NUMBER[X.dtype]
        and -SAFE_NUMBER[X.dtype] < np.minimum.reduce(X, axis=None)
    )


def check_column_names(X: Any) -> None:
    """Raise a ValueError if two columns of a data frame of pandas have one name.

    Examples
    --------
    >>> import pandas as pd
    >>> from supred.base.validation import check_column_names
    >>> check_column_names(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    Traceback (most recent call last):
    ValueError: X has two columns of the name 'a'; give each column its own.
    """
    names: Any = getattr(X, "columns", None)
    if not getattr(names, "is_unique", True):
        name = names[names.duplicated()].tolist()[0]
        raise ValueError(f"X has two columns of the name {name!r}; give each column its own.")


def canonical(X: Any, *, zeros_count: bool) -> Any:
    """Return sparse rows without duplicate entries, or as an array where that takes less memory.

    Differences of squares, by which sparse rows are compared, lose the digits of a full column
    that lies far from zero.

    Parameters
    ----------
    X : sparse matrix
    zeros_count : bool
        Whether entries that are not stored are zeros; else they stand for no neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from supred.base.validation import canonical
    >>> canonical(csr_array(np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]])), zeros_count=True)
    array([[1., 2., 0.],
           [3., 4., 5.]])
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if (
        zeros_count
        and X.data.nbytes + X.indices.nbytes > X.shape[0] * X.shape[1] * X.dtype.itemsize
    ):
        return X.toarray()
    return X


def check_weights(
    sample_weight: Any,
    class_weight: Any,
    class_index: np.ndarray,
    classes: np.ndarray,
    *,
    name: str = "sample_weight",
) -> np.ndarray:
    """Return one weight per row: the sample weight times the weight of the row's class.

    ``class_weight="balanced"`` counts the rows by their sample weight, so that a weight k stays
    the same as k copies.

    Parameters
    ----------
    sample_weight : None, number or array-like of shape (n_rows,)
    class_weight : None, "balanced" or dict {class: weight}
    class_index : ndarray of shape (n_rows,)
        Index of each row's class; there need not be a row of each.
    classes : ndarray of shape (n_classes,)
    name : str
        What to call `sample_weight` in an error.
    """
    weights = in_safe_unit(row_weights(sample_weight, len(class_index), name=name), name)
    weights = weigh_classes(weights, class_weight, class_index, classes, name=name)
    return in_safe_unit(weights, f"{name} times class_weight")


def weigh_classes(
    weights: np.ndarray,
    class_weight: Any,
    class_index: np.ndarray,
    classes: np.ndarray,
    *,
    name: str = "sample_weight",
) -> np.ndarray:
    """Return checked weights times those of the classes, in the unit that they are in.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
    class_weight, class_index, classes, name
        As in :func:`check_weights`.
    """
    class_weights = _class_weights(class_weight, class_index, classes, weights)
    weights = weights * class_weights[class_index]
    totals = np.bincount(class_index, weights=weights, minlength=len(classes))
    present = np.bincount(class_index, minlength=len(classes)) > 0
    if (totals[present] <= 0).any():
        empty = classes[present & (totals <= 0)].tolist()
        raise ValueError(
            f"{name}: all weights are zero for class(es) {empty}; "
            "give at least one row of each class a positive weight, or drop the class."
        )
    return weights


def row_weights(values: Any, n_rows: int, *, name: str = "sample_weight") -> np.ndarray:
    """Return one finite weight >= 0 per row, or raise a ValueError that names them.

    Parameters
    ----------
    values : None, number or array-like of shape (n_rows,)
    n_rows : int
    name : str
        What to call the weights in an error.

    Examples
    --------
    >>> from supred.base.validation import row_weights
    >>> row_weights(2, 3)
    array([2., 2., 2.])
    """
    if values is None:
        weights = np.ones(n_rows)
    elif isinstance(values, Real):
        weights = np.full(n_rows, float(values))
    else:
        weights = as_numbers(name, values, "give one number per row")
        if weights.ndim != 1:
            raise ValueError(
                f"{name} must be 1D array-like, one weight per row; got shape {weights.shape}."
            )
        check_one_per_row(name, weights, n_rows)
    if not np.isfinite(weights).all():
        raise ValueError(f"{name} holds a value that is not finite; weights must be finite.")
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"{name} holds a negative value ({weights[row]:g} in row {row}); use weights >= 0."
        )
    return weights


def accuracy(labels: Any, predicted: np.ndarray, sample_weight: Any) -> float:
    """Return the share of the rows, or of their weight, whose label is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.base.validation import accuracy
    >>> accuracy([0, 1], np.array([0, 0]), [1e308, 1e308])
    0.5
    """
    if sample_weight is not None:
        sample_weight = row_weights(sample_weight, len(predicted))
        largest = sample_weight.max(initial=0.0)
        if largest == 0:
            raise ValueError("sample_weight: all weights are zero; there is nothing to score.")
        sample_weight = sample_weight / largest  # the sum of the largest numbers would overflow
    if predicted.ndim == 2 and not sparse.issparse(labels):
        labels = np.asarray(labels, dtype=float)  # of half precision and objects nothing is made
    return float(accuracy_score(labels, predicted, sample_weight=sample_weight))


def in_safe_unit(weights: np.ndarray, name: str) -> np.ndarray:
    """Return weights in a unit in which their products are safe, or raise an error that says why.

    Parameters
    ----------
    weights : ndarray
        Finite and at least zero.
    name : str
        What to call them.
    """
    largest, least = weights.max(), weights.min(where=weights > 0, initial=np.inf)
    if least < largest * 2.0**-MOST_SPREAD:
        raise ValueError(
            f"{name} goes from {least:.2g} to {largest:.2g}; use weights that differ by no more "
            f"than a factor of 2^{MOST_SPREAD}, or 0 for rows that do not count."
        )
    return in_unit(weights, unit_exponent(weights, name, safe=SAFE_WEIGHTS))


def _class_weights(
    class_weight: Any, class_index: np.ndarray, classes: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(class_index, weights=weights, minlength=len(classes))
        shares = np.zeros(len(classes))  # of a class without weight too: the caller says so
        return np.divide(weights.sum(), len(classes) * counts, out=shares, where=counts > 0)
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight={class_weight!r} is not known; use None, 'balanced' or a dict."
        )
    known = set(classes.tolist())
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(f"class_weight names class(es) {unknown} that are not in y.")
    given = [class_weight.get(k, 1.0) for k in classes.tolist()]
    result = as_numbers("class_weight", given, "give one number per class")
    if (result < 0).any() or not np.isfinite(result).all():
        raise ValueError("class_weight holds a negative or non-finite weight; use weights >= 0.")
    return in_unit(result, unit_exponent(result, "class_weight", safe=SAFE_CLASS_WEIGHTS))
