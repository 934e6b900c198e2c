"""Losses of the alternation: each has a g step, a z step and an objective."""

from typing import Any, Protocol

import numpy as np

from supred.low_dim_svm.g_step import (
    SVM_TOL,
    Parameters,
    hinge_g_step,
    hinge_objectives,
    hinge_slacks,
    log_g_step,
    log_objective,
)
from supred.low_dim_svm.z_step import hinge_z_step, two_class_z_step
from supred.low_dim_svm.z_step_log import log_z_step
from supred.numerics.decisions import linear_scores, task_signs
from supred.numerics.threads import one_blas_thread


class Loss(Protocol):
    """What the alternation asks of a loss."""

    parameters: Parameters
    gap: float

    def g_step(self, Z: np.ndarray) -> None:
        """Fit the classifier g to the coordinates Z."""

    def z_step(self, F: np.ndarray, Z: np.ndarray, mu: float) -> np.ndarray:
        """Return the coordinates that trade the loss against ||z - F||^2."""

    def objective(self, Z: np.ndarray) -> float:
        """Return the loss of g on Z with the regulariser of g."""

    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of the classes, of any rows."""

    def training_state(self) -> dict[str, Any]:
        """Return all that training has changed, as plain values."""

    def resume_training(self, state: dict[str, Any]) -> None:
        """Go on from what `training_state` returned."""


class HingeLoss:
    """One-vs-rest or one-vs-one linear SVMs with the hinge loss.

    Parameters
    ----------
    class_index : ndarray of shape (n_rows,)
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
    parameters : tuple of ndarrays (n_svms, n_components) and (n_svms,)
        Weights w_k and biases b_k.
    gap : float
        Largest relative duality gap of the last g step's SVMs.
    """

    def __init__(
        self,
        class_index: np.ndarray,
        n_classes: int,
        weights: np.ndarray,
        *,
        C: float = 1.0,
        multi_class: str = "ovr",
        tol: float = SVM_TOL,
        n_jobs: int | None = None,
    ) -> None:
        self.class_index = class_index
        self.signs = task_signs(class_index, n_classes, multi_class)
        self.n_classes = n_classes
        self.weights = weights
        self.C = C
        self.multi_class = multi_class
        self.tol = tol
        self.n_jobs = n_jobs
        self.parameters: Parameters = (np.zeros((0, 0)), np.zeros(0))
        self.gap = 0.0
        self._duals: np.ndarray | None = None  # t of the last z step, where the next one starts

    @one_blas_thread()
    def g_step(self, Z: np.ndarray) -> None:
        """Fit the SVMs to Z, starting from the last ones."""
        self.parameters, self.gap = hinge_g_step(
            Z,
            self.class_index,
            self.signs,
            self.weights,
            self.C,
            start=self.parameters if len(self.parameters[1]) else None,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )

    @one_blas_thread()
    def z_step(self, F: np.ndarray, Z: np.ndarray, mu: float) -> np.ndarray:
        """Return argmin over z of ``mu/2 ||z - F||^2 + C sum_k xi_k``, row by row.

        A row whose last coordinates Z are better than the new ones, which are found to a
        tolerance only, keeps them.
        """
        coef, intercept = self.parameters
        c = 2.0 * self.C / mu
        F = np.asarray(F, dtype=float)
        if self.signs.shape[1] == 1:
            return two_class_z_step(F, self.signs[:, 0], coef[0], float(intercept[0]), c)
        start = None if self._duals is None else np.minimum(self._duals, c)
        moved, self._duals = hinge_z_step(F, self.signs, coef, intercept, c, start=start)
        worse = self._row_costs(moved, F, c) > self._row_costs(Z, F, c)
        moved[worse] = Z[worse]
        return moved

    @one_blas_thread()
    def objective(self, Z: np.ndarray) -> float:
        """Return ``sum_k (1/2 ||w_k||^2 + C sum_n s_n xi_nk)``."""
        return float(hinge_objectives(Z, self.signs, self.weights, self.C, self.parameters).sum())

    @one_blas_thread()
    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of the classes for the coordinates Z of any rows."""
        return linear_scores(Z, *self.parameters, self.n_classes, self.multi_class)

    def training_state(self) -> dict[str, Any]:
        """Return the SVMs, their gap and the start of the next z step."""
        return {"parameters": self.parameters, "gap": self.gap, "duals": self._duals}

    def resume_training(self, state: dict[str, Any]) -> None:
        """Go on from what `training_state` returned."""
        self.parameters, self.gap = state["parameters"], state["gap"]
        self._duals = state["duals"]

    def _row_costs(self, Z: np.ndarray, F: np.ndarray, c: float) -> np.ndarray:
        """Return ``||z - F||^2 + c sum_k xi_k`` of each row."""
        slacks = hinge_slacks(Z, self.signs, self.parameters)
        return np.square(Z - F).sum(axis=1) + c * slacks.sum(axis=1)


class LogLoss:
    """Multinomial logistic regression on the coordinates.

    Parameters
    ----------
    class_index : ndarray of shape (n_rows,)
        Index of each row's class.
    n_classes : int
    weights : ndarray of shape (n_rows,)
    C : float
        Weight of the losses.

    Attributes
    ----------
    parameters : tuple of ndarrays (n_classes, n_components) and (n_classes,)
        Weights and biases; one of each for two classes.
    """

    gap = 0.0  # not certified

    def __init__(
        self, class_index: np.ndarray, n_classes: int, weights: np.ndarray, *, C: float = 1.0
    ) -> None:
        self.class_index = class_index
        self.n_classes = n_classes
        self.weights = weights
        self.C = C
        self.parameters: Parameters = (np.zeros((0, 0)), np.zeros(0))

    @one_blas_thread()
    def g_step(self, Z: np.ndarray) -> None:
        """Fit the classifier to Z, starting from the last one."""
        start = self.parameters if len(self.parameters[1]) else None
        self.parameters = log_g_step(
            Z, self.class_index, self.n_classes, self.weights, self.C, start=start
        )

    @one_blas_thread()
    def z_step(self, F: np.ndarray, Z: np.ndarray, mu: float) -> np.ndarray:
        """Return argmin over z of ``mu/2 ||z - F||^2 + C l(y; z)``, row by row."""
        F = np.asarray(F, dtype=float)
        return log_z_step(F, self.class_index, *self.parameters, self.C / mu, start=Z)

    @one_blas_thread()
    def objective(self, Z: np.ndarray) -> float:
        """Return ``1/2 sum_k ||w_k||^2 + C sum_n s_n l(y_n; z_n)``."""
        return log_objective(Z, self.class_index, self.weights, self.C, self.parameters)

    @one_blas_thread()
    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of the classes, or the one score of two classes."""
        return linear_scores(Z, *self.parameters, self.n_classes, "ovr")

    def training_state(self) -> dict[str, Any]:
        """Return the classifier."""
        return {"parameters": self.parameters}

    def resume_training(self, state: dict[str, Any]) -> None:
        """Go on from what `training_state` returned."""
        self.parameters = state["parameters"]


def make_loss(
    loss: str,
    class_index: np.ndarray,
    n_classes: int,
    weights: np.ndarray,
    *,
    C: float,
    multi_class: str = "ovr",
    n_jobs: int | None = None,
) -> Loss:
    """Return the loss of that name, "hinge" or "log"."""
    if loss == "log":
        return LogLoss(class_index, n_classes, weights, C=C)
    return HingeLoss(class_index, n_classes, weights, C=C, multi_class=multi_class, n_jobs=n_jobs)
