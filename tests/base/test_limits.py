"""What an earlier hostile campaign found, one test each; `tests.family` has the scales."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import supred
from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
    RBFNetClassifier,
    RowBlocks,
)
from supred.app.export.conversion import finite_form_of
from supred.app.export.finite_form import ExportError
from supred.common.arguments import OutOfRangeError
from supred.export import load_model, save_model, to_c, to_javascript, to_onnx
from supred.numerics.decisions import scored_in_double
from supred.rbf_net import map as rbf_map
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


@pytest.mark.parametrize("made", [LowDimSVC, MaxMarginProjection])
def test_a_huge_penalty(made):
    model = made(C=10**30 - 1).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    for C in (10**31, 1e300, 10**400):
        with pytest.raises(ValueError, match=r"C=1.* is out of range; use a number in .*1e\+30"):
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


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_rows_of_a_file_that_begins_with_zeros_keep_their_unit(made, tmp_path):
    rows = np.vstack([np.zeros((200, 4)), X * 1e-200])
    labels = np.append(np.zeros(200), y + 1)
    np.save(tmp_path / "X.npy", rows)
    with pytest.raises(ValueError, match="largest number in X is"):
        made().fit(np.load(tmp_path / "X.npy", mmap_mode="r"), labels)


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


@pytest.mark.parametrize("made", [made for made in ALL if made is not LowDimSVCCV])
def test_two_rows(made):
    pair = np.array([[0.0, 1.0], [5.0, -1.0]])
    model = made().fit(pair, ["a", "b"])
    assert np.isfinite(model.transform(pair)).all()


@pytest.mark.parametrize("made", ALL)
def test_entries_of_sparse_rows_that_are_stored_in_parts(made):
    """They are sums of these to SciPy, and so to every estimator."""
    thin = sparse.csr_array(np.where(X > 0, X, 0.0))
    halves = sparse.csr_array(
        (np.repeat(0.5 * thin.data, 2), np.repeat(thin.indices, 2), 2 * thin.indptr),
        shape=thin.shape,
    )
    seed = {"random_state": 0} if made in having("random_state") else {}
    whole, parts = (made(**seed).fit(rows, y) for rows in (thin, halves))
    np.testing.assert_array_equal(parts.transform(halves), whole.transform(thin))
    assert halves.nnz == 2 * thin.nnz  # the input is as it was


@pytest.mark.parametrize("made", ALL)
def test_weights_that_differ_too_much(made):
    with pytest.raises(ValueError, match=r"sample_weight goes from 1e-150 to 1e\+150; use"):
        made().fit(X, y, sample_weight=np.geomspace(1e-150, 1e150, 30))
    model = made().fit(X, y, sample_weight=np.geomspace(1e-14, 1e12, 30))
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("made", having("class_weight"))
def test_weights_of_classes_that_differ_too_much(made):
    with pytest.raises(ValueError, match="sample_weight times class_weight goes from 1e-200"):
        made(class_weight={0: 1e-200}).fit(X, y)


def test_folds_in_which_few_rows_have_weight():
    weights = np.where(np.arange(30) % 5 < 2, 1.0, 0.0)
    model = LowDimSVCCV(cv=2, random_state=0).fit(X, y, sample_weight=weights)
    assert model.score(X, y, sample_weight=weights) > 0.6


@pytest.mark.parametrize("made", ALL)
def test_equal_rows(made):
    rows = np.broadcast_to(X[0], X.shape)
    model = made().fit(rows, y)
    assert np.isfinite(model.transform(rows)).all()


@pytest.mark.parametrize("made", ALL)
def test_one_number_hides_all_others(made):
    rows = X.copy()
    rows[3, 2] = 1e300
    with pytest.warns(UserWarning, match="counted in units"):
        model = made().fit(rows, y)
    assert np.isfinite(model.decision_function(rows)).all()


@pytest.mark.parametrize("made", [made for made in ALL if not made._takes_sources])
def test_rows_of_files_where_all_are_needed_at_once(made, tmp_path):
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(TypeError, match="needs all rows in memory, but X is a RowBlocks"):
        made().fit(RowBlocks(tmp_path / "X.npy"), y)


def test_a_penalty_that_leaves_no_digit():
    model = LowDimSVC(C=1e-30).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    with pytest.raises(ValueError, match=r"C=1e-300 is out of range; use a number in \[1e-30"):
        LowDimSVC(C=1e-300).fit(X, y)


@pytest.mark.parametrize("made", having("class_weight"))
def test_balanced_classes_of_which_one_has_no_weight(made):
    with pytest.raises(ValueError, match=r"all weights are zero for class\(es\) \[1\]"):
        made(class_weight="balanced").fit(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))


@pytest.mark.parametrize("made", [KernelDiscriminantAnalysis, LowDimSVC, MaxMarginProjection])
def test_models_of_very_small_rows_can_be_loaded(made, tmp_path):
    with pytest.warns(UserWarning, match="X is counted in units of"):
        model = made().fit(1e-300 * X, y)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.transform(1e-300 * X), model.transform(1e-300 * X))


@pytest.mark.parametrize("made", [CategorySpace, KernelDiscriminantAnalysis])
def test_a_kernel_that_overflows_is_refused(made):
    model = made(kernel="poly", degree=9, gamma=1.0).fit(X, y)
    with pytest.raises(ValueError, match="the kernel matrix holds values beyond"):
        model.decision_function(1e18 * X)


@pytest.mark.parametrize(("name", "value"), [("alpha", 1e-61), ("mu", 1e-16), ("C", 1e-31)])
def test_penalties_that_rounding_hides_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}=.*is out of range"):
        LowDimSVC(**{name: value}).fit(X, y)
    found = LowDimSVC(**{name: 10 * value}, random_state=0).fit(X.astype(np.float32), y)
    assert np.isfinite(found.decision_function(X)).all()


def test_far_rows_in_single_precision_have_scores_or_are_refused():
    model = LowDimSVC(mapping="linear", random_state=0).fit(X.astype(np.float32), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for size in np.logspace(1, 38, 38):
            rows = np.full((1, X.shape[1]), size, dtype=np.float32)
            try:
                assert np.isfinite(model.decision_function(rows)).all()
            except OutOfRangeError:
                assert size > 1e31


def test_the_largest_weights_have_a_score():
    model = LowDimSVC(random_state=0).fit(X, y)
    weights = np.where(y == 0, 1.7e308, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = model.score(X, y, sample_weight=weights)
    assert found == pytest.approx(np.mean(model.predict(X[y == 0]) == 0))


def test_polynomials_beyond_single_precision_are_not_exported():
    rows = 1e-12 * np.ones((12, 3))
    rows[::2] *= 1 + 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = KernelDiscriminantAnalysis(kernel="poly", gamma="scale").fit(
            rows, np.arange(12) % 2
        )
        assert model.gamma_ > 1e39
        for export in (to_c, to_javascript, to_onnx):
            with pytest.raises(ExportError, match="which single precision cannot hold"):
                export(model)


def test_steps_that_only_diverge_are_refused():
    RBFNetClassifier(learning_rate=10.0, max_iter=5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"learning_rate=1e\+30 is out of range"):
        RBFNetClassifier(learning_rate=1e30).fit(X, y)


def test_columns_of_very_unequal_size_in_single_precision():
    uneven = (X * [1e-30, 1.0, 1e15, 1e30]).astype(np.float32)
    with pytest.warns(UserWarning, match="X is counted in units of"):
        model = RBFNetClassifier(max_iter=5, random_state=0).fit(uneven, y)
    assert np.isfinite(model.transform(uneven)).all()


@pytest.mark.parametrize("n_labels", [2, 3])
def test_models_of_several_labels_can_be_loaded(n_labels, tmp_path):
    model = CategorySpace().fit(X, np.eye(n_labels)[y % n_labels])
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(X), model.predict(X))
    Z = model.transform(X)
    np.testing.assert_array_equal(model.classify_latent(Z), model.predict(X))


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no long doubles")
def test_long_doubles_that_no_double_holds():
    model = LowDimSVC(n_centers=5).fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X.astype(np.longdouble) * np.longdouble("1e400"))


@pytest.mark.parametrize("gamma", [1e-9, 1e9])
def test_kernel_discriminants_of_rows_of_unequal_size(gamma):
    """The Gaussians of such rows were no kernel any more."""
    rows = X * 10.0 ** np.random.default_rng(1).uniform(-10, 10, size=(30, 1))
    model = KernelDiscriminantAnalysis(gamma=gamma).fit(rows, y)
    assert np.isfinite(model.transform(rows)).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("made", [CategorySpace, KernelDiscriminantAnalysis])
def test_a_ridge_far_below_rounding(made, kernel):
    """Columns that are sums of others leave nothing but the ridge to divide by."""
    rows = np.hstack([X, X @ np.ones((4, 2)), np.zeros((30, 1))])
    model = made(kernel=kernel, alpha=1e-100).fit(rows, y)
    assert model.score(rows, y) > 0.6


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_equal_rows_are_not_taken_apart_by_rounding(kernel):
    rows = np.full((22, 1), np.random.default_rng(770949).normal(), dtype=np.float32)
    weights = np.random.default_rng(0).uniform(0.1, 2.0, size=22)
    model = CategorySpace(kernel=kernel, class_weight="balanced")
    model.fit(rows, np.arange(22) % 3, sample_weight=weights)
    assert np.abs(model.transform(rows)).max() < 1e3


@pytest.mark.parametrize("made", ALL)
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_sparse_rows_with_a_column_far_from_zero_are_dense_rows(made, offset):
    """Differences of squares would lose the digits of all other columns."""
    rows = X.copy()
    rows[:, 1] += offset
    fixed = {"random_state": 0} if made in having("random_state") else {}
    model, of_sparse = (made(**fixed).fit(form(rows), y) for form in (np.array, sparse.csr_matrix))
    expected = model.transform(rows)
    size = np.abs(expected).max()
    for answer in (model.transform(sparse.csr_matrix(rows)), of_sparse.transform(rows)):
        np.testing.assert_allclose(answer / size, expected / size, atol=1e-6)


def test_a_full_column_among_sparse_ones():
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((40, 60)) < 0.05, 1.0, 0.0)
    rows[:, 7] = 1e8 + rng.normal(size=40)
    labels = (rows[:, 7] > 1e8).astype(int)
    for model in (KernelDiscriminantAnalysis(random_state=0), LowDimSVC(random_state=0)):
        expected = model.fit(rows, labels).transform(rows)
        found = model.transform(sparse.csr_matrix(rows))
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_models_of_extreme_rows_refuse_those_of_files(tmp_path):
    """Out-of-core rows keep their own unit, so they cannot be compared."""
    np.save(tmp_path / "rows.npy", X * 1e-18)
    for made in (LowDimSVC, RBFNetClassifier):
        with pytest.warns(UserWarning, match="counted in units"):
            model = made().fit(X * 1e-25, y)
        for rows in (
            RowBlocks(tmp_path / "rows.npy"),
            np.load(tmp_path / "rows.npy", mmap_mode="r"),
        ):
            with pytest.raises(ValueError, match="out-of-core rows keep their own unit"):
                model.predict(rows)


def test_a_map_of_a_network_that_diverged(monkeypatch):
    latent_rows = rbf_map.latent_rows
    monkeypatch.setattr(rbf_map, "latent_rows", lambda *given: latent_rows(*given) * np.nan)
    with pytest.raises(ValueError, match="the first network of the map diverged"):
        RBFNetClassifier(1, max_iter=20, random_state=0).fit(X, y)


def test_scores_of_huge_weights_in_single_precision():
    single = X.astype(np.float32)
    model = LowDimSVC(random_state=0).fit(single, y)
    assert model.decision_function(single).dtype == np.float32
    assert scored_in_double(1e38 * model.coef_, model.intercept_)
    model.coef_, model._scores_in_double = 1e38 * model.coef_, True
    assert np.isfinite(model.decision_function(single)).all()
    assert model.transform(single).dtype == np.float32


@pytest.mark.parametrize("mapping", ["rbf", "linear"])
def test_weights_of_a_mapping_too_large_for_single_precision(mapping, monkeypatch):
    monkeypatch.setattr("supred.low_dim_svm.mappings.basis.MOST_IN_SINGLE", 1e-3)
    model = LowDimSVC(mapping=mapping, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"alpha=.*: the weights of the mapping grow to"):
        model.fit(X.astype(np.float32), y)
