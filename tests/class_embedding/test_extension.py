import numpy as np
import pytest
from scipy import sparse

from supred.class_embedding.extension import extend_together


@pytest.fixture
def problem():
    random = np.random.RandomState(0)
    W_uu = np.triu(random.uniform(size=(30, 30)) * (random.uniform(size=(30, 30)) < 0.2), 1)
    W_ut = random.uniform(size=(30, 12)) * (random.uniform(size=(30, 12)) < 0.1)
    W_ut[0, 0] = 0.5
    return sparse.csr_array(W_uu + W_uu.T), sparse.csr_array(W_ut), random.normal(size=(12, 3))


def test_a_batch_solves_the_linear_system(problem):
    W_uu, W_ut, Z = problem
    found = extend_together(W_uu, W_ut, Z)
    D = np.diag(W_uu.toarray().sum(axis=1) + W_ut.toarray().sum(axis=1))
    expected = np.linalg.solve(D - W_uu.toarray(), W_ut @ Z)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_batch_of_one_is_a_single_row(problem):
    _, W_ut, Z = problem
    row = W_ut[[0]]
    found = extend_together(sparse.csr_array((1, 1)), row, Z)
    np.testing.assert_allclose(found, (row / row.sum()) @ Z)


def test_a_line_between_two_rows_is_straight():
    """On a path with equal weights the harmonic function is linear."""
    path = np.diag(np.ones(8), 1)
    ends = np.zeros((9, 2))
    ends[0, 0] = ends[8, 1] = 1.0
    found = extend_together(
        sparse.csr_array(path + path.T), sparse.csr_array(ends), np.array([[0.0], [10.0]])
    )
    np.testing.assert_allclose(found.ravel(), np.arange(1, 10), atol=1e-9)


def test_given_coordinates_are_kept(problem):
    W_uu, W_ut, Z = problem
    given = np.full((30, 3), np.nan)
    given[4] = [50.0, -50.0, 0.0]
    found = extend_together(W_uu, W_ut, Z, given)
    np.testing.assert_array_equal(found[4], given[4])
    beside = W_uu[[4]].indices[0]
    weights = np.concatenate([W_uu[[beside]].toarray(), W_ut[[beside]].toarray()], axis=1).ravel()
    mean = weights @ np.vstack([found, Z]) / weights.sum()
    np.testing.assert_allclose(found[beside], mean, atol=1e-8)


def test_rows_without_a_path_are_told():
    W_uu = sparse.csr_array(np.array([[0.0, 0, 0], [0, 0, 1], [0, 1, 0]]))
    found = extend_together(W_uu, sparse.csr_array([[2.0], [0], [0]]), np.array([[3.0]]))
    assert found[0, 0] == pytest.approx(3.0)
    assert np.isnan(found[1:]).all()
