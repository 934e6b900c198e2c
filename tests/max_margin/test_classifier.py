"""What is special to MaxMarginProjection; the family's checks are in a file of their own."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from supred import MaxMarginProjection, stack_tasks
from tests.family import read_only


def three_tasks(n_rows=120, n_features=8, seed=0):
    """Tasks on shared rows, two of them with entries missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    W = rng.normal(size=(n_features, 2)) @ rng.normal(size=(2, 3))
    Y = np.where(X @ W + 0.3 * rng.normal(size=(n_rows, 3)) > 0, 1.0, -1.0)
    Y[:40, 1] = 0
    Y[80:, 2] = np.nan
    return read_only(X, Y)


def ring(n_rows, n_features, seed):
    X = np.random.default_rng(seed).normal(size=(n_rows, n_features))
    return X, np.where((X[:, :2] ** 2).sum(axis=1) < 2 * np.log(2), "inside", "outside")


def libsvm_scores(X, Y, C=1.0):
    """Scores of one SVC per task, on all rows."""
    scores = []
    for column in Y.T:
        own = np.isin(column, (-1, 1))
        scores.append(
            SVC(kernel="linear", C=C, tol=1e-6).fit(X[own], column[own]).decision_function(X)
        )
    return np.column_stack(scores)


# --- the linear projection -------------------------------------------------------------------


def test_enough_components_equal_independent_libsvms():
    X, Y = three_tasks()
    model = MaxMarginProjection(n_components=5).fit(X, Y)
    expected = libsvm_scores(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=2e-2)
    assert (model.predict(X) == np.sign(expected)).mean() >= 0.995
    assert model.gap_ == pytest.approx(0, abs=1e-4 * model.objective_)


def test_two_classes_equal_libsvm():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    model = MaxMarginProjection().fit(X, y)
    assert model.components_.shape == (1, 4)
    peer = SVC(kernel="linear", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-2)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


def test_transform_is_the_projection_and_scores_are_linear_in_it():
    X, Y = three_tasks()
    model = MaxMarginProjection(n_components=2).fit(X, Y)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T, atol=1e-12)
    np.testing.assert_allclose(
        model.decision_function(X),
        X @ model.components_.T @ model.coef_.T + model.intercept_,
        atol=1e-12,
    )


def test_objective_is_that_of_the_model():
    X, Y = three_tasks()
    model = MaxMarginProjection(n_components=2, C=0.7).fit(X, Y)
    signs = np.nan_to_num(Y)
    hinge = np.maximum(0, 1 - signs * model.decision_function(X)) * np.abs(signs)
    objective = 0.5 * (model.coef_**2).sum() + 0.7 * hinge.sum()
    assert model.objective_ == pytest.approx(objective, rel=1e-6)
    assert model.lower_bound_ < objective < model.start_objective_
    assert model.gap_ == pytest.approx(objective - model.lower_bound_, rel=1e-4)
    assert (np.diff(model.history_["objective"]) <= 1e-9 * objective).all()
    assert set(model.history_) == {"objective", "train_error", "seconds", "width"}


def test_directions_beyond_the_tasks_are_orthonormal_and_not_used():
    X, Y = three_tasks()
    model = MaxMarginProjection(n_components=8).fit(X, Y)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(8), atol=1e-10)
    np.testing.assert_array_equal(model.coef_[:, 3:], 0)


@pytest.mark.parametrize("n_components", [2, 3])
def test_features_far_above_rows(n_components):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3000)) * (rng.random((60, 3000)) < 0.1)
    Y = np.sign(X[:, :300] @ rng.normal(size=(300, 3)))
    dense = MaxMarginProjection(n_components, C=0.1).fit(X, Y)
    np.testing.assert_allclose(
        dense.components_ @ dense.components_.T, np.eye(n_components), atol=1e-10
    )
    other = MaxMarginProjection(n_components, C=0.1).fit(sparse.csr_matrix(X), Y)
    assert other.objective_ == pytest.approx(dense.objective_, rel=1e-2)
    assert other.lower_bound_ == pytest.approx(dense.lower_bound_, rel=1e-3)
    if n_components == 3:
        np.testing.assert_allclose(dense.decision_function(X), libsvm_scores(X, Y, 0.1), atol=1e-2)
        np.testing.assert_allclose(
            other.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-3
        )


def test_missing_entries_may_be_zero_or_nan():
    X, Y = three_tasks()
    with_nan = MaxMarginProjection(n_components=2).fit(X, Y)
    with_zero = MaxMarginProjection(n_components=2).fit(X, np.nan_to_num(Y).astype(int))
    np.testing.assert_array_equal(with_nan.components_, with_zero.components_)


def test_the_order_of_rows_does_not_matter():
    X, Y = three_tasks()
    order = np.random.default_rng(0).permutation(len(X))
    model = MaxMarginProjection(n_components=2).fit(X, Y)
    shuffled = MaxMarginProjection(n_components=2).fit(X[order], Y[order])
    np.testing.assert_array_equal(model.components_, shuffled.components_)


def test_features_far_from_zero():
    X, Y = three_tasks()
    model = MaxMarginProjection(n_components=2).fit(X, Y)
    far = MaxMarginProjection(n_components=2).fit(X + 1e4, Y)
    assert far.objective_ == pytest.approx(model.objective_, rel=1e-3)
    assert (far.predict(X + 1e4) == model.predict(X)).mean() >= 0.98


def test_one_vs_one_makes_a_task_of_each_pair():
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:120] / 16, y[:120]
    model = MaxMarginProjection(3, tasks="ovo", max_iter=50)
    with pytest.warns(ConvergenceWarning, match="max_iter=50"):
        model.fit(X, y)
    assert model.coef_.shape == (6, 3)
    assert model.decision_function(X).shape == (120, 4)
    assert model.score(X, y) > 0.95


def test_alternating_warns_and_keeps_the_best():
    X, Y = three_tasks()
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model = MaxMarginProjection(1, solver="alternating").fit(X, Y)
    assert model.objective_ == model.history_["objective"].min()
    assert MaxMarginProjection(1).fit(X, Y).objective_ < model.objective_


def test_balanced_weights_count_within_each_task():
    X, Y = three_tasks()
    Y = np.nan_to_num(Y)
    Y[:30, 0] = -1
    balanced = MaxMarginProjection(3, class_weight="balanced").fit(X, Y)
    own = Y[:, 1] != 0
    peer = SVC(kernel="linear", class_weight="balanced", tol=1e-6).fit(X[own], Y[own, 1])
    np.testing.assert_allclose(
        balanced.decision_function(X)[:, 1], peer.decision_function(X), atol=2e-2
    )


def test_score_counts_each_task_on_its_own_rows():
    X, Y = three_tasks()
    model = MaxMarginProjection(2).fit(X, Y)
    right = [
        (model.predict(X)[:, k] == Y[:, k])[np.isin(Y[:, k], (-1, 1))].mean() for k in range(3)
    ]
    assert model.score(X, Y) == pytest.approx(np.mean(right))
    weights = np.arange(120.0)
    assert model.score(X, Y, sample_weight=weights) != model.score(X, Y)
    with pytest.raises(ValueError, match="Y has 2 columns, but the model has 3 tasks"):
        model.score(X, Y[:, :2])


def test_score_takes_rows_of_one_class_and_tasks_without_rows():
    X, Y = three_tasks()
    model = MaxMarginProjection(2).fit(X, Y)
    few = [0, 1, 2]  # task 1 has no entries there
    right = (model.predict(X[few]) == Y[few])[:, [0, 2]]
    assert model.score(X[few], Y[few]) == pytest.approx(right.mean())
    one_class = np.where(Y == 1, 1, 0)
    wanted = [(model.predict(X)[Y[:, k] == 1, k] == 1).mean() for k in range(3)]
    assert model.score(X, one_class) == pytest.approx(np.mean(wanted))


@pytest.mark.parametrize(
    ("Y", "weights", "message"),
    [
        (three_tasks()[1], np.zeros(120), "sample_weight: all weights are zero"),
        (three_tasks()[1], np.ones(7), "sample_weight has 7 values for 120 rows"),
        (np.zeros((120, 3)), None, "no task has a row with a positive weight"),
        (np.full((120, 3), 2), None, "Y holds 2 in row 0 of task 0"),
        (np.ones(120), None, r"Y has the shape \(120,\); give a matrix"),
    ],
)
def test_what_score_cannot_use(Y, weights, message):
    X, _ = three_tasks()
    model = MaxMarginProjection(2).fit(*three_tasks())
    with pytest.raises(ValueError, match=message):
        model.score(X, Y, sample_weight=weights)


def four_stacked_tasks():
    rng = np.random.default_rng(0)
    direction = rng.normal(size=6)
    rows = [rng.normal(size=(40, 6)) for _ in range(4)]
    return stack_tasks([(X, X @ (direction + 0.2 * rng.normal(size=6)) > 0) for X in rows])


@pytest.mark.parametrize("cv", [None, KFold(5, shuffle=True, random_state=0)])
def test_stacked_tasks_can_be_cross_validated(cv):
    scores = cross_val_score(MaxMarginProjection(1), *four_stacked_tasks(), cv=cv)
    assert (scores > 0.75).all()


def test_grid_search_on_a_matrix_of_tasks():
    X, Y = four_stacked_tasks()
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(MaxMarginProjection(1), {"C": [1e-4, 1.0]}, cv=folds).fit(X, Y)
    assert search.best_params_ == {"C": 1.0}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(X).shape == Y.shape
    assert search.score(X, Y) == search.best_estimator_.score(X, Y)


@pytest.mark.filterwarnings("error")
def test_one_column_of_signs_is_a_task():
    X, Y = three_tasks()
    column = Y[:, 1:2]  # forty entries are 0
    own = column[:, 0] != 0
    model = MaxMarginProjection().fit(X, column)
    assert model.classes_.tolist() == [-1, 1]
    assert model.predict(X).shape == (120, 1)
    alone = MaxMarginProjection().fit(X[own], column[own, 0])
    np.testing.assert_allclose(
        model.decision_function(X)[:, 0], alone.decision_function(X), atol=1e-2
    )
    stacked = MaxMarginProjection().fit(*stack_tasks([(X[own], column[own, 0])]))
    np.testing.assert_array_equal(stacked.coef_, model.coef_)


def test_one_column_of_labels_is_no_task():
    X, Y = three_tasks()
    with pytest.warns(UserWarning, match="column-vector"):
        model = MaxMarginProjection().fit(X, (Y[:, :1] > 0).astype(int))
    assert model.classes_.tolist() == [0, 1]
    assert model.predict(X).shape == (120,)


# --- the learned scales ----------------------------------------------------------------------


# --- bad input -------------------------------------------------------------------------------


def task_with(task, entries):
    X, Y = three_tasks()
    Y = Y.copy()
    Y[:, task] = entries
    return X, Y


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (task_with(1, 1.0), r"task 1 has rows of one class only \(\+1\).*0 means"),
        (task_with(2, [-1.0] * 60 + [0.0] * 60), r"task 2 has rows of one class only \(-1\)"),
        (task_with(0, 0.0), "task 0 has no rows; drop its column"),
        (task_with(0, np.nan), "task 0 has no rows"),
        (task_with(1, [2.0] + [1.0, -1.0] * 59 + [1.0]), "Y holds 2.0 in row 0 of task 1; use -1"),
        (task_with(1, np.inf), "Y holds inf in row 0 of task 1"),
        ((three_tasks()[0], three_tasks()[1][:-1]), "Y has 119 rows, but X has 120"),
        ((three_tasks()[0], [["a", "b"]] * 120), "Y holds 'a' in row 0 of task 0; use"),
        ((three_tasks()[0], sparse.csr_matrix(np.nan_to_num(three_tasks()[1]))), "Y is a sparse"),
    ],
)
def test_bad_tasks(data, message):
    with pytest.raises(ValueError, match=message):
        MaxMarginProjection().fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 9}, r"n_components=9 .* at most 8 \(the number of features\)"),
        ({"n_components": 0}, "n_components=0 is out of range"),
        ({"C": 0.0}, "C=0.0 is out of range"),
        ({"tasks": "all"}, "tasks='all' is not known; use one of 'auto', 'ovr', 'ovo'"),
        ({"solver": "sgd"}, "solver='sgd' is not known"),
        ({"kernel": "rbf"}, "kernel='rbf' is not known"),
        ({"gamma": "auto"}, "gamma='auto' is not known"),
        ({"gamma": -1.0}, "gamma=-1.0 is out of range"),
        ({"cv": 1}, "cv=1 is out of range"),
        ({"max_iter": 0}, "max_iter=0 is out of range"),
        ({"tol": 0.0}, "tol=0.0 is out of range"),
        ({"class_weight": {2: 1.0}}, r"class\(es\) \[2\] that are not in y"),
    ],
)
def test_bad_parameters(parameters, message):
    X, Y = three_tasks()
    with pytest.raises(ValueError, match=message):
        MaxMarginProjection(**parameters).fit(X, Y)


def test_entries_of_pandas_that_are_missing():
    pd = pytest.importorskip("pandas")
    X, Y = three_tasks()
    frame = pd.DataFrame(np.nan_to_num(Y).astype(int)).astype("Int64")
    frame.iloc[4, 1] = pd.NA
    with pytest.raises(ValueError, match="Y holds <NA> in row 4 of task 1; use -1"):
        MaxMarginProjection().fit(X, frame)


def test_weights_of_extreme_size_have_one_unit_for_all_tasks():
    X, Y = three_tasks()
    rows = np.arange(len(X)) < len(X) // 2
    Y = np.column_stack([np.where(rows, Y[:, 0], 0), np.where(rows, 0, Y[:, 0])])
    weights = np.where(rows, 2.0**30, 2.0**-20)
    model = MaxMarginProjection(n_components=1, C=1e-9).fit(X, Y, weights)
    apart = MaxMarginProjection(n_components=1, C=1e-9 * 2.0**30).fit(X, Y, weights * 2.0**-30)
    np.testing.assert_allclose(apart.components_, model.components_, rtol=1e-6)
    assert apart.objective_ == pytest.approx(model.objective_)


def test_weights_that_leave_a_task_one_class():
    X, Y = three_tasks()
    with pytest.raises(ValueError, match=r"sample_weight of task 1: all weights are zero.*\[-1\]"):
        MaxMarginProjection().fit(X, Y, sample_weight=(Y[:, 1] == 1).astype(float))


def test_more_folds_than_rows_of_a_class():
    X, y = ring(30, 3, 0)
    y[2:] = "outside"
    y[:2] = "inside"
    with pytest.raises(ValueError, match=r"cv=3 folds are more than the 2 row\(s\)"):
        MaxMarginProjection(kernel="rbf-diagonal", gamma="cv").fit(X, y)


def test_many_classes_are_as_good_as_pairs_of_svms():
    """One-vs-rest gives each of twelve classes in two dimensions next to no margin."""
    X, y = make_blobs(480, n_features=4, centers=12, cluster_std=1.5, random_state=1)
    train = np.arange(480) % 2 == 0
    scores = {
        tasks: MaxMarginProjection(tasks=tasks).fit(X[train], y[train]).score(X[~train], y[~train])
        for tasks in ("auto", "ovr")
    }
    peer = SVC(kernel="linear").fit(X[train], y[train]).score(X[~train], y[~train])
    assert scores["auto"] > peer - 0.02
    assert scores["auto"] > scores["ovr"]


def test_C_is_chosen_along_a_path():
    y = np.arange(90) % 2
    X = np.random.default_rng(0).normal(size=(90, 30)) + 0.4 * y[:, None]
    model = MaxMarginProjection(C="auto").fit(X, y)
    assert model.C_scores_[model.C_] == max(model.C_scores_.values())
    alone = {}
    for C in model.C_scores_:  # the same folds, each SVM from scratch
        svm = SVC(kernel="linear", C=C, tol=1e-6)
        alone[C] = cross_val_score(svm, X, y, cv=StratifiedKFold(3)).mean()
    np.testing.assert_allclose(list(alone.values()), list(model.C_scores_.values()), atol=0.04)
    fixed = MaxMarginProjection(C=model.C_).fit(X, y)
    np.testing.assert_allclose(model.transform(X), fixed.transform(X), atol=1e-6)
    assert fixed.C_scores_ is None
    with pytest.raises(ValueError, match="C='best' is not known"):
        MaxMarginProjection(C="best").fit(X, y)


def test_a_certified_bound_is_no_lower_than_the_quick_one():
    X, Y = three_tasks()
    quick = MaxMarginProjection(1).fit(X, Y)
    certified = MaxMarginProjection(1, certify=True).fit(X, Y)
    assert quick.lower_bound_ <= certified.lower_bound_ <= certified.objective_


@pytest.mark.parametrize("size", [1e-3, 1e-8, 1e-14])
@pytest.mark.parametrize("kernel", ["linear", "rbf-diagonal"])
def test_the_penalty_of_tiny_features_is_found(kernel, size):
    """On the usual path all SVMs of tiny features would be constant."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = size * (rng.normal(size=(60, 3)) + 3.0 * np.eye(3)[y])
    model = MaxMarginProjection(C="auto", kernel=kernel, max_iter=20).fit(X, y)
    assert max(model.C_scores_.values()) > 0.85
    assert model.score(X, y) > 0.9
    assert (model.C_ > 100) == (kernel == "linear")


@pytest.mark.parametrize("size", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("kernel", ["linear", "rbf-diagonal"])
def test_the_penalty_suits_many_classes_in_any_unit(kernel, size):
    """Linear SVMs of wide margins need a tiny C, with which those of a kernel are constants."""
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=100)
    X = size * (12.0 * rng.normal(size=(10, 5))[y] + rng.normal(size=(100, 5)))
    model = MaxMarginProjection(C="auto", kernel=kernel, max_iter=20).fit(X, y)
    assert max(model.C_scores_.values()) > 0.9
    assert model.score(X, y) > 0.9
