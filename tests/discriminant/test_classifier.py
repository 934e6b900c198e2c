"""KernelDiscriminantAnalysis, under the checks that every estimator inherits."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh, subspace_angles
from scipy.special import softmax
from sklearn.datasets import load_wine, make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel

from supred import KernelDiscriminantAnalysis
from supred.discriminant.directions import Problem, kernel_directions
from supred.discriminant.kernel_fisher import left_out_coordinates
from supred.numerics.class_scatter import members_of
from supred.numerics.gaussian_classes import GaussianClasses
from supred.numerics.kernel_basis import eigenbasis, kernel_at_landmarks
from supred.numerics.kernel_choice import choose_kernel
from tests.family import EstimatorFamily, blobs, read_only


class TestKernelDiscriminant(EstimatorFamily):
    not_applicable = {
        "test_the_model_does_not_grow_with_the_rows": "all rows are landmarks; see TestLandmarks",
    }

    def make(self, **parameters):
        return KernelDiscriminantAnalysis(random_state=0).set_params(**parameters)


class TestLandmarks(TestKernelDiscriminant):
    not_applicable = {}

    def make_for_many_classes(self):
        return self.make(n_landmarks=120)

    def make(self, **parameters):
        return super().make(n_landmarks=20).set_params(**parameters)


class TestLinear(TestKernelDiscriminant):
    not_applicable = {}

    def make(self, **parameters):
        return super().make(kernel="linear").set_params(**parameters)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return read_only((X - X.mean(axis=0)) / X.std(axis=0), y)


def fisher_by_eigenvectors(Phi, y, alpha, weights=None):
    """Return Fisher's directions of explicit features by one dense eigenproblem."""
    weights = np.ones(len(y)) if weights is None else weights
    share = weights / weights.sum()
    mean = share @ Phi
    total = (Phi - mean).T @ ((Phi - mean) * share[:, None])
    within = np.zeros_like(total)
    for k in np.unique(y):
        rows = Phi[y == k] - np.average(Phi[y == k], axis=0, weights=weights[y == k])
        within += rows.T @ (rows * share[y == k, None])
    within += alpha * np.trace(total) * np.eye(len(total))
    _, V = eigh(total - within + alpha * np.trace(total) * np.eye(len(total)), within)
    return V[:, ::-1][:, : len(np.unique(y)) - 1]


def same_up_to_signs(A, B, atol=1e-6):
    signs = np.sign(np.sum(A * B, axis=0))
    np.testing.assert_allclose(A * signs, B, atol=atol * np.abs(B).max())


def test_it_is_lda_with_a_linear_kernel_and_a_small_ridge(wine):
    X, y = wine
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    model = KernelDiscriminantAnalysis(kernel="linear", alpha=1e-12).fit(X, y)
    assert model.components_.shape == (2, 13)
    same_up_to_signs(model.transform(X), lda.transform(X))
    np.testing.assert_array_equal(model.predict(X), lda.predict(X))


@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_kernel_is_the_dense_eigenproblem(wine, alpha, weighted):
    X, y = wine
    weights = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else np.ones(len(y))
    G = rbf_kernel(X, gamma=0.05)
    s, V = np.linalg.eigh(G)
    Phi = V * np.sqrt(np.maximum(s, 0))
    expected = Phi @ fisher_by_eigenvectors(Phi, y, alpha, weights)
    expected -= np.average(expected, axis=0, weights=weights)
    model = KernelDiscriminantAnalysis(gamma=0.05, alpha=alpha).fit(X, y, sample_weight=weights)
    same_up_to_signs(model.transform(X), expected, atol=1e-5)
    given = KernelDiscriminantAnalysis(kernel="precomputed", alpha=alpha)
    same_up_to_signs(given.fit(G, y, sample_weight=weights).transform(G), expected, atol=1e-5)


def test_landmarks_are_the_dense_eigenproblem_of_their_features(wine):
    X, y = wine
    model = KernelDiscriminantAnalysis(gamma=0.05, alpha=1e-3, n_landmarks=40, random_state=0).fit(
        X, y
    )
    Phi = model.kernel_(X) @ eigenbasis(model.kernel_.gram(X))
    expected = Phi @ fisher_by_eigenvectors(Phi, y, 1e-3)
    same_up_to_signs(model.transform(X), expected - expected.mean(axis=0))
    whole = KernelDiscriminantAnalysis(gamma=0.05).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.model_size_.numbers < whole.model_size_.numbers / 3


def test_more_features_than_rows_is_the_same_problem(wine):
    X, y = wine[0][::4], wine[1][::4]
    wide = np.hstack([X, np.zeros((len(y), 100))])
    few = KernelDiscriminantAnalysis(kernel="linear").fit(X, y)
    for rows in (wide, sparse.csr_array(wide)):
        many = KernelDiscriminantAnalysis(kernel="linear").fit(rows, y)
        same_up_to_signs(many.transform(rows), few.transform(X))
        np.testing.assert_array_equal(many.predict(rows), few.predict(X))


def test_least_squares_lda_is_the_linear_case(wine):
    """LS-LDA (regression on class indicators) spans the same directions, so it needs no class."""
    X, y = wine
    counts = np.bincount(y)
    member = y[:, None] == np.arange(3)
    targets = np.where(member, np.sqrt(len(y) / counts), 0) - np.sqrt(counts / len(y))
    regression = LinearRegression().fit(X, targets).coef_.T  # (13, 3), of rank two
    directions = np.linalg.svd(regression, full_matrices=False)[0][:, :2]
    model = KernelDiscriminantAnalysis(kernel="linear", alpha=1e-12).fit(X, y)
    assert subspace_angles(directions, model.components_.T).max() < 1e-6


def test_it_separates_what_no_line_separates():
    X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    assert KernelDiscriminantAnalysis().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) == 1.0
    assert KernelDiscriminantAnalysis(kernel="linear").fit(X, y).score(X, y) < 0.7


def test_ratio_is_the_share_between_the_classes(wine):
    X, y = wine
    model = KernelDiscriminantAnalysis(kernel="linear", alpha=1e-12).fit(X, y)
    Z = model.transform(X)
    between = np.var(model.class_means_[y], axis=0)
    np.testing.assert_allclose(model.between_ratio_, between / np.var(Z, axis=0), rtol=1e-6)
    np.testing.assert_allclose(np.var(Z - model.class_means_[y], axis=0), 1.0, rtol=1e-6)


def test_priors_decide_between_equal_distances():
    X, y = blobs(n_rows=400, n_features=2, n_classes=2, spread=6.0)
    plain = KernelDiscriminantAnalysis(kernel="linear").fit(X, y)
    heavy = KernelDiscriminantAnalysis(kernel="linear", class_weight={0: 50}).fit(X, y)
    assert np.mean(heavy.predict(X) == 0) > np.mean(plain.predict(X) == 0) + 0.1


def test_n_components(wine):
    X, y = wine
    both = KernelDiscriminantAnalysis().fit(X, y)
    one = KernelDiscriminantAnalysis(1).fit(X, y)
    np.testing.assert_allclose(one.transform(X), both.transform(X)[:, :1])
    with pytest.raises(ValueError, match=r"n_components=3.*at most 2 \(n_classes - 1\)"):
        KernelDiscriminantAnalysis(3).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "rows", "message"),
    [
        ({"alpha": 0.0}, lambda X: X, "alpha=0.0 is out of range"),
        ({"alpha": np.inf}, lambda X: X, "alpha=inf is out of range"),
        ({"gamma": np.inf}, lambda X: X, "gamma=inf is out of range"),
        ({"kernel": "poly", "degree": 2.5, "coef0": 0}, lambda X: X, "whole number as degree"),
        ({"kernel": "poly", "degree": np.inf}, lambda X: X, "degree=inf is out of range"),
        (
            {"kernel": "poly", "degree": 900},
            lambda X: X,
            "holds values beyond 1e.140.*smaller degree",
        ),
        ({"kernel": "cubic"}, lambda X: X, "kernel='cubic' is not known"),
        ({"kernel": "precomputed"}, lambda X: X, "square matrix"),
        ({"kernel": "precomputed"}, lambda X: rbf_kernel(X) - 0.5 * np.eye(178), "negative eigenv"),
        ({"kernel": lambda X, Y: -X @ Y.T}, lambda X: X, "negative eigenvalues"),
        (
            {"kernel": lambda X, Y: -X @ Y.T, "n_landmarks": 30},
            lambda X: X,
            "negative eigenvalues",
        ),
    ],
)
def test_bad_input(wine, parameters, rows, message):
    X, y = wine
    with pytest.raises(ValueError, match=message):
        KernelDiscriminantAnalysis(**parameters).fit(rows(X), y)


@pytest.mark.parametrize("n_landmarks", [None, 60])
def test_a_kernel_in_single_precision_is_taken(wine, n_landmarks):
    """Rounding at the seventh digit makes eigenvalues that should be zero negative."""
    X, y = wine
    noise = np.random.default_rng(0).standard_normal((178, 178))
    G = X @ X.T
    G += 1e-7 * G.max() * (noise + noise.T)
    model = KernelDiscriminantAnalysis(
        kernel="precomputed", n_landmarks=n_landmarks, random_state=0
    )
    assert model.fit(G.astype(np.float32), y).score(G, y) > 0.95
    with pytest.raises(ValueError, match="negative eigenvalues"):  # not in double precision
        model.set_params(n_landmarks=60).fit(G, y)


def test_blocks_of_rows_count_the_landmarks(wine, monkeypatch):
    """Memory must not grow with the product of rows and landmarks."""
    X, y = wine
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 1)
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1600)
    sizes = []

    def kernel(A, B):
        sizes.append(len(A))
        return rbf_kernel(A, B, gamma=0.05)

    KernelDiscriminantAnalysis(kernel=kernel, alpha=1e-3, n_landmarks=40, random_state=0).fit(X, y)
    assert sizes.pop(0) == 40  # the landmarks themselves
    assert max(sizes) <= 1600 / 40


def test_nothing_of_an_earlier_fit_stays(wine):
    X, y = wine
    model = KernelDiscriminantAnalysis(kernel="linear").fit(X, y)
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "components_")
    assert not hasattr(model, "center_")
    model.set_params(kernel="linear").fit(X, y)
    for name in ("dual_coef_", "offset_", "kernel_"):
        assert not hasattr(model, name)


def test_width_and_ridge_are_those_of_the_least_leave_one_out_error(wine):
    X, y = wine
    model = KernelDiscriminantAnalysis(random_state=0).fit(X, y)
    chosen = choose_kernel(X, members_of(y, 3), np.ones(len(y)), "rbf")
    assert (model.gamma_, model.alpha_) == (chosen.gamma, chosen.alpha)
    half = np.arange(len(y)) % 2 == 0
    given = KernelDiscriminantAnalysis(gamma=10.0, alpha=1e-6).fit(X[half], y[half])
    free = KernelDiscriminantAnalysis().fit(X[half], y[half])
    assert free.score(X[~half], y[~half]) > given.score(X[~half], y[~half])


@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_coordinates_left_out_are_those_of_a_fit_without_the_row(wine, n_landmarks):
    """The regression behind the coordinates, done again without each row."""
    X, y = wine[0][::4], wine[1][::4]
    weights = np.resize([1.0, 2.0, 0.5], len(y))
    kernel = kernel_at_landmarks(X, weights, "rbf", gamma=0.05, n_landmarks=n_landmarks)
    gram = kernel.gram(X)
    found, solution = kernel_directions(Problem(X, y, weights, 3), kernel, gram, 1e-2)
    residuals = solution.targets[y] - found.project(X)
    np.testing.assert_allclose(solution.residuals, residuals, atol=1e-8)
    left_out = left_out_coordinates(solution, y)
    Phi = kernel(X) @ eigenbasis(gram)
    spread = weights @ np.sum((Phi - np.average(Phi, axis=0, weights=weights)) ** 2, axis=1)
    for i in (0, 5, 20):
        again = Ridge(alpha=1e-2 * spread, solver="cholesky")
        kept = np.where(np.arange(len(y)) == i, 0.0, weights)
        again.fit(Phi, solution.targets[y], sample_weight=kept)
        np.testing.assert_allclose(again.predict(Phi[i : i + 1])[0], left_out[i], atol=1e-5)


def test_probabilities_are_calibrated_where_training_rows_are_not(wine):
    """Two overlapping classes: confident by the training rows alone, and rightly unsure here."""
    X, y = blobs(n_rows=400, n_features=8, n_classes=2, spread=8.0)
    model = KernelDiscriminantAnalysis(random_state=0).fit(X[:200], y[:200])
    probabilities = model.predict_proba(X[200:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        model.classes_[probabilities.argmax(axis=1)], model.predict(X[200:])
    )
    honest = log_loss(y[200:], probabilities)
    Z = model.transform(X[:200])
    naive = GaussianClasses.of_rows(Z, y[:200], np.ones(200), model.class_means_)
    assert honest < log_loss(y[200:], softmax(naive.scores(model.transform(X[200:])), axis=1))


def test_a_ridge_that_leaves_nothing_still_tells_classes_apart(wine):
    X, y = wine
    assert KernelDiscriminantAnalysis(gamma=0.05, alpha=1e3).fit(X, y).score(X, y) > 0.9


def test_copies_of_rows_are_solved_as_the_whole_kernel_matrix(wine):
    X, y = wine
    twice = np.vstack([X, X[:50]]), np.concatenate([y, y[:50]])
    weights = np.where(np.arange(len(y)) < 50, 2.0, 1.0)
    model = KernelDiscriminantAnalysis(gamma=0.05, alpha=1e-3).fit(*twice)
    other = KernelDiscriminantAnalysis(gamma=0.05, alpha=1e-3).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.transform(X), other.transform(X), atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_a_row_without_weight_that_equals_a_later_one(wine, kernel):
    """It is no row: what is kept of equal rows are those with weight, in the order of these."""
    X, y = wine
    rows, labels = np.vstack([X[[150, 90]], X]), np.concatenate([y[[150, 90]], y])
    weights = np.where(np.arange(len(labels)) < 2, 0.0, 1.0)
    model = KernelDiscriminantAnalysis(kernel=kernel)
    expected = model.fit(X, y).transform(X)
    found = model.fit(rows, labels, sample_weight=weights).transform(X)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_parameters_that_the_linear_kernel_does_not_use_are_checked(wine):
    for name in ("random_state", "n_landmarks"):
        model = KernelDiscriminantAnalysis(kernel="linear").set_params(**{name: "x"})
        with pytest.raises(ValueError, match=f"{name}='x' is"):
            model.fit(*wine)
