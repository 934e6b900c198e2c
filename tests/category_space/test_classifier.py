"""CategorySpace in its forms, under the checks that every estimator inherits."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from supred import CategorySpace
from tests.category_space.test_family import plain
from tests.family import blobs


def same_up_to_signs(A, B, atol=1e-6):
    signs = np.sign(np.sum(A * B, axis=0))
    np.testing.assert_allclose(A * signs, B, atol=atol * np.abs(B).max())


@pytest.mark.parametrize("origin", ["global", "class", "zero"])
@pytest.mark.parametrize("criterion", ["squared", "absolute"])
def test_axes_are_orthonormal_and_transform_is_their_product(wine, criterion, origin):
    X, y = wine
    model = plain(criterion, origin=origin, random_state=0).fit(X, y)
    W = model.components_.T
    np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-10)
    center = np.zeros(13) if origin == "zero" else X.mean(axis=0)
    np.testing.assert_allclose(model.center_, center, atol=1e-12)
    np.testing.assert_allclose(model.transform(X), (X - center) @ W, atol=1e-12)
    objectives = model.history_["objective"]
    assert np.diff(objectives).min(initial=0) >= -1e-12 * model.objective_
    assert model.history_["seconds"].shape == objectives.shape == (model.n_iter_ + 1,)
    if criterion == "squared":
        Z = model.transform(X)
        own = [Z[y == k, k] - (Z[y == k, k].mean() if origin == "class" else 0) for k in range(3)]
        assert model.objective_ == pytest.approx(0.5 * sum(a @ a for a in own))


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("origin", ["global", "class", "zero"])
def test_kernel_axes_are_orthonormal(wine, kernel, origin):
    X, y = wine
    name = linear_kernel if kernel == "linear" else kernel  # the callable, as a kernel
    model = plain(kernel=name, origin=origin, random_state=0).fit(X, y)
    G = model.kernel_(X)
    A = model.dual_coef_
    np.testing.assert_allclose(A.T @ G @ A, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(model.transform(X), G @ A, atol=1e-10)


def test_a_linear_kernel_gives_the_linear_axes(wine):
    X, y = wine
    linear = plain(origin="zero", random_state=0, tol=1e-10).fit(X, y)
    for parameters, rows in (({"kernel": linear_kernel}, X), ({"kernel": "precomputed"}, X @ X.T)):
        model = plain(origin="zero", random_state=0, tol=1e-10, **parameters)
        same_up_to_signs(model.fit(rows, y).transform(rows), linear.transform(X))
        assert model.objective_ == pytest.approx(linear.objective_)


@pytest.mark.parametrize("criterion", ["squared", "absolute"])
def test_precomputed_is_rbf_and_drops_rows_of_no_weight(wine, criterion):
    X, y = wine
    G = rbf_kernel(X, gamma=0.05)
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    options = {"criterion": criterion, "random_state": 0}
    given = plain(kernel="precomputed", **options).fit(G, y, sample_weight=weights)
    made = plain(kernel="rbf", gamma=0.05, **options).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(given.transform(G), made.transform(X), atol=1e-6)
    assert given.dual_coef_.shape[0] == int(weights.sum())
    thin = plain(kernel="precomputed", **options)
    thin.fit(sparse.csr_array(G), y, sample_weight=weights)
    np.testing.assert_allclose(thin.transform(sparse.csr_array(G)), given.transform(G), atol=1e-9)
    scores = cross_val_score(plain(kernel="precomputed", random_state=0), G, y, cv=3)
    assert scores.mean() > 0.9  # it slices rows and columns


def test_all_landmarks_are_the_whole_kernel_and_few_come_near(wine):
    X, y = wine
    make = {"kernel": "rbf", "gamma": 0.02, "random_state": 0}
    whole = plain(n_landmarks=None, **make).fit(X, y)
    auto = plain(**make).fit(X, y)
    np.testing.assert_array_equal(whole.transform(X), auto.transform(X))
    few = plain(n_landmarks=60, **make).fit(X, y)
    assert few.dual_coef_.shape == (60, 3)
    assert 0.8 * whole.objective_ < few.objective_ <= whole.objective_ * (1 + 1e-9)
    assert few.score(X, y) > 0.9


def test_many_rows_get_landmarks():
    X, y = blobs(n_rows=2500, n_classes=3)
    model = plain(kernel="rbf", gamma="scale", n_init=0, random_state=0).fit(X, y)
    assert model.dual_coef_.shape == (1000, 3)
    assert model.score(X, y) > 0.95
    assert CategorySpace(gamma="scale", random_state=0).fit(X, y).dual_coef_.shape == (500, 3)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("origin", ["global", "class", "zero"])
def test_more_features_than_rows_is_the_same_problem(origin, whiten):
    """Features of zeros change nothing, and take the problem to the span of the rows."""
    X, y = blobs(n_rows=60, n_features=8)
    wide = np.hstack([X, np.zeros((60, 80))])
    options = {"origin": origin, "random_state": 0, "tol": 1e-10, "n_init": 2}
    few = plain(**options).fit(X, y)
    for rows in (wide, sparse.csr_array(wide)):
        many = plain(**options).fit(rows, y)
        np.testing.assert_allclose(many.transform(rows), few.transform(X), atol=1e-6)
        W = many.components_.T
        np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-10)
    # Random rotations of the wide rows rotate the axes with them, whitened or not.
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((88, 88)))[0]
    flat = plain(whiten=whiten, **options).fit(wide, y)
    turned = plain(whiten=whiten, **options).fit(wide @ rotation, y)
    same_up_to_signs(turned.transform(wide @ rotation), flat.transform(wide), atol=1e-5)
    if whiten:
        thin = sparse.csr_array(wide)
        same_up_to_signs(
            plain(whiten=True, **options).fit_transform(thin, y),
            flat.transform(wide),
            atol=1e-5,
        )


@pytest.mark.parametrize("criterion", ["squared", "absolute"])
def test_wide_sparse_rows_stay_sparse(criterion, monkeypatch):
    X = sparse.csr_array(sparse.random(60, 30_000, density=0.003, random_state=0))
    y = np.arange(60) % 3
    dense = plain(criterion, n_init=0, random_state=0).fit(X.toarray(), y)

    def refuse(*_, **__):
        raise AssertionError("the rows were made dense")

    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    model = plain(criterion, n_init=0, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    same_up_to_signs(model.transform(X), dense.transform(X), atol=1e-3)


def test_whitened_axes_span_fishers_directions():
    """Far classes: the axes hold the space of Fisher's directions; without whitening they miss."""
    X, y = blobs(n_rows=300, n_features=6, spread=1.0)
    mixing = np.random.default_rng(1).standard_normal((6, 6))
    X = X @ mixing
    fisher = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :2]
    angles = [
        subspace_angles(plain(whiten=whiten, random_state=0).fit(X, y).components_.T, fisher).max()
        for whiten in (True, False)
    ]
    assert angles[0] < 0.1
    assert angles[1] > 0.3


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_features", [6, 120])
def test_inverse_transform(n_features, whiten):
    X, y = blobs(n_features=n_features)
    model = plain(whiten=whiten, random_state=0).fit(X, y)
    Z = model.transform(X)
    back = model.inverse_transform(Z)
    assert back.shape == X.shape
    np.testing.assert_allclose(model.transform(back), Z, atol=1e-8)
    if not whiten:  # the nearest row of all with these coordinates
        np.testing.assert_allclose((X - back) @ model.components_.T, 0, atol=1e-8)
    with pytest.raises(ValueError, match="Z has 2 columns, but CategorySpace has 3 latent"):
        model.inverse_transform(Z[:, :2])
    with pytest.raises(AttributeError, match="inverse_transform"):
        plain(kernel="rbf").inverse_transform(Z)


def test_coordinates_are_named_after_the_classes():
    X, y = blobs()
    names = np.array(["ash", "beech", "oak"])
    model = plain(random_state=0).fit(X, names[y])
    assert model.get_feature_names_out().tolist() == ["ash", "beech", "oak"]
    assert plain().fit(X, y).get_feature_names_out().tolist() == ["0", "1", "2"]


def test_predict_is_the_smallest_angle(wine):
    X, y = wine
    model = plain(whiten=True, random_state=0).fit(X, y)
    Z = model.transform(X)
    angles = np.arccos(Z / np.linalg.norm(Z, axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), angles.argmin(axis=1))
    np.testing.assert_allclose(model.decision_function(X), np.cos(angles), atol=1e-12)
    # A kernel's axes are lines: the sign of a coordinate does not count.
    model = plain(kernel="rbf", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), np.abs(model.transform(X)).argmax(axis=1))
    # The centre itself makes no angle with anything.
    model = plain(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(model.center_[None]), np.zeros((1, 3)))


def test_a_narrow_kernel_is_the_nearest_neighbour_rule(wine):
    X, y = wine
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    width = 0.05 * np.median(pairwise_distances(X[train]))
    model = plain(kernel="rbf", gamma=0.5 / width**2, origin="class", n_init=0)
    neighbour = KNeighborsClassifier(1).fit(X[train], y[train]).predict(X[test])
    assert np.mean(model.fit(X[train], y[train]).predict(X[test]) == neighbour) > 0.95


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"whiten": True},
        {"origin": "class"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "whiten": True},
        {"kernel": "rbf", "n_landmarks": 40},
        {"class_weight": "balanced"},
    ],
)
def test_certificate_later_is_the_one_at_fit_time(wine, parameters):
    X, y = wine
    model = plain(certify=True, random_state=0, tol=1e-9, **parameters).fit(X, y)
    before = model.transform(X)
    model.set_params(**CategorySpace().get_params())  # those that count are of the fit
    later = model.certificate(X, y)
    assert later.kind == model.certificate_.kind
    assert later.objective == pytest.approx(model.objective_, rel=1e-7)
    assert later.bound == pytest.approx(model.certificate_.bound, rel=1e-5)
    model.certificate(X + 1.0, y)
    np.testing.assert_array_equal(model.transform(X), before)


def test_certificate_of_wide_rows():
    X, y = blobs(n_rows=60, n_features=400)
    dense = plain(certify=True, random_state=0).fit(X, y)
    thin = plain(certify=True, random_state=0).fit(sparse.csr_array(X), y)
    assert dense.certificate_.kind == thin.certificate_.kind
    # A bound without a certificate is only sought to a hundredth of its gap.
    slack = 0.02 * dense.certificate_.gap + 1e-6
    assert dense.certificate_.bound == pytest.approx(thin.certificate_.bound, rel=slack)
    assert dense.certificate(X, y).bound == pytest.approx(dense.certificate_.bound, rel=slack)


def test_no_certificate_for_the_absolute_criterion(wine):
    X, y = wine
    with pytest.raises(ValueError, match="certify=True needs criterion='squared'"):
        plain("absolute", certify=True).fit(X, y)
    with pytest.raises(ValueError, match="certificate needs criterion='squared'"):
        plain("absolute", random_state=0).fit(X, y).certificate(X, y)
    with pytest.raises(ValueError, match="pass the rows and labels that were given to fit"):
        plain(random_state=0).fit(X, y).certificate(X, y + 1)


def test_absolute_weighs_far_rows_less(wine):
    X, y = wine
    X = X.copy()
    X[y == 0, 0] += np.where(np.arange(np.sum(y == 0)) == 0, 60.0, 0.0)  # one row far out
    shares = []
    for criterion in ("squared", "absolute"):
        model = plain(criterion, origin="class", random_state=0).fit(X, y)
        shares.append(abs(model.components_[0, 0]))
    assert shares[0] > 0.95
    assert shares[1] < shares[0] - 0.1


def test_it_says_when_it_did_not_converge(wine):
    X, y = wine
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=2 steps"):
        model = plain(max_iter=2, tol=1e-12, random_state=0).fit(X, y)
    assert model.stopping_reason_ == "max_iter"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain(random_state=0).fit(X, y)


def test_the_model_keeps_no_rows(wine):
    X, y = wine
    model = plain(random_state=0).fit(X, y)
    assert model.model_size_.numbers == 3 * 13 + 13
    model = plain(kernel="rbf", n_landmarks=20, random_state=0).fit(X, y)
    assert model.model_size_.numbers == 20 * 3 + 3 + 20 * 13 + 13 + 20


def not_a_kernel(X, Y):
    return -np.asarray(X @ Y.T)


BAD = [
    (
        {"origin": "class"},
        lambda X, y: (X, np.where(np.arange(len(y)) == 5, 9, y)),
        "origin='class' needs at least two different rows of each class, but class 9 has 1 row",
    ),
    ({"kernel": "precomputed"}, lambda X, y: (X, y), r"square matrix.*got shape \(178, 13\)"),
    (
        {"kernel": "precomputed"},
        lambda X, y: (rbf_kernel(X) + np.arange(178), y),
        "needs a symmetric matrix",
    ),
    (
        {"kernel": "precomputed"},
        lambda X, y: (rbf_kernel(X) - 0.5 * np.eye(178), y),
        "negative eigenvalues.*add 0.4.* to the diagonal",
    ),
    ({"kernel": not_a_kernel}, lambda X, y: (X, y), "negative eigenvalues"),
    ({"kernel": lambda X, Y: X}, lambda X, y: (X, y), "callable returned shape"),
    ({"kernel": "rbf", "n_landmarks": 0}, lambda X, y: (X, y), "n_landmarks=0"),
    ({"kernel": "cubic"}, lambda X, y: (X, y), "kernel='cubic' is not known"),
    ({"criterion": "cubic"}, lambda X, y: (X, y), "criterion='cubic' is not known"),
    ({"origin": "mean"}, lambda X, y: (X, y), "origin='mean' is not known"),
    ({"kernel": "rbf", "gamma": -1.0}, lambda X, y: (X, y), "gamma=-1.0 is out of range"),
    ({"kernel": "rbf", "gamma": "wide"}, lambda X, y: (X, y), "gamma='wide' is not known"),
    ({"kernel": "rbf", "gamma": np.inf}, lambda X, y: (X, y), "gamma=inf is out of range"),
    (
        {"kernel": "poly", "degree": 2.5, "coef0": 0},
        lambda X, y: (X, y),
        "holds values beyond 1e.140 or NaN.*whole number as degree",
    ),
    ({"n_init": -1}, lambda X, y: (X, y), "n_init=-1"),
    ({"max_iter": 0}, lambda X, y: (X, y), "max_iter=0"),
    ({"tol": -1.0}, lambda X, y: (X, y), "tol=-1.0"),
]


@pytest.mark.parametrize(("parameters", "data", "message"), BAD)
def test_bad_input(wine, parameters, data, message):
    with pytest.raises(ValueError, match=message):
        plain(**parameters).fit(*data(*wine))


def test_equal_rows_of_a_class_have_no_spread(wine):
    X, y = wine
    X = np.where((y == 1)[:, None], X[0] + 1.0, X)
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"class 1 has 71 row.s. without any spread"):
            plain(origin="class").fit(rows, y)
    plain(origin="global", random_state=0).fit(X, y)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("width", [0.05, 0.2, 1.0, 3.0, "poly", "raw"])
def test_whitened_kernels_predict_at_every_width(load, width):
    X, y = load(return_X_y=True)
    if width != "raw" or load is load_wine:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    train = np.arange(len(y)) % 3 > 0
    parameters = {"kernel": "poly" if width == "poly" else "rbf"}
    if not isinstance(width, str):
        parameters["gamma"] = 0.5 / (width * np.median(pairwise_distances(X[train]))) ** 2
    model = plain(whiten=True, n_init=0, random_state=0, **parameters)
    model.fit(X[train], y[train])
    Z = model.transform(X[train])
    means = [Z[y[train] == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.class_means_, means, atol=1e-6 * np.abs(means).max())
    assert model.score(X[~train], y[~train]) > 0.93


@pytest.mark.parametrize("origin", ["global", "class", "zero"])
def test_wide_sparse_rows_have_the_same_random_starts(origin):
    X = sparse.csr_array(sparse.random(150, 3000, density=0.01, random_state=0))
    y = np.arange(150) % 4
    model = plain("absolute", origin=origin, n_init=5, random_state=0)
    thin = model.fit(X, y).objective_
    assert model.fit(X.toarray(), y).objective_ == pytest.approx(thin, rel=1e-6)


def test_nothing_of_an_earlier_fit_stays(wine):
    X, y = wine
    model = plain(certify=True, n_init=0, random_state=0).fit(X, y)
    model.set_params(certify=False, kernel="rbf", whiten=True).fit(X, y)
    assert model.certificate_ is None
    for name in ("components_", "center_"):
        assert not hasattr(model, name)
    model.set_params(kernel="linear").fit(X, y)
    for name in ("dual_coef_", "offset_", "kernel_"):
        assert not hasattr(model, name)
