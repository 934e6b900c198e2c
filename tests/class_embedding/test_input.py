import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer

from supred import ClassConstrainedEmbedding
from tests.class_embedding.rolls import roll, spectral

# --- graphs that fall apart -----------------------------------------------------------------


def test_rows_cut_off_are_named_and_placed():
    X, _, some = roll(300, 60)
    far = np.random.RandomState(0).normal(size=(20, 3)) + 300.0
    rows, labels = np.vstack([X, far]), np.append(some, np.full(20, -1))
    with pytest.warns(UserWarning, match=r"2 parts.*no path to a labelled row: row\(s\) 300, 301"):
        model = spectral(2, epsilon=6.0).fit(rows, labels)
    np.testing.assert_array_equal(model.stranded_rows_, np.arange(300, 320))
    np.testing.assert_array_equal(model.parts_, np.repeat([0, 1], [300, 20]))
    nearest = cdist(far, X).argmin(axis=1)
    np.testing.assert_array_equal(model.embedding_[300:], model.embedding_[nearest])
    alone = spectral(2, epsilon=6.0).fit(X, some)
    np.testing.assert_allclose(model.embedding_[:300], alone.embedding_, atol=1e-8)


def test_rows_of_a_frame_are_named_by_its_index():
    pd = pytest.importorskip("pandas")
    X, _, some = roll(300, 60)
    far = np.full((20, 3), 300.0) + np.random.RandomState(0).normal(size=(20, 3))
    frame = pd.DataFrame(np.vstack([X, far]), index=[f"r{i}" for i in range(320)])
    with pytest.warns(UserWarning, match=r"row\(s\) r300, r301.* and 10 more"):
        spectral(2).fit(frame, np.append(some, np.full(20, -1)))


def test_stranded_rows_of_a_given_graph_go_to_the_origin():
    X, _, some = roll(300, 60)
    far = np.random.RandomState(0).normal(size=(20, 3)) + 300.0
    D = KNeighborsTransformer(n_neighbors=12, mode="distance").fit_transform(np.vstack([X, far]))
    with pytest.warns(UserWarning, match="placed at the origin"):
        model = spectral(2, affinity="precomputed").fit(D, np.append(some, np.full(20, -1)))
    np.testing.assert_array_equal(model.embedding_[300:], 0.0)


def test_an_isolated_row():
    X, _, some = roll(300, 60)
    rows = np.vstack([X, [[1e5, 0.0, 0.0]]])
    with pytest.warns(UserWarning, match=r"no path to a labelled row: row\(s\) 300;"):
        model = spectral(2).fit(rows, np.append(some, -1))
    assert np.isfinite(model.embedding_).all()
    # labelled, it hangs on its class node alone
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = spectral(2).fit(rows, np.append(some, 1))
    assert model.stranded_rows_.size == 0
    np.testing.assert_allclose(
        model.embedding_[300] * model.eigenvalues_, model.class_centers_[1], rtol=1e-6
    )


def test_classes_that_do_not_touch_are_told_apart():
    random = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 50)
    X = random.normal(size=(150, 4)) + 100.0 * y[:, None]
    some = np.where(random.uniform(size=150) < 0.2, y, -1)
    with pytest.warns(UserWarning, match=r"3 parts\. Cut off from the largest part: row"):
        model = spectral(1).fit(X, some)
    np.testing.assert_array_equal(model.transduction_, y)
    assert (np.diff(model.class_centers_[:, 0]) > 0).all()
    assert model.eigenvalues_[0] == 1.0


def test_duplicated_rows():
    X, _, some = roll(200, 50)
    rows = np.vstack([X, np.repeat(X[[3, 60]], 40, axis=0)])
    labels = np.append(some, np.full(80, -1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = spectral(2).fit(rows, labels)
    assert np.isfinite(model.embedding_).all()
    # a copy without a label lies where its like do, and the labelled original not far off
    copies = model.embedding_[240:]
    assert np.ptp(copies, axis=0).max() < 0.1 * np.ptp(model.embedding_, axis=0).min()


def test_all_rows_alike():
    y = np.array([0, 1] * 15)
    model = spectral(n_neighbors=4).fit(np.ones((30, 2)), y)
    assert np.isfinite(model.embedding_).all()
    Z = model.transform(np.ones((1, 2)))
    assert (model.embedding_.min(axis=0) <= Z).all()
    assert (model.embedding_.max(axis=0) >= Z).all()


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components=0 is out of range"),
        ({"n_components": 60}, r"n_components=60 is out of range.*at most 59 \(60 rows"),
        ({"n_components": 2, "coordinates": "flow"}, "at most 1 .*2 classes have 1 flow"),
        ({"coordinates": "graph"}, "coordinates='graph' is not known"),
        ({"n_neighbors": "many"}, "n_neighbors='many' is not known"),
        ({"class_prior": "equal"}, "class_prior='equal' is not known"),
        ({"class_prior": [0.2, 0.3, 0.5]}, "give one share for each of the 2 classes"),
        ({"class_prior": [0.2, 0.9]}, "positive shares that sum to 1"),
        ({"class_prior": "uniform", "coordinates": "spectral"}, "cannot be combined with spectral"),
        ({"classifier": "flow", "coordinates": "spectral"}, "cannot be combined with spectral"),
        ({"n_neighbors": 0}, "n_neighbors=0 is out of range"),
        ({"n_neighbors": 60}, "n_neighbors=60 is too large for 60 rows; use at most 59"),
        ({"epsilon": 0.0}, "epsilon=0.0 is out of range"),
        ({"epsilon": "scale"}, "epsilon='scale' is not known; use one of 'auto', 'local'"),
        ({"beta": -1.0}, "beta=-1.0 is out of range"),
        ({"beta": np.inf}, "beta=inf is out of range"),
        ({"beta": "best"}, "beta='best' is not known"),
        ({"affinity": "rbf"}, "affinity='rbf' is not known"),
        ({"affinity": "precomputed"}, r"X must be square.*got shape \(60, 3\)"),
        ({"classifier": "svm"}, "classifier='svm' is not known"),
        ({"classifier": 3}, "classifier=3 is not a classifier"),
        ({"alpha": -1.0}, "alpha=-1.0 is out of range"),
        ({"eigen_solver": "amg"}, "eigen_solver='amg' is not known"),
        ({"tol": -1.0}, "tol=-1.0 is out of range"),
        ({"max_iter": 0}, "max_iter=0 is out of range"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y, _ = roll(60, 60)
    with pytest.raises(ValueError, match=message):
        ClassConstrainedEmbedding(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(60, -1), "y has no labelled row"),
        (np.where(np.arange(60) < 5, 1, -1), "y holds one class only"),
        (np.linspace(0, 1, 60), "Unknown label type"),
        (np.zeros(59, dtype=int), "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels(y, message):
    X, _, _ = roll(60, 60)
    with pytest.raises(ValueError, match=message):
        ClassConstrainedEmbedding().fit(X, y)


def test_weights_that_leave_a_class_without_ties():
    X, y, some = roll(60, 20)
    with pytest.raises(ValueError, match=r"all weights are zero for class\(es\) \[1\]"):
        spectral().fit(X, some, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match="sample_weight has 59 values for 60 rows"):
        spectral().fit(X, some, sample_weight=np.ones(59))


def test_no_convergence_is_said():
    X, _, some = roll(1500, 20)
    model = spectral(10, eigen_solver="lanczos", max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 restarts"):
        model.fit(X, some)
    assert model.stopping_reason_ == "max_iter"


def test_a_class_instead_of_a_classifier():
    X, _, some = roll(60, 20)
    message = r"classifier=KNeighborsClassifier is a class; give an instance, .*Classifier\(\)"
    with pytest.raises(ValueError, match=message):
        spectral(classifier=KNeighborsClassifier).fit(X, some)


def test_similarities_are_not_taken_for_distances():
    X, _, some = roll(300, 60)
    D = cdist(X, X)
    model = ClassConstrainedEmbedding(affinity="precomputed")
    for similarities in (np.exp(-D), D.max() - D):
        with pytest.raises(ValueError, match="X holds no distances"):
            model.fit(similarities, some)
    with pytest.warns(UserWarning, match="the distances in X differ by up to"):
        model.fit(np.triu(D), some)
