"""The checks of arguments that all estimators share."""

import importlib
import warnings
from contextlib import suppress

import numpy as np
import pytest

from supred import KernelDiscriminantAnalysis, LowDimSVC
from supred.base.validation import check_weights
from supred.common.arguments import check_integer, check_real
from supred.common.labels import encode_labels

CODES = np.array([0, 0, 1, 2])
CLASSES = np.array(["a", "b", "c"])


def test_labels_are_encoded_in_order():
    classes, codes = encode_labels(["b", "a", "b"])
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.5, 2.5, 0.1], "continuous"),
        ([1, 1, 1], r"one class only \(\[1\]\)"),
        ([0.0, np.nan, np.nan], r"2 missing label\(s\), the first in row 1"),
        (["a", None, "b"], r"1 missing label\(s\), the first in row 1"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(np.array(y, dtype=object if None in y else None))


@pytest.mark.parametrize("made", [LowDimSVC, KernelDiscriminantAnalysis])
def test_values_that_are_not_there_yet(made):
    rows, labels = np.eye(4), [0, 1, 0, 1]
    model = made().fit(rows, labels)
    later = [iter(labels), (label for label in labels)]
    with suppress(ImportError):
        later.append(importlib.import_module("dask").delayed(labels))
    for values in later:
        for fails in (
            lambda values=values: made().fit(values, labels),
            lambda values=values: model.predict(values),
        ):
            with pytest.raises(TypeError, match=r"X is a .*, whose values are not there yet; give"):
                fails()
        with pytest.raises(TypeError, match=r"y is a .*, whose values are not there yet; give"):
            made().fit(rows, values)


def test_weights_multiply():
    weights = check_weights([1, 2, 3, 4], {"a": 10.0}, CODES, CLASSES)
    assert weights.tolist() == [10, 20, 3, 4]


@pytest.mark.parametrize(("given", "of_class"), [(2.0**38, 1e307), (2.0**-40, 1e-307)])
def test_weights_of_classes_that_are_no_numbers_as_products(given, of_class):
    """They get a unit of their own, and only the ratios are left."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(UserWarning, match="class_weight is counted in units of 2"):
            weights = check_weights(
                given * np.array([1, 2, 3, 4]), dict.fromkeys(CLASSES, of_class), CODES, CLASSES
            )
    np.testing.assert_allclose(weights / weights[0], [1, 2, 3, 4])


def test_balanced_counts_by_weight():
    """A class of total weight w gets n / (K w), whatever the number of rows."""
    weights = check_weights([1.0, 2.0, 3.0, 6.0], "balanced", CODES, CLASSES)
    totals = np.bincount(CODES, weights=weights)
    np.testing.assert_allclose(totals, 4.0)


def test_weights_are_copied():
    given = np.ones(4)
    check_weights(given, {"a": 2.0}, CODES, CLASSES)
    assert given.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((4, 1)), "1D"),
        (np.ones(3), "has 3 values for 4 rows"),
        ([1, 1, 1, -2], r"negative value \(-2 in row 3\)"),
        ([1, 1, 1, np.inf], "finite"),
        ([1, 1, 1, 0], r"all weights are zero for class\(es\) \['c'\]"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, None, CODES, CLASSES)


@pytest.mark.parametrize("value", [0, 1.0, "1", None, True, np.nan])
def test_what_is_not_in_the_open_interval(value):
    with pytest.raises(ValueError, match=r"alpha=.* use a number in \(0, 1\)"):
        check_real("alpha", value, low=0, high=1, low_inclusive=False, high_inclusive=False)


def test_numbers_of_numpy_are_numbers():
    assert check_real("alpha", np.float32(0.5), low=0) == 0.5
    assert check_integer("n", np.int64(3), low=1) == 3
    with pytest.raises(ValueError, match="whole number"):
        check_integer("n", np.float64(3.0), low=1)
