"""Certificates, each rebuilt from dense matrices."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import pairwise_distances

from supred import CategorySpace
from supred.category_space.ascent import AscentOptions, random_start, solve_squared
from supred.category_space.certificate import (
    Certificate,
    certify,
    rapcsak_eigenvalue,
    second_order_eigenvalue,
)
from supred.category_space.problem import build_problem
from supred.numerics.class_scatter import ClassRows, MatrixScatters, RowScatters, members_of


def test_a_cluster_of_largest_eigenvalues_is_found(monkeypatch):
    # The second-order operator has many equal eigenvalues, which Lanczos tells apart slowly.
    rng = np.random.default_rng(780865)
    y = np.arange(53) % 2
    X = rng.normal(size=(53, 5)) + 3.0 * y[:, None]
    model = CategorySpace(certify=True, random_state=0)
    found = model.fit(X, y).certificate_.second_order
    monkeypatch.setattr("supred.numerics.class_scatter.DENSE_SIZE", 1000)
    assert found == pytest.approx(model.fit(X, y).certificate_.second_order, rel=1e-7)


def problem_of(load, origin="global", whiten=False):
    X, y = load(return_X_y=True)
    X = X / np.maximum(X.std(axis=0), 1e-3)
    options = {"n_dims": X.shape[1], "origin": origin, "alpha": 1e-4 if whiten else None}
    return build_problem(
        X, lambda block: block, members_of(y, y.max() + 1), np.ones(len(y)), **options
    ).scatters


def dense_rapcsak(R, W):
    """Return the largest eigenvalue of blockdiag(R_k) - M (x) I_D, formed."""
    M = W.T @ np.column_stack([R[k] @ W[:, k] for k in range(len(R))])
    M = 0.5 * (M + M.T)
    return np.linalg.eigvalsh(block_diag(*R) - np.kron(M, np.eye(W.shape[0])))[-1]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_matrix_free_rapcsak_is_the_dense_one(load):
    scatters = problem_of(load)
    K, D = scatters.n_classes, scatters.n_dims
    for W in (solve_squared(scatters).axes, random_start(D, K, 0)):
        dense = dense_rapcsak(scatters.matrices, W)
        scale = np.linalg.norm(scatters.matrices[0], 2)
        assert abs(rapcsak_eigenvalue(scatters, W) - dense) <= 1e-8 * scale


def test_rapcsak_by_lanczos_on_rows():
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal((12, 120)) * (k + 1) for k in range(3)]
    scatters = RowScatters(tuple(ClassRows(r, np.ones(12), np.zeros(120)) for r in rows))
    W = solve_squared(scatters, AscentOptions(n_init=1)).axes
    dense = dense_rapcsak([r.T @ r for r in rows], W)
    assert rapcsak_eigenvalue(scatters, W) == pytest.approx(dense, rel=1e-8)


def test_rapcsak_holds_where_each_axis_is_a_leading_eigenvector():
    R = np.array([np.diag([5.0, 1, 1, 0]), np.diag([1.0, 4, 0, 1]), np.diag([0.0, 1, 3, 1])])
    certificate = certify(MatrixScatters(R), np.eye(4)[:, :3])
    assert certificate.kind == "rapcsak"
    assert certificate.holds
    assert abs(certificate.rapcsak) < 1e-12
    assert certificate.bound == pytest.approx(6.0)
    assert "holds" in str(certificate)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_dual_certificate_rebuilt(load, whiten):
    """Both conditions of the certificate, from the R_k and the multipliers alone."""
    scatters = problem_of(load, whiten=whiten)
    solution = solve_squared(scatters, AscentOptions(tol=1e-10))
    certificate = certify(scatters, solution.axes)
    assert certificate.kind == "dual"
    assert certificate.objective == pytest.approx(solution.objective)
    R, W, nu = scatters.matrices, solution.axes, certificate.multipliers
    M = W.T @ np.column_stack([R[k] @ W[:, k] for k in range(len(R))])
    N = 0.5 * (M + M.T) - np.diag(nu)
    slack = 1e-6 * solution.objective
    assert np.linalg.eigvalsh(N)[0] >= -slack
    for k in range(len(R)):
        A = W @ N @ W.T + nu[k] * np.eye(len(W)) - R[k]
        assert np.linalg.eigvalsh(A)[0] >= -slack
        np.testing.assert_allclose(A @ W[:, k], 0, atol=slack)


@pytest.mark.parametrize("origin", ["global", "class"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_no_axes_lie_above_the_bound(load, origin):
    scatters = problem_of(load, origin)
    certificate = certify(scatters, solve_squared(scatters).axes)
    best = max(
        solve_squared(scatters, AscentOptions(n_init=0)).objective,
        *(solve_squared(scatters, AscentOptions(n_init=1, seed=s)).objective for s in range(10)),
    )
    assert best <= certificate.bound * (1 + 1e-9)
    assert certificate.gap == pytest.approx(certificate.bound / certificate.objective - 1)


def test_where_no_multipliers_exist_the_bound_is_told():
    # On the digits the linear program proves that no dual certificate exists.
    scatters = problem_of(load_digits)
    certificate = certify(scatters, solve_squared(scatters).axes)
    assert certificate.kind == "none"
    assert 1e-6 < certificate.gap < 0.01
    leading = sum(np.linalg.eigvalsh(R)[-1] for R in scatters.matrices)
    assert certificate.bound < 0.5 * leading


def test_a_worse_stationary_point_is_not_certified():
    # Diagonal scatters: any assignment of coordinates to classes is stationary, one is best.
    R = np.array([np.diag([4.0, 3.0, 0.0]), np.diag([3.9, 1.0, 0.5])])
    best, worse = np.eye(3)[:, [1, 0]], np.eye(3)[:, [0, 1]]
    assert certify(MatrixScatters(R), best).kind == "dual"
    certificate = certify(MatrixScatters(R), worse)
    assert certificate.kind == "none"
    assert not certificate.holds
    assert certificate.bound >= 0.5 * (3.0 + 3.9) * (1 - 1e-9)
    assert certificate.gap > 0.3
    assert "Not certified" in str(certificate)
    assert "%" in str(certificate)


def test_lanczos_and_dense_certificates_agree(monkeypatch):
    scatters = problem_of(load_wine)
    W = solve_squared(scatters, AscentOptions(tol=1e-10)).axes
    dense = certify(scatters, W)
    for module in ("category_space.certificate", "numerics.class_scatter"):
        monkeypatch.setattr(f"supred.{module}.DENSE_SIZE", 5)
    lanczos = certify(scatters, W)
    assert lanczos.kind == dense.kind == "dual"
    assert lanczos.bound == pytest.approx(dense.bound, rel=1e-6)
    assert lanczos.rapcsak == pytest.approx(dense.rapcsak, rel=1e-8)


def test_it_prints_well():
    text = str(Certificate("dual", 2.0, 2.0 + 1e-9, 5e-10, 1.5, np.ones(2), 1e-6, 3, -1.0))
    assert text.splitlines() == [
        "The global optimum, by the dual certificate.",
        "  objective           2",
        "  bound               2 (5.0e-10 of it above)",
        "  Rapcsak's condition does not hold (largest eigenvalue 1.5)",
    ]


@pytest.mark.parametrize("unit", [1e-5, 1e5])
def test_the_units_of_the_rows_do_not_matter(unit):
    X, y = load_wine(return_X_y=True)
    X = X - X.mean(axis=0)
    certificates = []
    for rows in (X, X * unit):
        classes = tuple(ClassRows(rows[y == k], np.ones(sum(y == k)), 0 * X[0]) for k in range(3))
        scatters = RowScatters(classes)
        certificates.append(certify(scatters, solve_squared(scatters).axes))
    plain, scaled = certificates
    assert plain.kind == scaled.kind == "dual"
    assert scaled.bound == pytest.approx(plain.bound * unit**2, rel=2e-6)
    assert scaled.objective == pytest.approx(plain.objective * unit**2, rel=1e-9)
    assert scaled.rapcsak == pytest.approx(plain.rapcsak * unit**2, rel=1e-5)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_second_order_condition_is_the_dense_one_on_the_tangent_space(load):
    scatters = problem_of(load)
    K, D = scatters.n_classes, scatters.n_dims
    for W in (solve_squared(scatters, AscentOptions(tol=1e-10)).axes, random_start(D, K, 0)):
        M = W.T @ scatters.apply(W)
        M = 0.5 * (M + M.T)
        operator = block_diag(*scatters.matrices) - np.kron(M, np.eye(D))
        # U (D x K) is flattened column by column; an orthonormal basis of the tangent space.
        units = np.eye(D * K).reshape(D * K, K, D).transpose(0, 2, 1)
        images = [U - 0.5 * W @ (W.T @ U + U.T @ W) for U in units]
        flat = np.array([U.T.ravel() for U in images])
        values, vectors = np.linalg.eigh(flat)
        basis = vectors[:, values > 0.5]
        dense = np.linalg.eigvalsh(basis.T @ operator @ basis)[-1]
        scale = np.linalg.norm(scatters.matrices[0], 2)
        assert abs(second_order_eigenvalue(scatters, W) - dense) <= 1e-8 * scale


def test_second_order_condition_holds_where_the_ascent_ends():
    scatters = problem_of(load_wine)
    solution = solve_squared(scatters, AscentOptions(tol=1e-10))
    assert second_order_eigenvalue(scatters, solution.axes) <= 1e-8 * solution.objective
    assert second_order_eigenvalue(scatters, random_start(13, 3, 0)) > 0


def test_rapcsaks_condition_holds_in_the_features_of_a_narrow_kernel():
    """About the class's origin, as the paper has it: each class has directions of its own."""
    X, y = load_iris(return_X_y=True)
    X = np.unique(np.column_stack([X, y]), axis=0)
    X, y = X[:, :-1], X[:, -1]
    width = 0.02 * np.median(pairwise_distances(X))
    model = CategorySpace(
        kernel="rbf", gamma=0.5 / width**2, origin="class", whiten=False, certify=True
    ).fit(X, y)
    assert model.certificate_.kind == "rapcsak"
    assert "best orthonormal axes" in model.certificate_.summary()


def test_summaries_say_what_is_certain():
    found = Certificate("none", 9.9, 10.0, 0.0101, 1.0, None, 1e-6, 7, 0.3)
    assert "A small change of the axes would be better" in found.summary()
    assert "1.0 % higher" in found.summary()
    proven = Certificate("dual", 10.0, 10.0, 1e-9, 1.0, np.ones(2), 1e-6, 7, -0.3)
    assert proven.summary().startswith("These are the best orthonormal axes there are")


@pytest.mark.parametrize("seed", range(3))
def test_certificate_of_several_labels_against_all_angles(seed):
    """Two labels in two dimensions: all orthonormal axes are one angle (and a reflection)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 2))
    Y = (X @ rng.standard_normal((2, 2)) + 0.5 * rng.standard_normal((60, 2)) > 0).astype(int)
    model = CategorySpace(kernel="linear", whiten=False, random_state=0).fit(X, Y)
    certificate = model.certificate(X, Y)
    centred = X - X.mean(axis=0)
    R = [(centred * column[:, None]).T @ centred for column in Y.T]
    angles = np.linspace(0.0, np.pi, 20_001)
    first = np.stack([np.cos(angles), np.sin(angles)])
    second = np.stack([-np.sin(angles), np.cos(angles)])
    values = [np.einsum("in,ij,jn->n", w, r, w) for w, r in zip((first, second), R, strict=True)]
    best = 0.5 * float(np.sum(values, axis=0).max())
    assert certificate.holds
    assert certificate.objective == pytest.approx(best, rel=1e-6)
    assert certificate.bound >= best * (1 - 1e-6)


def test_labels_of_too_few_rows():
    X, y = load_wine(return_X_y=True)
    model = CategorySpace(kernel="linear", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.certificate(X, y[:-1])
