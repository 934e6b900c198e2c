"""The rules that give a class to coordinates."""

import warnings

import numpy as np
import pandas as pd
import pytest

from supred import CategorySpace
from supred.category_space.decisions import AxisRule
from tests.family import blobs


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_angles_do_not_depend_on_the_scale(scale):
    Z = np.array([[3.0, 4.0], [-1.0, 0.0], [0.0, 0.0]])
    with np.errstate(all="raise"):
        cosines = AxisRule("axes").scores(scale * Z)
    np.testing.assert_allclose(cosines, [[0.6, 0.8], [-1.0, 0.0], [0.0, 0.0]], rtol=1e-14)


def test_a_weight_is_that_many_copies_for_the_thresholds_of_labels():
    """Where the rows that have a label end between two copies, too."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 5)), (rng.random((40, 3)) < 0.5).astype(int)
    for draw in range(5):
        weights = np.random.default_rng(draw).integers(1, 5, len(X))
        copies = np.repeat(np.arange(len(X)), weights)
        model = CategorySpace(gamma=0.1, alpha=1e-2, random_state=0, tol=1e-9)
        expected = model.fit(X[copies], Y[copies]).decision_function(X)
        found = model.fit(X, Y, sample_weight=weights).decision_function(X)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_dataframe_of_labels_is_the_same_as_the_array():
    """Rounding, which decides between equal axes, does not depend on the order in memory."""
    rng = np.random.default_rng(3)
    X, Y = (rng.random((38, 1)) < 0.5).astype(float), (rng.random((38, 4)) < 0.5).astype(int)
    model = CategorySpace(criterion="absolute", random_state=5)
    expected = model.fit(X, Y).transform(X)
    np.testing.assert_array_equal(model.fit(X, pd.DataFrame(Y)).transform(X), expected)


@pytest.mark.parametrize(
    ("parameters", "shift"),
    [
        ({"kernel": "linear", "origin": "zero", "classifier": "angle"}, 1000.0),
        ({"kernel": "poly"}, 1e7),
        ({"kernel": "poly", "whiten": False}, 1000.0),
        ({"gamma": 1e-9, "whiten": False}, 0.0),
    ],
)
def test_angles_that_tell_no_classes_apart_are_told(parameters, shift):
    X, y = blobs(spread=0.5)
    model = CategorySpace(random_state=0, **parameters)
    with pytest.warns(UserWarning, match="all get the class [012], because seen from zero"):
        model.fit(X + shift, y)
    assert model.score(X + shift, y) < 0.4
    remedy = {"gamma": 0.01} if "gamma" in parameters else {"classifier": "linear"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(**remedy).fit(X + shift, y)
    assert model.score(X + shift, y) > 0.95
