"""RBFNetClassifier: what it promises beyond the checks of the family."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split

from supred import RBFNetClassifier, RowBlocks
from supred.base.checkpoint import Checkpoint
from tests.family import blobs, read_only


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return [read_only(part) for part in train_test_split(X, y, random_state=0)]


def quick(**parameters):
    settings = {"n_centers": 20, "max_iter": 60, "random_state": 0, **parameters}
    return RBFNetClassifier(**settings)


# --- what is chosen ---------------------------------------------------------------------------


def test_defaults_on_digits(digits):
    X, X_test, y, y_test = digits
    model = RBFNetClassifier(random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.975
    assert model.model_size_.numbers < 40_000
    shares = model.predict_proba(X_test)
    sure, right = shares.max(axis=1), model.predict(X_test) == y_test
    assert abs(sure.mean() - right.mean()) < 0.02  # calibrated


def test_importances_find_the_useful_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    y = (np.abs(X[:, 0]) + np.abs(X[:, 1]) > 1.5).astype(int)
    model = RBFNetClassifier(metric="diagonal", random_state=0).fit(X, y)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 1}
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_rows", [300, 1347])  # folds, and one held-out part
def test_the_model_does_not_depend_on_the_number_of_threads(n_rows, digits):
    X, X_test, y, _ = digits
    one, *others = (quick(n_jobs=k).fit(X[:n_rows], y[:n_rows]) for k in (None, 2, 3))
    for other in others:
        np.testing.assert_array_equal(other.transform(X_test), one.transform(X_test))
        np.testing.assert_array_equal(
            other.choices_["validation_log_loss"], one.choices_["validation_log_loss"]
        )


def test_choices_tell_of_every_candidate(digits):
    X, _, y, _ = digits
    model = quick().fit(X, y)
    tried = model.choices_
    assert len(tried["noise"]) == 10
    assert tried["noise"][0] == model.chosen_["noise"]
    assert str(tried["metric"][0]) == str(model.chosen_["metric"])
    for metric, shape in (("full", (64, 64)), ("diagonal", (64,)), (3, (64, 3))):
        assert quick(metric=metric).fit(X[:200], y[:200]).metric_.shape == shape
    fixed = quick(metric=5, noise=0.1, gamma=0.01).fit(X, y)
    assert fixed.metric_.shape == (64, 5)
    assert fixed.chosen_["noise"] == 0.1
    assert len(fixed.choices_) == 0


def test_features_of_very_different_scales_are_scaled_one_by_one():
    X, y = load_iris(return_X_y=True)
    factors = np.array([1e4, 1.0, 1e-3, 1.0])
    model = RBFNetClassifier(random_state=0).fit(X * factors, y)
    assert model.score(X * factors, y) > 0.94


@pytest.mark.parametrize("scale", [1e-30, 1e20, 1e30])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_rows_of_any_scale(scale, dtype):
    X, y = blobs()
    model = quick().fit(X.astype(dtype), y)
    scaled = (X * scale).astype(dtype)
    again = quick().fit(scaled, y)
    assert np.isfinite(again.transform(scaled)).all()
    np.testing.assert_array_equal(again.predict(scaled), model.predict(X.astype(dtype)))


def test_rows_of_another_unit_do_not_continue_a_model():
    X, y = blobs()
    model = RBFNetClassifier(n_centers=3, max_iter=20, warm_start=True, random_state=0).fit(X, y)
    for go_on in (model.fit, lambda X, y: model.prune(X, y, n_centers=2)):
        with pytest.raises(ValueError, match="far larger than these; give rows of a similar size"):
            go_on(X * 1e90, y)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_of_any_scale(scale):
    X, y = blobs()
    model = quick().fit(X, y)
    again = quick().fit(X, y, sample_weight=np.full(len(y), scale))
    np.testing.assert_allclose(again.transform(X), model.transform(X), rtol=1e-3, atol=1e-3)


def test_one_row_per_class():
    X = np.eye(4)
    model = quick().fit(X, ["a", "b", "c", "d"])
    assert np.isfinite(model.transform(X)).all()
    assert (model.predict(X) == ["a", "b", "c", "d"]).all()


def test_validation_rows_of_the_user(digits):
    X, X_test, y, _ = digits
    model = quick().fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:])
    wrong = np.mean(model.predict(X[500:]) != y[500:])
    assert model.validation_error_ == pytest.approx(wrong)
    with pytest.raises(ValueError, match="X_val and y_val belong together"):
        quick().fit(X, y, X_val=X_test)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "round"}, "metric='round'"),
        ({"metric": 0}, "metric=0"),
        ({"noise": -1.0}, "noise=-1.0"),
        ({"gamma": "wide"}, "gamma='wide'"),
        ({"n_centers": "few"}, "n_centers='few'"),
        ({"loss": "square"}, "loss='square'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"checkpoint": 3}, "checkpoint=3"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(X, y)


# --- maps, sizes, explanations ----------------------------------------------------------------


def test_a_map_separates_the_classes(digits):
    X, X_test, y, y_test = digits
    model = RBFNetClassifier(2, n_centers=100, max_iter=600, random_state=0).fit(X, y)
    assert model.transform(X_test).shape == (len(y_test), 2)
    assert model.score(X_test, y_test) > 0.93
    assert len(model.stages_) == 2


def test_prune_and_auto(digits):
    X, X_test, y, y_test = digits
    model = quick(n_centers=60, max_iter=300).fit(X, y)
    smaller = model.prune(X, y, n_centers=30)
    assert smaller.centers_.shape == (30, 64)
    assert model.centers_.shape == (60, 64)
    assert smaller.score(X_test, y_test) > model.score(X_test, y_test) - 0.03
    auto = quick(n_centers="auto", max_iter=100).fit(X, y)
    path = auto.path_
    chosen = path["n_centers"] == len(auto.centers_)
    limit = path["validation_error"].min() + path["standard_error"][0]
    assert path["validation_error"][chosen][0] <= limit
    with pytest.raises(ValueError, match="n_centers=61"):
        model.prune(X, y, n_centers=61)


@pytest.mark.parametrize("n_components", [None, 1])
@pytest.mark.parametrize("metric", ["diagonal", 3])
def test_explanations_are_derivatives(n_components, metric):
    X, y = load_iris(return_X_y=True)
    model = quick(n_components=n_components, metric=metric).fit(X, y)
    rows = X[::30]
    found = model.explain(rows, latent=True)
    winners = np.searchsorted(model.classes_, found.labels)
    for j in range(4):
        step = np.zeros(4)
        step[j] = 1e-6
        up, down = model.decision_function(rows + step), model.decision_function(rows - step)
        slope = (up - down)[np.arange(len(rows)), winners] / 2e-6
        np.testing.assert_allclose(found.score_slopes[:, j], slope, rtol=1e-4, atol=1e-5)
        moved = (model.transform(rows + step) - model.transform(rows - step)) / 2e-6
        np.testing.assert_allclose(found.latent_slopes[..., j], moved, rtol=1e-4, atol=1e-5)


def test_all_contributions_add_up_to_the_score():
    X, y = load_iris(return_X_y=True)
    model = quick().fit(X, y)
    found = model.explain(X, n_loudest=20)
    winners = np.searchsorted(model.classes_, found.labels)
    constant = model.stages_[0].w0 @ model.coef_.T + model.intercept_
    total = found.contributions.sum(axis=1) + constant[winners]
    scores = model.decision_function(X)[np.arange(len(X)), winners]
    np.testing.assert_allclose(total, scores, rtol=1e-8)


# --- rows elsewhere, interrupted fits ---------------------------------------------------------


def test_rows_in_files_give_the_model_of_rows_in_memory(tmp_path, digits):
    X, _, y, _ = digits
    X = X.astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    model = quick().fit(X, y)
    for rows in (np.load(tmp_path / "rows.npy", mmap_mode="r"), RowBlocks(tmp_path / "rows.npy")):
        other = quick().fit(rows, y)
        np.testing.assert_array_equal(other.transform(X), model.transform(X))


def test_rows_on_a_cluster_give_the_model_of_rows_in_memory(digits):
    pytest.importorskip("distributed")
    import dask.array as da
    from distributed import Client

    X, _, y, _ = digits
    model = quick().fit(X, y)
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None):
        rows, labels = da.from_array(X, chunks=(500, 64)), da.from_array(y, chunks=500)
        other = quick().fit(rows, labels)
    np.testing.assert_allclose(other.transform(X), model.transform(X), rtol=1e-6, atol=1e-6)


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("n_components", [None, 2])
def test_an_interrupted_fit_goes_on_to_the_same_model(tmp_path, digits, monkeypatch, n_components):
    X, _, y, _ = digits
    settings = {"n_components": n_components, "checkpoint": tmp_path / "state"}
    model = quick(n_components=n_components).fit(X, y)
    save, saved = Checkpoint.save, []

    def interrupted(file, state):
        save(file, state)
        saved.append(1)
        if len(saved) == 8:
            raise Interrupted

    monkeypatch.setattr(Checkpoint, "save", interrupted)
    with pytest.raises(Interrupted):
        quick(**settings).fit(X, y)
    monkeypatch.setattr(Checkpoint, "save", save)
    with pytest.raises(ValueError, match="is of another fit; it differs in"):
        quick(**settings, alpha=0.5).fit(X, y)
    again = quick(**settings).fit(X, y)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert not (tmp_path / "state").exists()


KILLED = """
import sys
from sklearn.datasets import load_digits
from supred import RBFNetClassifier
X, y = load_digits(return_X_y=True)
RBFNetClassifier(n_centers=20, max_iter=4000, random_state=0, checkpoint=sys.argv[1]).fit(X, y)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
def test_a_fit_that_was_killed_leaves_a_checkpoint_that_can_be_read(tmp_path):
    path = tmp_path / "state"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], env=dict(os.environ))
    try:
        while not path.exists() and process.poll() is None:
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    X, y = load_digits(return_X_y=True)
    with pytest.raises(ValueError, match="max_iter"):  # it is read, and is of another fit
        quick(max_iter=50, checkpoint=path).fit(X, y)


def test_a_file_that_is_not_a_checkpoint(tmp_path):
    X, y = blobs()
    path = tmp_path / "state"
    path.write_text("no")
    with pytest.raises(
        ValueError, match="is not a checkpoint that this version of RBFNetClassifier"
    ):
        quick(checkpoint=path).fit(X, y)


def test_warm_start_goes_on_where_folds_take_the_place_of_a_held_out_part():
    X, y = load_iris(return_X_y=True)
    once = quick(max_iter=20).fit(X, y)
    model = quick(warm_start=True, max_iter=20).fit(X, y)
    np.testing.assert_array_equal(model.transform(X), once.transform(X))
    model.fit(X, y)
    assert not np.array_equal(model.transform(X), once.transform(X))
    assert model.score(X, y) > 0.9


def test_one_class_is_not_enough_to_begin_with():
    X, y = load_iris(return_X_y=True)
    for classes in ([], [0]):
        with pytest.raises(ValueError, match="classes holds one class only"):
            quick().partial_fit(X, 0 * y, classes=classes)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([0, 1, np.nan], r"classes has 1 missing label\(s\), the first in row 2"),
        ([0, 1, None], "classes has 1 missing label"),
        ([[0, 1, 2]], r"classes=\[\[0, 1, 2\]\] is not a list of labels"),
        (3, "classes=3 is not a list of labels"),
        ([0, 1], r"y holds label\(s\) \[2\] that are not among the classes \[0, 1\]"),
    ],
)
def test_classes_that_are_none(classes, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        quick().partial_fit(X, y, classes=classes)


def test_many_classes_that_are_named_are_no_regression():
    X, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().partial_fit(X, y, classes=np.arange(30))


def test_partial_fit_weighs_the_classes():
    X, y = blobs(spread=12.0)
    classes = [0, 1, 2, 3]  # of the last there is no row yet
    plain = quick().partial_fit(X, y, classes=classes)
    weighted = quick(class_weight={0: 20.0, 3: 2.0}).partial_fit(X, y, classes=classes)
    assert np.mean(weighted.predict(X) == 0) > 1.2 * np.mean(plain.predict(X) == 0)
    copies = np.where(y == 0, 20.0, 1.0)
    same = quick().partial_fit(X, y, classes=classes, sample_weight=copies)
    np.testing.assert_array_equal(weighted.transform(X), same.transform(X))
    with pytest.raises(ValueError, match="class_weight='balanced' cannot be combined with partial"):
        quick(class_weight="balanced").partial_fit(X, y)


def test_partial_fit_takes_rows_of_files(tmp_path):
    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    model, whole = quick().partial_fit(X, y), quick().partial_fit(X, y)
    model.partial_fit(RowBlocks(tmp_path / "X.npy"), y)
    whole.partial_fit(X, y)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), rtol=1e-6, atol=1e-6)


def test_columns_in_another_order_do_not_continue_a_model():
    X, y = blobs()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = quick(warm_start=True).fit(frame, y)
    for go_on in (model.fit, model.partial_fit, lambda X, y: model.prune(X, y, n_centers=2)):
        with pytest.raises(ValueError, match="feature names should match"):
            go_on(frame[list("fedcba")], y)
        with pytest.raises(ValueError, match="5 features, but RBFNetClassifier is expecting 6"):
            go_on(X[:, :5], y)


def test_an_interrupted_partial_fit_leaves_the_model_as_it_was(monkeypatch):
    X, y = blobs()
    model = quick().fit(X, y)
    before = model.transform(X)

    def interrupt(fitted):
        assert not np.array_equal(fitted.coef, model.coef_)
        raise KeyboardInterrupt

    monkeypatch.setattr(model, "_keep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.transform(X), before)


@pytest.mark.parametrize("n_loudest", [0, 2.5, "a"])
def test_explain_refuses(n_loudest):
    X, y = blobs()
    with pytest.raises(ValueError, match=f"n_loudest={n_loudest!r} is out of range"):
        quick().fit(X, y).explain(X, n_loudest=n_loudest)


def test_rows_far_beyond_the_spread_of_a_column_are_refused():
    """A column of the training varies by 1e-40 where the weights are not zero."""
    X = np.zeros((14, 1))
    X[5], X[7] = 1.0, 1e-40
    y, weights = np.arange(14) % 2, (np.arange(14) != 5).astype(float)
    model = quick(max_iter=6).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="times further from the mean of a column"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="times further from the mean of a column"):
        model.prune(X, y, n_centers=1)
    with pytest.raises(ValueError, match="times further from the mean of a column"):
        model.set_params(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="times further from the mean of a column"):
        quick(max_iter=6).fit(X, y, sample_weight=weights, X_val=X, y_val=y)


def test_warm_start_goes_on(digits):
    X, _, y, _ = digits
    model = quick(warm_start=True, max_iter=40).fit(X, y)
    before = model.score(X, y)
    centers = model.gamma_.copy()
    model.fit(X, y)
    assert model.score(X, y) >= before - 0.01
    assert not np.array_equal(model.gamma_, centers)
    with pytest.raises(ValueError, match="warm_start=True goes on from a model of the classes"):
        model.fit(X, np.where(y == 3, 33, y))


@pytest.mark.parametrize(("n_rows", "least"), [(100, 0.9), (1, 0.5)])
def test_partial_fit_learns_after_rows_of_one_class_only(n_rows, least):
    rng, y = np.random.default_rng(0), np.arange(300) % 3
    X = rng.normal(size=(300, 4)) + 2 * y[:, None]
    model = quick(n_centers=5, max_iter=100)
    model.partial_fit(X[y == 0][:n_rows], y[y == 0][:n_rows], classes=[0, 1, 2])
    for _ in range(12):
        model.partial_fit(X, y)
    assert model.score(X, y) > least


@pytest.mark.parametrize("n_components", [None, 1])
def test_partial_fit_learns_a_class_that_comes_later(n_components):
    X, y = blobs(n_rows=300, spread=1.0)
    model = quick(n_components=n_components)
    early = y != 2
    model.partial_fit(X[early], y[early], classes=[0, 1, 2])
    assert not np.any(model.predict(X[early]) == 2)
    for _ in range(12):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.9
    *first, last = (stage.W for stage in model.stages_)
    model.partial_fit(X, y)
    assert not np.array_equal(model.stages_[-1].W, last)
    for stage, W in zip(model.stages_, first, strict=False):
        np.testing.assert_array_equal(stage.W, W)  # of a map the second network learns
    with pytest.raises(ValueError, match="that are not among the classes"):
        model.partial_fit(X[:5], [0, 1, 2, 9, 0])


@pytest.mark.parametrize("n_components", [None, 1])
def test_scores_of_each_check_by_scikit_learns_monitor(n_components):
    callback = pytest.importorskip("sklearn.callback")
    X, y = blobs()
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = quick(n_components=n_components).set_callbacks(monitor).fit(X, y)
    scores = monitor.get_logs().data
    assert len(scores) >= len(model.history_["step"])
    assert scores[-1]["accuracy"] > 0.8


def test_verbose_tells_of_each_check(capsys):
    X, y = blobs()
    quick(verbose=1).fit(X, y)
    assert "validation error" in capsys.readouterr().err


@pytest.mark.parametrize("n_features", [1, 3, 6])
def test_chances_of_rows_that_come_again_and_again_are_their_shares(n_features):
    rng = np.random.default_rng(0)
    X = (rng.random((2000, n_features)) < 0.3).astype(float)
    y = rng.random(2000) < 0.1 + 0.2 * X[:, 0]
    chances = RBFNetClassifier(random_state=0).fit(X, y).predict_proba(X)[:, 1]
    places = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    shares = (np.bincount(places, weights=y) / np.bincount(places))[places]
    assert np.mean(np.abs(chances - shares)) < 0.05


def test_a_heavy_row_counts_by_its_weight_wherever_it_is_drawn():
    y = np.arange(40) % 2
    weights = np.where(y == 0, 3.0, 1.0)
    model = RBFNetClassifier(early_stopping=False, label_smoothing=0.0, random_state=0)
    chances = model.fit(np.zeros((40, 2)), y, weights).predict_proba(np.zeros((1, 2)))
    np.testing.assert_allclose(chances, [[0.75, 0.25]], atol=0.03)
