"""Kernels to landmarks and the basis they span, against plain formulas."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from supred.numerics.kernel_basis import (
    AUTO_ALL,
    AUTO_LANDMARKS,
    LandmarkKernel,
    distinct_rows,
    eigenbasis,
    kernel_at_landmarks,
    pivoted_basis,
)

X = np.random.default_rng(0).standard_normal((40, 3))
X.setflags(write=False)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rbf", lambda A, B: rbf_kernel(A, B, gamma=0.3)),
        ("poly", lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.3, coef0=0.5)),
        ("linear", lambda A, B: A @ B.T),
        (
            lambda A, B: (
                2.0 * np.asarray((A @ B.T + 0).todense()) if sparse.issparse(A) else 2.0 * A @ B.T
            ),
            lambda A, B: 2.0 * A @ B.T,
        ),
    ],
)
def test_kernels_are_what_they_say(name, expected, make):
    kernel = LandmarkKernel.at(make(X[:10]), name, gamma=0.3, degree=2, coef0=0.5)
    assert kernel.n_landmarks == 10
    np.testing.assert_allclose(kernel(make(X)), expected(X, X[:10]), atol=1e-12)
    np.testing.assert_allclose(kernel.gram(None), expected(X[:10], X[:10]), atol=1e-12)


def test_gaussians_far_from_zero_keep_their_digits():
    near = LandmarkKernel.at(X[:10], "rbf", gamma=1.0)(X)
    far = LandmarkKernel.at(X[:10] + 1e6, "rbf", gamma=1.0)(X + 1e6)
    np.testing.assert_allclose(far, near, atol=1e-8)


def test_features_have_the_inner_products_of_the_kernel():
    kernel = kernel_at_landmarks(X, np.ones(40), "rbf", gamma=0.3)
    Phi = kernel(X) @ eigenbasis(kernel.gram(X))
    np.testing.assert_allclose(Phi @ Phi.T, rbf_kernel(X, gamma=0.3), atol=1e-8)


def test_basis_is_orthonormal_and_drops_what_is_rounding():
    G = X @ X.T  # rank three
    basis = eigenbasis(G)
    assert basis.shape == (40, 3)
    np.testing.assert_allclose(basis.T @ G @ basis, np.eye(3), atol=1e-12)
    with pytest.raises(ValueError, match="negative eigenvalues"):
        eigenbasis(-np.eye(3))
    with pytest.raises(ValueError, match="the kernel matrix is zero"):
        eigenbasis(np.zeros((3, 3)))


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 30.0])
def test_a_basis_by_pivots_spans_what_eigenvectors_do(gamma):
    G = rbf_kernel(np.vstack([X, X[:3]]), gamma=gamma)
    basis = pivoted_basis(G)
    np.testing.assert_allclose(basis.T @ G @ basis, np.eye(basis.shape[1]), atol=1e-4)
    Phi, expected = G @ basis, G @ eigenbasis(G)
    np.testing.assert_allclose(Phi @ Phi.T, G, atol=1e-8)
    np.testing.assert_allclose(Phi @ Phi.T, expected @ expected.T, atol=1e-8)
    kernel = LandmarkKernel.at(X, "rbf", gamma=gamma)
    np.testing.assert_array_equal(kernel.basis(X), pivoted_basis(kernel.gram(X)))


def test_distinct_rows_are_the_same_dense_and_sparse():
    rows = np.vstack([X[:5], X[2:4], np.zeros((2, 3)), X[:1]])
    expected = [0, 1, 2, 3, 4, 7]
    first, copies = distinct_rows(rows)
    assert first.tolist() == expected
    np.testing.assert_array_equal(rows[first][copies], rows)
    padded = sparse.csr_array(rows)
    padded.data[0] = 0.0  # a zero that is stored
    dense = padded.toarray()
    for found, wanted in zip(distinct_rows(padded), distinct_rows(dense), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_number_of_landmarks():
    ones = np.ones(40)
    assert kernel_at_landmarks(X, ones, "rbf", n_landmarks=7).n_landmarks == 7
    assert kernel_at_landmarks(X, ones, "rbf", n_landmarks=99).n_landmarks == 40
    assert kernel_at_landmarks(X, np.arange(40) % 2, "rbf").n_landmarks == 20
    many = np.random.default_rng(0).standard_normal((AUTO_ALL + 1, 2))
    assert kernel_at_landmarks(many, np.ones(len(many)), "rbf").n_landmarks == AUTO_LANDMARKS
    everything = kernel_at_landmarks(many, np.ones(len(many)), "rbf", n_landmarks=None)
    assert everything.n_landmarks == len(many)


def test_copies_change_neither_landmarks_nor_width():
    times = np.random.default_rng(1).integers(0, 4, 40)
    weighted = kernel_at_landmarks(X, times, "rbf", n_landmarks=9, seed=3)
    copied = kernel_at_landmarks(
        np.repeat(X, times, axis=0), np.ones(times.sum()), "rbf", n_landmarks=9, seed=3
    )
    np.testing.assert_allclose(weighted(X), copied(X), atol=1e-12)
