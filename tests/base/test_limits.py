"""What an earlier hostile campaign found, one test each; `tests.family` has the scales."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

import supred
from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
    RBFNetClassifier,
)
from supred.app.export.conversion import finite_form_of
from supred.app.export.finite_form import ExportError
from supred.export import load_model, save_model
from tests.family import blobs, read_only

ALL = (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
    RBFNetClassifier,
)
rng = np.random.default_rng(0)
y = read_only(np.arange(30) % 3)
X = read_only(rng.normal(size=(30, 4)) + y[:, None])


@pytest.fixture(autouse=True)
def no_numeric_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("error", RuntimeWarning)
        yield


def having(name):
    return [made for made in ALL if name in made().get_params()]


@pytest.mark.parametrize("n_jobs", ["x", np.inf, 1.5, 0, True])
@pytest.mark.parametrize("made", having("n_jobs"))
def test_n_jobs_is_a_whole_number(made, n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs=.* is out of range; use None"):
        made(n_jobs=n_jobs).fit(X, y)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_early_stopping_is_true_or_false(made):
    with pytest.raises(ValueError, match=r"early_stopping=.*; use True or False"):
        made(early_stopping=np.array([True, False])).fit(X, y)


@pytest.mark.parametrize("made", ALL)
def test_weights_are_numbers(made):
    with pytest.raises(ValueError, match="sample_weight cannot be read as numbers"):
        made().fit(X, y, sample_weight=["heavy"] * 30)


@pytest.mark.parametrize("made", having("n_components"))
def test_a_latent_space_of_four_billion_dimensions(made):
    with pytest.raises(ValueError, match=r"n_components.*=4294967296 is out of range"):
        made(n_components=2**32).fit(X, y)


@pytest.mark.parametrize("made", [LowDimSVC, MaxMarginProjection])
def test_a_huge_penalty(made):
    model = made(C=10**30 - 1).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    for C in (10**31, 1e300, 10**400):
        with pytest.raises(ValueError, match=r"C=1.* is out of range; use a number in \(0, 1e\+30"):
            made(C=C).fit(X, y)


def test_an_svm_that_would_not_end():
    few, labels = rng.normal(size=(44, 2)), np.arange(44) % 3
    with pytest.warns(ConvergenceWarning):
        model = MaxMarginProjection(kernel="rbf-diagonal", C=1e12).fit(few, labels)
    assert np.isfinite(model.decision_function(few)).all()


@pytest.mark.parametrize("scale", [1e153, 1e-80])
def test_scales_of_features_of_extreme_size(scale):
    with pytest.warns(UserWarning, match="counted in units"):
        model = MaxMarginProjection(kernel="rbf-diagonal").fit(X * scale, y)
    assert model.score(X * scale, y) > 0.8


def test_a_polynomial_kernel_far_from_the_origin():
    far = X + 1e7
    model = KernelDiscriminantAnalysis(kernel="poly").fit(far, y)
    assert np.isfinite(model.decision_function(far)).all()


@pytest.mark.parametrize("weight", [1e-200, 1e200, 1e308])
@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_probabilities_under_extreme_weights(made, weight):
    with pytest.warns(UserWarning, match="sample_weight is counted in units"):
        model = made(loss="log", random_state=0).fit(X, y, sample_weight=np.full(30, weight))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_equal_rows_far_from_the_origin():
    rows = np.full((30, 4), 1e6 + 1 / 3)
    model = ClassConstrainedEmbedding().fit(rows, y)
    alone = np.vstack([model.transform(rows[k : k + 1]) for k in range(30)])
    np.testing.assert_array_equal(alone, model.transform(rows))


def test_a_regressor_is_no_classifier():
    with pytest.raises(ValueError, match=r"classifier=Ridge\(\) is not a classifier"):
        ClassConstrainedEmbedding(classifier=Ridge()).fit(X, y)


@pytest.mark.parametrize("beta", [1e-30, 1e30])
def test_ties_of_extreme_weight(beta):
    assert np.isfinite(ClassConstrainedEmbedding(beta=beta).fit(X, y).transform(X)).all()


def test_narrow_gaussians_in_single_precision():
    rows = X.astype(np.float32)
    model = LowDimSVC(gamma=1e5, random_state=0).fit(rows, y)
    whole = model.transform(rows)
    alone = np.vstack([model.transform(rows[k : k + 1]) for k in range(30)])
    np.testing.assert_allclose(alone, whole, atol=2e-3 * np.abs(whole).max())


def test_precision_does_not_choose_the_draws():
    rows = X.astype(np.float32)
    single = RBFNetClassifier(random_state=0).fit(rows, y).transform(rows)
    double = RBFNetClassifier(random_state=0).fit(rows.astype(float), y).transform(rows)
    np.testing.assert_allclose(single, double, atol=1e-3 * np.abs(double).max())


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
@pytest.mark.parametrize(
    ("scale", "message"), [(1e30, r"Input X contains .*e\+"), (1e-30, "largest number in X is")]
)
def test_rows_of_a_file_keep_their_unit(made, scale, message, tmp_path):
    np.save(tmp_path / "X.npy", X * scale)
    rows = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match=message):
        made().fit(rows, y)
    np.save(tmp_path / "X.npy", X)
    model = made().fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    assert model.row_unit_ == 1.0
    np.save(tmp_path / "far.npy", X * 1e30)
    with pytest.raises(ValueError, match="Input X contains"):
        model.predict(np.load(tmp_path / "far.npy", mmap_mode="r"))


@pytest.mark.parametrize("made", ALL)
def test_the_unit_is_part_of_the_model(made, tmp_path):
    rows, labels = blobs()
    with pytest.warns(UserWarning, match="counted in units"):
        model = made().fit(rows * 1e90, labels)
    save_model(model, tmp_path / "model.supred")
    again = load_model(tmp_path / "model.supred")
    assert again.row_unit_ == model.row_unit_ != 1.0
    np.testing.assert_array_equal(again.transform(rows * 1e90), model.transform(rows * 1e90))
    with pytest.raises(ExportError):
        finite_form_of(model)


def test_a_model_that_is_not_finite_is_an_error(monkeypatch):
    monkeypatch.setattr(
        supred.KernelDiscriminantAnalysis, "_model_arrays", lambda self: [np.array([np.nan])]
    )
    with pytest.raises(ValueError, match="holds a number that is not finite; bring the param"):
        KernelDiscriminantAnalysis().fit(X, y)


def test_rows_far_from_those_that_a_model_knows():
    """They can be predicted, but not learnt from."""
    net = RBFNetClassifier(max_iter=20, random_state=0).fit(X, y)
    for use in (
        lambda: net.explain(X * 1e50),
        lambda: net.partial_fit(X * 1e50, y),
        lambda: LowDimSVC().fit(X, y, X_val=X * 1e50, y_val=y),
        lambda: ClassConstrainedEmbedding().fit(X, y).transform_batch(X * 1e50),
    ):
        with pytest.raises(ValueError, match="far larger than these"):
            use()
