"""Kernels as ordinary features: an orthonormal basis of the span of some landmark rows.

With G = V diag(s) V^T the kernel matrix of the landmarks, the row x has the features
phi(x) = k(x, landmarks) V / sqrt(s). Inner products of features of landmarks are the kernel's,
exactly; with all rows as landmarks nothing is lost, with fewer this is the Nystroem method.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, lapack, solve_triangular
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from supred.common.arguments import (
    OutOfRangeError,
    as_numbers,
    check_choice,
    check_integer,
    check_real,
    is_auto,
    largest_magnitude,
)
from supred.common.arrays import cast
from supred.numerics.kernels import GaussianCenters, scale_gamma

KERNELS = ("linear", "rbf", "poly", "precomputed")
# With n_landmarks="auto": all rows up to the first number, else the second number of them.
AUTO_ALL, AUTO_LANDMARKS = 2000, 1000
# Directions with an eigenvalue below this fraction of the largest are rounding.
RANK_TOL = 1e-10
# Squares of values of a kernel, and sums of them, must be finite.
LARGEST_VALUE = 1e140

KernelName = str | Callable[[Any, Any], np.ndarray]


@dataclass(frozen=True)
class LandmarkKernel:
    """The kernel between any rows and fixed landmarks.

    Attributes
    ----------
    name : str or callable
        "linear", "rbf", "poly", "precomputed" or a function of two sets of rows that returns
        the matrix of their kernel.
    landmarks : ndarray, sparse matrix, GaussianCenters or ndarray of int
        The rows, the prepared centres ("rbf", dense) or the columns of the given kernel
        matrix ("precomputed").
    gamma, degree, coef0 : float
        As in scikit-learn: exp(-gamma ||x - l||^2) and (gamma x.l + coef0)^degree.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.kernel_basis import LandmarkKernel
    >>> kernel = LandmarkKernel.at(np.array([[0.0], [1.0]]), "rbf", gamma=1.0)
    >>> kernel(np.array([[1.0]])).round(4)
    array([[0.3679, 1.    ]])
    """

    name: KernelName
    landmarks: Any
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0

    @classmethod
    def at(cls, landmarks: Any, name: KernelName, **parameters: Any) -> "LandmarkKernel":
        """Prepare the landmarks for the kernel called `name`."""
        if name == "rbf" and not sparse.issparse(landmarks):
            landmarks = GaussianCenters.of(np.asarray(landmarks, dtype=np.float64))
        return cls(name, landmarks, **parameters)

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks."""
        if isinstance(self.landmarks, GaussianCenters):
            return len(self.landmarks.centers)
        return int(self.landmarks.shape[0])

    def __call__(self, X: Any) -> np.ndarray:
        """Return the kernel in double precision, shape (n_rows, n_landmarks)."""
        with np.errstate(over="ignore", invalid="ignore"):
            result = self._values(X)
        if not largest_magnitude(result) <= LARGEST_VALUE:  # NaN is not
            raise OutOfRangeError(
                f"kernel: the kernel matrix holds values beyond {LARGEST_VALUE:g} or NaN; bring "
                "the features to a common scale, and with kernel='poly' use a whole number as "
                "degree (a power of a negative number) and a smaller degree or gamma (overflow)."
            )
        return result

    def _values(self, X: Any) -> np.ndarray:
        if self.name == "precomputed":
            columns = X[:, self.landmarks]
            columns = columns.toarray() if sparse.issparse(columns) else columns
            return np.asarray(columns, dtype=np.float64)
        X = cast(X, np.float64)
        if isinstance(self.landmarks, GaussianCenters):
            return self.landmarks.kernel(X, self.gamma)
        if callable(self.name):
            result = as_numbers(
                "kernel: what the callable returned", self.name(X, self.landmarks), "return floats"
            )
            wanted = (X.shape[0], self.n_landmarks)
            if result.shape != wanted:
                raise ValueError(
                    f"kernel: the callable returned shape {result.shape} for {wanted[0]} and "
                    f"{wanted[1]} rows; it must return the matrix of shape {wanted}."
                )
            return result
        if self.name == "rbf":
            result = rbf_kernel(X, self.landmarks, gamma=self.gamma)
        elif self.name == "poly":
            result = polynomial_kernel(X, self.landmarks, self.degree, self.gamma, self.coef0)
        else:
            result = linear_kernel(X, self.landmarks)
        return result.toarray() if sparse.issparse(result) else np.asarray(result)

    def gram(self, X: Any) -> np.ndarray:
        """Return the kernel of the landmarks with each other.

        `X`, the training rows, is only looked at with "precomputed".
        """
        if self.name == "precomputed":
            return self(X[self.landmarks])
        if isinstance(self.landmarks, GaussianCenters):
            return self(self.landmarks.original)
        return self(self.landmarks)

    def rounding(self, X: Any) -> float:
        """Return how far below zero, relatively, rounding may take an eigenvalue of the kernel.

        A kernel matrix in single precision has fewer digits; all others are made in double.
        """
        single = self.name == "precomputed" and X.dtype == np.float32
        return 1e-5 if single else 1e-8

    def basis(self, X: Any) -> np.ndarray:
        """Return the matrix that makes orthonormal features of the kernel with the landmarks.

        `X`, the training rows, is only looked at with "precomputed".
        """
        gram = self.gram(X)
        if self.name == "rbf":
            return pivoted_basis(gram)
        return eigenbasis(gram, rounding=self.rounding(X))

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the kernel keeps."""
        if isinstance(self.landmarks, GaussianCenters):
            return [self.landmarks.centers, self.landmarks.shift, self.landmarks.squared_norms]
        if sparse.issparse(self.landmarks):
            return [self.landmarks.data, self.landmarks.indices, self.landmarks.indptr]
        return [self.landmarks]


def check_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any, n_landmarks: Any) -> None:
    """Raise a ValueError that names the argument if the kernel's arguments are not usable."""
    if not callable(kernel):
        check_choice("kernel", kernel, KERNELS)
    if not (isinstance(gamma, str) and gamma in ("auto", "scale")):
        if isinstance(gamma, str):
            raise ValueError(f"gamma={gamma!r} is not known; use 'auto', 'scale' or a number.")
        check_real("gamma", gamma, low=0, low_inclusive=False, high_inclusive=False)
    check_real("degree", degree, low=1, high_inclusive=False)
    check_real("coef0", coef0, low=0, high_inclusive=False)
    if n_landmarks is not None and not is_auto(n_landmarks):
        check_integer("n_landmarks", n_landmarks, low=1)


def check_square(X: Any) -> None:
    """Raise a ValueError if a kernel matrix given for training is not square and symmetric."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs the square matrix of the kernel between all training "
            f"rows as X, got shape {X.shape}; pass kernel(X, X) to fit and kernel(X_new, X) later."
        )
    difference = abs(X - X.T).max()
    if difference > 1e-5 * max(abs(X).max(), 1e-300):
        raise ValueError(
            f"kernel='precomputed' needs a symmetric matrix as X, but X and its transpose "
            f"differ by up to {difference:.3g}; check how it was computed."
        )


def kernel_at_landmarks(
    X: Any,
    weights: np.ndarray,
    kernel: KernelName,
    *,
    gamma: float | str = "scale",
    degree: float = 3,
    coef0: float = 1.0,
    n_landmarks: int | str | None = "auto",
    auto: tuple[int, int] = (AUTO_ALL, AUTO_LANDMARKS),
    seed: int = 0,
) -> LandmarkKernel:
    """Choose landmarks among the rows of `X` and return the kernel to them.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Training rows, or their kernel matrix.
    weights : ndarray of shape (n_rows,)
        Rows of weight zero are never landmarks.
    kernel, gamma, degree, coef0
        As in :class:`LandmarkKernel`.
    n_landmarks : int, "auto" or None
        How many distinct rows to draw; None means all.
    auto : tuple of int
        With "auto": all rows up to the first number, else half of them, but no more than the
        second number and no less than the smaller of the two.
    seed : int
    """
    if kernel == "precomputed":
        check_square(X)
    rows = np.flatnonzero(weights > 0)
    if kernel != "precomputed":
        rows = rows[distinct_rows(X[rows])[0]]
    count = len(rows)
    if n_landmarks == "auto":
        part = min(auto[1], max(len(rows) // 2, min(auto)))
        count = len(rows) if len(rows) <= auto[0] else part
    elif n_landmarks is not None:
        count = min(int(n_landmarks), len(rows))
    if count < len(rows):
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(rows, size=count, replace=False))
    width = 1.0
    if kernel in ("rbf", "poly"):
        width = scale_gamma(X, weights) if gamma == "scale" else float(gamma)
    landmarks = rows if kernel == "precomputed" else X[rows].astype(np.float64)
    return LandmarkKernel.at(landmarks, kernel, gamma=width, degree=degree, coef0=coef0)


def distinct_rows(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of each set of equal rows, in order, and which of them each row equals.

    A row that is there twice adds nothing to the span, so that weights equal copies.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.kernel_basis import distinct_rows
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    # Digests of the rows take a small fraction of the rows' memory, and of the time of sorting.
    if sparse.issparse(X):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        rows = (
            X.indices[low:high].tobytes() + X.data[low:high].tobytes()
            for low, high in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        )
    else:
        if _surely_distinct(X):
            every = np.arange(len(X))
            return every, every.copy()
        rows = ((row + 0.0).tobytes() for row in X)  # adding zero makes -0 and 0 the same bytes
    first: list[int] = []
    known: dict[bytes, int] = {}
    copies = np.empty(X.shape[0], dtype=int)
    for i, row in enumerate(rows):
        digest = blake2b(row, digest_size=16).digest()
        if digest not in known:
            known[digest] = len(first)
            first.append(i)
        copies[i] = known[digest]
    return np.array(first), copies


def _surely_distinct(X: np.ndarray) -> bool:
    """Tell whether one combination of the features differs, by more than rounding, in all rows."""
    direction = np.random.default_rng(0).uniform(0.5, 1.0, size=X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        rounding = 1e-12 * float(np.max(np.abs(X) @ direction, initial=0.0))
        return bool((np.diff(np.sort(X @ direction)) > rounding).all())


def pivoted_basis(G: np.ndarray) -> np.ndarray:
    """Return a basis by Cholesky's factorisation with pivots, a fifth of the work of eigenvectors.

    With G = L L^T for the rows p that the pivots choose, the columns are L^-T in these rows and
    zero in the others, which lie in the span of the rows p up to rounding.

    Parameters
    ----------
    G : ndarray of shape (n_landmarks, n_landmarks)
        Symmetric and positive semidefinite, up to rounding, as that of Gaussians is.

    Returns
    -------
    basis : ndarray of shape (n_landmarks, rank)
        ``basis.T @ G @ basis`` is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.numerics.kernel_basis import pivoted_basis
    >>> pivoted_basis(np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    array([[0.5, 0. ],
           [0. , 0. ],
           [0. , 1. ]])
    """
    factor, pivots, rank, _ = lapack.dpstrf(G, tol=RANK_TOL * float(G.diagonal().max()), lower=1)
    inverse = solve_triangular(factor[:rank, :rank], np.eye(rank), lower=True, check_finite=False)
    basis = np.zeros((len(G), rank))
    basis[pivots[:rank] - 1] = inverse.T
    return basis


def eigenbasis(G: np.ndarray, *, rounding: float = 1e-8) -> np.ndarray:
    """Return V / sqrt(s) for the eigenvectors of G with s > 1e-10 s_max.

    Parameters
    ----------
    G : ndarray of shape (n_landmarks, n_landmarks)
        Symmetric kernel matrix.
    rounding : float
        Fraction of the largest eigenvalue by which an eigenvalue may be negative.

    Returns
    -------
    basis : ndarray of shape (n_landmarks, rank)
        ``basis.T @ G @ basis`` is the identity.

    Raises
    ------
    ValueError
        If the kernel matrix has negative eigenvalues.
    """
    if not G.any():
        raise ValueError("kernel: the kernel matrix is zero; use another kernel or other rows.")
    # SciPy 1.11 asks "evd", the quickest for all eigenvectors, for too little room if there is one.
    s, V = eigh(0.5 * (G + G.T), driver="evd" if len(G) > 1 else "ev", overwrite_a=True)
    if s[0] < -rounding * max(s[-1], 0.0) or s[-1] <= 0:
        raise ValueError(
            f"kernel: the kernel matrix has negative eigenvalues (from {s[0]:.3g} to {s[-1]:.3g}), "
            "so it is not a kernel; use one that is positive semidefinite, such as 'rbf', or add "
            f"{-s[0]:.3g} to the diagonal of the matrix."
        )
    kept = s > RANK_TOL * s[-1]
    return V[:, kept] / np.sqrt(s[kept])
