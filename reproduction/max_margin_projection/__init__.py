"""Experiments of the max-margin projection."""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

# Two projections this close are the same one.
SAME = 1e-4
Task = tuple[np.ndarray, np.ndarray]  # rows and signs


def draw_digits(y: np.ndarray, digits: tuple[int, ...], count: int, seed: int) -> np.ndarray:
    """Return the indices of `count` rows of each digit."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.choice(np.flatnonzero(y == digit), count, replace=False) for digit in digits]
    )


@dataclass(frozen=True)
class Alternated:
    """What the printed alternation did.

    Attributes
    ----------
    components : ndarray of shape (d, n_features)
        The last projection A.
    objectives : list of float
        The dual objective (2) after each QP.
    ending : {"converged", "cycle", "max_iter"}
    """

    components: np.ndarray
    objectives: list[float]
    ending: str


def alternate_as_printed(
    tasks: list[Task],
    d: int,
    *,
    seed: int = 0,
    start: str = "random",
    C: float = 1.0,
    max_iter: int = 50,
) -> Alternated:
    """Run Linear-MMDR as printed: a QP over alpha at fixed A, then an eigenproblem for A.

    C_w - C_b = sum_k v_k v_k^T with v_k = sum_i alpha_i y_i x_i has rank K at most; where d is
    larger the remaining eigenvalues are zero, and their eigenvectors are drawn at random. The text
    names no start: a random orthonormal A, or ("svm") the alpha of the SVMs on all features.
    """
    rng = np.random.default_rng(seed)
    n_features = tasks[0][0].shape[1]
    components = np.linalg.qr(rng.normal(size=(n_features, d)))[0].T
    if start == "svm":
        components = np.eye(n_features)
    seen: list[np.ndarray] = []
    objectives: list[float] = []
    for _ in range(max_iter):
        directions, objective = [], 0.0
        for rows, signs in tasks:
            svm = SVC(kernel="linear", C=C, tol=1e-6).fit(rows @ components.T, signs)
            signed = svm.dual_coef_[0]
            directions.append(signed @ rows[svm.support_])
            objective += np.abs(signed).sum() - 0.5 * float(
                np.sum(np.square(components @ directions[-1]))
            )
        objectives.append(objective)
        seen = [*seen[-3:], used_space(components, directions)]
        components = _leading(np.array(directions).T, d, rng)
        now = used_space(components, directions)
        if _angle(now, seen[-1]) < SAME:
            return Alternated(components, objectives, "converged")
        if any(_angle(now, before) < SAME for before in seen[:-1]):
            return Alternated(components, objectives, "cycle")
    return Alternated(components, objectives, "max_iter")


def used_space(components: np.ndarray, directions: list[np.ndarray]) -> np.ndarray:
    """Return an orthonormal basis of what A keeps of the v_k: what the objective depends on."""
    kept = components.T @ (components @ np.array(directions).T)
    left, sizes, _ = np.linalg.svd(kept, full_matrices=False)
    return left[:, sizes > 1e-9 * max(sizes[0], 1e-300)]


def _leading(V: np.ndarray, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return d leading eigenvectors of V V^T, at random beyond its rank."""
    left, sizes, _ = np.linalg.svd(V, full_matrices=False)
    left = left[:, sizes > 1e-9 * sizes[0]][:, :d]
    if left.shape[1] < d:
        more = rng.normal(size=(len(V), d - left.shape[1]))
        more -= left @ (left.T @ more)
        left = np.hstack([left, np.linalg.qr(more)[0]])
    return left.T


def _angle(first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest sine between two spaces; 1 where their sizes differ."""
    if first.shape != second.shape:
        return 1.0
    return float(np.linalg.norm(second - first @ (first.T @ second), 2))
