"""Leave-one-out predictions of ridge regression in closed form, for every ridge at once.

With centred features P and targets Y, ridge regression predicts y^ = mean + H (Y - mean), with
H = P (P^T P + r I)^-1 P^T. Leaving row i out changes the prediction of that row to

    y^_(-i) = (y^_i - h_i y_i) / (1 - h_i),    h_i = 1 / n + H_ii,

so that one eigendecomposition of P^T P (or of P P^T) gives the leave-one-out predictions of all
rows for any number of ridges r, as in scikit-learn's RidgeCV.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

# Directions with a smaller share of the largest squared singular value are rounding.
RANK_TOL = 1e-13
# A row whose leverage is nearer to one has no prediction by the others.
LEAST_FREEDOM = 1e-10
# Scores that differ by less, relatively, are the same: the last digits differ between machines.
ROUNDING = 1e-6


@dataclass(frozen=True)
class RidgePath:
    """Ridge regression of targets on centred features, ready for any ridge.

    Attributes
    ----------
    vectors : ndarray of shape (n_rows, rank)
        Left singular vectors U of the centred features, times the roots of the weights.
    squares : ndarray of shape (rank,)
        Squared singular values.
    targets : ndarray of shape (n_rows, n_targets)
    weights : ndarray of shape (n_rows,)

    Examples
    --------
    Three points on a line, each predicted from the two others:

    >>> import numpy as np
    >>> from supred.numerics.leave_one_out import RidgePath
    >>> Y = np.array([[0.0], [1.0], [3.0]])
    >>> path = RidgePath.of_features(np.array([[0.0], [1.0], [2.0]]), Y)
    >>> path.leave_one_out([1e-12]).round(6).ravel()
    array([-1. ,  1.5,  2. ])
    """

    vectors: np.ndarray
    squares: np.ndarray
    targets: np.ndarray
    weights: np.ndarray

    @classmethod
    def of_features(
        cls, Phi: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
    ) -> "RidgePath":
        """Decompose features of shape (n_rows, n_dims).

        Parameters
        ----------
        Phi : ndarray of shape (n_rows, n_dims)
        targets : ndarray of shape (n_rows, n_targets)
        weights : ndarray of shape (n_rows,), optional
            Positive; a row is left out with all its weight. Copies of a row predict each other:
            merge them first.
        """
        weights = np.ones(len(Phi)) if weights is None else weights
        centred = Phi - weights @ Phi / weights.sum()
        centred *= np.sqrt(weights)[:, None]
        if Phi.shape[1] >= len(Phi):
            return cls._of_products(centred @ centred.T, targets, weights)
        squares, right = _eigenvectors(centred.T @ centred)
        kept = squares > RANK_TOL * max(squares[-1], np.finfo(float).tiny)
        vectors = centred @ (right[:, kept] / np.sqrt(squares[kept]))
        return cls(vectors, squares[kept], targets, weights)

    @classmethod
    def of_gram(
        cls, gram: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
    ) -> "RidgePath":
        """Decompose a kernel matrix of shape (n_rows, n_rows); else as `of_features`."""
        weights = np.ones(len(gram)) if weights is None else weights
        share, roots = weights / weights.sum(), np.sqrt(weights)
        average = gram @ share
        centred = gram - average[:, None]
        centred -= average - share @ average
        centred *= roots[:, None] * roots
        return cls._of_products(centred, targets, weights)

    @classmethod
    def _of_products(
        cls, products: np.ndarray, targets: np.ndarray, weights: np.ndarray
    ) -> "RidgePath":
        squares, vectors = _eigenvectors(products)
        kept = squares > RANK_TOL * max(squares[-1], np.finfo(float).tiny)
        return cls(vectors[:, kept], squares[kept], targets, weights)

    @property
    def spread(self) -> float:
        """Sum of the squared singular values: the total (weighted) variance of the features."""
        return float(self.squares.sum())

    def leave_one_out(self, ridges: Sequence[float]) -> np.ndarray:
        """Return the prediction of each row by the others.

        Parameters
        ----------
        ridges : sequence of float

        Returns
        -------
        predictions : ndarray of shape (n_ridges, n_rows, n_targets)
        """
        n_rows, n_targets = self.targets.shape
        roots, total = np.sqrt(self.weights), self.weights.sum()
        mean = self.weights @ self.targets / total
        moments = self.vectors.T @ (roots[:, None] * (self.targets - mean))  # (rank, T)
        shrinkage = self.squares / (self.squares + np.asarray(ridges)[:, None])  # (R, rank)
        shrunk = shrinkage.T[:, :, None] * moments[:, None, :]  # (rank, R, T)
        shrunk = shrunk.reshape(len(moments), len(shrinkage) * n_targets)
        fitted = (self.vectors / roots[:, None]) @ shrunk  # one product for all ridges
        fitted = fitted.reshape(n_rows, len(shrinkage), n_targets).transpose(1, 0, 2) + mean
        leverages = self.weights / total + shrinkage @ (self.vectors**2).T  # (R, n)
        left = np.maximum(1.0 - leverages, LEAST_FREEDOM)
        return (fitted - leverages[:, :, None] * self.targets) / left[:, :, None]

    def scores(
        self, ridges: Sequence[float], *, exclusive: bool = True
    ) -> list["LeaveOneOutScore"]:
        """Return how well each ridge predicts the classes, of which the targets are the members.

        `exclusive` is that of :func:`score_classes`.
        """
        predictions, members = self.leave_one_out(ridges), self.targets > 0.5
        return score_classes(predictions, members, self.weights, exclusive=exclusive)


@dataclass(frozen=True)
class LeaveOneOutScore:
    """How well classes are predicted by the other rows; smaller is better.

    Attributes
    ----------
    error : float
        Share of the weight whose class (or labels) the predictions miss.
    squared_error : float
        Mean squared difference of predictions and targets; it decides between equal errors.
    """

    error: float
    squared_error: float

    def beats(self, other: "LeaveOneOutScore") -> bool:
        """Tell whether this score is better, by more than rounding."""
        if abs(self.error - other.error) > ROUNDING:
            return self.error < other.error
        return self.squared_error < other.squared_error * (1.0 - ROUNDING)


def score_classes(
    predictions: np.ndarray, members: np.ndarray, weights: np.ndarray, *, exclusive: bool = True
) -> list[LeaveOneOutScore]:
    """Score several predictions of class membership.

    Parameters
    ----------
    predictions : ndarray of shape (n_predictions, n_rows, n_classes)
    members : ndarray of bool, shape (n_rows, n_classes)
    weights : ndarray of shape (n_rows,)
    exclusive : bool, default=True
        Whether each row belongs to one class, the one of the largest prediction (of equal ones
        each in equal part, so that rounding does not decide); else each label is predicted on
        its own, where its prediction is above one half.
    """
    if exclusive:
        largest = predictions >= predictions.max(axis=2, keepdims=True) - ROUNDING
        wrong = 1.0 - (largest & members).sum(axis=2) / largest.sum(axis=2)
    else:
        wrong = np.mean((predictions > 0.5) != members, axis=2)
    squares = np.mean(np.square(predictions - members), axis=2)
    shares = weights / weights.sum()
    scores = zip((wrong @ shares).tolist(), (squares @ shares).tolist(), strict=True)
    return [LeaveOneOutScore(*score) for score in scores]


def choose_ridge(
    path: RidgePath, alphas: Iterable[float], *, exclusive: bool = True
) -> tuple[float, LeaveOneOutScore]:
    """Return the best of several ridges, in units of the features' total variance.

    Parameters
    ----------
    path : RidgePath
        Its targets are the members of the classes.
    alphas : iterable of float
        Ridges as fractions of ``path.spread``.
    exclusive : bool
        As in :func:`score_classes`.

    Returns
    -------
    alpha : float
        Of equal scores, the largest.
    score : LeaveOneOutScore
    """
    candidates = sorted(alphas, reverse=True)
    unit = path.spread or 1.0
    scores = path.scores([alpha * unit for alpha in candidates], exclusive=exclusive)
    best = 0
    for k in range(1, len(scores)):
        best = k if scores[k].beats(scores[best]) else best
    return candidates[best], scores[best]


def _eigenvectors(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted eigenvalues and eigenvectors of a symmetric matrix of no further use."""
    # SciPy 1.11 asks "evd", the quickest for all of them, for too little room if there is one.
    driver = "evd" if len(matrix) > 1 else "ev"
    return eigh(matrix, driver=driver, overwrite_a=True, check_finite=False)
