"""Mappings that are linear in their parameters, against plain ridge regression."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eig_banded
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import Ridge

from supred.common.threads import cores
from supred.low_dim_svm import visit
from supred.low_dim_svm.mappings import basis
from supred.low_dim_svm.mappings.band_form import BandForm
from supred.low_dim_svm.mappings.f_step import NormalEquations
from supred.low_dim_svm.mappings.linear import LinearMapping
from supred.low_dim_svm.mappings.rbf import RBFMapping
from supred.low_dim_svm.visit import BlockRows, Coordinates, moves_of


def regress(mapping, Z, weights, mu):
    """Regress to Z from wherever the mapping is, or from a constant."""
    center = weights @ Z / weights.sum()
    if not hasattr(mapping, "W"):
        mapping.begin(center)
    rows = mapping.rows.attach(BlockRows, np.zeros(len(Z), dtype=int), weights, Z)
    blocks, moves = rows.visit(moves_from, mapping.projection(), mapping.multiply)
    return mapping.regress(Coordinates(blocks, moves), mu)


def moves_from(phi, rows, project, multiply):
    return rows, moves_of(phi, rows, project(phi), multiply)


def project_training(mapping):
    return mapping.rows.map(mapping.projection())


RNG = np.random.RandomState(0)
X = RNG.normal(size=(120, 5)) + 3.0
Z = RNG.normal(size=(120, 2))
WEIGHTS = RNG.uniform(0.2, 3.0, size=120)


def ridge(phi, Z, weights, shift):
    """Ridge regression with an intercept, by scikit-learn."""
    return Ridge(alpha=shift).fit(phi, Z, sample_weight=weights).predict(phi)


@pytest.mark.parametrize("n_features", [5, 300])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_linear_mapping_is_ridge_regression(n_features, as_sparse):
    rows = np.random.RandomState(1).normal(size=(120, n_features)) + 3.0
    mapping = LinearMapping(alpha=0.7)
    mapping.prepare(sparse.csr_matrix(rows) if as_sparse else rows, WEIGHTS)
    regress(mapping, Z, WEIGHTS, 2.0)
    expected = ridge(rows, Z, WEIGHTS, 0.7)
    np.testing.assert_allclose(project_training(mapping), expected, atol=1e-8)
    np.testing.assert_allclose(mapping.project(rows), expected, atol=1e-8)
    np.testing.assert_allclose(mapping.project(sparse.csr_matrix(rows)), expected, atol=1e-8)


@pytest.mark.parametrize("cache_size", [0.0, 1000.0])
@pytest.mark.parametrize("least_pivot", [np.inf, 1e-15], ids=["eigenvectors", "band"])
def test_rbf_mapping_is_ridge_regression_on_gaussians(cache_size, least_pivot, monkeypatch):
    monkeypatch.setattr("supred.low_dim_svm.mappings.band_form.LEAST_PIVOT", least_pivot)
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 17)
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)
    mapping = RBFMapping(X[:30], 0.05, 0.02, cache_size=cache_size)
    mapping.prepare(X, WEIGHTS)
    phi = RBF(length_scale=np.sqrt(1 / 0.1))(X, X[:30])
    for mu in (2.0, 3.0):
        left = regress(mapping, Z, WEIGHTS, mu)
        expected = ridge(phi, Z, WEIGHTS, 0.04 / mu)
        np.testing.assert_allclose(project_training(mapping), expected, atol=1e-7)
        np.testing.assert_allclose(mapping.project(X), expected, atol=1e-7)
        np.testing.assert_allclose(left, WEIGHTS @ np.square(Z - expected).sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(mapping.penalty(), 0.02 * np.sum(mapping.W**2))


def test_the_cache_is_bounded_and_changes_nothing(monkeypatch):
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 10)
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)
    monkeypatch.setattr(basis, "MEGABYTE", 1)
    results = []
    for cache_size, blocks in ((0.0, 0), (2.5 * 10 * 30 * 8, 2), (1e9, 12)):
        mapping = RBFMapping(X[:30], 0.05, 0.02, cache_size=cache_size)
        mapping.prepare(X, WEIGHTS)
        assert len(mapping.rows.kept) == blocks
        regress(mapping, Z, WEIGHTS, 2.0)
        results.append(project_training(mapping))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_a_snapshot_brings_the_parameters_back():
    mapping = RBFMapping(X[:30], 0.05, 0.02)
    mapping.prepare(X, WEIGHTS)
    regress(mapping, Z, WEIGHTS, 2.0)
    before, kept = mapping.project(X), mapping.snapshot()
    regress(mapping, -Z, WEIGHTS, 2.0)
    assert not np.allclose(mapping.project(X), before)
    mapping.restore(kept)
    np.testing.assert_array_equal(mapping.project(X), before)


def test_forgetting_leaves_what_projection_needs():
    mapping = RBFMapping(X[:30], 0.05, 0.02)
    mapping.prepare(X, WEIGHTS)
    regress(mapping, Z, WEIGHTS, 2.0)
    before = mapping.project(X)
    mapping.forget_training()
    np.testing.assert_array_equal(mapping.project(X), before)
    held = [value for value in vars(mapping).values() if isinstance(value, np.ndarray)]
    assert all(len(array) != len(X) for array in held)


@pytest.mark.parametrize("least_pivot", [np.inf, 1e-15], ids=["eigenvectors", "pivots"])
@pytest.mark.parametrize("reduced", [False, True], ids=["factors", "band"])
@pytest.mark.parametrize("size", [1, 2, 3, 8, 60])
def test_normal_equations_of_any_size(size, reduced, least_pivot, monkeypatch):
    for module in ("band_form", "f_step"):
        monkeypatch.setattr(f"supred.low_dim_svm.mappings.{module}.LEAST_PIVOT", least_pivot)
    phi = np.random.RandomState(0).normal(size=(70, size))
    gram, right = phi.T @ phi, np.random.RandomState(1).normal(size=(size, 3))
    kept = gram.copy(), right.copy()
    equations = NormalEquations(gram)
    if reduced:
        equations.reduce()
    for shift in (10.0, 1e-3, 1e-3, 10.0):
        expected = np.linalg.solve(gram + shift * np.eye(size), right)
        np.testing.assert_allclose(equations.solve(right, shift), expected, rtol=1e-9)
    assert (equations._eigen is None) == (least_pivot < 1)
    np.testing.assert_array_equal(gram, kept[0])
    np.testing.assert_array_equal(right, kept[1])


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("size", [7, 8, 9, 10, 16, 17, 37])
def test_a_band_form_is_the_matrix(size, n_jobs, monkeypatch):
    """B has the eigenvalues of G, and nothing outside of its band is left out."""
    monkeypatch.setattr("supred.low_dim_svm.mappings.band_form.WIDTH", 8)
    monkeypatch.setattr("supred.low_dim_svm.mappings.band_form.BLOCK", 5)
    A = np.random.RandomState(0).normal(size=(size, 50))
    matrix, right = A @ A.T, A[:, :4]
    matrix[:, 3] = matrix[3] = 0.0  # a column in which there is nothing to reflect
    with cores(n_jobs):
        form = BandForm.of(matrix)
    assert len(form.band) == min(8, size - 1) + 1
    values = eig_banded(form.band, lower=True, eigvals_only=True)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-12 * values[-1])
    for shift in (0.5, 20.0):
        expected = np.linalg.solve(matrix + shift * np.eye(size), right)
        np.testing.assert_allclose(form.solve(right, shift), expected, rtol=1e-9, atol=1e-12)
    assert form.solve(right, 0.0) is None
    assert BandForm.of(-np.eye(size)).solve(right, 0.5) is None


@pytest.mark.parametrize("reduced", [False, True], ids=["factors", "band"])
def test_a_matrix_that_is_not_finite_is_refused(reduced):
    gram = np.eye(3)
    gram[1, 1] = np.nan
    equations = NormalEquations(gram)
    if reduced:
        equations.reduce()
    with pytest.raises(ValueError, match="infs or NaNs"):
        equations.solve(np.ones((3, 1)), 1.0)


@pytest.mark.parametrize("reduced", [False, True], ids=["factors", "band"])
def test_a_singular_matrix_is_solved_all_the_same(reduced):
    phi = np.random.RandomState(0).normal(size=(50, 3))
    phi = np.column_stack([phi, phi, np.zeros(50)])
    gram, right = phi.T @ phi, phi.T @ Z[:50]
    equations = NormalEquations(gram)
    if reduced:
        equations.reduce()
    W = equations.solve(right, 1e-30)
    np.testing.assert_allclose(
        phi @ W, phi @ np.linalg.lstsq(phi, Z[:50], rcond=None)[0], atol=1e-6
    )


@pytest.mark.parametrize("cache_size", [0.0, 1000.0])
def test_a_regression_after_few_rows_moved_is_the_same(cache_size, monkeypatch):
    """What the rows that stayed add is known; the shortcut must not be felt."""
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 100)
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)
    rng = np.random.RandomState(0)
    X, weights = rng.normal(size=(700, 3)), rng.uniform(0.5, 2.0, size=700)
    Z = rng.normal(size=(700, 2))

    def regress_twice(most_copied):
        monkeypatch.setattr(visit, "MOST_COPIED", most_copied)
        mapping = RBFMapping(X[:40], 0.5, alpha=1e-2, cache_size=cache_size)
        mapping.prepare(X, weights)
        regress(mapping, Z, weights, 2.0)
        moved = project_training(mapping).copy()
        moved[5:60] += 0.3
        moved[690] -= 1.0
        regress(mapping, moved, weights, 3.0)
        return mapping.W, mapping.w0, moved

    whole = regress_twice(-1.0)
    some = regress_twice(0.4)
    np.testing.assert_allclose(some[0], whole[0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(some[1], whole[1], rtol=1e-8)
    mapping = RBFMapping(X[:40], 0.5, alpha=1e-2)
    mapping.prepare(X, weights)
    regress(mapping, some[2], weights, 3.0)  # from a constant
    np.testing.assert_allclose(some[0], mapping.W, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("size", [1e-300, 1.0, 1e40, 1.7e308])
def test_products_in_single_precision_of_numbers_of_any_size(make, size):
    rng = np.random.default_rng(0)
    phi = rng.random((30, 4)).astype(np.float32)
    target = rng.uniform(-1, 1, size=(30, 2)) / 30
    found = basis.products(make(phi), target * size)
    np.testing.assert_allclose(found / size, phi.T @ target, rtol=1e-4, atol=1e-6)
