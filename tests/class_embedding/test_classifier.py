import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.pipeline import make_pipeline

from supred import ClassConstrainedEmbedding
from supred.class_embedding.graph import heat_weights, symmetrise
from supred.class_embedding.neighbors import NeighborIndex
from supred.datasets import make_classes_on_swiss_roll
from supred.export import load_model, save_model
from tests.class_embedding.rolls import roll, spectral

# --- what it is for -------------------------------------------------------------------------


def test_labels_spread_over_the_roll():
    X, y, some = roll(1000, 200)
    model = spectral(2, classifier="linear").fit(X, some)
    error = np.mean(model.transduction_[200:] != y[200:])
    assert error <= 0.09
    # without the neighbour graph's shape, the classes are no lines apart
    assert np.mean(LogisticRegression().fit(X[:200], y[:200]).predict(X) != y) > 0.3


def test_one_label_in_a_hundred():
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    X, y = X[order], y[order]
    known = np.concatenate([np.flatnonzero(y == c)[:2] for c in range(10)])  # 1.1 %
    some = np.full(len(y), -1)
    some[known] = y[known]
    model = spectral(classifier="center").fit(X, some)
    hidden = some == -1
    error = np.mean(model.transduction_[hidden] != y[hidden])
    nearest = KNeighborsClassifier(1).fit(X[known], y[known])
    assert error < 0.75 * np.mean(nearest.predict(X[hidden]) != y[hidden])
    np.testing.assert_array_equal(model.transduction_[known], y[known])


def test_without_labels_to_speak_of_it_is_spectral_embedding():
    """With beta going up the embedding approaches scikit-learn's, up to scale."""
    X, _, some = roll(400, 40)
    graph = NeighborIndex.of(X, 12).among_rows()
    distances = []
    for beta in (0.01, 1.0, 1e2, 1e4, 1e6):
        model = spectral(3, beta=beta).fit(X, some)
        W = symmetrise(heat_weights(graph, model.epsilon_))
        plain = SpectralEmbedding(3, affinity="precomputed", random_state=0).fit(W.toarray())
        first, second = model.embedding_, plain.embedding_
        cosines = np.sum(first * second, axis=0) / (
            np.linalg.norm(first, axis=0) * np.linalg.norm(second, axis=0)
        )
        distances.append(1 - np.abs(cosines).min())
    assert distances[0] > 0.1
    assert (np.diff(distances) < 0).all()
    assert distances[-1] < 1e-7


# --- the embedding --------------------------------------------------------------------------


def test_every_eigen_solver_gives_the_same_embedding():
    X, _, some = roll(900, 100)
    models = [
        spectral(4, eigen_solver=solver).fit(X, some)
        for solver in ("dense", "lanczos", "shift-invert")
    ]
    assert [model.eigen_solver_ for model in models] == ["dense", "lanczos", "shift-invert"]
    for model in models[1:]:
        np.testing.assert_allclose(model.eigenvalues_, models[0].eigenvalues_, atol=1e-8)
        np.testing.assert_allclose(model.embedding_, models[0].embedding_, atol=1e-6)
        np.testing.assert_allclose(model.class_centers_, models[0].class_centers_, atol=1e-6)


def test_the_order_of_the_rows_does_not_matter():
    X, _, some = roll(300, 80)
    order = np.random.RandomState(0).permutation(300)
    first = spectral(3).fit(X, some)
    second = spectral(3).fit(X[order], some[order])
    np.testing.assert_allclose(second.embedding_, first.embedding_[order], atol=1e-8)


def test_the_last_class_is_on_the_positive_side():
    X, y, _ = roll(300, 300)
    model = spectral(1).fit(X, y)
    assert model.class_centers_[1, 0] > 0 > model.class_centers_[0, 0]
    swapped = spectral(1).fit(X, 1 - y)
    np.testing.assert_allclose(swapped.embedding_, -model.embedding_, atol=1e-8)


def test_defaults_follow_the_number_of_classes():
    X, y = make_classes_on_swiss_roll(300, n_classes=4, n_bands=4, random_state=0)
    model = spectral().fit(X, y)
    assert model.embedding_.shape == (300, 3)
    assert model.class_centers_.shape == (4, 3)
    assert list(model.get_feature_names_out()) == [
        f"classconstrainedembedding{i}" for i in range(3)
    ]


def test_a_weight_is_the_strength_of_a_tie():
    X, _, some = roll(300, 60)
    weights = np.where(np.arange(300) < 30, 1.0, 0.0)
    weighted = spectral(2).fit(X, some, sample_weight=weights)
    fewer = spectral(2).fit(X, np.where(weights > 0, some, -1))
    np.testing.assert_allclose(weighted.embedding_, fewer.embedding_)
    np.testing.assert_array_equal(weighted.transduction_, fewer.transduction_)
    # the weights of unlabelled rows are not looked at
    odd = np.where(some == -1, 7.0, weights)
    same = spectral(2).fit(X, some, sample_weight=odd)
    np.testing.assert_array_equal(same.embedding_, weighted.embedding_)
    # a stronger tie draws rows nearer to their class node
    strong = spectral(2).fit(X, some, sample_weight=np.full(300, 50.0))
    plain = spectral(2).fit(X, some)

    def distance(model):
        apart = model.embedding_[:60] - model.class_centers_[some[:60]]
        return np.linalg.norm(apart) / np.linalg.norm(model.class_centers_[0])

    assert distance(strong) < distance(plain)


# --- new rows -------------------------------------------------------------------------------


def test_training_rows_are_where_they_were_embedded():
    X, _, some = roll(300, 60)
    model = spectral(2).fit(X, some)
    np.testing.assert_allclose(model.transform(X), model.embedding_)
    np.testing.assert_allclose(model.transform_batch(X), model.embedding_)


def test_new_rows_get_the_decisions_of_embedding_all_anew():
    agree_alone, agree_together = [], []
    for seed in range(6):
        X, y, _ = roll(550, 550, seed)
        some = np.where(np.arange(550) < 500, y, -1)
        anew = spectral(3, beta=1.0).fit(X, some).transduction_[500:]
        model = spectral(3, beta=1.0).fit(X[:500], y[:500])
        agree_alone.append(np.mean(model.predict(X[500:]) == anew))
        together = model.classifier_.predict(model.transform_batch(X[500:]))
        agree_together.append(np.mean(together == anew))
    assert np.mean(agree_alone) >= 0.96
    assert np.mean(agree_together) >= 0.96


def test_a_batch_is_nearer_to_embedding_all_anew():
    X, y, _ = roll(600, 600)
    some = np.where(np.arange(600) < 150, y, -1)
    anew = spectral(2).fit(X, some).embedding_[150:]
    model = spectral(2).fit(X[:150], y[:150])

    def correlation(Z):
        return abs(np.corrcoef(Z[:, 0], anew[:, 0])[0, 1])

    assert correlation(model.transform_batch(X[150:])) > correlation(model.transform(X[150:]))


def test_a_batch_far_from_all_rows_gets_what_transform_gives():
    X, _, some = roll(300, 60)
    model = spectral(2).fit(X, some)
    far = np.vstack([X[:20] + 500.0, X[50:60] + 0.01])
    together = model.transform_batch(far)
    np.testing.assert_allclose(together[:20], model.transform(far)[:20])
    assert np.isfinite(together).all()


def test_the_model_keeps_its_own_rows():
    X, _, some = roll(300, 60)
    X = X.copy()
    model = spectral(2).fit(X, some)
    new = X[:20] + 0.1
    before = model.transform(new)
    X[:] = 0.0
    np.testing.assert_array_equal(model.transform(new), before)


def test_sparse_rows_with_copies():
    # Copies are at equal distance from every other row: a search by another way chooses others.
    rng = np.random.default_rng(610215)
    y = np.arange(50) % 2
    X = rng.normal(size=(50, 4)) + 3.0 * y[:, None]
    X[25:] = X[:25]
    dense, thin = (
        ClassConstrainedEmbedding(n_neighbors=2, random_state=0).fit(rows, y)
        for rows in (X, sparse.csr_matrix(X))
    )
    np.testing.assert_array_equal(dense.predict(X), thin.predict(sparse.csr_matrix(X)))


def test_sparse_batch():
    X, _, some = roll(300, 60)
    X, new = np.where(np.abs(X) > 1, X, 0.0)[:250], np.where(np.abs(X) > 1, X, 0.0)[250:]
    dense = spectral(2).fit(X, some[:250]).transform_batch(new)
    model = spectral(2).fit(sparse.csr_matrix(X), some[:250])
    np.testing.assert_allclose(model.transform_batch(sparse.csr_matrix(new)), dense, atol=1e-6)


# --- a graph that is given ------------------------------------------------------------------


def test_neighbors_through_a_transformer():
    X, _, some = roll(400, 80)
    new = X[:30] + 0.1
    direct = spectral(3).fit(X, some)
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=12, mode="distance"),
        spectral(3, affinity="precomputed"),
    ).fit(X, some)
    given = pipeline[-1]
    np.testing.assert_allclose(given.embedding_, direct.embedding_, atol=1e-8)
    np.testing.assert_allclose(pipeline.transform(X), direct.embedding_, atol=1e-8)
    np.testing.assert_array_equal(pipeline.predict(X), direct.predict(X))
    # the transformer lists one neighbour more than asked for: in training, the row itself
    np.testing.assert_allclose(
        pipeline.transform(new), _mean_of_neighbors(new, X, direct, 13), atol=1e-8
    )
    assert given.model_size_.numbers < direct.model_size_.numbers


def test_a_graph_in_single_precision_with_neighbors_in_any_order():
    """What packages of approximate neighbours give: unsorted, the row itself listed at zero."""
    X, _, some = roll(300, 60)
    graph = KNeighborsTransformer(n_neighbors=12, mode="distance").fit_transform(X)
    order = np.random.default_rng(0).permuted(np.tile(np.arange(13), (300, 1)), axis=1)
    places = (13 * np.arange(300)[:, None] + order).ravel()
    shuffled = sparse.csr_matrix(
        (graph.data[places].astype(np.float32), graph.indices[places], graph.indptr)
    )
    model = spectral(2, affinity="precomputed", eigen_solver="dense")
    expected = model.fit(graph, some).embedding_
    np.testing.assert_allclose(model.fit(shuffled, some).embedding_, expected, atol=1e-3)


def test_a_graph_without_distances_is_pointed_out():
    X, _, some = roll(200, 60)
    graph = KNeighborsTransformer(n_neighbors=12, mode="connectivity").fit_transform(X)
    with pytest.warns(UserWarning, match=r'All distances in X are equal \(1\).*mode="distance"'):
        spectral(2, affinity="precomputed").fit(graph, some)


def _mean_of_neighbors(new, X, model, k):
    D = cdist(new, X, "sqeuclidean")
    result = []
    for row in D:
        near = np.argsort(row)[:k]
        weights = np.exp(-row[near] / model.epsilon_)
        result.append(weights @ model.embedding_[near] / weights.sum())
    return np.array(result)


def test_single_rows_lie_at_the_weighted_mean_of_their_neighbors():
    X, _, some = roll(300, 60)
    model = spectral(2).fit(X, some)
    new = X[:30] + 0.1
    np.testing.assert_allclose(model.transform(new), _mean_of_neighbors(new, X, model, 12))


def test_a_dense_matrix_of_distances():
    X, _, some = roll(300, 60)
    direct = spectral(2).fit(X, some)
    given = spectral(2, affinity="precomputed").fit(cdist(X, X), some)
    np.testing.assert_allclose(given.embedding_, direct.embedding_, atol=1e-8)
    new = X[:30] + 0.1
    np.testing.assert_allclose(given.transform(cdist(new, X)), direct.transform(new), atol=1e-8)
    with pytest.raises(ValueError, match=r"transform_batch needs the distances.*use transform"):
        given.transform_batch(cdist(new, X))


def test_a_new_row_without_neighbors_is_told():
    X, _, some = roll(300, 60)
    D = KNeighborsTransformer(n_neighbors=12, mode="distance").fit_transform(X)
    model = spectral(2, affinity="precomputed").fit(D, some)
    empty = sparse.csr_matrix((1, 300))
    with pytest.warns(UserWarning, match=r"1 row\(s\) of X have no neighbour.*row 1;.*origin"):
        Z = model.transform(sparse.vstack([D[:1], empty], format="csr"))
    np.testing.assert_array_equal(Z[1], 0.0)
    np.testing.assert_allclose(Z[0], model.embedding_[0])


# --- classifiers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classifier", "has_scores", "has_probabilities"),
    [
        ("knn", False, True),
        ("linear", True, False),
        ("center", False, True),
        (LogisticRegression(), True, True),
    ],
)
def test_classifiers(classifier, has_scores, has_probabilities):
    X, y, some = roll(600, 300)
    model = spectral(2, classifier=classifier)
    for state in (model, model.fit(X, some)):
        assert hasattr(state, "decision_function") == has_scores
        assert hasattr(state, "score_latent") == has_scores
        assert hasattr(state, "predict_proba") == has_probabilities
    new, truth, _ = roll(200, 0, seed=1)
    labels = model.predict(new)
    np.testing.assert_array_equal(labels, model.classifier_.predict(model.transform(new)))
    assert np.mean(labels == truth) > 0.9
    if has_scores:
        np.testing.assert_array_equal(labels, (model.decision_function(new) > 0).astype(int))
    if has_probabilities:
        np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.transduction_[:300], y[:300])
    np.testing.assert_array_equal(
        model.transduction_[300:], model.classifier_.predict(model.embedding_[300:])
    )


def test_the_center_classifier_takes_the_nearest_class_node():
    X, _, some = roll(300, 60)
    model = spectral(2, classifier="center").fit(X, some)
    nearest = cdist(model.embedding_, model.class_centers_).argmin(axis=1)
    np.testing.assert_array_equal(model.classifier_.predict(model.embedding_), nearest)


def test_string_labels_and_none():
    X, y, some = roll(300, 60)
    names = np.array(["in", "out"], dtype=object)[y]
    names[some == -1] = None
    model = spectral(2).fit(X, names)
    numbered = spectral(2).fit(X, some)
    assert model.classes_.tolist() == ["in", "out"]
    np.testing.assert_array_equal(model.transduction_ == "out", numbered.transduction_ == 1)


def test_score_counts_labelled_rows_only():
    X, y, some = roll(300, 60)
    model = spectral(2).fit(X, some)
    partly = np.where(np.arange(300) % 3 == 0, y, -1)
    rows = partly != -1
    right = model.predict(X)[rows] == y[rows]
    assert model.score(X, partly) == pytest.approx(right.mean())
    weights = np.arange(300.0)
    assert model.score(X, partly, weights) == pytest.approx(
        np.average(right, weights=weights[rows])
    )
    with_none = [None if label == -1 else int(label) for label in partly]
    assert model.score(X, with_none) == model.score(X, partly)
    with pytest.raises(ValueError, match="y has no labelled row"):
        model.score(X, np.full(300, -1))
    with pytest.raises(ValueError, match="sample_weight has 5 values for 300 rows"):
        model.score(X, partly, weights[:5])


def test_cross_validation_with_unlabelled_rows():
    X, _, some = roll(400, 200)
    order = np.random.RandomState(0).permutation(400)
    scores = cross_val_score(spectral(2), X[order], some[order], cv=3)
    assert (scores > 0.8).all()


# --- beta -----------------------------------------------------------------------------------


def test_beta_is_chosen_on_labelled_rows():
    X, y, some = roll(600, 100)
    auto = spectral(2, beta="auto", classifier="linear", random_state=0)
    auto.fit(X, some)
    assert auto.beta_ < 1.0
    tried = auto.history_["beta"].tolist()
    assert tried == [0.01, 0.03, 0.1, 0.3, 1.0, auto.beta_]
    assert np.isnan(auto.history_["error"]).tolist() == [False] * 5 + [True]
    assert np.isnan(auto.history_["residual"]).tolist() == [True] * 5 + [False]
    assert (auto.history_["seconds"] > 0).all()
    errors = dict(zip(tried[:-1], auto.history_["error"][:-1], strict=True))
    assert errors[auto.beta_] == min(errors.values())
    chosen = spectral(2, beta=auto.beta_, classifier="linear").fit(X, some)
    np.testing.assert_array_equal(auto.embedding_, chosen.embedding_)
    worst = spectral(2, beta=1.0, classifier="linear").fit(X, some)
    hidden = some == -1
    assert np.mean(auto.transduction_[hidden] != y[hidden]) < np.mean(
        worst.transduction_[hidden] != y[hidden]
    )


def test_beta_search_is_repeatable_whatever_n_jobs():
    X, _, some = roll(300, 40)
    first, second = (
        spectral(beta="auto", random_state=3, n_jobs=n_jobs).fit(X, some) for n_jobs in (1, 2)
    )
    assert first.beta_ == second.beta_
    np.testing.assert_array_equal(first.history_["error"], second.history_["error"])


@pytest.mark.parametrize("classifier", ["center", LogisticRegression()])
def test_beta_search_with_other_classifiers(classifier):
    X, _, some = roll(200, 40)
    model = spectral(beta="auto", classifier=classifier, random_state=3)
    errors = model.fit(X, some).history_["error"][:-1].tolist()
    assert len(set(errors)) > 1
    assert min(errors) < 0.4


def test_one_label_a_class_leaves_beta_at_its_default():
    X, y, _ = roll(300, 0)
    some = np.full(300, -1)
    some[[np.argmax(y == 0), np.argmax(y == 1)]] = 0, 1
    model = spectral(beta="auto").fit(X, some)
    assert model.beta_ == 0.1
    assert model.history_["beta"].tolist() == [0.1]
    assert "error" not in model.history_


def test_parameters_set_after_a_fit_change_no_answer_nor_what_is_saved(tmp_path):
    X, _, some = roll(200, 40)
    for chosen in ({"classifier": "linear", "alpha": 2.0}, {"classifier": "knn"}):
        model = spectral(random_state=0, **chosen).fit(X, some)
        answers = model.decision_function(X) if "alpha" in chosen else model.predict_proba(X)
        hidden, suggested = model.leave_labels_out(), model.suggest(3)
        model.set_params(classifier="center", alpha=1e-3, coordinates="flow", random_state=1)
        save_model(model, tmp_path / "model.supred", overwrite=True)
        for same in (model, load_model(tmp_path / "model.supred")):
            found = same.decision_function(X) if "alpha" in chosen else same.predict_proba(X)
            np.testing.assert_array_equal(found, answers)
            assert same.leave_labels_out() == hidden
            np.testing.assert_array_equal(same.suggest(3), suggested)
