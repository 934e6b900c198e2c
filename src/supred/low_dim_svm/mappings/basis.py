"""Mappings that are linear in their parameters: F(x) = W^T phi(x) + w0.

phi is what differs: the features themselves or Gaussians about centres. The intercept w0 is not
penalised, so that a shift of the features changes nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from supred.base.state import present_attributes
from supred.common.arguments import OutOfRangeError, largest_magnitude
from supred.common.arrays import cast, is_foreign, on_host, place_of, tall_product, type_name
from supred.common.threads import Scratch, one_blas_thread
from supred.low_dim_svm.mappings.f_step import NormalEquations
from supred.low_dim_svm.visit import Coordinates
from supred.rows.blocks import LEAST_BLOCK_ROWS, Rows, parts_of, rows_of

MEGABYTE = 2**20
# Weights of a mapping may be so large where rows are in single precision.
MOST_IN_SINGLE = 1e30
# F of so many rows at a time takes a fifth less than of a whole block.
CHUNK = 800


class BasisMapping(ABC):
    """F(x) = W^T phi(x) + w0, fitted by normal equations that are formed once.

    Parameters
    ----------
    alpha : float
        Weight of ``||W||^2`` in the objective (lambda in the paper).
    cache_size : float
        Megabytes that basis functions of training rows may take; what does not fit is computed
        again in each pass.
    """

    def __init__(self, alpha: float = 1e-3, *, cache_size: float = 1000.0) -> None:
        self.alpha = alpha
        self.cache_size = cache_size

    @property
    @abstractmethod
    def basis(self) -> Callable[[Any], Any]:
        """phi: makes of a block of rows their basis functions, shape (n_rows, n_basis).

        It holds nothing of the training rows and may be sent to where a block lies.
        """

    @property
    @abstractmethod
    def n_basis(self) -> int:
        """Number of basis functions M."""

    def features(self, block: Any) -> Any:
        """Return phi of a block of rows, shape (n_rows, n_basis)."""
        return self.basis(block)

    def rows_like(self, X: Any, cache_bytes: float) -> Rows:
        """Return the basis functions of rows, of which `cache_bytes` are kept."""
        return rows_of(X, self.n_basis).derive(self.basis, self.n_basis, cache_bytes)

    def prepare(self, X: Any, weights: np.ndarray) -> None:
        """Form Phi^T S Phi and the means over blocks of rows, in double precision."""
        self.rows = self.rows_like(X, self.cache_size * MEGABYTE if self._cacheable else 0.0)
        self._total = float(weights.sum())
        along = () if (weights == 1).all() else (weights,)
        gram, sums = self.rows.sum(partial(moments, scratch=Scratch()), *along)
        self.mean = on_host(sums) / self._total
        gram -= place_of(gram).put(self._total * np.outer(self.mean, self.mean))
        self._equations = NormalEquations(gram)

    def begin(self, center: np.ndarray) -> None:
        """Let F be `center` everywhere: W = 0."""
        self.W, self.w0 = np.zeros((self.n_basis, len(center))), center

    def projection(self) -> Callable[[Any], np.ndarray]:
        """Return F as a function of a block of basis functions."""
        return partial(combine, W=self.W, w0=self.w0)

    @property
    def multiply(self) -> Callable[[Any, np.ndarray], np.ndarray]:
        """Phi^T T as a function of a block of basis functions and of T."""
        return products

    @one_blas_thread()  # more would sum in another order
    def regress(self, coordinates: Coordinates, mu: float) -> float:
        """Solve ``(Phi^T S Phi + (2 alpha / mu) I) W = Phi^T S Z``, both centred: the f step.

        The coordinates come as sums of Z - F, with F = Phi W + w0 of the last W, so that the
        equations are those of its change: the right-hand side is ``Phi^T S (Z - F) - (2 alpha / mu)
        W``. The same sums tell what is left of ``sum_n s_n ||z_n - F(x_n)||^2``.
        """
        moves, W = coordinates.moves, self.W
        assert moves.products is not None
        ridge = 2.0 * self.alpha / mu
        way = moves.products - np.outer(self.mean, moves.total)
        change = self._equations.solve(way - ridge * W, ridge)
        self.W, shift = W + change, moves.total / self._total
        self.w0 = self.w0 + shift - self.mean @ change
        self._check_weights()
        # 2 way . change - change . G change, of which G change is way - ridge W
        explained = (change * (way + ridge * self.W)).sum()
        return max(0.0, float(moves.squares - explained - moves.total @ shift))

    def _check_weights(self) -> None:
        """Raise an error if W does not fit into the precision of the rows."""
        if self.rows.dtype == np.float32 and largest_magnitude(self.W) > MOST_IN_SINGLE:
            raise OutOfRangeError(
                f"alpha={self.alpha:g}: the weights of the mapping grow to "
                f"{largest_magnitude(self.W):.2g}, too large for single precision; raise alpha, or "
                "give the rows in double precision."
            )

    def project(self, X: Any) -> np.ndarray:
        """Return F of any rows."""
        if isinstance(X, np.ndarray) and len(X) <= LEAST_BLOCK_ROWS:
            return combine(self.features(X), self.W, self.w0)  # a single row must not wait
        return rows_of(X, self.n_basis).map(partial(project, self.basis, W=self.W, w0=self.w0))

    def reduce(self) -> None:
        """Reduce the equations now, because more than a few alpha and mu will come."""
        self._equations.reduce()

    def penalty(self) -> float:
        """Return ``alpha ||W||^2``."""
        return self.alpha * float(np.square(self.W).sum())

    def snapshot(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters (W, w0)."""
        return self.W, self.w0

    def restore(self, snapshot: tuple[np.ndarray, np.ndarray]) -> None:
        """Set the parameters (W, w0)."""
        self.W, self.w0 = snapshot

    def training_state(self) -> dict[str, Any]:
        """Return the parameters."""
        return {"parameters": self.snapshot()}

    def resume_training(self, state: dict[str, Any]) -> None:
        """Go on from what `training_state` returned, with the same rows prepared."""
        self.restore(state["parameters"])

    def forget_training(self) -> None:
        """Drop the training rows and all that was made of them."""
        for name in ("rows", "_total", "_equations", "mean"):
            self.__dict__.pop(name, None)

    # What a fitted mapping keeps, beside what a subclass adds.
    _kept: tuple[str, ...] = ("alpha", "W", "w0")

    def to_state(self) -> dict[str, Any]:
        """Return what `project` needs, to be written to a file."""
        return present_attributes(self, self._kept)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "BasisMapping":
        """Return the fitted mapping whose state `to_state` returned."""
        if set(state) != set(cls._kept):
            raise ValueError(f"{cls.__name__} is made of {', '.join(cls._kept)}")
        made = cls.__new__(cls)
        BasisMapping.__init__(made, state["alpha"])
        for name in cls._kept:
            setattr(made, name, state[name])
        return made

    def arrays(self) -> list[np.ndarray]:
        """Return what `project` needs."""
        return [self.W, self.w0]

    def flops_per_row(self) -> int:
        """Return the additions and multiplications of `project`, for one dense row."""
        return self._feature_flops() + 2 * self.W.size

    def _feature_flops(self) -> int:
        """Return those of `features`."""
        return self.n_basis

    _cacheable = True


def moments(
    phi: Any, weights: np.ndarray | None = None, scratch: Scratch | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return Phi^T S Phi and Phi^T s of a block, in double precision.

    NumPy makes one triangle of a matrix times its own transpose, and lets other threads run.
    What is in single precision goes to `scratch` first, if that is given.
    """
    if scratch is not None and type(phi) is np.ndarray and phi.dtype == np.float32:
        phi = scratch.doubles(phi)
    wide = cast(phi, float)
    if is_foreign(wide):
        if weights is None:
            return wide.T @ wide, wide.sum(axis=0)
        return (wide * weights[:, None]).T @ wide, weights @ wide
    if weights is None:
        sums = np.asarray(wide.sum(axis=0)).ravel()
    else:
        sums = np.asarray(weights @ wide).ravel()
        roots = np.sqrt(weights)[:, None]
        wide = wide.multiply(roots).tocsr() if sparse.issparse(wide) else wide * roots
    return dense_of(wide.T @ wide), sums


def products(phi: Any, target: np.ndarray) -> np.ndarray:
    """Return Phi^T T of a block on the host, multiplied in its own precision.

    On a device blocks have so many rows that the products are in double precision.
    """
    if is_foreign(phi):
        return on_host(tall_product(cast(phi, float), target))
    unit = 1.0
    if phi.dtype == np.float32:  # in a unit of its own, so that large weights do not overflow
        unit = 2.0 ** (int(np.frexp(largest_magnitude(target))[1]) - 1)
        target = (target / unit).astype(np.float32)
    # The BLAS is quicker at T^T Phi than at its transpose.
    product = phi.T @ target if sparse.issparse(phi) else (target.T @ phi).T
    return np.asarray(product, dtype=float) * unit


def combine(phi: Any, W: np.ndarray, w0: np.ndarray) -> np.ndarray:
    """Return W^T phi + w0 of a block, in its own precision."""
    if type(phi) is np.ndarray:
        W, product = W.astype(phi.dtype, copy=False), np.empty((len(phi), W.shape[1]), phi.dtype)
        for rows in parts_of(len(phi), CHUNK):
            np.matmul(phi[rows], W, out=product[rows])
        product += w0.astype(phi.dtype, copy=False)
        return product
    put, dtype = place_of(phi).put, type_name(phi)
    result = phi @ put(W.astype(dtype, copy=False))
    result = result if is_foreign(phi) else np.asarray(result)
    result += put(w0.astype(dtype, copy=False))
    return result


def project(basis: Callable[[Any], Any], block: Any, W: np.ndarray, w0: np.ndarray) -> np.ndarray:
    """Return W^T phi(x) + w0 of a block of rows."""
    return combine(basis(block), W, w0)


def dense_of(matrix: Any) -> np.ndarray:
    """Return a dense or sparse matrix as an array."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
