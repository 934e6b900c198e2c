"""Options of category space: more classes than features, margin, oblique axes, several labels."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from supred import CategorySpace
from supred.export import load_model, save_model
from tests.category_space.test_classifier import same_up_to_signs
from tests.category_space.test_family import plain
from tests.family import read_only


@pytest.mark.parametrize("whiten", [False, True])
def test_more_classes_than_features_have_a_tight_frame(wine, whiten):
    X, y = wine
    model = CategorySpace(kernel="linear", whiten=whiten, random_state=0).fit(X[:, :2], y)
    W = model.components_.T
    if not whiten:
        np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-10)
    assert np.diff(model.history_["objective"]).min(initial=0) >= -1e-12 * model.objective_
    assert model.score(X[:, :2], y) > 0.7
    back = model.inverse_transform(model.transform(X[:, :2]))
    np.testing.assert_allclose(model.transform(back), model.transform(X[:, :2]), atol=1e-8)
    with pytest.raises(ValueError, match="3 classes in 2 dimensions"):
        model.certificate(X[:, :2], y)
    two = CategorySpace(n_landmarks=2, random_state=0).fit(X, y)
    assert two.transform(X).shape == (178, 3)


def test_the_defaults_beat_the_plain_form(wine):
    X, y = wine
    train = np.arange(len(y)) % 2 == 0
    best, paper = (
        make(random_state=0).fit(X[train], y[train]).score(X[~train], y[~train])
        for make in (CategorySpace, plain)
    )
    assert best > 0.95
    assert best > paper


def test_the_linear_classifier_is_lda_on_the_coordinates(wine):
    X, y = wine
    model = plain(classifier="linear", random_state=0).fit(X, y)
    Z = model.transform(X)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(Z, y)
    np.testing.assert_array_equal(model.predict(X), lda.predict(Z))
    assert model.score(X, y) > plain(random_state=0).fit(X, y).score(X, y)


def test_a_margin_pushes_rows_away_from_the_origin(wine):
    X, y = wine
    near = []
    for margin in (0.0, 1.0):
        model = plain(margin=margin, random_state=0).fit(X, y)
        objectives = model.history_["objective"]
        assert np.diff(objectives).min(initial=0) >= -1e-12 * model.objective_
        own = np.abs(model.transform(X)[np.arange(len(y)), y])
        near.append(np.mean(own < 0.5))
    assert near[1] < near[0]
    with pytest.raises(ValueError, match=r"margin=1\.0 needs criterion='squared'"):
        plain("absolute", margin=1.0).fit(X, y)
    with pytest.raises(ValueError, match="no certificate is known for these"):
        plain(margin=1.0, random_state=0).fit(X, y).certificate(X, y)


def test_oblique_axes_overlap_the_less_the_dearer_it_is(wine):
    X, y = wine
    overlaps = []
    for penalty in (0.0, 1.0, 1e4):
        model = plain(overlap_penalty=penalty, random_state=0).fit(X, y)
        W = model.components_.T
        np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1.0)
        assert np.diff(model.history_["objective"]).min(initial=0) >= -1e-9 * abs(model.objective_)
        overlaps.append(np.abs(np.triu(W.T @ W, 1)).max())
    assert overlaps[0] > overlaps[1] > overlaps[2]
    assert overlaps[2] < 1e-3
    leading = [np.linalg.svd(X[y == k])[2][0] for k in range(3)]
    free = plain(overlap_penalty=0.0, random_state=0).fit(X, y).components_
    np.testing.assert_allclose(np.abs(np.sum(free * leading, axis=1)), 1.0, atol=1e-6)
    with pytest.raises(ValueError, match="cannot be combined with overlap_penalty"):
        plain(overlap_penalty=1.0, margin=1.0).fit(X, y)


def test_steps_by_the_heuristic_let_the_objective_fall(wine):
    X, y = wine
    parameters = {"origin": "class", "max_iter": 200, "random_state": 0}
    falls = []
    for step in ("exact", "heuristic"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = plain("absolute", auxiliary_step=step, **parameters).fit(X, y)
        falls.append(np.diff(model.history_["objective"]).min(initial=0) / model.objective_)
    assert falls[0] >= -1e-12
    assert falls[1] < -1e-9  # it is no majoriser


@pytest.fixture(scope="module")
def several_labels():
    rng = np.random.default_rng(0)
    Y = rng.random((240, 4)) < 0.4
    X = Y @ rng.normal(size=(4, 10)) * 2.0 + rng.normal(size=(240, 10))
    return read_only(X, Y.astype(int))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_several_labels_per_row(several_labels, kernel):
    X, Y = several_labels
    model = CategorySpace(kernel=kernel, random_state=0).fit(X[:160], Y[:160])
    assert model.multilabel_
    assert model.transform(X).shape == (240, 4)
    predicted = model.predict(X[160:])
    np.testing.assert_array_equal(predicted, (model.decision_function(X[160:]) > 0).astype(int))
    peer = OneVsRestClassifier(LinearSVC()).fit(X[:160], Y[:160]).predict(X[160:])
    ours = f1_score(Y[160:], predicted, average="macro")
    assert ours > f1_score(Y[160:], peer, average="macro") - 0.02
    # One axis per label, along the scatter of the rows that have it.
    Z = model.transform(X[:160])
    Z = Z - Z.mean(axis=0)
    objective = 0.5 * sum(np.sum(Z[Y[:160, k] == 1, k] ** 2) for k in range(4))
    assert model.objective_ == pytest.approx(objective, rel=1e-6)
    again = CategorySpace(kernel=kernel, random_state=0)
    again.fit(X[:160], sparse.csr_array(Y[:160]))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "kind", ["float16", "object", "bool", "Int64", "boolean", "bool[pyarrow]", "float64"]
)
def test_labels_of_any_type_are_fitted_and_scored(several_labels, kind):
    X, Y = several_labels
    model = CategorySpace(gamma=0.05, alpha=1e-2, random_state=0).fit(X, Y)
    expected = model.score(X, Y)
    assert expected == np.mean((model.predict(X) == Y).all(axis=1))
    given = pd.DataFrame(Y).astype(kind)
    if kind in ("float16", "object"):
        given = given.to_numpy()
    assert model.score(X, given) == expected
    assert model.fit(X, given).score(X, given) == expected


def test_labels_with_names_are_saved(several_labels, tmp_path):
    X, Y = several_labels
    names = ["ash", "beech", 3, ("oak", 4)]
    model = CategorySpace(gamma=0.05, alpha=1e-2, random_state=0)
    model.fit(X, pd.DataFrame(Y, columns=pd.Index(names, tupleize_cols=False)))
    assert model.classes_.tolist() == ["ash", "beech", 3, "('oak', 4)"]
    save_model(model, tmp_path / "labels.supred")
    again = load_model(tmp_path / "labels.supred")
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_labels_of_single_classes_have_the_axes_of_these_classes(wine):
    X, y = wine
    single = CategorySpace(classifier="linear", random_state=0).fit(X, y)
    same = {"gamma": single.gamma_, "alpha": single.alpha_, "origin": "zero"}
    matrix = CategorySpace(random_state=0, **same)
    matrix.fit(X, np.eye(3, dtype=int)[y])
    same_up_to_signs(matrix.transform(X), single.transform(X))


@pytest.mark.parametrize(
    ("y", "parameters", "message"),
    [
        (lambda Y: np.where(Y, 2, 0), {}, "y holds 2 in row"),
        (lambda Y: Y[:-1], {}, "y has 239 rows, but X has 240"),
        (lambda Y: Y.astype(str), {}, "y holds '[01]' in row 0, column 0"),
        (lambda Y: pd.DataFrame(Y, dtype="Int64").replace(1, pd.NA), {}, "y holds None in row"),
        (
            lambda Y: np.ma.array(Y, mask=np.arange(960).reshape(240, 4) == 6),
            {},
            "y holds None in row 1, column 2",
        ),
        (lambda Y: pd.DataFrame(Y, columns=list("abab")), {}, "2 columns have the name 'a'"),
        (lambda Y: np.column_stack([Y, np.zeros(240)]), {}, "no row has label 4"),
        (lambda Y: np.column_stack([Y, np.ones(240)]), {}, "every row has label 4"),
        (lambda Y: Y, {"class_weight": "balanced"}, "cannot be combined with a matrix of labels"),
    ],
)
def test_bad_labels(several_labels, y, parameters, message):
    X, Y = several_labels
    with pytest.raises(ValueError, match=message):
        CategorySpace(**parameters).fit(X, y(Y))
