"""Learned centres: what they buy, how they are chosen, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss

from supred import LowDimSVC, LowDimSVCCV, RowBlocks
from supred.app.export.model_file import TableModel, load_model, save_model
from supred.app.tables.table import Column
from supred.datasets import make_spirals
from supred.low_dim_svm.problem import HeldOut
from supred.rbf_net import learning as _learned_parts
from supred.rbf_net.learning import calibration_factor, merge_equal_rows
from supred.rbf_net.mapping import LearnedMapping
from tests.family import blobs, read_only


def moons(n_rows=500, seed=0):
    X, y = make_moons(n_rows, noise=0.2, random_state=seed)
    return read_only(X, y)


def learned(**options):
    settings = {"n_centers": 6, "refine_steps": 300, "random_state": 0, "centers": "learned"}
    return LowDimSVC(**{**settings, **options})


@pytest.fixture(scope="module")
def fitted():
    return learned(loss="log").fit(*moons())


def test_few_learned_centres_do_what_few_fixed_ones_cannot():
    X, y = make_spirals(800, n_classes=2, random_state=0)
    few = {"n_centers": 14, "random_state": 0}
    fixed = LowDimSVC(**few, gamma=30.0).fit(X, y)
    model = LowDimSVC(**few, centers="learned", gamma=30.0, refine_steps=800).fit(X, y)
    assert fixed.score(X, y) < 0.9
    assert model.score(X, y) > 0.98


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_centres_widths_and_scales_are_learned(loss):
    X, y = moons()
    noise = np.random.RandomState(0).normal(size=(len(y), 3))
    X = np.column_stack([X, noise])
    model = learned(loss=loss, n_centers=8).fit(X, y)
    assert model.gamma_.shape == (8,)
    assert model.gamma_.std() > 0
    assert model.centers_.shape == (8, 5)
    # the features that are noise count less
    scales = model.mapping_.scales
    assert scales[2:].max() < scales[:2].min()
    reference = np.exp(
        -model.gamma_ * np.square((X[:, None] - model.centers_) * scales).sum(axis=2)
    )
    Z = reference @ model.mapping_.W + model.mapping_.w0
    np.testing.assert_allclose(model.transform(X), Z, rtol=1e-6, atol=1e-8)


def test_rows_are_held_out_by_default(fitted):
    X, y = moons()
    errors = fitted.refinement_["validation_error"]
    assert np.isfinite(errors).all()
    assert fitted.stopping_reason_ == "steps"
    # one standard error of 50 rows about the least
    kept = errors[list(fitted.refinement_["step"]).index(fitted.refinement_["best_step"])]
    least = errors.min()
    assert kept <= least + np.sqrt(max(least * (1 - least), 1 / 50) / 50) + 1e-12
    alone = learned(early_stopping=False).fit(X, y)
    assert np.isnan(alone.refinement_["validation_error"]).all()
    assert alone.refinement_["best_step"] == 300


def test_given_validation_rows_are_used():
    X, y = moons()
    X_val, y_val = moons(100, seed=1)
    right = learned().fit(X, y, X_val=X_val, y_val=y_val)
    wrong = learned().fit(X, y, X_val=X_val, y_val=1 - y_val)
    assert right.refinement_["validation_error"].min() < 0.1
    # labels that are all wrong make the poorest model the best
    assert wrong.refinement_["best_step"] < right.refinement_["best_step"]


def test_size_and_operations_are_those_of_the_arrays(fitted):
    M, D, L, n_svms = 6, 2, 1, 1
    assert fitted.model_size_.numbers == (
        M * D + D + M + M + D + M * L + L + n_svms * L + n_svms  # centres .. intercept
    )
    assert 2 * M * D + 2 * M * L < fitted.flops_per_row_ < 10 * M * D + 2 * M * L
    larger = learned(n_centers=60, refine_steps=20).fit(*moons())
    assert 8 < larger.flops_per_row_ / fitted.flops_per_row_ < 11
    other = LowDimSVC(mapping=Ridge()).fit(*moons())
    with pytest.raises(AttributeError, match="not known"):
        _ = other.flops_per_row_
    assert LowDimSVC(mapping="linear").fit(*moons()).flops_per_row_ == 2 + 2 * 2 + 2


def test_verbose_tells_of_the_descent(capsys):
    learned(verbose=1, refine_steps=40).fit(*moons())
    told = capsys.readouterr().err
    assert "step    40  mean loss" in told
    assert "validation error" in told


# --- equal rows -------------------------------------------------------------------------------


def test_equal_rows_are_merged():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0], [-0.0, 1.0]])
    codes, weights = np.array([0, 1, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    merged, kept_codes, totals = merge_equal_rows(X, codes, weights)
    found = {
        (*row, code): total for row, code, total in zip(merged, kept_codes, totals, strict=True)
    }
    assert found == {(1.0, 2.0, 0): 4.0, (1.0, 2.0, 1): 4.0, (0.0, 1.0, 1): 7.0}
    same = merge_equal_rows(sparse.csr_matrix(X), codes, weights)[0]
    np.testing.assert_array_equal(same, merged)


def test_the_order_of_the_rows_changes_nothing():
    X, y = moons()
    order = np.random.RandomState(3).permutation(len(y))
    one, two = learned(refine_steps=50).fit(X, y), learned(refine_steps=50).fit(X[order], y[order])
    np.testing.assert_array_equal(one.transform(X), two.transform(X))


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_rows_too_many_to_merge(monkeypatch, kind):
    monkeypatch.setattr(_learned_parts, "MERGED_NUMBERS", 0)
    monkeypatch.setattr(_learned_parts, "START_ROWS", 100)
    X, y = moons()
    model = learned().fit(kind(X), y)
    assert model.score(X, y) > 0.93
    np.testing.assert_array_equal(model.transform(X), learned().fit(kind(X), y).transform(X))


def test_a_memory_map_is_read_and_files_are_refused(tmp_path):
    X, y = moons()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert learned().fit(mapped, y).score(X, y) > 0.93
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", header="a,b", comments="")
    with pytest.raises(ValueError, match="random order, which X, a RowBlocks, is too slow for"):
        learned().fit(RowBlocks(tmp_path / "X.csv"), y)


# --- probabilities ----------------------------------------------------------------------------


def test_probabilities_are_calibrated_by_a_factor():
    rng = np.random.RandomState(0)
    scores = rng.normal(size=(400, 3))
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    codes = np.array([rng.choice(3, p=row) for row in p])
    held_out = HeldOut(np.zeros((400, 1)), codes, np.ones(400))
    assert calibration_factor(5.0 * scores, held_out) == pytest.approx(0.2, rel=0.25)


def test_probabilities_of_new_rows(fitted):
    X, y = moons(500, seed=2)
    assert log_loss(y, fitted.predict_proba(X)) < 0.2
    assert (fitted.predict_proba(X).argmax(axis=1) == fitted.predict(X)).all()


# --- smaller models ---------------------------------------------------------------------------


def test_auto_keeps_the_smallest_within_one_standard_error():
    X, y = moons()
    model = learned(n_centers="auto", loss="log", refine_steps=100).fit(X, y)
    path = model.path_
    assert (np.diff(path["n_centers"]) > 0).all()
    assert (np.diff(path["bytes"]) > 0).all()
    errors, spread = path["validation_error"], path["standard_error"][0]
    good = errors <= errors.min() + spread
    assert model.n_basis_ == path["n_centers"][good].min()
    assert model.n_basis_ < path["n_centers"].max()
    assert model.model_size_.bytes == path["bytes"][path["n_centers"] == model.n_basis_]
    assert model.score(*moons(500, seed=1)) > 0.9


def test_the_path_can_be_shown():
    plotting = pytest.importorskip("supred.plotting")
    model = learned(n_centers="auto", refine_steps=30).fit(*moons(200))
    display = plotting.TradeOffDisplay.from_path(model)
    assert display.names == [str(size) for size in model.path_["n_centers"]]
    with pytest.raises(ValueError, match="n_centers='auto'"):
        plotting.TradeOffDisplay.from_path(learned(refine_steps=5).fit(*moons(100)))


def test_pruning_gives_a_new_and_smaller_model(fitted):
    X, y = moons()
    before = fitted.transform(X).copy()
    smaller = fitted.prune(X, y, n_centers=4)
    np.testing.assert_array_equal(fitted.transform(X), before)
    assert smaller.n_basis_ == 4
    assert smaller.get_params()["n_centers"] == 4
    assert smaller.score(X, y) > 0.9
    assert not hasattr(smaller, "_smaller_of")


def test_pruning_fixed_centres_chooses_better_ones_than_chance():
    X, y = moons()
    model = LowDimSVC(n_centers=100, random_state=0).fit(X, y)
    smaller = model.prune(X, y, n_centers=5)
    assert smaller.n_basis_ == 5
    kept = {tuple(row) for row in smaller.centers_.round(9)}
    assert kept <= {tuple(row) for row in model.centers_.round(9)}
    by_chance = [
        LowDimSVC(n_centers=5, random_state=seed).fit(X, y).score(X, y) for seed in range(5)
    ]
    assert smaller.score(X, y) > np.mean(by_chance)


def test_what_cannot_be_pruned(fitted):
    X, y = moons()
    with pytest.raises(ValueError, match="n_centers=7 is out of range"):
        fitted.prune(X, y, n_centers=7)
    with pytest.raises(ValueError, match="same classes"):
        fitted.prune(X, y + 5, n_centers=3)
    with pytest.raises(ValueError, match="no centres to take away"):
        LowDimSVC(mapping="linear").fit(X, y).prune(X, y, n_centers=1)


# --- files and search -------------------------------------------------------------------------


def test_a_learned_model_in_a_file(fitted, tmp_path):
    X, y = moons()
    columns = [Column("a", "number"), Column("b", "number")]
    model = TableModel.fit(learned(), X, y, columns)
    save_model(model, tmp_path / "m.supred")
    again = load_model(tmp_path / "m.supred")
    assert isinstance(again.estimator.mapping_, LearnedMapping)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_search_over_learned_models():
    X, y = blobs(n_rows=150)
    model = LowDimSVCCV(
        centers="learned",
        n_centers=(3, 6),
        gammas=("scale",),
        alphas=(1e-3,),
        Cs=(1.0,),
        cv=2,
        refine_steps=30,
        random_state=0,
    ).fit(X, y)
    assert len(model.cv_results_["params"]) == 2
    assert model.best_estimator_.mapping_.gamma.shape == (model.best_params_["n_centers"],)
    assert model.best_score_ > 0.8


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": "linear"}, "centers='learned' needs mapping='rbf'"),
        ({"refine_steps": 0}, "refine_steps=0 is out of range"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 is out of range"),
        ({"early_stopping": "yes"}, "early_stopping='yes' .* use True, False or 'auto'"),
        ({"n_centers": "best"}, "n_centers='best' is not known"),
        ({"n_centers": "auto", "centers": "kmeans"}, "n_centers='auto' needs centers='learned'"),
        ({"checkpoint": "fit.ckpt"}, "checkpoint='fit.ckpt' does not go with centers='learned'"),
        ({"init": np.zeros((500, 1))}, "one code for each of the 2 classes"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        learned(**options).fit(*moons())
