"""What the experiments compute themselves, against independent references."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction.category_space.algorithm import heuristic_z, iterate, line_search_z
from reproduction.category_space.widths import conditions
from reproduction.class_constrained_embedding import balanced_roll
from reproduction.low_dim_svm.newsgroups import LargeMarginNeighbours
from reproduction.low_dim_svm.z_step import z_step
from reproduction.max_margin_projection import alternate_as_printed
from reproduction.max_margin_projection.rbf_convexity import dual_value
from supred import CategorySpace


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X.setflags(write=False)
    y.setflags(write=False)
    return X, y


def test_the_gradient_of_lmnn(iris):
    X, y = iris
    rng = np.random.default_rng(0)
    chosen = rng.permutation(150)[:40]
    X, y = X[chosen], y[chosen]
    model = LargeMarginNeighbours(2, 3)
    targets = np.array(
        [[np.flatnonzero((y == y[i]) & (np.arange(40) != i))[0]] * 3 for i in range(40)]
    )
    point = rng.normal(size=8)
    arguments = (X, targets, y[:, None] != y)
    numeric = approx_fprime(point, lambda p: model._cost(p, *arguments)[0], 1e-7)
    assert model._cost(point, *arguments)[1] == pytest.approx(numeric, rel=1e-3, abs=1e-2)


def test_lmnn_draws_classes_apart(iris):
    X, y = iris
    noisy = np.hstack([X, 3 * np.random.default_rng(0).normal(size=(150, 6))])
    Z = LargeMarginNeighbours().fit(noisy, y).transform(noisy)
    distances = np.linalg.norm(Z[:, None] - Z, axis=2) + 1e9 * np.eye(150)
    assert np.mean(y[distances.argmin(axis=1)] == y) > 0.9


def test_the_svm_is_a_fixed_point_of_the_printed_alternation(iris):
    X, y = iris
    X, sign = X[50:], np.where(y[50:] == 1, 1, -1)
    svm = SVC(kernel="linear", tol=1e-6).fit(X, sign)
    found = alternate_as_printed([(X, sign)], 2, start="svm")
    assert found.ending == "converged"
    unit = svm.coef_[0] / np.linalg.norm(svm.coef_)
    assert abs(found.components[0] @ unit) == pytest.approx(1.0, abs=1e-6)
    assert found.components @ found.components.T == pytest.approx(np.eye(2), abs=1e-12)


def test_the_dual_value_is_the_primal_one(iris):
    X, y = iris
    X, sign = X[50:], np.where(y[50:] == 1, 1, -1)
    scales = np.array([0.3, 0.1, 0.5, 0.2])
    Z = X * np.sqrt(scales)
    svm = SVC(C=10.0, gamma=1.0, tol=1e-8).fit(Z, sign)
    slack = np.maximum(0, 1 - sign * svm.decision_function(Z))
    K = np.exp(-np.square(Z[:, None] - Z).sum(axis=2))[np.ix_(svm.support_, svm.support_)]
    primal = 0.5 * svm.dual_coef_[0] @ K @ svm.dual_coef_[0] + 10 * slack.sum()
    assert dual_value(scales, X, sign) == pytest.approx(primal, rel=1e-3)


@pytest.mark.parametrize("origin", ["class", "global"])
def test_the_conditions_are_those_of_the_library(iris, origin):
    X, y = iris
    model = CategorySpace(
        kernel="linear", whiten=False, origin=origin, tol=1e-10, random_state=0
    ).fit(X, y)
    centers = {"class": lambda part: part.mean(axis=0), "global": lambda part: X.mean(axis=0)}
    parts = [X[y == k] - centers[origin](X[y == k]) for k in range(3)]
    scatters = np.stack([part.T @ part for part in parts])
    rapcsak, second = conditions(scatters, model.components_.T)
    scale = max(np.linalg.eigvalsh(R)[-1] for R in scatters)
    assert rapcsak == pytest.approx(model.certificate(X, y).rapcsak / scale, abs=1e-6)
    assert second < 1e-6


def test_algorithm_1_reaches_the_library_solution(iris):
    X, y = iris
    classes = [X[y == k] for k in range(3)]
    best = max(iterate(classes, "squared", seed)[0][-1] for seed in range(3))
    model = CategorySpace(
        kernel="linear", whiten=False, origin="class", tol=1e-10, random_state=0
    ).fit(X, y)
    assert best == pytest.approx(model.objective_, rel=1e-6)


def test_auxiliary_steps_sum_to_zero():
    a = np.random.default_rng(0).normal(3.0, 1.0, size=50)
    assert heuristic_z(a, 1e-3).sum() == pytest.approx(0.0, abs=1e-12)
    assert line_search_z(a, 1e-3).sum() == pytest.approx(0.0, abs=1e-6)


def test_the_three_cases_of_the_z_step():
    w, b, c = np.array([1.0, 1.0]), 0.0, 1.0
    F = np.array([[1.0, 1.0], [0.25, 0.5], [-2.0, 0.0]])
    # Kept; moved to the margin; moved by c / 2 along w.
    expected = [[1.0, 1.0], [0.375, 0.625], [-1.5, 0.5]]
    assert z_step(F, np.ones(3), w, b, c) == pytest.approx(np.array(expected))


def test_the_roll_is_balanced_for_any_even_number_of_rows():
    _, y, position = balanced_roll(60, seed=0)
    assert position.shape == (60, 2)
    for n in (2, 30, 60):
        assert np.bincount(y[:n]).tolist() == [n // 2, n // 2]
