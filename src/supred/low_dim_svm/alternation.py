"""The method of auxiliary coordinates: Algorithm 1 of the low-dimensional SVM.

The nested problem

    min over F, g   penalty(F) + loss(g; F(x_1), .., F(x_N))

is broken up by one coordinate vector z_n per row. For a penalty mu,

    min over F, g, Z   penalty(F) + loss(g; Z) + mu/2 sum_n s_n ||z_n - F(x_n)||^2

is minimised over Z, g and F in turn, and mu is raised.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from supred.low_dim_svm.losses import Loss

HISTORY = (
    "mu",
    "penalized_objective",
    "nested_objective",
    "train_error",
    "validation_error",
    "gap",
    "seconds",
)


class Regression(Protocol):
    """The part of a mapping that the alternation uses."""

    def regress(self, Z: np.ndarray, mu: float) -> None:
        """Fit F to Z."""

    def project_training(self) -> np.ndarray:
        """Return F of the training rows."""

    def penalty(self) -> float:
        """Return the mapping's term of the objective."""

    def snapshot(self) -> Any:
        """Return the parameters."""

    def restore(self, snapshot: Any) -> None:
        """Set the parameters."""

    def training_state(self) -> dict[str, Any]:
        """Return all that training has changed, as arrays, numbers and tuples of them."""

    def resume_training(self, state: dict[str, Any]) -> None:
        """Go on from what `training_state` returned, with the same rows prepared."""


@dataclass(frozen=True)
class Schedule:
    """How mu grows and when the alternation ends.

    Attributes
    ----------
    mu : float
        The first penalty.
    mu_factor : float
        What mu is multiplied by after each iteration; 1 keeps it fixed.
    max_iter : int
    tol : float
        Relative change of the objective under which the alternation has converged.
    patience : int
        Iterations without a better validation error after which it ends.
    """

    mu: float = 2.0
    mu_factor: float = 1.5
    max_iter: int = 50
    tol: float = 1e-2
    patience: int = 5


@dataclass
class Alternation:
    """What the alternation did.

    Attributes
    ----------
    history : dict of lists
        One entry per iteration, the start first: mu, objectives, errors, the largest relative
        duality gap of the SVMs, seconds.
    best_iter : int
        The iteration whose mapping and classifier were kept.
    n_iter : int
        Iterations done.
    stopped : str
        "validation", "converged" or "max_iter".
    """

    history: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in HISTORY})
    best_iter: int = 0
    n_iter: int = 0
    stopped: str = "max_iter"


@dataclass(frozen=True)
class State:
    """All that the next iteration depends on, beside the training rows.

    Attributes
    ----------
    iteration : int
        The last iteration that was done.
    mu : float
        The next iteration's penalty.
    Z : ndarray of shape (n_rows, n_components)
    mapping, loss : Any
        What training has changed in them.
    best : tuple of float
        Merit of the best iterate.
    best_iter : int
    kept : tuple
        The best iterate: parameters of the mapping and of the classifier.
    history : dict of lists
    """

    iteration: int
    mu: float
    Z: np.ndarray
    mapping: dict[str, Any]
    loss: dict[str, Any]
    best: tuple[float, float]
    best_iter: int
    kept: Any
    history: dict[str, list[float]]


def alternate(
    mapping: Regression,
    loss: Loss,
    Z: np.ndarray,
    weights: np.ndarray,
    schedule: Schedule,
    *,
    train_error: Callable[[np.ndarray], float],
    validation_error: Callable[[], float] | None = None,
    on_iteration: Callable[[int, Alternation], bool] | None = None,
    resume: State | None = None,
    save: Callable[[State], None] | None = None,
) -> Alternation:
    """Train the mapping and the classifier together; both hold the best iterate at the end.

    Parameters
    ----------
    mapping : Regression
        F, prepared with the training rows.
    loss : Loss
        g, with the labels of the training rows.
    Z : ndarray of shape (n_rows, n_components)
        The coordinates to start from.
    weights : ndarray of shape (n_rows,)
        s_n.
    schedule : Schedule
    train_error : callable
        Error of the classifier on projected training rows.
    validation_error : callable, optional
        Error of mapping and classifier on held-out rows. With it the iterate with the least
        validation error is kept and the alternation ends when it stops falling; without it the
        iterate with the least nested objective is kept.
    on_iteration : callable, optional
        Called after each iteration with its number and the record; True ends the alternation.
    resume : State, optional
        Go on from here, not from `Z`.
    save : callable, optional
        Called with the state after each iteration but the last.

    Returns
    -------
    Alternation
    """
    record = Alternation()
    began = perf_counter()
    mu = schedule.mu
    best: tuple[float, float] | None = None
    kept: Any = None
    first = 0
    if resume is None:
        loss.train(Z)
        mapping.regress(Z, mu)
    else:
        first, mu, Z = resume.iteration + 1, resume.mu, resume.Z
        best, kept = resume.best, resume.kept
        record = Alternation(resume.history, resume.best_iter, resume.iteration)
        began -= record.history["seconds"][-1]
        vars(loss).update(resume.loss)
        mapping.resume_training(resume.mapping)
    F = mapping.project_training()

    for iteration in range(first, schedule.max_iter + 1):
        if iteration:
            Z = loss.pull(F, Z, mu)
            loss.train(Z)
            mapping.regress(Z, mu)
            F = mapping.project_training()
        nested = mapping.penalty() + loss.objective(F)
        values = {
            "mu": mu,
            "penalized_objective": mapping.penalty()
            + loss.objective(Z)
            + 0.5 * mu * float((weights * np.square(Z - F).sum(axis=1)).sum()),
            "nested_objective": nested,
            "train_error": train_error(loss.scores(F)),
            "validation_error": validation_error() if validation_error else np.nan,
            "gap": loss.gap,
            "seconds": perf_counter() - began,
        }
        for name, value in values.items():
            record.history[name].append(value)
        record.n_iter = iteration
        merit = (values["validation_error"], nested) if validation_error else (nested, nested)
        if best is None or merit < best:
            best, record.best_iter = merit, iteration
            kept = mapping.snapshot(), loss.parameters
        asked_to_stop = on_iteration is not None and on_iteration(iteration, record)
        reason = _stopping_reason(record, schedule, validation_error is not None)
        if reason or asked_to_stop:
            record.stopped = reason or "callback"
            break
        if iteration:
            mu *= schedule.mu_factor
        if save is not None and iteration < schedule.max_iter:
            save(
                State(
                    iteration,
                    mu,
                    Z,
                    mapping.training_state(),
                    _state_of(loss),
                    best,
                    record.best_iter,
                    kept,
                    record.history,
                )
            )
    mapping.restore(kept[0])
    loss.parameters = kept[1]
    return record


def _state_of(loss: Loss) -> dict[str, Any]:
    """Return what training changes in a loss: the classifier, its gap and private warm starts."""
    return {
        name: value
        for name, value in vars(loss).items()
        if name in ("parameters", "gap") or name.startswith("_")
    }


def _stopping_reason(record: Alternation, schedule: Schedule, validated: bool) -> str:
    """Return why the alternation has come to its end, or an empty string."""
    if validated:
        errors = record.history["validation_error"]
        waited = record.n_iter - int(np.argmin(errors))
        if waited >= schedule.patience:
            return "validation"
    # At fixed mu the penalised objective converges; with rising mu the nested one does.
    name = "penalized_objective" if schedule.mu_factor == 1 else "nested_objective"
    values = record.history[name]
    if len(values) < 3:
        return ""
    changes = np.abs(np.diff(values[-3:]))
    return "converged" if (changes <= schedule.tol * abs(values[-1])).all() else ""
