"""The finite form of a model is the model."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
)
from supred.app.export.conversion import finite_form_of
from supred.app.export.finite_form import ExportError, in_single, run, simplified
from supred.app.export.precision import precise
from supred.app.export.quantise import quantised
from supred.app.export.steps import Affine, Gaussians, Scale
from supred.export import quantisation_errors, to_c
from tests.app.export.models import MODELS, fitted, rows_and_labels
from tests.family import blobs


@pytest.fixture(scope="module")
def digits():
    return rows_and_labels()


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("name", MODELS)
def test_the_form_is_the_model(name, n_classes, digits):
    X = digits[0]
    model = fitted(name, n_classes)
    found = finite_form_of(model).evaluate(X)
    scores = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.latent, model.transform(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(found.labels, model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found.probabilities, model.predict_proba(X), atol=1e-9)


def test_searches_are_their_best_model(digits):
    X, y = digits
    models = [
        LowDimSVCCV(alphas=[1e-3], Cs=[1.0], n_centers=10, cv=2, random_state=0),
        GridSearchCV(CategorySpace(n_init=0), {"criterion": ["squared"]}, cv=2),
    ]
    for model in models:
        model.fit(X, y)
        np.testing.assert_array_equal(finite_form_of(model).evaluate(X).labels, model.predict(X))


def test_gaps_are_filled_as_in_the_pipeline(digits):
    model = fitted("gaps")
    rows = digits[0].copy()
    rows[::3, 5] = np.nan
    np.testing.assert_allclose(
        finite_form_of(model).evaluate(rows).latent, model.transform(rows), atol=1e-9
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ClassConstrainedEmbedding(), "train a RBFNetClassifier or a LowDimSVC"),
        (LowDimSVC(mapping=Ridge(), max_iter=2), r"mapping=Ridge\(\) is a regressor"),
        (KernelDiscriminantAnalysis(kernel=lambda A, B: A @ B.T), "kernel=callable cannot"),
        (KernelDiscriminantAnalysis(kernel="poly", degree=1.5), "degree=1.5 cannot"),
        (GridSearchCV(CategorySpace(n_init=0), {"n_init": [0]}, refit=False), "refit=True"),
        (LogisticRegression(), "LogisticRegression cannot be exported; RBFNetClassifier"),
        (make_pipeline(KernelPCA(2), LowDimSVC(n_centers=5)), "'kernelpca' .* is a KernelPCA"),
        (
            make_pipeline(SimpleImputer(add_indicator=True), CategorySpace(n_init=0)),
            "'simpleimputer' is a SimpleImputer that adds indicators",
        ),
    ],
)
def test_what_cannot_be_exported(model, message, digits):
    X, y = digits
    model.fit(X[:100], y[:100])
    with pytest.raises(ExportError, match=message):
        finite_form_of(model)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        finite_form_of(LowDimSVC())


def test_numbers_too_large_for_single_precision(digits):
    X, y = digits
    method = KernelDiscriminantAnalysis(kernel="linear")
    form = finite_form_of(make_pipeline(StandardScaler(), method).fit(X * 1e45, y))
    with pytest.raises(ExportError, match="single precision cannot hold"):
        in_single(form)
    with pytest.warns(UserWarning, match="units of"):
        method.fit(X * 1e45, y)
    with pytest.raises(ExportError, match="which single precision does not hold"):
        finite_form_of(method)


def random_steps(rng, kinds):
    width, steps = 5, []
    for kind in kinds:
        if kind == "scale":
            steps.append(Scale(rng.normal(size=width), rng.uniform(0.5, 2, size=width)))
        elif kind == "gaussians":
            steps.append(Gaussians(rng.normal(size=(6, width)), rng.uniform(size=6)))
            width = 6
        else:
            steps.append(Affine(rng.normal(size=(width, 3)), rng.normal(size=3)))
            width = 3
    return steps


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["scale", "scale", "affine"], ["Scale", "Affine"]),
        (["scale", "affine", "scale", "affine"], ["Scale", "Affine"]),
        (["affine", "scale", "gaussians", "affine"], ["Affine", "Gaussians", "Affine"]),
        (["scale", "gaussians", "affine", "scale"], ["Scale", "Gaussians", "Affine"]),
    ],
)
def test_simpler_steps_do_the_same(kinds, expected):
    rng = np.random.default_rng(0)
    steps = random_steps(rng, kinds)
    fewer = simplified(steps)
    assert [type(step).__name__ for step in fewer] == expected
    rows = rng.normal(size=(20, 5))
    np.testing.assert_allclose(run(fewer, rows), run(steps, rows), rtol=1e-10)


def test_shifts_join_maps_of_any_size():
    """A tiny shift times a huge factor is neither."""
    shift, centers = np.full(3, 1e-170), np.random.default_rng(0).normal(size=(4, 3))
    steps = (
        Scale(shift, np.ones(3)),
        Affine(1e170 * np.eye(3), np.zeros(3)),
        Gaussians(centers, np.ones(4)),
    )
    fewer = simplified(steps)
    assert [type(step).__name__ for step in fewer] == ["Affine", "Gaussians"]
    rows = 1e-170 * centers
    np.testing.assert_allclose(run(fewer, rows), run(steps, rows), rtol=1e-10)


def test_single_precision_is_measured(digits):
    """The sum of wide Gaussians with large weights needs double precision."""
    X, y = digits
    wide = LowDimSVC(centers="all", gamma=1e-3, alpha=1e-9).fit(X, y)
    narrow = LowDimSVC(centers="all", gamma=1.0, alpha=1.0).fit(X, y)
    assert precise(finite_form_of(wide)).double_sums
    assert not precise(finite_form_of(narrow)).double_sums


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_linear_scores_of_features_far_from_zero_need_double_numbers(offset):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + y[:, None] + offset
    model = MaxMarginProjection(tasks="ovr").fit(X, y)
    found = precise(finite_form_of(model))
    assert found.double_numbers == found.double_sums == (offset > 0)
    scores = run(rounded_steps(found), X.astype(np.float32).astype(float))
    expected = model.decision_function(X.astype(np.float32).astype(float))
    np.testing.assert_allclose(scores, expected, atol=1e-5 * np.abs(expected).max())


def rounded_steps(found):
    form = found.form if found.double_numbers else in_single(found.form)
    return [*form.to_latent, *form.to_scores]


def test_votes_are_cast_in_double(digits):
    """A vote turns over at zero: an error of 1e-7 there would change a score by one."""
    X, y = digits
    for options in ({"mapping": "linear"}, {"n_centers": 10, "random_state": 0}):
        form = finite_form_of(LowDimSVC(multi_class="ovo", **options).fit(X[::4], y[::4]))
        assert precise(form).double_sums
        assert not precise(form, "single").double_sums


def test_rounding_is_measured(digits):
    """Where weights cancel to many digits, numbers of single precision are too coarse."""
    X, y = digits
    model = KernelDiscriminantAnalysis(gamma=1e-3, n_landmarks=150, random_state=0).fit(X, y)
    form = finite_form_of(model)
    scores = form.evaluate(X).scores
    size = np.sqrt(np.mean(scores**2))
    assert np.abs(in_single(form).evaluate(X).scores - scores).max() > 1e-5 * size
    assert precise(form).form is form
    assert not precise(form, "single").double_numbers


def test_bytes_cost_little(digits):
    X, y = digits
    model = LowDimSVC(n_centers=60, gamma=0.3, alpha=1e-2, random_state=0).fit(X[::2], y[::2])
    form = finite_form_of(model)
    plain, packed = form.evaluate(X), quantised(form).evaluate(X)
    size = np.sqrt(np.mean(plain.scores**2))
    difference = np.abs(packed.scores - plain.scores).max() / size
    assert 1e-4 < difference < 0.2
    before, after = quantisation_errors(model, X[1::2], y[1::2])
    assert before == np.mean(model.predict(X[1::2]) != y[1::2])
    assert after == np.mean(packed.labels[1::2] != y[1::2])


def test_scores_beyond_single_precision_are_exported_in_double():
    """Where classes do not spread, squares of distances overflow in single precision."""
    model = KernelDiscriminantAnalysis().fit(np.eye(40)[[32, 22, 38, 18, 14]], [0, 1, 2, 3, 0])
    assert precise(finite_form_of(model)).double_sums


def test_exponents_beyond_single_precision_are_exported_in_double():
    """A square of a centre was infinite, and an infinite number less another is none."""
    X, y = blobs(30, 4)
    model = LowDimSVC(n_centers=5, gamma=1e5).fit(1e18 * X, y)
    assert precise(finite_form_of(model)).double_sums


def test_features_whose_scale_is_zero_can_be_exported():
    X, y = blobs(30, 4)
    many = np.hstack([X, np.exp(5 * np.random.default_rng(1).normal(size=(30, 60)))])
    model = MaxMarginProjection(kernel="rbf-diagonal").fit(many, y)
    assert (model.feature_scales_ == 0).any()
    found = finite_form_of(model).evaluate(many)
    np.testing.assert_allclose(found.scores, model.decision_function(many), atol=1e-9)


def test_errors_of_quantisation_are_counted_row_by_row():
    X, y = load_iris(return_X_y=True)
    model = LowDimSVC(n_centers=30, random_state=0).fit(X[::2], y[::2])
    expected = quantisation_errors(model, X, y)
    assert quantisation_errors(model, X, y[:, None]) == expected
    for labels in (y[:5], np.eye(3)[y]):
        with pytest.raises(ValueError, match="y has the shape"):
            quantisation_errors(model, X, labels)
    with pytest.raises(ValueError, match="the model takes rows of 4 numbers"):
        quantisation_errors(model, X[:, :3], y)
    with pytest.raises(ValueError, match="name=-1 cannot begin the names"):
        to_c(model, name=-1)
