"""LowDimSVCCV: the result of a grid search, with the expensive parts shared."""

from functools import partial

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from supred import LowDimSVC, LowDimSVCCV
from supred.export import save_model
from supred.low_dim_svm import search_fold as _search_fold
from supred.low_dim_svm import width_and_ridge
from supred.low_dim_svm.mappings.basis import BasisMapping
from tests.family import EstimatorFamily, blobs
from tests.low_dim_svm.test_family import DRAWN_CENTERS

GRID = {"gamma": [0.02, 0.2], "alpha": [1e-3, 1.0], "C": [0.1, 10.0]}
CANDIDATES = {"gammas": GRID["gamma"], "alphas": GRID["alpha"], "Cs": GRID["C"]}


class TestLowDimSVCCV(EstimatorFamily):
    folds = "the folds are drawn from the rows, so copies of rows change them"
    expected_failures = {
        "check_sample_weight_equivalence_on_dense_data": DRAWN_CENTERS,
        "check_sample_weight_equivalence_on_sparse_data": DRAWN_CENTERS,
    }
    not_applicable = {
        "test_a_weight_is_a_number_of_copies": folds,
        "test_a_class_weight_is_a_number_of_copies": folds,
    }

    def make(self, **parameters):
        options = {"gammas": (0.05,), "alphas": (1e-2,), "Cs": (1.0,), "max_iter": 2}
        model = LowDimSVCCV(n_centers=4, cv=2, random_state=0, **options)
        return model.set_params(**parameters)

    def make_for_many_classes(self):
        return self.make(n_centers=100)


@pytest.mark.parametrize(
    "options",
    [{}, {"n_components": 1}, {"early_stopping": True}, {"class_weight": "balanced"}],
    ids=["plain", "sphere", "early stopping", "class weight"],
)
def test_it_is_a_grid_search(options):
    X, y = blobs(n_rows=180, spread=5.0)
    options = {"n_centers": 25, "random_state": 3, **options}
    ours = LowDimSVCCV(cv=3, **CANDIDATES, **options).fit(X, y)
    theirs = GridSearchCV(LowDimSVC(**options), GRID, cv=3).fit(X, y)
    found = {tuple(sorted(p.items())): i for i, p in enumerate(ours.cv_results_["params"])}
    order = [found[tuple(sorted(p.items()))] for p in theirs.cv_results_["params"]]
    for split in range(3):
        name = f"split{split}_test_score"
        np.testing.assert_allclose(ours.cv_results_[name][order], theirs.cv_results_[name])
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert len(set(ours.cv_results_["mean_test_score"].round(6))) > 1  # the choice matters
    if ours.best_params_ == theirs.best_params_:  # ties may be broken in another order
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)


def test_the_results_have_scikit_learns_form():
    X, y = blobs()
    ours = LowDimSVCCV(n_centers=10, cv=2, random_state=0, **CANDIDATES).fit(X, y)
    theirs = GridSearchCV(LowDimSVC(n_centers=10, random_state=0), GRID, cv=2).fit(X, y)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name, values in theirs.cv_results_.items():
        assert len(ours.cv_results_[name]) == len(values)
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1


def test_the_normal_equations_are_formed_once_per_gamma_and_fold(monkeypatch):
    calls = []
    prepare = BasisMapping.prepare
    monkeypatch.setattr(
        BasisMapping, "prepare", lambda self, *args: (calls.append(1), prepare(self, *args))[1]
    )
    X, y = blobs()
    LowDimSVCCV(n_centers=10, cv=3, refit=False, random_state=0, **CANDIDATES).fit(X, y)
    assert len(calls) == 2 * 3


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"early_stopping": True},
        {"mapping": "linear", "gammas": None},
    ],
    ids=["rbf", "early stopping", "linear"],
)
def test_processes_find_what_one_finds(options):
    X, y = blobs(n_rows=180, spread=5.0)
    options = {**CANDIDATES, "n_centers": 25, "cv": 2, "random_state": 3, **options}
    alone = LowDimSVCCV(refit=False, **options).fit(X, y)
    shared = LowDimSVCCV(refit=False, n_jobs=2, **options).fit(X, y)
    assert shared.cv_results_["params"] == alone.cv_results_["params"]
    for split in range(2):
        name = f"split{split}_test_score"
        np.testing.assert_allclose(shared.cv_results_[name], alone.cv_results_[name])
    assert shared.best_params_ == alone.best_params_
    assert (shared.cv_results_["mean_fit_time"] > 0).all()


@pytest.mark.parametrize(
    "options",
    [{}, {"mapping": "linear", "gammas": None}],
    ids=["rbf", "linear"],
)
def test_rows_that_joblib_maps_into_memory_are_rows_like_others(options, monkeypatch):
    monkeypatch.setattr(_search_fold, "Parallel", partial(Parallel, max_nbytes=1))
    X, y = blobs(n_rows=180, spread=5.0)
    options = {**CANDIDATES, "n_centers": 25, "cv": 2, "refit": False, "random_state": 3, **options}
    alone = LowDimSVCCV(**options).fit(X, y)
    mapped = LowDimSVCCV(n_jobs=2, **options).fit(X, y)
    for name in ("split0_test_score", "split1_test_score"):
        np.testing.assert_array_equal(mapped.cv_results_[name], alone.cv_results_[name])


def test_inside_other_parallel_loops_candidates_do_not_disturb_each_other():
    X, y = blobs(n_rows=180, spread=5.0)
    model = LowDimSVCCV(n_centers=25, cv=2, refit=False, random_state=3, n_jobs=2, **CANDIDATES)
    alone = clone(model).set_params(n_jobs=None).fit(X, y).cv_results_["mean_test_score"]
    with parallel_config(backend="threading"):
        found = clone(model).fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, alone)
    nested = Parallel(n_jobs=2)(delayed(clone(model).fit)(X, y) for _ in range(2))
    for search in nested:
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone)


def test_number_of_centers_can_be_searched():
    X, y = blobs(n_rows=150, spread=4.0)
    model = LowDimSVCCV(n_centers=[5, 40], cv=2, random_state=0, **CANDIDATES).fit(X, y)
    assert set(model.best_params_) == {"n_centers", "gamma", "alpha", "C"}
    assert model.best_estimator_.n_basis_ == model.best_params_["n_centers"]


def test_one_held_out_part():
    X, y = blobs()
    model = LowDimSVCCV(n_centers=10, cv=0.3, random_state=0, **CANDIDATES).fit(X, y)
    assert model.n_splits_ == 1
    scores = model.cv_results_["mean_test_score"] * 27
    np.testing.assert_allclose(scores, scores.round())


def test_linear_mapping_has_no_gamma():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LowDimSVCCV(mapping="linear", cv=3, random_state=0).fit(X, y)
    assert set(model.best_params_) == {"alpha", "C"}
    assert model.best_score_ > 0.8
    assert "param_gamma" not in model.cv_results_


def test_a_progress_bar_on_stderr(capsys):
    X, y = blobs()
    LowDimSVCCV(n_centers=10, cv=2, verbose=1, random_state=0, **CANDIDATES).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "16/16" in captured.err


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gammas": (0.1, -1.0)}, r"gammas\[1\]=-1.0"),
        ({"gammas": "scale"}, "gammas='scale': give a sequence"),
        ({"alphas": ()}, "alphas is empty"),
        ({"Cs": 1.0}, "Cs=1.0: give a sequence"),
        ({"n_centers": []}, "n_centers is empty"),
        ({"n_components": [2, 0]}, r"n_components\[1\]=0"),
        ({"cv": 1.5}, "cv=1.5"),
        ({"cv": True}, "cv=True is out of range"),
        ({"cv": -1}, "cv=-1 is out of range"),
        ({"Cs": b"x"}, "Cs=b'x': give a sequence"),
        ({"alphas": np.array(3.0)}, r"alphas=array\(3.\): give a sequence"),
        ({"cv": []}, r"cv=\[\] gives no split"),
        ({"cv": [([0, 1], [1000])]}, "cv gives no pairs of training and test rows among 90 rows"),
        ({"cv": [(0, 1, 2)]}, "cv gives no pairs"),
        ({"cv": [([0, 1], [])]}, "fold 0 has no test rows"),
        ({"refit": None}, "refit=None is not known; use True or False"),
        ({"gammas": np.ones((1, 2))}, r"gammas\[0\]=array"),
        ({"gammas": ("auto", 1.0)}, r"gammas\[0\]='auto'"),
        ({"gammas": [None]}, r"gammas\[0\]=None"),
        ({"n_centers": 5.0}, "n_centers=5.0: give a sequence"),
        ({"n_centers": [5, 9], "centers": "all"}, "has no effect"),
        ({"mapping": "cubic"}, "mapping='cubic'"),
        ({"search": "random"}, "search='random' is not known; use one of 'race'"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        LowDimSVCCV(random_state=0, **parameters).fit(X, y)


def test_a_class_missing_from_a_training_part_is_named_and_counts_as_wrong():
    X, y = blobs(spread=0.1)
    order = np.argsort(y)
    splits = [(order[:60], order[45:])]  # half a class to judge that was trained, one that was not
    model = LowDimSVCCV(n_centers=10, cv=splits, random_state=0, **CANDIDATES)
    with pytest.warns(UserWarning, match=r"no row of class\(es\) \[2\]"):
        model.fit(X, y)
    assert model.best_score_ == pytest.approx(1 / 3)
    assert model.score(X, y) == 1.0


def test_it_has_what_a_fitted_low_dim_svc_has():
    X, y = blobs(n_rows=150, spread=4.0)
    model = LowDimSVCCV(n_centers=10, loss="log", cv=2, random_state=0, **CANDIDATES).fit(X, y)
    best = model.best_estimator_
    np.testing.assert_array_equal(model.predict_proba(X), best.predict_proba(X))
    np.testing.assert_array_equal(model.centers_, best.centers_)
    names = ("gamma_", "n_basis_", "flops_per_row_", "model_size_", "n_iter_", "stopping_reason_")
    assert [getattr(model, name) for name in names] == [getattr(best, name) for name in names]
    fitted = [name for name in dir(best) if name.endswith("_") and not name.startswith("_")]
    assert [name for name in fitted if not hasattr(model, name)] == []
    assert not hasattr(LowDimSVCCV(), "predict_proba")


def test_a_race_judges_the_best_on_every_fold():
    X, y = blobs(n_rows=240, n_classes=4, spread=5.0)
    options = {"n_centers": 25, "cv": 4, "random_state": 0, "alphas": (1e-3, 1e-1, 10.0)}
    search = LowDimSVCCV(gammas=(1e-4, 0.02, 2.0), Cs=(0.1, 10.0), **options).fit(X, y)
    results = search.cv_results_
    assert sorted(results["n_folds"].tolist()) == [0] * 12 + [1] * 3 + [4] * 3
    # Leave-one-out, which does not look at C, says who enters the race.
    first = results["leave_one_out_score"].reshape(9, 2)
    np.testing.assert_array_equal(first[:, 0], first[:, 1])
    assert (
        first.ravel()[results["n_folds"] > 0].min() >= first.ravel()[results["n_folds"] == 0].max()
    )
    assert results["n_folds"][search.best_index_] == 4
    assert np.isnan(results["split1_test_score"][results["n_folds"] == 1]).all()
    every = clone(search).set_params(search="exhaustive").fit(X, y)
    assert "n_folds" not in every.cv_results_
    judged = results["n_folds"] == 4
    np.testing.assert_allclose(
        results["mean_test_score"][judged], every.cv_results_["mean_test_score"][judged]
    )
    assert search.best_score_ > every.best_score_ - 0.02
    assert results["rank_test_score"][search.best_index_] == 1
    assert set(results["rank_test_score"][judged]) <= {1, 2, 3}


def test_the_ridges_of_a_search_are_those_of_leave_one_out(monkeypatch):
    monkeypatch.setattr(width_and_ridge, "CLEARLY", -np.inf)  # nothing is usual
    X, y = blobs(n_rows=150, spread=4.0)
    options = {"n_centers": 20, "random_state": 0}
    search = LowDimSVCCV(gammas=("scale",), cv=2, refit=False, **options).fit(X, y)
    alone = LowDimSVC(gamma="scale", **options).fit(X, y)
    tried = np.unique(search.cv_results_["param_alpha"].data)
    np.testing.assert_allclose(tried, alone.alpha_ * np.array([0.1, 1.0, 10.0]), rtol=1e-9)


def test_number_of_dimensions_can_be_searched():
    X, y = blobs(n_rows=180, n_classes=5, spread=2.0)
    search = LowDimSVCCV([1, 4], n_centers=30, cv=2, random_state=0, **CANDIDATES).fit(X, y)
    assert search.best_params_["n_components"] == 4  # five classes overlap on a line
    assert search.transform(X).shape == (180, 4)
    assert set(search.cv_results_["param_n_components"]) == {1, 4}
    alone = LowDimSVCCV(4, n_centers=30, cv=2, random_state=0, **CANDIDATES).fit(X, y)
    assert search.best_score_ == pytest.approx(alone.best_score_)


def test_without_refit_it_does_not_predict():
    X, y = blobs()
    model = LowDimSVCCV(n_centers=10, cv=StratifiedKFold(2), refit=False, random_state=0)
    model.set_params(**CANDIDATES).fit(X, y)
    for answer in (
        lambda: model.predict(X),
        lambda: model.score_latent(np.eye(2)),
        lambda: model.model_size_,
        lambda: save_model(model, "model.supred"),
    ):
        with pytest.raises(NotFittedError, match=r"refit=False.*fit LowDimSVC\(\*\*best_params_\)"):
            answer()


def test_a_search_without_refit_keeps_nothing_of_an_earlier_one():
    X, y = blobs()
    model = LowDimSVCCV(n_centers=10, cv=2, random_state=0, **CANDIDATES).fit(X, y)
    model.set_params(refit=False).fit(X, y)
    for name in ("coef_", "mapping_", "best_estimator_", "stopping_reason_"):
        assert not hasattr(model, name)
    assert model.best_params_


def test_a_class_of_which_a_training_part_has_rows_of_weight_zero_only():
    """It is missing there, as it would be without these rows: the search goes on."""
    X, y = blobs(spread=0.1)
    order = np.argsort(y)
    splits = [(order[:60], order[45:]), (order[::2], order[1::2])]
    weights = np.ones(len(y))
    model = LowDimSVCCV(n_centers=10, cv=splits, random_state=0, **CANDIDATES)
    with pytest.warns(UserWarning, match=r"no row of class\(es\) \[2\]"):
        expected = model.fit(X, y).cv_results_["split0_test_score"]
    splits[0] = (order[:70], splits[0][1])
    weights[order[60:70]] = 0.0
    with pytest.warns(UserWarning, match=r"no row of class\(es\) \[2\]"):
        found = model.set_params(cv=splits).fit(X, y, sample_weight=weights).cv_results_
    # ten of the rows that are all judged wrong have no weight
    ratio = found["split0_test_score"] / expected
    np.testing.assert_allclose(ratio, np.full(len(ratio), ratio[0]))
