"""The engine: same folds, tuned inside, failures that stop nothing else."""

import dataclasses
import time

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import recall_score

from supred.app.comparison import clock, run
from supred.app.comparison.engine import compare
from supred.app.comparison.methods import METHODS
from supred.app.comparison.picture import picture_of
from supred.app.comparison.prepared import PreparedRows, make_folds
from supred.app.tables.table import Column, Table
from tests.app.cli.conftest import flowers


def made_table(n_rows=90, seed=3):
    X, y = flowers(n_rows, seed)
    X[::5] += 1.5
    columns = [Column(name, "number") for name in "abc"]
    return Table("made", columns, X, "kind", y, [str(k) for k in range(n_rows)])


def test_tuning_never_sees_the_held_out_rows(monkeypatch):
    # Whatever is fitted before the predictions of a fold is fitted to its training rows.
    table = made_table()
    class_index = np.unique(table.y, return_inverse=True)[1]
    folds = make_folds(class_index, 3, 0)
    seen = []
    split = PreparedRows.split

    def spy(self, train, test):
        if not set(test) <= set(train):  # else only the facts of the training rows are asked for
            seen.append((frozenset(train.tolist()), frozenset(test.tolist())))
        return split(self, train, test)

    monkeypatch.setattr(PreparedRows, "split", spy)
    compare(table, methods=["SVC"], n_folds=3, explain=False)
    held_out = [frozenset(test.tolist()) for _, test in folds]
    inner = []
    for train, test in seen:
        if test in held_out:
            assert not train & test
            for before in inner:  # what was tried before this fold was predicted
                assert not before & test
            inner = []
        else:
            inner.append(train | test)
    assert sum(test in held_out for _, test in seen) >= 6  # three folds, two rounds
    assert sum(test not in held_out for _, test in seen) >= 9


def test_tuning_takes_the_setting_that_is_best_inside(monkeypatch):
    # Only one of the settings can learn anything: the kernel of the others is too narrow.
    settings = [{"C": 1.0, "gamma": 1e6}, {"C": 10.0, "gamma": 0.3}, {"C": 1.0, "gamma": 1e5}]
    method = dataclasses.replace(METHODS["SVC"], settings=lambda facts: settings)
    monkeypatch.setitem(run.METHODS, "SVC", method)
    result = compare(made_table(), methods=["SVC"], n_folds=3, explain=False).methods[0]
    assert result.parameters == settings[1]
    assert (result.n_settings, result.n_settings_all) == (3, 3)
    untuned = compare(made_table(), methods=["SVC"], n_folds=3, tune=False, explain=False).methods[
        0
    ]
    assert untuned.parameters == settings[0]
    assert np.mean(result.fold_errors) < 0.2 < np.mean(untuned.fold_errors)


def test_a_method_that_fails_stops_no_other(monkeypatch):
    def fail(setting, facts):
        raise RuntimeError("no luck\ntoday")

    method = dataclasses.replace(METHODS["LDA"], make=fail)
    monkeypatch.setitem(run.METHODS, "LDA", method)
    result = compare(made_table(), methods=["LDA", "SVC"], n_folds=3, tune=False, explain=False)
    lda, svc = result.methods
    assert (lda.status, lda.reason) == ("failed", "RuntimeError: no luck today")
    assert svc.status == "done"
    assert "SVC" in result.verdict[0]


def test_a_method_without_end_is_stopped_and_the_others_have_their_share(monkeypatch):
    def sleep(setting, facts):
        time.sleep(600)

    method = dataclasses.replace(METHODS["SVC"], make=sleep)
    monkeypatch.setitem(run.METHODS, "SVC", method)
    result = compare(made_table(), methods=["SVC", "LDA"], n_folds=3, budget=5.0, explain=False)
    lda, svc = result.methods
    assert svc.status == "skipped"
    assert "raise --budget" in svc.reason
    assert lda.status == "done"


def test_the_same_seed_gives_the_same_result():
    options = {"methods": ["LowDimSVC", "NCA"], "n_folds": 3, "tune": False, "seed": 5}
    first, second = compare(made_table(), **options), compare(made_table(), **options)
    for a, b in zip(first.methods, second.methods, strict=True):
        np.testing.assert_array_equal(a.predicted, b.predicted)
        np.testing.assert_array_equal(a.latent, b.latent)


@pytest.mark.parametrize(
    "name",
    [
        "LowDimSVC",
        "CategorySpace",
        "ClassConstrainedEmbedding",
        "MaxMarginProjection",
        "KernelDiscriminantAnalysis",
        "LDA",
        "NCA",
        "PCA + SVC",
    ],
)
def test_two_components_give_a_picture_with_regions(name):
    with np.errstate(all="ignore"):
        result = compare(
            made_table(), methods=[name], n_folds=3, tune=False, n_components=2, explain=False
        )
    method = result.methods[0]
    assert method.status == "done", method.reason
    if name == "CategorySpace":  # one dimension per class
        assert method.latent.shape == (90, 3)
        return
    assert method.latent.shape == (90, 2)
    if name != "LDA":  # which decides outside its coordinates
        assert set(np.unique(method.regions.class_index)) <= {0, 1, 2}


def test_fewer_dimensions_count_for_lda_too():
    # Three classes on a line in two dimensions and a fourth off it: one direction cannot do.
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    means = np.array([[0, 0], [4, 0], [8, 0], [4, 6]])
    X = means[y] + rng.normal(size=(120, 2))
    table = Table(
        "four",
        [Column("a", "number"), Column("b", "number")],
        X,
        "kind",
        y,
        [str(k) for k in range(120)],
    )
    options = {"methods": ["LDA"], "n_folds": 3, "tune": False, "explain": False}
    whole = compare(table, **options).methods[0]
    one = compare(table, **options, n_components=1).methods[0]
    assert (whole.n_components, one.n_components) == (2, 1)
    assert np.mean(whole.fold_errors) < 0.1 < np.mean(one.fold_errors)


def test_the_best_three_directions_of_many():
    # Ten dimensions of noise before the one that tells the classes apart.
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    Z = np.c_[rng.normal(size=(200, 10)), 6.0 * y + rng.normal(size=200)]

    class Fitted:
        def transform(self, X):
            return X

    train, test = np.arange(150), np.arange(150, 200)
    picture = picture_of(Fitted(), Z[train], Z[test], y, train, test)
    assert picture["n_components"] == 11
    first = picture["latent"][:, 0]
    assert abs(first[y == 0].mean() - first[y == 1].mean()) > 4 * first[y == 0].std()


def test_a_slow_method_of_a_large_table_is_not_begun(monkeypatch):
    began = []

    class Slow:
        def fit(self, X, y):
            began.append(len(X))
            time.sleep(0.2)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    method = dataclasses.replace(METHODS["SVC"], make=lambda setting, facts: Slow())
    monkeypatch.setitem(run.METHODS, "SVC", method)
    result = compare(
        made_table(9000), methods=["SVC"], n_folds=3, budget=3.0, explain=False
    ).methods[0]
    assert began == [2000]  # a trial on a part of the rows
    assert result.tuning == "not run"
    assert "would take about" in result.reason


def test_a_strong_method_that_takes_long_goes_before_weaker_ones(monkeypatch):
    now = [0.0]  # seconds, by a clock that only models move
    monkeypatch.setattr(run, "perf_counter", lambda: now[0])
    monkeypatch.setattr(clock, "perf_counter", lambda: now[0])

    def method_of(name, seconds):
        def make(setting, facts):
            now[0] += seconds
            return DummyClassifier()

        return dataclasses.replace(
            METHODS[name], make=make, settings=lambda facts: [{}], basis=lambda fitted: None
        )

    for name, seconds in {"RBFNetClassifier": 6.0, "CategorySpace": 3.0}.items():
        monkeypatch.setitem(run.METHODS, name, method_of(name, seconds))
    # Five folds of the first take 30 s, those of the second, which begins later, 15 s.
    names = ["RBFNetClassifier", "CategorySpace"]
    result = compare(made_table(), methods=names, budget=40.0, tune=False, explain=False)
    strong, weaker = result.methods
    assert strong.status == "done", strong.reason
    assert weaker.tuning == "not run"
    assert "would take about 12 s more" in weaker.reason


def test_balanced_error_is_that_of_scikit_learn():
    table = made_table()
    result = compare(
        table, methods=["LDA"], n_folds=3, tune=False, metric="balanced", explain=False
    )
    method = result.methods[0]
    for k, (_, test) in enumerate(make_folds(result.y, 3, 0)):
        expected = 1 - recall_score(result.y[test], method.predicted[test], average="macro")
        assert method.fold_balanced_errors[k] == pytest.approx(expected)


def test_a_small_table_is_divided_several_times_where_there_is_time():
    table = made_table()
    found = compare(table, methods=["LDA"], n_folds=3, budget=60.0, explain=False)
    n_repeats = min(2000 // table.n_rows, 4)
    assert (found.n_folds, found.n_repeats) == (3, n_repeats)
    lda = found.methods[0]
    assert len(lda.fold_errors) == 3 * n_repeats
    # The predictions are those of the first division: their error is the mean over its folds.
    folds = make_folds(found.y, 3, 0, n_repeats=n_repeats)[:3]
    first = [np.mean(lda.predicted[test] != found.y[test]) for _, test in folds]
    np.testing.assert_allclose(lda.fold_errors[:3], first)
    once = compare(table, methods=["LDA"], n_folds=3, tune=False, explain=False)
    assert (once.n_repeats, len(once.methods[0].fold_errors)) == (1, 3)
