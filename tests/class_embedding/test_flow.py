import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.semi_supervised import LabelSpreading

from supred import ClassConstrainedEmbedding
from supred.class_embedding.flow_coordinates import circle_axes
from supred.class_embedding.graph import nearest_of, scaled_distances, symmetric_weights
from supred.class_embedding.hidden_labels import TEMPERATURE, hide_in_folds


@pytest.fixture(scope="module")
def digits():
    """Training rows, their labels, labels of which few are left, new rows and their labels."""
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    X, y = X[order], y[order]
    some = few(y[:1300], 2)
    for array in (X, y, some):
        array.setflags(write=False)
    return X[:1300], y[:1300], some, X[1300:], y[1300:]


def few(y, per_class):
    some = np.full(len(y), -1)
    for k in np.unique(y):
        some[np.flatnonzero(y == k)[:per_class]] = k
    return some


# --- few labels ------------------------------------------------------------------------------


def test_two_labels_per_class_are_enough_for_most_digits(digits):
    X, y, some, new, truth = digits
    model = ClassConstrainedEmbedding().fit(X, some)
    hidden = some == -1
    accuracy = np.mean(model.transduction_[hidden] == y[hidden])
    peer = LabelSpreading(kernel="knn", n_neighbors=10, max_iter=200).fit(X, some)
    assert accuracy > np.mean(peer.transduction_[hidden] == y[hidden])
    assert accuracy > 0.88
    assert model.score(new, truth) > accuracy - 0.03
    assert (model.coordinates_, model.n_neighbors_, model.epsilon_) == ("flow", 10, None)
    assert model.stopping_reason_ == "converged"


def test_labels_left_out_are_those_of_a_fit_without_them(digits):
    X, y, _, _, _ = digits
    some = few(y, 3)
    model = ClassConstrainedEmbedding(random_state=0).fit(X, some)
    error, standard_error = model.leave_labels_out(3)
    wrong = 0
    folds = hide_in_folds(some, 3, np.random.RandomState(0))
    for fold in range(3):
        without = ClassConstrainedEmbedding().fit(X, np.where(folds == fold, -1, some))
        hidden = folds == fold
        wrong += np.count_nonzero(without.transduction_[hidden] != y[hidden])
    assert error == pytest.approx(wrong / 30)
    share = (wrong + 1) / 32
    assert standard_error == pytest.approx(np.sqrt(share * (1 - share) / 30))
    with pytest.raises(ValueError, match="no class has two labelled rows"):
        ClassConstrainedEmbedding().fit(X, few(y, 1)).leave_labels_out()


def test_all_labels_are_as_good_as_nearest_neighbours(digits):
    X, y, _, new, truth = digits
    model = ClassConstrainedEmbedding(random_state=0).fit(X, y)
    nearest = KNeighborsClassifier(3).fit(X, y).score(new, truth)
    assert model.score(new, truth) >= nearest - 0.005
    assert model.n_neighbors_ in (3, 5, 10)
    errors = model.history_["error"][:-1]
    assert model.n_neighbors_ == model.history_["n_neighbors"][np.argmin(errors)]


def test_rare_classes_do_not_take_the_others_rows():
    """Labels drawn at random from classes of 95 and 5 % that overlap."""
    random = np.random.RandomState(0)
    y = (random.uniform(size=2000) < 0.05).astype(int)
    X = random.normal(size=(2000, 2)) + 1.0 * y[:, None]
    some = np.where(np.arange(2000) < 400, y, -1)
    model = ClassConstrainedEmbedding(random_state=0).fit(X, some)
    assert np.mean(model.transduction_[400:] == y[400:]) > 0.92


@pytest.mark.parametrize("prior", ["uniform", "array"])
def test_known_shares_are_predicted(digits, prior):
    X, y, some, _, _ = digits
    shares = np.bincount(y) / len(y)
    plain = ClassConstrainedEmbedding().fit(X, some)
    given = "uniform" if prior == "uniform" else shares
    model = ClassConstrainedEmbedding(class_prior=given).fit(X, some)
    found = np.bincount(model.predict(X), minlength=10) / len(y)
    before = np.bincount(plain.predict(X), minlength=10) / len(y)
    if prior == "uniform":
        assert np.abs(found - 0.1).max() < np.abs(before - 0.1).max()
    else:
        assert np.abs(found - shares).max() <= 0.003 < np.abs(before - shares).max()
    gain = np.mean(model.transduction_ == y) - np.mean(plain.transduction_ == y)
    assert gain > -0.02


def test_rows_without_a_path_get_the_shares():
    X, y = load_iris(return_X_y=True)
    far = np.vstack([X, X[:8] + 1000.0])
    some = np.append(few(y, 2), np.full(8, -1))
    prior = [0.5, 0.3, 0.2]
    with pytest.warns(UserWarning, match=r"no labelled row: row\(s\) .*150, 151"):
        model = ClassConstrainedEmbedding(class_prior=prior, n_neighbors=5).fit(far, some)
    assert set(range(150, 158)) <= set(model.stranded_rows_)
    memberships = model.classifier_.memberships(model.transform(far[150:]))
    np.testing.assert_allclose(memberships, np.tile(prior, (8, 1)), atol=1e-9)


# --- coordinates -----------------------------------------------------------------------------


def test_every_class_has_its_place(digits):
    """The class nodes are the corners of a simplex, and rows lie nearest to their own corner."""
    X, y, some, _, _ = digits
    model = ClassConstrainedEmbedding().fit(X, some)
    corners = model.class_centers_
    np.testing.assert_allclose(corners @ corners.T, np.eye(10) - 0.1, atol=1e-12)
    variances = model.embedding_.var(axis=0)
    assert (np.diff(variances) <= 1e-12).all()
    distances = ((model.embedding_[:, None, :] - corners) ** 2).sum(axis=2)
    assert np.mean(distances.argmin(axis=1) == y) > 0.88


def test_fewer_coordinates_are_the_first_of_all(digits):
    X, _, some, new, truth = digits
    full = ClassConstrainedEmbedding().fit(X, some)
    flat = ClassConstrainedEmbedding(3).fit(X, some)
    np.testing.assert_allclose(flat.embedding_, full.embedding_[:, :3])
    np.testing.assert_array_equal(flat.transduction_, full.transduction_)
    # it decides by the labels that the flow gave, in three dimensions
    assert flat.score(new, truth) > 0.5
    with pytest.raises(ValueError, match="needs all 9 flow coordinates, but n_components=3"):
        ClassConstrainedEmbedding(3, classifier="flow").fit(X, some)


@pytest.mark.filterwarnings("ignore:The neighbour graph with its class nodes falls into")
def test_more_coordinates_than_flows_are_spectral():
    X, y = load_iris(return_X_y=True)
    model = ClassConstrainedEmbedding(3, random_state=0).fit(X, few(y, 5))
    assert (model.coordinates_, model.n_neighbors_) == ("spectral", 12)
    assert model.eigenvalues_.shape == (3,)


def test_a_batch_of_new_rows(digits):
    X, _, some, new, truth = digits
    model = ClassConstrainedEmbedding().fit(X, some)
    Z = model.transform_batch(new)
    assert np.mean(model.classify_latent(Z) == truth) > 0.88


# --- probabilities and suggestions -----------------------------------------------------------


def test_probabilities_are_those_of_the_decisions(digits):
    X, _, some, new, truth = digits
    model = ClassConstrainedEmbedding().fit(X, some)
    p = model.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(new))
    assert log_loss(truth, p) < 0.45  # 2.3 without a clue
    sure = p.max(axis=1) > 0.9
    right = model.predict(new) == truth
    assert right[sure].mean() > max(right[~sure].mean(), 0.95)


def test_hidden_labels_set_the_temperature(digits):
    X, y, _, new, truth = digits
    some = few(y, 30)
    model = ClassConstrainedEmbedding(random_state=0).fit(X, some)
    assert model.classifier_.temperature != TEMPERATURE
    confidence = model.predict_proba(new).max(axis=1).mean()
    assert confidence == pytest.approx(np.mean(model.predict(new) == truth), abs=0.06)


def test_suggested_labels_help_more_than_random_ones(digits):
    X, y, _, _, _ = digits
    asked, drawn = [], []
    for seed in range(6):
        random = np.random.RandomState(seed)
        some = np.full(len(y), -1)
        for k in range(10):
            row = random.choice(np.flatnonzero(y == k))
            some[row] = k
        rows = ClassConstrainedEmbedding(random_state=seed).fit(X, some).suggest(10)
        assert len(set(rows)) == 10
        assert (some[rows] == -1).all()
        others = [random.choice(np.flatnonzero(some == -1), 10, replace=False) for _ in range(3)]
        for labelled, scores in ((rows, asked), *((chosen, drawn) for chosen in others)):
            more = some.copy()
            more[labelled] = y[labelled]
            scores.append(np.mean(ClassConstrainedEmbedding().fit(X, more).transduction_ == y))
    assert np.mean(asked) > np.mean(drawn) + 0.01


def test_more_suggestions_than_unlabelled_rows():
    X, y = load_iris(return_X_y=True)
    model = ClassConstrainedEmbedding().fit(X, np.where(np.arange(150) % 50 < 49, y, -1))
    with pytest.raises(ValueError, match=r"n_rows=4 is out of range.*at most 3 \(3 unlabelled"):
        model.suggest(4)


def test_suggest_needs_rows_without_a_label():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="All training rows are labelled"):
        ClassConstrainedEmbedding().fit(X, y).suggest()


# --- the graph and its solver ----------------------------------------------------------------


def test_weights_with_a_width_for_each_pair_of_rows():
    # squared distances: rows 0 and 1 reach as far as 2 and 3; row 2 has copies only
    graph = sparse.csr_array(
        ([1.0, 4.0, 1.0, 9.0, 0.0], ([0, 0, 1, 1, 2], [1, 2, 0, 2, 3])), shape=(4, 4)
    )
    # the smaller reach counts as a quarter of the larger at least
    expected = [4 * 1 / 6, 4 * 4 / (2 * 0.5), 4 * 1 / 6, 4 * 9 / (3 * 0.75), 0.0]
    np.testing.assert_allclose(scaled_distances(graph, None), expected)
    W = symmetric_weights(graph, None).toarray()
    assert W[0, 1] == W[1, 0] == pytest.approx(np.exp(-2 / 3))
    assert W[0, 2] == W[2, 0] == pytest.approx(np.exp(-16.0) / 2)


def test_the_nearest_of_a_graph():
    D = np.array([[0.0, 3.0, 1.0, 2.0], [5.0, 0.0, 4.0, 6.0]])
    graph = sparse.csr_array(D)
    np.testing.assert_array_equal(
        nearest_of(graph, 2).toarray(), [[0.0, 0.0, 1.0, 2.0], [5.0, 0.0, 4.0, 0.0]]
    )


def test_given_distances_follow_the_flow_too(digits):
    X, _, some, new, _ = digits
    transformer = KNeighborsTransformer(n_neighbors=10, mode="distance").fit(X)
    given = ClassConstrainedEmbedding(affinity="precomputed").fit(transformer.transform(X), some)
    direct = ClassConstrainedEmbedding().fit(X, some)
    assert np.mean(given.transduction_ == direct.transduction_) > 0.99
    assert given.predict(transformer.transform(new)).shape == (len(new),)


def test_no_convergence_of_the_flow_is_said(digits):
    X, _, some, _, _ = digits
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 steps"):
        model = ClassConstrainedEmbedding(max_iter=2).fit(X, some)
    assert model.stopping_reason_ == "max_iter"


def test_copies_only():
    X = np.repeat(np.array([[0.0], [1.0]]), 30, axis=0)
    some = np.full(60, -1)
    some[[0, 59]] = [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ClassConstrainedEmbedding().fit(X, some)
    np.testing.assert_array_equal(model.transduction_, np.repeat([0, 1], 30))


def test_dask_rows_are_predicted_lazily(digits):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    X, _, some, new, truth = digits
    model = ClassConstrainedEmbedding().fit(X, some)
    rows = da.from_array(np.array(new), chunks=(100, -1))
    with dask.config.set(scheduler="threads"):  # whatever clients other tests have closed
        for name in ("transform", "predict", "predict_proba", "decision_function"):
            answer = getattr(model, name)(rows)
            assert isinstance(answer, da.Array)
            np.testing.assert_allclose(answer.compute(), getattr(model, name)(new))
        assert model.score(rows, truth) == model.score(new, truth)


def test_a_picture_has_a_place_for_each_class(digits):
    X, _, some, new, truth = digits
    model = ClassConstrainedEmbedding(2).fit(X, some)
    distance = np.linalg.norm(model.class_centers_[:, None] - model.class_centers_, axis=2)
    side = 2 * np.sqrt(2 / 10) * np.sin(np.pi / 10)  # of a regular decagon
    np.testing.assert_allclose(np.sort(distance, axis=1)[:, 1:3], side)
    full = ClassConstrainedEmbedding().fit(X, some)
    np.testing.assert_array_equal(model.transduction_, full.transduction_)
    assert model.score(new, truth) > full.score(new, truth) - 0.03


def test_classes_that_share_rows_are_side_by_side_in_a_picture():
    v = 0.8 * np.eye(5) + 0.2 * np.roll(np.eye(5), 1, axis=1)  # each shares with the next
    shuffled = v[:, [0, 2, 4, 1, 3]]
    axes = circle_axes(shuffled)
    np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(axes.sum(axis=0), 0.0, atol=1e-12)
    around = np.argsort(np.arctan2(axes[:, 1], axes[:, 0]) % (2 * np.pi))
    steps = np.diff(np.array([0, 2, 4, 1, 3])[around]) % 5
    assert set(steps) <= {1} or set(steps) <= {4}


@pytest.mark.parametrize(("beta", "weight"), [(1e12, 1.0), (1e30, 1.0), ("auto", 1e-12)])
def test_ties_that_are_next_to_nothing_leave_poisson_learning(beta, weight):
    """Memberships that differ in their last digits would say nothing."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 6.0 * np.eye(3, 2)[y]
    model = ClassConstrainedEmbedding(beta=beta).fit(X, y, sample_weight=np.full(60, weight))
    poisson = ClassConstrainedEmbedding(beta=1e5).fit(X, y)
    assert poisson.score(X, y) > 0.9
    np.testing.assert_array_equal(model.predict(X), poisson.predict(X))
