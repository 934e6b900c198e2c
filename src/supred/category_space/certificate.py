"""Is a category space the global optimum? Certificates for the squared criterion.

With M = sym(W^T [R_1 w_1, ..., R_K w_K]), a stationary W has [R_k w_k] = W M. Three answers, in
the order in which they are tried:

- Rapcsak's condition: U -> [R_k u_k] - U M has no positive eigenvalue. It holds exactly when
  each w_k is a leading eigenvector of its own R_k, which real data hardly ever allows.
- The dual certificate: multipliers nu with M - diag(nu) and, for every k,
  A_k = W (M - diag(nu)) W^T + nu_k I - R_k positive semidefinite.
- Else a bound: for any Y >= 0, 1/2 (tr Y + sum_k lambda_max(R_k - Y)) is at least the optimum.

The dual certificate is the bound at Y = W (M - diag(nu)) W^T where it meets the objective; so
both are judged by the relative gap between the bound and the objective.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linprog

from supred.numerics.class_scatter import DENSE_SIZE, Scatters, largest_eigenpair, leading_eigenpair
from supred.numerics.eigen import eigh

# Eigenvectors of each constraint that give a cut; more cuts need fewer eigenproblems.
CUTS_PER_CONSTRAINT = 3
# A gap is a part of the objective, or of this if rounding leaves less.
LEAST_OBJECTIVE = 1e-300

Interval = tuple[float | None, float | None]


@dataclass(frozen=True)
class Certificate:
    """What is known about the distance of a category space to the global optimum.

    Attributes
    ----------
    kind : {"rapcsak", "dual", "none"}
        Which certificate of a global optimum holds.
    objective : float
        1/2 sum_k w_k^T R_k w_k.
    bound : float
        No orthonormal axes have an objective above this.
    gap : float
        ``(bound - objective) / objective``.
    rapcsak : float
        Largest eigenvalue of U -> [R_k u_k] - U M; at most zero, up to rounding, where
        Rapcsak's condition holds.
    multipliers : ndarray of shape (n_classes,) or None
        The nu of the bound; None where the bound is that of Rapcsak's condition.
    tol : float
        Relative gap up to which a certificate is said to hold.
    n_iter : int
        Rounds of cutting planes.
    second_order : float
        Largest eigenvalue of the same operator on the tangent space of the orthonormal axes; at
        most zero, up to rounding, at a local optimum.

    Examples
    --------
    >>> from supred.category_space.certificate import Certificate
    >>> certificate = Certificate("none", 9.9, 10.0, 0.0101, 1.0, None, 1e-6, 7, -0.5)
    >>> print(certificate.summary())
    No small change of the axes is better, but whether they are the best of all is not proven. No \
    other orthonormal axes can have a criterion more than 1.0 % higher.
    >>> print(certificate)
    Not certified as the global optimum.
      objective           9.9
      bound               10 (1.0% above)
      Rapcsak's condition does not hold (largest eigenvalue 1)
    """

    kind: str
    objective: float
    bound: float
    gap: float
    rapcsak: float
    multipliers: np.ndarray | None
    tol: float
    n_iter: int
    second_order: float

    def summary(self) -> str:
        """Return in two sentences what is certain, and how far the rest could be."""
        if self.holds:
            how = (
                "each class spreads most along its own axis, so that no choice could be better"
                if self.kind == "rapcsak"
                else "a bound on every other choice of axes was found that they reach"
            )
            return (
                f"These are the best orthonormal axes there are: {how}. The proof leaves open "
                f"{max(self.gap, 0.0):.1e} of the criterion, which is rounding."
            )
        local = self.second_order <= self.tol * abs(self.objective)
        first = (
            "No small change of the axes is better, but whether they are the best of all is not "
            "proven."
            if local
            else "A small change of the axes would be better: the solver has not reached an "
            "optimum; lower tol or raise max_iter."
        )
        return (
            f"{first} No other orthonormal axes can have a criterion more than "
            f"{100 * self.gap:.1f} % higher."
        )

    @property
    def holds(self) -> bool:
        """Whether the axes are a global optimum, up to `tol`."""
        return self.kind != "none"

    def __str__(self) -> str:
        proof = {"rapcsak": "Rapcsak's condition", "dual": "the dual certificate"}.get(self.kind)
        title = "Not certified as the" if proof is None else "The"
        title += " global optimum." if proof is None else f" global optimum, by {proof}."
        above = f"{self.gap:.1%}" if self.gap >= 1e-3 else f"{max(self.gap, 0.0):.1e} of it"
        verdict = "holds" if self.kind == "rapcsak" else "does not hold"
        return (
            f"{title}\n"
            f"  objective           {self.objective:.8g}\n"
            f"  bound               {self.bound:.8g} ({above} above)\n"
            f"  Rapcsak's condition {verdict} (largest eigenvalue {self.rapcsak:.3g})"
        )


@dataclass(frozen=True)
class _Stationary:
    """A point W with what the certificates need of it."""

    scatters: Scatters
    W: np.ndarray  # (D, K)
    M: np.ndarray  # (K, K), sym(W^T [R_k w_k])
    dense: list[np.ndarray] | None  # the R_k where they are small

    @classmethod
    def of(cls, scatters: Scatters, W: np.ndarray) -> "_Stationary":
        M = W.T @ scatters.apply(W)
        dense = None
        if scatters.n_dims <= DENSE_SIZE:
            identity = np.eye(scatters.n_dims)
            dense = [scatters.apply_one(k, identity) for k in range(scatters.n_classes)]
        return cls(scatters, W, 0.5 * (M + M.T), dense)

    def excess(self, k: int, N: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Return the operator R_k - W N W^T."""
        return lambda U: self.scatters.apply_one(k, U) - self.W @ (N @ (self.W.T @ U))


def rapcsak_eigenvalue(scatters: Scatters, W: np.ndarray) -> float:
    """Return the largest eigenvalue of U -> [R_k u_k] - U M, by Lanczos.

    The matrix of this operator, blockdiag(R_k) - M (x) I_D (the paper prints I_K), has K D rows
    and is never formed.

    Parameters
    ----------
    scatters : MatrixScatters or RowScatters
    W : ndarray of shape (n_dims, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.certificate import rapcsak_eigenvalue
    >>> from supred.numerics.class_scatter import MatrixScatters
    >>> R = np.array([np.diag([2.0, 1.0]), np.diag([1.0, 2.0])])
    >>> abs(rapcsak_eigenvalue(MatrixScatters(R), np.eye(2))) < 1e-12
    True
    """
    return _operator_eigenvalue(scatters, W, lambda U: U)


def second_order_eigenvalue(scatters: Scatters, W: np.ndarray) -> float:
    """Return the largest eigenvalue of U -> [R_k u_k] - U M on the tangent space at W.

    The paper's second-order condition (eq. 47): it is at most zero at a local maximum. Tangent
    are the U with W^T U + U^T W = 0, and U - W sym(W^T U) is the nearest of them.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.certificate import second_order_eigenvalue
    >>> from supred.numerics.class_scatter import MatrixScatters
    >>> R = np.array([np.diag([4.0, 1.0]), np.diag([3.0, 1.0])])
    >>> round(second_order_eigenvalue(MatrixScatters(R), np.eye(2)), 8)
    -0.5
    """

    def tangent(U: np.ndarray) -> np.ndarray:
        overlap = W.T @ U
        return U - W @ (0.5 * (overlap + overlap.T))

    return _operator_eigenvalue(scatters, W, tangent)


def _operator_eigenvalue(
    scatters: Scatters, W: np.ndarray, project: Callable[[np.ndarray], np.ndarray]
) -> float:
    """Return the largest eigenvalue of U -> [R_k u_k] - U M on the range of a projection."""
    M = W.T @ scatters.apply(W)
    M = 0.5 * (M + M.T)
    # Lanczos measures its accuracy relative to the eigenvalue, which may be zero: shift it. Off
    # the range of the projection the shifted operator is zero, and never the largest.
    shift = 2.0 * float(np.abs(M).sum(axis=1).max()) or 1.0

    def multiply(flat: np.ndarray) -> np.ndarray:
        if flat.ndim == 2:
            return np.column_stack([multiply(column) for column in flat.T])
        U = project(flat.reshape(W.shape))
        return project(scatters.apply(U) - U @ M + shift * U).ravel()

    return largest_eigenpair(multiply, W.size)[0] - shift


def certify(
    scatters: Scatters, W: np.ndarray, *, tol: float = 1e-6, max_iter: int = 200
) -> Certificate:
    """Look for a certificate that W is a global optimum of the squared criterion.

    Parameters
    ----------
    scatters : MatrixScatters or RowScatters
        The R_k.
    W : ndarray of shape (n_dims, n_classes)
        Orthonormal axes at which the ascent has converged.
    tol : float, default=1e-6
        Relative gap between bound and objective up to which W is said to be optimal.
    max_iter : int, default=200
        Rounds of cutting planes.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.certificate import certify
    >>> from supred.numerics.class_scatter import MatrixScatters
    >>> R = np.array([np.diag([4.0, 1.0]), np.diag([3.0, 1.0])])
    >>> print(certify(MatrixScatters(R), np.eye(2)))
    The global optimum, by the dual certificate.
      objective           2.5
      bound               2.5 (0.0e+00 of it above)
      Rapcsak's condition does not hold (largest eigenvalue 2)
    """
    if scatters.n_dims < scatters.n_classes:
        raise ValueError(
            f"{scatters.n_classes} classes in {scatters.n_dims} dimensions cannot have orthonormal "
            "axes, and no certificate is known for others; use kernel='rbf' or more features."
        )
    # The linear programs have absolute tolerances: the units of the rows must not matter.
    unit = float(np.sum(W * scatters.apply(W))) / scatters.n_classes or 1.0
    found = _certify_scaled(scatters.divided_by(unit), W, tol=tol, max_iter=max_iter)
    return replace(
        found,
        objective=found.objective * unit,
        bound=found.bound * unit,
        rapcsak=found.rapcsak * unit,
        second_order=found.second_order * unit,
        multipliers=None if found.multipliers is None else found.multipliers * unit,
    )


def _certify_scaled(scatters: Scatters, W: np.ndarray, *, tol: float, max_iter: int) -> Certificate:
    point = _Stationary.of(scatters, W)
    objective = 0.5 * float(np.trace(point.M))
    least = max(objective, LEAST_OBJECTIVE)
    rapcsak = rapcsak_eigenvalue(scatters, W)
    second = second_order_eigenvalue(scatters, W)
    leading = sum(leading_eigenpair(scatters, k)[0] for k in range(scatters.n_classes))
    free = 0.5 * leading  # the bound at Y = 0: each axis on its own
    if free - objective <= tol * objective:
        gap = (free - objective) / least
        return Certificate("rapcsak", objective, free, gap, rapcsak, None, tol, 0, second)
    bound, multipliers, n_iter = dual_bound(point, tol=tol, max_iter=max_iter)
    if free < bound:
        bound, multipliers = free, np.diag(point.M).copy()
    gap = (bound - objective) / least
    kind = "dual" if gap <= tol else "none"
    return Certificate(kind, objective, bound, gap, rapcsak, multipliers, tol, n_iter, second)


def bound_at(point: _Stationary, nu: np.ndarray) -> float:
    """Return 1/2 (tr Y + sum_k lambda_max(R_k - Y)), Y the part >= 0 of W (M - diag(nu)) W^T."""
    values, vectors = eigh(point.M - np.diag(nu))
    values = np.maximum(values, 0.0)
    N = (vectors * values) @ vectors.T
    largest = sum(largest_eigenpair(point.excess(k, N), len(point.W))[0] for k in range(len(nu)))
    return 0.5 * float(values.sum() + largest)


@dataclass
class _Planes:
    """Planes a . nu <= b + slack above the conditions of the dual certificate."""

    coefficients: list[np.ndarray]  # a, (K,)
    heights: list[float]  # b
    owners: list[int]  # k of the condition A_k >= 0, -1 of M - diag(nu) >= 0

    def touch(self, point: _Stationary, nu: np.ndarray) -> float:
        """Add the planes that touch the least eigenvalues at `nu`; return the least of these."""
        N = point.M - np.diag(nu)
        values, vectors = eigh(N)
        least = float(values[0])
        for v in vectors.T[:CUTS_PER_CONSTRAINT]:
            self._add(v**2, float(v @ point.M @ v), -1)
        for k in range(len(nu)):
            value, vectors = _least_eigenvectors(point, k, nu, N)
            least = min(least, value)
            for v in vectors.T:
                p = point.W.T @ v
                slope = p**2
                slope[k] -= v @ v
                self._add(slope, float(p @ point.M @ p - v @ point.scatters.apply_one(k, v)), k)
        return least

    def _add(self, slope: np.ndarray, height: float, owner: int) -> None:
        self.coefficients.append(slope)
        self.heights.append(height)
        self.owners.append(owner)

    def solve(self, slack: np.ndarray, cost: np.ndarray, box: list[Interval]) -> np.ndarray | None:
        """Return the nu and slacks of least cost under all planes, or None if that fails."""
        cost = np.append(np.zeros(len(self.coefficients[0])), cost)
        A = np.hstack([np.array(self.coefficients), slack])
        program = linprog(cost, A_ub=A, b_ub=np.array(self.heights), bounds=box)
        return program.x if program.success else None


def dual_bound(point: _Stationary, *, tol: float, max_iter: int) -> tuple[float, np.ndarray, int]:
    """Look for the nu of the dual certificate, or else of the least bound, by cutting planes.

    First the least eigenvalue of M - diag(nu) and of all A_k is raised: it is a concave function
    of nu, and each eigenvector v gives a plane above it, since v^T A_k(nu) v is linear in nu. The
    next nu maximises the least of the planes, a linear program in K + 1 variables. Where no
    nu makes it zero there is no certificate, and the bound itself, 1/2 (tr M + sum_k e_k) with
    e_k = max(0, -lambda_min(A_k)), is lowered in the same way.

    Returns
    -------
    bound : float
        The least bound met on the way.
    nu : ndarray of shape (n_classes,)
        Where it was met.
    n_iter : int
    """
    K = point.scatters.n_classes
    scale = float(np.trace(point.M)) / K
    objective = 0.5 * scale * K
    # nu_k <= M_kk is necessary; nu_k >= 0 is so whenever D > K, and else costs nothing.
    box: list[Interval] = [(-scale * K, float(m)) for m in np.diag(point.M)]
    planes = _Planes([], [], [])
    nu = 0.5 * np.diag(point.M)
    best, best_nu, highest, n_iter, raising = np.inf, nu, -np.inf, 0, True
    for n_iter in range(1, max_iter + 1):  # noqa: B007 - returned after the loop
        highest = max(highest, planes.touch(point, nu))
        bound = bound_at(point, nu)
        if bound < best:
            best, best_nu = bound, nu
        if best - objective <= 0.5 * tol * objective:
            break
        if raising:
            below = np.ones((len(planes.heights), 1))
            found = planes.solve(below, np.array([-1.0]), [*box, (None, scale)])
            if found is not None:
                nu = found[:K]
                # No nu has a least eigenvalue above that of the planes.
                height = float(found[K])
                raising = height > -1e-6 * scale and height - highest > 1e-9 * scale
        if not raising:
            excess = -1.0 * (np.array(planes.owners)[:, None] == np.arange(K))
            found = planes.solve(excess, np.full(K, 0.5), [*box, *[(0.0, None)] * K])
            if found is not None:
                nu = found[:K]
                # No nu has a bound below that of the planes.
                if best - objective - 0.5 * found[K:].sum() <= 0.01 * (best - objective):
                    break
        if found is None:
            break
    return best, best_nu, n_iter


def _least_eigenvectors(
    point: _Stationary, k: int, nu: np.ndarray, N: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the least eigenvalue and the lowest eigenvectors of A_k off its null vector w_k."""
    w = point.W[:, k]
    away = 10.0 * float(np.trace(point.M)) + abs(float(nu[k]))
    if point.dense is not None:
        matrix = point.W @ N @ point.W.T - point.dense[k] + away * np.outer(w, w)
        matrix[np.diag_indices_from(matrix)] += nu[k]
        count = min(CUTS_PER_CONSTRAINT, len(w) - 1)
        values, vectors = eigh(0.5 * (matrix + matrix.T), subset_by_index=(0, count - 1))
        return float(values[0]), vectors
    excess = point.excess(k, N)
    value, vector = largest_eigenpair(
        lambda U: excess(U) - away * (np.outer(w, w @ U) if U.ndim == 2 else w * (w @ U)), len(w)
    )
    return float(nu[k]) - value, vector[:, None]
