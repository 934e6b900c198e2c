"""Losses of the alternation: each has a g step, a Z step and an objective."""

from typing import Protocol

import numpy as np

from supred.low_dim_svm.z_step import pull_many_classes, pull_two_classes
from supred.numerics.decisions import decision_scores, task_signs
from supred.numerics.linear_svm import solve_linear_svms
from supred.numerics.threads import one_blas_thread

Parameters = tuple[np.ndarray, np.ndarray]

# Relative duality gap of the SVMs. A coarser one would do for the error, but sums in another order
# (files, a cluster, threads) then lead to models that differ by as much: with 1e-4 by up to 1e-3,
# with this by less than 1e-6.
SVM_TOL = 1e-8


class Loss(Protocol):
    """What the alternation asks of a loss: training its classifier and pulling coordinates."""

    parameters: Parameters
    gap: float

    def train(self, Z: np.ndarray) -> None:
        """Fit the classifier g to the coordinates Z: the g step."""

    def pull(self, F: np.ndarray, Z: np.ndarray, mu: float) -> np.ndarray:
        """Return the coordinates that trade the loss against ||z - F||^2: the Z step."""

    def objective(self, Z: np.ndarray) -> float:
        """Return the loss of g on Z with the regulariser of g."""

    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of the classes, of any rows."""


class HingeLoss:
    """One-vs-rest or one-vs-one linear SVMs with the hinge loss.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Index of each row's class.
    n_classes : int
    weights : ndarray of shape (n_rows,)
    C : float
        Weight of the hinge loss.
    multi_class : {"ovr", "ovo"}
    tol : float, default=1e-8
        Relative duality gap of the g step.
    n_jobs : int, optional
        Threads of the g step.

    Attributes
    ----------
    parameters : tuple of ndarrays (n_svms, n_dimensions) and (n_svms,)
        Weights w_k and biases b_k.
    gap : float
        Largest relative duality gap of the last g step's SVMs.
    """

    def __init__(
        self,
        codes: np.ndarray,
        n_classes: int,
        weights: np.ndarray,
        *,
        C: float = 1.0,
        multi_class: str = "ovr",
        tol: float = SVM_TOL,
        n_jobs: int | None = None,
    ) -> None:
        self.codes = codes
        self.signs = task_signs(codes, n_classes, multi_class)
        self.n_classes = n_classes
        self.weights = weights
        self.C = C
        self.multi_class = multi_class
        self.tol = tol
        self.n_jobs = n_jobs
        self.parameters: Parameters = (np.zeros((0, 0)), np.zeros(0))
        self.gap = 0.0
        self._pulls: np.ndarray | None = None  # t of the last Z step, the next one's start

    @one_blas_thread()
    def train(self, Z: np.ndarray) -> None:
        """Fit the SVMs to Z, starting from the last ones: the g step.

        Where the old SVM is better than the new one, which is solved to `tol` only, it stays.
        """
        coef, intercept = self.parameters
        known = len(intercept) > 0
        Z_used, signs, weights = self._merge_equal_rows(Z)
        svms = solve_linear_svms(
            Z_used,
            signs,
            self.C * weights,
            tol=self.tol,
            starts=[(coef[k], float(intercept[k])) for k in range(len(coef))] if known else None,
            n_jobs=self.n_jobs,
        )
        self.gap = max(svm.gap / max(svm.objective, 1e-300) for svm in svms)
        new = np.array([svm.coef for svm in svms]), np.array([svm.intercept for svm in svms])
        if known:
            worse = self._objectives(Z, new) > self._objectives(Z, self.parameters)
            new[0][worse], new[1][worse] = coef[worse], intercept[worse]
        self.parameters = new

    @one_blas_thread()
    def pull(self, F: np.ndarray, Z: np.ndarray, mu: float) -> np.ndarray:
        """Return argmin over z of ``mu/2 ||z - F||^2 + C sum_k xi_k``, row by row: the Z step.

        A row whose last coordinates Z are better than the new ones, which are found to a
        tolerance only, keeps them.
        """
        coef, intercept = self.parameters
        c = 2.0 * self.C / mu
        F = np.asarray(F, dtype=float)
        if self.signs.shape[1] == 1:
            return pull_two_classes(F, self.signs[:, 0], coef[0], float(intercept[0]), c)
        start = None if self._pulls is None else np.minimum(self._pulls, c)
        pulled, self._pulls = pull_many_classes(F, self.signs, coef, intercept, c, start=start)
        worse = self._row_costs(pulled, F, c) > self._row_costs(Z, F, c)
        pulled[worse] = Z[worse]
        return pulled

    @one_blas_thread()
    def objective(self, Z: np.ndarray) -> float:
        """Return ``sum_k (1/2 ||w_k||^2 + C sum_n s_n xi_nk)``."""
        return float(self._objectives(Z, self.parameters).sum())

    @one_blas_thread()
    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of the classes for the coordinates Z of any rows."""
        coef, intercept = self.parameters
        return decision_scores(Z @ coef.T + intercept, self.n_classes, self.multi_class)

    def _merge_equal_rows(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, signs and weights, one row a class if the rows of each are equal.

        So they are at the start, when each row is at the code of its class.
        """
        present, first = np.unique(self.codes, return_index=True)
        if not np.array_equal(Z, Z[first][np.searchsorted(present, self.codes)]):
            return Z, self.signs, self.weights
        totals = np.bincount(self.codes, weights=self.weights)[present]
        return Z[first], self.signs[first], totals

    def _hinge(self, Z: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Return xi_nk, shape (n_rows, n_svms)."""
        coef, intercept = parameters
        xi = 1.0 - self.signs * (Z @ coef.T + intercept)
        np.maximum(xi, 0.0, out=xi)
        if self.multi_class == "ovo":
            xi *= self.signs != 0
        return xi

    def _objectives(self, Z: np.ndarray, parameters: Parameters) -> np.ndarray:
        """Return the primal objective of each SVM."""
        losses = self.weights @ self._hinge(Z, parameters)
        return 0.5 * np.square(parameters[0]).sum(axis=1) + self.C * losses

    def _row_costs(self, Z: np.ndarray, F: np.ndarray, c: float) -> np.ndarray:
        """Return ``||z - F||^2 + c sum_k xi_k`` of each row."""
        return np.square(Z - F).sum(axis=1) + c * self._hinge(Z, self.parameters).sum(axis=1)
