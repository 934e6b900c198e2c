"""Fitted state as plain values."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from supred import LowDimSVC
from supred.base.state import from_state, register, registered_classes, to_state
from tests.family import blobs


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def test_a_dataclass_is_its_fields():
    interval = Interval(0.0, 1.0)
    assert to_state(interval) == {"low": 0.0, "high": 1.0}
    assert from_state(Interval, to_state(interval)) == interval


def test_other_objects_have_no_state():
    with pytest.raises(TypeError, match="list has no to_state"):
        to_state([1])


def test_two_classes_of_one_name_are_refused():
    assert registered_classes()["GaussianCenters"].__module__ == "supred.numerics.kernels"
    with pytest.raises(ValueError, match="two classes are called GaussianCenters"):
        register(type("GaussianCenters", (), {}))


def test_the_state_of_an_estimator_holds_what_predicts():
    X, y = blobs()
    model = LowDimSVC(n_centers=10, C=3.0, random_state=0).fit(X, y)
    again = LowDimSVC.from_state(model.to_state())
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.classify_latent(model.transform(X)), model.predict(X))
    np.testing.assert_array_equal(
        again.score_latent(model.transform(X)), model.decision_function(X)
    )


def test_only_fitted_estimators_and_declared_attributes():
    with pytest.raises(NotFittedError):
        LowDimSVC().to_state()
    with pytest.raises(NotFittedError):
        LowDimSVC().classify_latent(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="has no attribute 'fit'"):
        LowDimSVC.from_state({**LowDimSVC().get_params(), "fit": None})
