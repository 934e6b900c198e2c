"""Arrays of torch and CuPy and the estimators that train on NumPy's: some predict them."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.datasets import load_wine

from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
    RBFNetClassifier,
)
from supred.common.arrays import on_host, place_of
from tests.devices import LIBRARIES, dispatch, putter


@pytest.fixture(params=LIBRARIES)
def put(request):
    return putter(request.param)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X.flags.writeable = False
    return X, y


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("made", [CategorySpace, KernelDiscriminantAnalysis])
def test_linear_and_gaussian_maps_predict_arrays_where_they_are(put, wine, made, kernel):
    X, y = wine
    model = made(kernel=kernel).fit(X, y)
    names = ["transform", "decision_function", "predict"]
    names += ["predict_proba"] if made is KernelDiscriminantAnalysis else []
    for name in names:
        expected = getattr(model, name)(X)
        with dispatch():
            found = getattr(model, name)(put(X))
        assert place_of(found) == place_of(put(X))
        np.testing.assert_allclose(on_host(found), expected, atol=1e-9)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_tensors_that_ask_for_gradients_are_rows_like_others(wine, made):
    X, y = wine
    rows = putter("torch-cpu")(X)
    asking = rows.clone().requires_grad_()
    for context in (dispatch(), nullcontext()):
        with context:
            model = made(random_state=0).fit(rows, y)
            again = made(random_state=0).fit(asking, y)
            for name in ("transform", "predict"):
                found, expected = (on_host(getattr(m, name)(asking)) for m in (again, model))
                np.testing.assert_array_equal(found, expected)
            labels = again.classify_latent(again.transform(rows))
            np.testing.assert_array_equal(on_host(labels), on_host(again.predict(rows)))
    assert asking.requires_grad


def test_several_labels(put, wine):
    X, y = wine
    Y = np.column_stack([y == 0, y > 0, X[:, 0] > 0]).astype(int)
    model = CategorySpace(kernel="linear").fit(X, Y)
    with dispatch():
        found = model.predict(put(X))
    np.testing.assert_array_equal(on_host(found), model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        CategorySpace(),
        KernelDiscriminantAnalysis(),
        MaxMarginProjection(),
        ClassConstrainedEmbedding(),
        LowDimSVCCV(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_trains_on_numpy_arrays_says_so(put, wine, model):
    name = type(model).__name__
    with dispatch(), pytest.raises(TypeError, match=f"{name} does not take arrays of .* to train"):
        model.fit(put(wine[0]), wine[1])


def test_other_maps_say_so(put, wine):
    X, y = wine
    with dispatch():
        for model in (CategorySpace(kernel="poly"), MaxMarginProjection()):
            with pytest.raises(TypeError, match=r"does not take arrays of .* here; give a NumPy"):
                model.fit(X, y).transform(put(X))
