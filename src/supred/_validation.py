"""Checks of arguments, shared by all estimators.

Each error names the argument, what was found and what to do.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

# Rows of up to this many numbers are looked at here, before scikit-learn does.
MOST_NUMBERS = 100_000


def check_choice(name: str, value: Any, options: Sequence[str]) -> None:
    """Raise a ValueError if `value` is not one of the strings `options`."""
    if not (isinstance(value, str) and value in options):
        wanted = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name}={value!r} is not known; use one of {wanted}.")


def check_real(
    name: str,
    value: Any,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    low_inclusive: bool = True,
    high_inclusive: bool = True,
) -> float:
    """Return `value` as a float inside the interval, or raise a ValueError that names it."""
    inside = (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool | np.bool_)
        and bool(np.isfinite(value))
        and (low <= value if low_inclusive else low < value)
        and (value <= high if high_inclusive else value < high)
    )
    if not inside:
        left = "[" if low_inclusive and np.isfinite(low) else "("
        right = "]" if high_inclusive and np.isfinite(high) else ")"
        raise ValueError(
            f"{name}={value!r} is out of range; use a number in {left}{low:g}, {high:g}{right}."
        )
    return float(value)


def check_integer(name: str, value: Any, *, low: int, high: float = np.inf, why: str = "") -> int:
    """Return `value` as an int inside ``[low, high]``, or raise a ValueError that names it."""
    if (
        not isinstance(value, int | np.integer)
        or isinstance(value, bool)
        or not low <= value <= high
    ):
        upper = "" if high == np.inf else f" and at most {high:g}"
        raise ValueError(
            f"{name}={value!r} is out of range; use a whole number of at least {low}{upper}"
            f"{' (' + why + ')' if why else ''}."
        )
    return int(value)


def are_ready(X: Any, n_features: int | None) -> bool:
    """Tell whether rows to predict are such that scikit-learn's `validate_data` changes nothing.

    True for a plain array of one or more rows of `n_features` finite numbers in single or double
    precision. All else, and what must get an error or a warning, is for `validate_data`; so are
    many rows, among which its time does not show.

    Parameters
    ----------
    X : object
    n_features : int, optional
        Columns that the model was fitted on; None if it is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from supred._validation import are_ready
    >>> are_ready(np.zeros((1, 3)), 3), are_ready(np.full((1, 3), np.nan), 3)
    (True, False)
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == n_features
        and 0 < X.size <= MOST_NUMBERS
        and (X.dtype == np.float64 or X.dtype == np.float32)
        and int(np.count_nonzero(np.isfinite(X))) == X.size
    )


def encode_labels(y: Any, *, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes of `y` and the index of each row's class.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of any type that can be sorted.
    name : str
        What to call `y` in an error.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_rows,)
        ``classes[codes]`` equals `y`.

    Raises
    ------
    ValueError
        If a label is missing, the target is continuous or there are fewer than two classes.
    """
    y = column_or_1d(y, warn=True)
    check_no_label_missing(y, name=name)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{name} holds one class only ({classes.tolist()}); "
            "a classifier needs rows of at least two classes."
        )
    return classes, codes


def check_no_label_missing(y: Any, *, name: str = "y") -> None:
    """Raise a ValueError that names the first row whose label is None or NaN."""
    missing = np.flatnonzero(is_missing(y))
    if missing.size:
        raise ValueError(
            f"{name} has {missing.size} missing label(s), the first in row {missing[0]}; "
            "drop these rows or fill in their labels."
        )


def is_missing(y: Any) -> np.ndarray:
    """Tell which labels of a list, array or series are None, NaN or pandas' NA."""
    # NumPy would turn a list of strings and NaN into strings, "nan" among them.
    y = as_labels(y).ravel()
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind == "O":
        return np.array([_is_none_or_nan(label) for label in y], dtype=bool)
    return np.zeros(len(y), dtype=bool)


def as_labels(y: Any) -> np.ndarray:
    """Return labels as an array in which a missing one can still be told from a string."""
    if hasattr(y, "dtype") or not isinstance(y, list | tuple):
        return np.asarray(y)
    kinds = {isinstance(label, str) for label in y}
    return np.array(y, dtype=object) if len(kinds) > 1 else np.asarray(y)


def _is_none_or_nan(label: Any) -> bool:
    if label is None:
        return True
    try:
        return not bool(label == label)  # NaN and NaT are not equal to themselves
    except TypeError:  # pandas' NA is neither
        return True


def check_weights(
    sample_weight: Any,
    class_weight: Any,
    codes: np.ndarray,
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
    codes : ndarray of shape (n_rows,)
        Index of each row's class.
    classes : ndarray of shape (n_classes,)
    name : str
        What to call `sample_weight` in an error.
    """
    n_rows = len(codes)
    if sample_weight is None:
        weights = np.ones(n_rows)
    elif isinstance(sample_weight, Real):
        weights = np.full(n_rows, float(sample_weight))
    else:
        weights = np.array(sample_weight, dtype=float)
        if weights.ndim != 1:
            raise ValueError(
                f"{name} must be 1D array-like, one weight per row; got shape {weights.shape}."
            )
        check_consistent_length(codes, weights)
    if not np.isfinite(weights).all():
        raise ValueError(f"{name} holds a value that is not finite; weights must be finite.")
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"{name} holds a negative value ({weights[row]:g} in row {row}); use weights >= 0."
        )
    class_weights = _class_weights(class_weight, codes, classes, weights)
    weights = weights * class_weights[codes]
    totals = np.bincount(codes, weights=weights, minlength=len(classes))
    if not (totals > 0).all():
        empty = classes[totals <= 0].tolist()
        raise ValueError(
            f"{name}: all weights are zero for class(es) {empty}; "
            "give at least one row of each class a positive weight, or drop the class."
        )
    return weights


def _class_weights(
    class_weight: Any, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f"class_weight={class_weight!r} is not known; use None, 'balanced' or a dict."
            )
        counts = np.bincount(codes, weights=weights, minlength=len(classes))
        return weights.sum() / (len(classes) * np.maximum(counts, np.finfo(float).tiny))
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight={class_weight!r} is not known; use None, 'balanced' or a dict."
        )
    known = set(classes.tolist())
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(f"class_weight names class(es) {unknown} that are not in y.")
    result = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=float)
    if (result < 0).any() or not np.isfinite(result).all():
        raise ValueError("class_weight holds a negative or non-finite weight; use weights >= 0.")
    return result
