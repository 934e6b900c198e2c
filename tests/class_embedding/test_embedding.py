import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.neighbors import kneighbors_graph

from supred.class_embedding.components import (
    describe_parts,
    number_by_size,
    part_contrasts,
    part_vectors,
)
from supred.class_embedding.embedding import (
    class_graph,
    class_ties,
    embed_with_classes,
    fix_signs,
)


def neighbor_weights(X, k=6):
    W = kneighbors_graph(X, k, mode="distance").toarray()
    W = np.where(W > 0, np.exp(-(W**2)), 0.0)
    return sparse.csr_array(np.maximum(W, W.T))


@pytest.fixture
def sheet():
    random = np.random.RandomState(0)
    X = random.uniform(size=(120, 2)) * [3, 1]
    codes = (X[:, 0] > 1).astype(int) + (X[:, 0] > 2)
    codes[random.uniform(size=120) < 0.5] = -1
    return neighbor_weights(X), codes


def test_class_graph_by_hand():
    W = sparse.csr_array(np.array([[0.0, 2, 0], [2, 0, 3], [0, 3, 0]]))
    C = class_ties(np.array([1, -1, 0]), np.array([1.0, 9.0, 0.5]), 2)
    expected = [
        [1, 0, 0, 0, 0.5],
        [0, 1, 1, 0, 0],
        [0, 1, 0, 1, 0],
        [0, 0, 1, 0, 1.5],
        [0.5, 0, 0, 1.5, 0],
    ]
    np.testing.assert_allclose(class_graph(W, C, 0.5).toarray(), expected)


@pytest.mark.parametrize("b", [0.1, 1.0, 7.0])
def test_two_rows_of_two_classes(b):
    """Class, row, row, class in a line, the rows joined with weight b.

    The degrees are 2, 1 + b, 1 + b, 2, and the first vector is antisymmetric, (-u, -v, v, u):

        2 lambda u = u + v,    (1 + b) lambda v = u - b v,

    so v = (2 lambda - 1) u and 2 (1 + b) lambda^2 + (b - 1) lambda - (1 + b) = 0.
    """
    W = sparse.csr_array(np.array([[0.0, b], [b, 0.0]]))
    C = class_ties(np.array([0, 1]), np.ones(2), 2)
    found = embed_with_classes(W, C, 1.0, 1)
    root = ((1 - b) + np.sqrt((1 - b) ** 2 + 8 * (1 + b) ** 2)) / (4 * (1 + b))
    assert found.eigenvalues[0] == pytest.approx(root)
    u = found.centers[1, 0]
    np.testing.assert_allclose(found.centers[:, 0], [-u, u])
    np.testing.assert_allclose(found.rows[:, 0], [-(2 * root - 1) * u, (2 * root - 1) * u])
    # degree-weighted mean square one
    assert 4 * u**2 + 2 * (1 + b) * found.rows[1, 0] ** 2 == pytest.approx(4 + 2 * (1 + b))


@pytest.mark.parametrize("method", ["dense", "lanczos", "shift-invert"])
def test_the_embedding_minimises_the_objective(sheet, method):
    """Against the generalised eigenproblem L y = mu D y, solved densely."""
    W, codes = sheet
    beta = 0.3
    found = embed_with_classes(W, class_ties(codes, np.ones(120), 3), beta, 3, method=method)
    C = np.array([(codes == k).astype(float) for k in range(3)])
    full = np.block([[np.eye(3), C], [C.T, beta * W.toarray()]])
    D = np.diag(full.sum(axis=1))
    smallest, vectors = linalg.eigh(D - full, D)
    np.testing.assert_allclose(found.eigenvalues, 1 - smallest[1:4], atol=1e-10)
    Y = np.vstack([found.centers, found.rows])
    np.testing.assert_allclose(Y.T @ D @ Y, np.trace(D) * np.eye(3), atol=1e-7)
    np.testing.assert_allclose(D.diagonal() @ Y, 0.0, atol=1e-8)
    reference = vectors[:, 1:4] * np.sqrt(np.trace(D))
    np.testing.assert_allclose(np.abs(Y), np.abs(reference), atol=1e-7)


def test_weights_are_those_of_the_ties(sheet):
    W, codes = sheet
    weights = np.linspace(0.0, 3.0, 120)
    C = class_ties(codes, weights, 3).toarray()
    np.testing.assert_array_equal(C.sum(axis=0), np.where(codes >= 0, weights, 0.0))
    assert not np.allclose(
        embed_with_classes(W, class_ties(codes, weights, 3), 1.0, 2).rows,
        embed_with_classes(W, class_ties(codes, np.ones(120), 3), 1.0, 2).rows,
        rtol=1e-2,
    )


def test_signs_follow_the_last_class():
    centers = np.array([[1.0, -1.0, 0.0], [0.2, 1.0, 0.0], [-1.0, -0.1, 0.0]])
    rows = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -0.9], [0.0, 0.0, 0.1]])
    signs = fix_signs(centers, rows)
    np.testing.assert_array_equal(signs, [-1, 1, -1])
    for flip in ([-1, -1, -1], [-1, 1, 1]):
        np.testing.assert_array_equal(fix_signs(centers * flip, rows * flip), signs * flip)


def three_parts():
    """Three clouds that do not touch, of 40, 20 and 30 rows; the classes of each its own."""
    random = np.random.RandomState(1)
    centers = np.repeat([0.0, 100.0, 200.0], [40, 20, 30])
    X = random.normal(size=(90, 2)) + centers[:, None]
    W = sparse.csr_array(
        sparse.block_diag([neighbor_weights(X[a:b]) for a, b in ((0, 40), (40, 60), (60, 90))])
    )
    return W, np.repeat([2, 0, 1], [40, 20, 30])


def test_parts_are_told_apart_in_the_order_of_their_classes():
    W, part = three_parts()
    C = class_ties(part, np.ones(90), 3)
    found = embed_with_classes(W, C, 0.1, 1)
    assert found.eigenvalues.tolist() == [1.0]
    assert found.method == "parts"
    places = [np.unique(found.rows[part == k].round(12)) for k in range(3)]
    assert [len(place) for place in places] == [1, 1, 1]
    assert places[0] < places[1] < places[2]
    np.testing.assert_array_equal(found.parts, np.repeat([0, 2, 1], [40, 20, 30]))
    assert not found.stranded.any()


def test_parts_are_the_limit_of_vanishing_ties():
    """Joining the class nodes 0-1-2 by ever weaker edges leads to the same coordinates."""
    W, part = three_parts()
    C = class_ties(part, np.ones(90), 3)
    found = embed_with_classes(W, C, 0.1, 4)
    full = class_graph(W, C, 0.1).toarray()
    for a, b in ((0, 1), (1, 2)):
        full[a, b] = full[b, a] = 1e-7
    D = np.diag(full.sum(axis=1))
    _, vectors = linalg.eigh(D - full, D)
    reference = vectors[:, 1:5] * np.sqrt(np.trace(D))
    Y = np.vstack([found.centers, found.rows])
    np.testing.assert_allclose(np.abs(Y), np.abs(reference), atol=1e-4)
    np.testing.assert_array_equal(found.eigenvalues[:2], 1.0)
    assert found.eigenvalues[2] < 1 - 1e-3


def test_classes_join_parts():
    """Both classes have rows in all three clouds, so there is one part."""
    W, _ = three_parts()
    found = embed_with_classes(W, class_ties(np.arange(90) % 2, np.ones(90), 2), 0.1, 2)
    assert found.parts.max() == 0
    assert found.eigenvalues[0] < 1 - 1e-6


def test_rows_without_a_path_to_a_label_are_stranded():
    W, part = three_parts()
    codes = np.where(part == 2, -1, np.arange(90) % 2)
    found = embed_with_classes(W, class_ties(codes, np.ones(90), 2), 0.1, 2)
    np.testing.assert_array_equal(found.stranded, part == 2)
    assert np.isnan(found.rows[found.stranded]).all()
    # the others are embedded as if the stranded rows were not there
    rest = np.flatnonzero(part != 2)
    alone = embed_with_classes(
        W[rest][:, rest], class_ties(codes[rest], np.ones(len(rest)), 2), 0.1, 2
    )
    np.testing.assert_allclose(found.rows[rest], alone.rows, atol=1e-9)


def test_a_class_without_ties_has_no_place():
    W, _ = three_parts()
    found = embed_with_classes(W, class_ties(np.arange(90) % 2, np.ones(90), 3), 0.1, 2)
    assert np.isnan(found.centers[2]).all()
    assert np.isfinite(found.centers[:2]).all()
    assert np.isfinite(found.rows).all()


def test_too_many_components():
    W = sparse.csr_array((10, 10))
    codes = np.array([0, 1] + [-1] * 8)
    with pytest.raises(ValueError, match="n_components=5 is too large: only 4 rows and class"):
        embed_with_classes(W, class_ties(codes, np.ones(10), 2), 0.1, 5)


def test_part_vectors_and_contrasts_are_orthonormal():
    parts = np.array([4, 4, 1, 1, 1, 7, 7, 7, 7])
    degrees = np.linspace(0.5, 4.0, 9)
    vectors = part_vectors(parts, degrees)
    np.testing.assert_array_equal(vectors[:, 0] > 0, parts == 4)
    contrasts = part_contrasts(vectors, degrees)
    np.testing.assert_allclose(contrasts.T @ contrasts, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.sqrt(degrees) @ contrasts, 0.0, atol=1e-12)
    assert part_contrasts(vectors[:, :1], degrees).shape == (9, 0)


def test_a_message_names_rows():
    parts = number_by_size(np.array([5, 5, 5, 2, 2, 9]))
    np.testing.assert_array_equal(parts, [0, 0, 0, 1, 1, 2])
    stranded = parts == 2
    text = describe_parts(parts, stranded, None, "somewhere")
    assert "3 parts" in text
    assert "largest part: row(s) 3, 4," in text
    assert "labelled row: row(s) 5; placed somewhere" in text
    assert "row(s) sue" in describe_parts(parts, stranded, ["a", "b", "c", "d", "e", "sue"], "")
    long = describe_parts(np.repeat([0, 1], [40, 30]), np.repeat([False, True], [40, 30]), None, "")
    assert "49 and 20 more" in long
