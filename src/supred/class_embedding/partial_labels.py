"""Labels of which some are missing."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from supred.base.validation import check_weights
from supred.common.arguments import check_one_per_row, check_unmasked
from supred.common.labels import as_labels, as_they_are, encode_labels, is_missing
from supred.common.warn import warn_caller


def encode_partial_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes of `y` and the index of each row's class, -1 for an unlabelled row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of any type. A row is unlabelled where y is -1, None or NaN.

    Raises
    ------
    ValueError
        If no row is labelled, all labelled rows have one class or the target is continuous.
    """
    present, labelled = split_labels(y)
    try:
        classes, found = encode_labels(present)
    except ValueError as error:
        if "one class only" in str(error) and not labelled.all():
            raise ValueError(
                f"{error} Rows with y=-1, None or NaN count as unlabelled; "
                "if -1 is one of your classes, give it another name."
            ) from error
        raise
    if labelled.all() and classes.dtype.kind == "U":
        _warn_of_words(classes)
    class_index = np.full(len(labelled), -1)
    class_index[labelled] = found
    return classes, class_index


def _warn_of_words(classes: np.ndarray) -> None:
    """Warn where NumPy seems to have made strings of what stood for no label."""
    words = [label for label in classes.tolist() if label in ("-1", "None", "nan")]
    numbers = all(label.lstrip("-").isdecimal() for label in classes.tolist())
    if words and not numbers:
        warn_caller(
            f"{words[0]!r} is a class like all others, since y is an array of strings; to mark "
            "rows without a label make it an array of objects (dtype=object) with -1, None or NaN.",
        )


def split_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the labelled rows, and which rows these are.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        A row is unlabelled where y is -1, None or NaN.

    Raises
    ------
    ValueError
        If no row is labelled.
    """
    # NumPy would make strings of what is missing in a list of strings.
    listed = isinstance(y, list | tuple)
    y = column_or_1d(np.array(y, dtype=object) if listed else as_they_are(y), warn=True)
    labelled = ~is_unlabelled(y)
    if not labelled.any():
        raise ValueError(
            f"y has no labelled row (-1, None and NaN mark unlabelled rows; there are {len(y)}); "
            "label some rows of each class, or use sklearn.manifold.SpectralEmbedding, which "
            "needs no labels."
        )
    present = y[labelled]
    if listed or (present.dtype.kind == "O" and not isinstance(present[0], str)):
        # Missing labels are what made numbers an array of objects.
        present = as_labels(present.tolist())
    return present, labelled


def tie_weights(
    sample_weight: Any, class_index: np.ndarray, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of each row's tie to its class, and the class indices.

    A row of weight 0 counts as unlabelled.

    Parameters
    ----------
    sample_weight : None, number or array-like of shape (n_rows,)
        The weights of unlabelled rows are not looked at.
    class_index : ndarray of shape (n_rows,)
        Class of each row, -1 for none.
    classes : ndarray of shape (n_classes,)
    """
    labelled = class_index >= 0
    if sample_weight is not None and not isinstance(sample_weight, Real):
        check_unmasked("sample_weight", sample_weight)
        sample_weight = np.asarray(sample_weight)
        if sample_weight.ndim == 1:
            check_one_per_row("sample_weight", sample_weight, len(class_index))
            sample_weight = sample_weight[labelled]
    weights = np.zeros(len(class_index))
    weights[labelled] = check_weights(sample_weight, None, class_index[labelled], classes)
    return weights, np.where(weights > 0, class_index, -1)


def is_unlabelled(y: np.ndarray) -> np.ndarray:
    """Tell which labels are -1, None or NaN."""
    missing = is_missing(y)
    if y.dtype.kind in "if":
        return missing | (y == -1)
    if y.dtype.kind == "O":
        missing[~missing] = [bool(label == -1) for label in y[~missing]]
    return missing
