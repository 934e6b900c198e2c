"""The steps that a fitted model is made of once it has left Python.

Every exported model is a short list of these steps. Each step says by `apply` what it does to
rows, in plain NumPy and double precision; the writers of ONNX, C and JavaScript say the same in
their own language, and the tests compare them with `apply`.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist

from supred.numerics.decisions import decision_scores


@dataclass(frozen=True, eq=False)
class Fill:
    """Put ``values[j]`` in the place of a NaN in column j."""

    values: np.ndarray

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows without gaps."""
        return np.where(np.isnan(rows), self.values, rows)


@dataclass(frozen=True, eq=False)
class Scale:
    """``(x - shift) * scale``, column by column."""

    shift: np.ndarray
    scale: np.ndarray

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the shifted and scaled rows."""
        return (rows - self.shift) * self.scale

    @property
    def only_shifts(self) -> bool:
        """Whether all scales are one."""
        return bool((self.scale == 1).all())


@dataclass(frozen=True, eq=False)
class Clip:
    """Bring every value to the range from `low` to `high`."""

    low: float
    high: float

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the clipped rows."""
        return np.clip(rows, self.low, self.high)


@dataclass(frozen=True, eq=False)
class Select:
    """Keep some of the columns."""

    columns: np.ndarray

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the selected columns."""
        return rows[:, self.columns]


@dataclass(frozen=True, eq=False)
class Affine:
    """``x @ matrix + offset`` with a matrix of shape (n_in, n_out)."""

    matrix: np.ndarray
    offset: np.ndarray

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the mapped rows."""
        return rows @ self.matrix + self.offset


@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """``||x - centers[m]||^2``."""

    centers: np.ndarray

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the squared distances of the rows to the centres."""
        return cdist(rows, self.centers, "sqeuclidean")


@dataclass(frozen=True, eq=False)
class Gaussians:
    """``exp(-gammas[m] ||x - centers[m]||^2)``, one width per centre."""

    centers: np.ndarray
    gammas: np.ndarray

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the Gaussians of the rows."""
        return np.exp(-self.gammas * cdist(rows, self.centers, "sqeuclidean"))


@dataclass(frozen=True, eq=False)
class Polynomials:
    """``(gamma x . centers[m] + coef0) ** degree``."""

    centers: np.ndarray
    gamma: float
    coef0: float
    degree: float

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the polynomial kernel of the rows and the centres."""
        return (self.gamma * (rows @ self.centers.T) + self.coef0) ** self.degree


@dataclass(frozen=True, eq=False)
class UnitLength:
    """``x / ||x||``; a row of zeros stays."""

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows divided by their lengths."""
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True, eq=False)
class Absolute:
    """``|x|``, value by value."""

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the absolute values."""
        return np.abs(rows)


@dataclass(frozen=True, eq=False)
class Votes:
    """One-vs-one votes: a value per pair of classes becomes a score per class."""

    n_classes: int

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the votes, ties broken by the summed values."""
        return decision_scores(rows, self.n_classes, "ovo")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """First and second class of each pair, in the order of the values."""
        return list(combinations(range(self.n_classes), 2))


Step = (
    Fill
    | Scale
    | Clip
    | Select
    | Affine
    | SquaredDistances
    | Gaussians
    | Polynomials
    | UnitLength
    | Absolute
    | Votes
)
