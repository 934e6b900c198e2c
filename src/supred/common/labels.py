"""Labels: classes and class indices, and labels that are missing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from supred.common.arguments import check_at_hand

# Whole numbers beyond this are not all numbers in double precision.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True)
class EncodedLabels:
    """Labels that were encoded where they lie, so that only a byte or two of each came here.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted.
    class_index : ndarray of shape (n_rows,)
        In the smallest type that holds it.
    """

    classes: np.ndarray
    class_index: np.ndarray

    def __len__(self) -> int:
        return len(self.class_index)


def encode_labels(y: Any, *, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes of `y` and the index of each row's class.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or EncodedLabels
        Labels of any type that can be sorted.
    name : str
        What to call `y` in an error.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    class_index : ndarray of shape (n_rows,)
        ``classes[class_index]`` equals `y`.

    Raises
    ------
    ValueError
        If a label is missing, the target is continuous or there are fewer than two classes.
    """
    if isinstance(y, EncodedLabels):
        _check_targets(y.classes, name)
        classes, class_index = y.classes, y.class_index
    else:
        y = column_or_1d(as_they_are(y), warn=True)
        check_no_label_missing(y, name=name)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name=name)
        classes, class_index = sorted_classes(y, name)
        _check_targets(y, name)
    return _at_least_two(classes, name), class_index


def sorted_classes(y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and the index of each row's class, of an array without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.labels import sorted_classes
    >>> sorted_classes(np.array([3, 1]), "y")[0]
    array([1, 3])
    """
    try:
        return np.unique(y, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            f"{name} holds labels that cannot be sorted ({error}); use numbers or strings."
        ) from error


def _at_least_two(classes: np.ndarray, name: str) -> np.ndarray:
    if len(classes) < 2:
        raise ValueError(
            f"{name} holds one class only ({classes.tolist()}); "
            "a classifier needs rows of at least two classes."
        )
    return classes


def _check_targets(y: np.ndarray, name: str) -> None:
    if y.dtype.kind in "OV" and not isinstance(y[0], str | bytes):
        raise ValueError(
            f"Unknown label type: {name} is an array of objects of type {type(y[0]).__name__}; "
            "make an array of numbers or of strings of them, say by astype(int) or astype(str)."
        )
    with np.errstate(over="ignore", invalid="ignore"):  # it casts numbers to integers
        check_classification_targets(y)


def check_classes(classes: Any) -> np.ndarray:
    """Return the sorted classes that a user names before there are rows of all of them.

    Examples
    --------
    >>> from supred.common.labels import check_classes
    >>> check_classes([2, 1, 2]).tolist()
    [1, 2]
    """
    if as_labels(classes).ndim != 1:
        raise ValueError(f"classes={classes!r} is not a list of labels; name each class once.")
    check_no_label_missing(classes, name="classes")
    found = sorted_classes(column_or_1d(as_they_are(classes)), "classes")[0]
    return _at_least_two(found, "classes")


def index_among(y: Any, classes: np.ndarray, *, name: str = "y") -> np.ndarray:
    """Return the index of each label among sorted classes.

    Raises
    ------
    ValueError
        If a label is missing or not among the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.labels import index_among
    >>> index_among(["b", "a"], np.array(["a", "b", "c"])).tolist()
    [1, 0]
    """
    check_no_label_missing(y, name=name)
    y = column_or_1d(as_they_are(y), warn=True)
    if {y.dtype.kind, classes.dtype.kind} > {"U"}:  # NumPy would make strings of the others
        y = y.astype(object)
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"{name} holds label(s) {np.unique(y[unknown]).tolist()} that are not among the "
            f"classes {classes.tolist()}; give rows of these classes."
        )
    return np.searchsorted(classes, y)


def one_label_per_row(name: str, labels: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return labels as an array of the shape that they are compared with, or raise a ValueError.

    NumPy would compare a column with a row entry by entry: each label with each.

    Examples
    --------
    >>> from supred.common.labels import one_label_per_row
    >>> one_label_per_row("y", [["a"], ["b"]], (2,)).tolist()
    ['a', 'b']
    """
    found = np.asarray(as_they_are(labels))
    if found.shape == (*shape, 1):
        found = found.reshape(shape)
    if found.shape != shape:
        raise ValueError(
            f"{name} has the shape {found.shape}, but what is predicted has {shape}; give one "
            "label for each row."
        )
    return found


def check_no_label_missing(y: Any, *, name: str = "y") -> None:
    """Raise a ValueError that names the first row whose label is None or NaN."""
    check_at_hand(name, y)
    marks = is_missing(y)
    missing = np.flatnonzero(marks)
    if missing.size:
        n_rows = (*getattr(y, "shape", ()), marks.size)[0]
        row = missing[0] // (marks.size // n_rows)
        raise ValueError(
            f"{name} has {missing.size} missing label(s), the first in row {row}; "
            "drop these rows or fill in their labels."
        )


def is_missing(y: Any) -> np.ndarray:
    """Tell which labels of a list, array or series are None, NaN or pandas' NA."""
    # NumPy would turn a list of strings and NaN into strings, "nan" among them.
    y = as_labels(y).ravel()
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind in "mM":
        return np.isnat(y)
    if y.dtype.kind in "OT":
        return np.array([_is_none_or_nan(label) for label in y], dtype=bool)
    return np.zeros(len(y), dtype=bool)


def as_labels(y: Any) -> np.ndarray:
    """Return labels as an array in which a missing one can still be told from a string.

    Nor does any become equal to another: NumPy cuts NULs off at the end of strings, and makes
    one number of large whole numbers beside others with a point.
    """
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        labels = y.data.astype(object)
        labels[np.ma.getmaskarray(y)] = None
        return labels
    if hasattr(y, "dtype") or not isinstance(y, list | tuple):
        return np.asarray(y)
    kinds = {isinstance(label, str) for label in y}
    labels = np.array(y, dtype=object) if len(kinds) > 1 else np.asarray(y)
    if labels.ndim == 1 and any(_loses_digits(label, labels.dtype.kind) for label in y):
        return np.array(y, dtype=object)
    return labels


def _loses_digits(label: Any, kind: str) -> bool:
    """Tell whether a label is another one as a string or a number of NumPy's."""
    if kind == "U":
        return str(label).endswith("\0")
    return kind == "f" and isinstance(label, int | np.integer) and abs(int(label)) > LARGEST_WHOLE


def as_they_are(y: Any) -> Any:
    """Return labels whose way through scikit-learn would change them as an array; else as given.

    On that way 1 and "1" of a list, or large numbers of a series, would become one class, a
    category of False the number 0.0, and what is masked a label.

    Examples
    --------
    >>> from supred.common.labels import as_they_are
    >>> as_they_are([1, "1"])
    array([1, '1'], dtype=object)
    """
    if isinstance(y, list | tuple | np.ma.MaskedArray):
        return as_labels(y)
    if hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 1:  # a data frame
        column = y.iloc[:, 0]
        labels = as_they_are(column)
        return y if labels is column else labels[:, None]
    dtype = getattr(y, "dtype", None)
    if getattr(dtype, "kind", "") == "T":  # NumPy's strings of any length, which few functions take
        return np.asarray(y, dtype=object)
    given = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    plain = getattr(given, "numpy_dtype", given if given is not dtype else None)
    if getattr(plain, "kind", "") not in tuple("biu"):
        return y
    labels = np.asarray(y, dtype=object)
    return labels if is_missing(labels).any() else labels.astype(plain)


def _is_none_or_nan(label: Any) -> bool:
    if label is None:
        return True
    try:
        return not bool(label == label)  # NaN and NaT are not equal to themselves
    except TypeError:  # pandas' NA is neither
        return True
    except ValueError:  # an array, which no label is, but it is not missing
        return False
