"""The method of auxiliary coordinates: alternate over coordinates, classifier and mapping.

Each row has coordinates z_n that take the place of F(x_n) inside the classifier. For a penalty mu

    penalty(F) + objective of g on Z + mu/2 sum_n s_n ||z_n - F(x_n)||^2

is minimised over Z, g and F in turn, and mu is raised.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from supred.base.state import register
from supred.low_dim_svm.g_step import Classifier, Parameters
from supred.low_dim_svm.losses import Loss
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.starts import Start, place
from supred.low_dim_svm.visit import (
    Coordinates,
    Moves,
    Worth,
    class_weights_of,
    worth_visit,
    z_visit,
)
from supred.rows.values import RowValues

HISTORY = (
    "mu",
    "penalized_objective",
    "nested_objective",
    "train_error",
    "validation_error",
    "gap",
    "seconds",
)

# From this tol on the training error may tell that the alternation has converged.
COARSE_TOL = 1e-2
# From this part of the nested objective on, which it rises to as mu grows, the penalised one tells
# that coordinates and mapping agree.
AGREED = 0.9

History = dict[str, list[float]]
# Called with the number of an iteration, its entry of the history and the classifier.
OnIteration = Callable[[int, dict[str, float], Parameters], bool]


@dataclass(frozen=True)
class Schedule:
    """How mu grows and when the alternation ends.

    Attributes
    ----------
    mu : float
        The first penalty.
    mu_factor : float
        What mu is multiplied by when it grows; 1 keeps it fixed.
    inner_tol : float or None
        mu grows once an iteration changes the penalised objective by at most this, relatively:
        Algorithm 1 of the paper. None raises it after every iteration.
    max_iter : int
        Most iterations, over all values of mu.
    enough : int or None
        Iterations after which it ends in any case, because more would gain nothing.
    little_error : float or None
        Training error, the start's not counted, at which it ends because there is little left to
        gain.
    tol : float
        Relative change of the objective under which the alternation has converged, once the
        penalised objective has come near the nested one. If mu grows in every iteration and `tol`
        is 0.01 or more, it has also converged when two iterations in a row leave the training
        error as it was.
    patience : int
        Iterations (values of mu with `inner_tol`) without a better validation error after which
        it ends.
    """

    mu: float = 2.0
    mu_factor: float = 1.5
    inner_tol: float | None = None
    max_iter: int = 50
    enough: int | None = None
    little_error: float | None = None
    tol: float = 1e-2
    patience: int = 5

    def grows_after(self, history: History) -> bool:
        """Tell whether mu grows after the last iteration, the start not counted."""
        if len(history["mu"]) < 2:
            return False
        if self.inner_tol is None:
            return True
        before, now = history["penalized_objective"][-2:]
        same_mu = history["mu"][-2] == history["mu"][-1]
        return same_mu and abs(now - before) <= self.inner_tol * abs(now)

    def stopping_reason(self, history: History, *, validated: bool) -> str:
        """Return why the alternation has come to its end, or an empty string."""
        n_iter, error = len(history["mu"]) - 1, history["train_error"][-1]
        if self.enough is not None and n_iter >= self.enough:
            return "completed"
        if self.little_error is not None and n_iter and error <= self.little_error:
            return "completed"
        # Of each value of mu the last iteration counts; without an inner loop that is each.
        mu = np.array(history["mu"])
        ends = np.arange(len(mu))
        if self.inner_tol is not None and self.mu_factor > 1:
            if not self.grows_after(history):
                return ""
            ends = np.flatnonzero(np.append(mu[1:] != mu[:-1], True))
        if validated:
            errors = np.array(history["validation_error"])[ends]
            if len(errors) - 1 - int(np.argmin(errors)) >= self.patience:
                return "validation"
        # At fixed mu the penalised objective converges; with rising mu the nested one does.
        name = "penalized_objective" if self.mu_factor == 1 else "nested_objective"
        values = np.array(history[name])[ends]
        if len(values) < 3:
            return ""
        changes = np.abs(np.diff(values[-3:]))
        # While mu is small the objective may pause: coordinates and mapping do not agree yet.
        agreed = history["penalized_objective"][-1] >= AGREED * values[-1]
        if (changes <= self.tol * abs(values[-1])).all() and agreed:
            return "converged"
        # Where the training error stays, further iterations only widen margins.
        latest = history["train_error"][-3:]
        settled = self.inner_tol is None and self.mu_factor > 1 and self.tol >= COARSE_TOL
        return "converged" if settled and not np.ptp(latest) and not validated else ""


@dataclass(frozen=True)
class Result:
    """What the alternation found.

    Attributes
    ----------
    mapping : Mapping
        F of the iterate that was kept.
    coef, intercept : ndarrays
        g of the same.
    history : dict of ndarrays
        One entry per iteration, the start first: mu, objectives, errors, the largest relative
        duality gap of the SVMs, seconds.
    best_iter : int
        The iteration that was kept.
    n_iter : int
        Iterations done.
    stopping_reason : str
        "converged", "completed", "validation", "max_iter" or "callback".
    """

    mapping: Mapping
    coef: np.ndarray
    intercept: np.ndarray
    history: dict[str, np.ndarray]
    best_iter: int
    n_iter: int
    stopping_reason: str


@register
@dataclass(frozen=True)
class State:
    """All that the next iteration depends on, beside the training rows.

    The coordinates of the rows are not part of it: they follow from the parameters.

    Attributes
    ----------
    mu : float
        The next iteration's penalty.
    mapping : dict
        What training has changed in it.
    classifier : tuple of ndarrays
        Weights and biases of g.
    best : tuple of float
        Merit of the best iterate.
    best_iter : int
    kept : tuple
        The best iterate: parameters of the mapping and of the classifier.
    history : dict of ndarrays
        Of the iterations that were done.
    """

    mu: float
    mapping: dict[str, Any]
    classifier: Parameters
    best: tuple[float, float]
    best_iter: int
    kept: tuple[Any, Parameters]
    history: dict[str, np.ndarray]


def alternate(
    mapping: Mapping,
    loss: Loss,
    rows: RowValues,
    start: Start | None,
    schedule: Schedule,
    *,
    validation_error: Callable[[Parameters], float] | None = None,
    on_iteration: OnIteration | None = None,
    resume: State | None = None,
    save: Callable[[State], None] | None = None,
) -> Result:
    """Train the mapping and the classifier together; the mapping ends at the best iterate.

    Parameters
    ----------
    mapping : Mapping
        F, prepared with the training rows.
    loss : Loss
        g.
    rows : RowValues
        A :class:`supred.low_dim_svm.visit.BlockRows` for each block of the mapping's rows.
    start : Start or None
        The coordinates to start from; None if the fit is resumed.
    schedule : Schedule
    validation_error : callable, optional
        Error of the mapping and of the classifier that it is given on held-out rows. With it
        the iterate with the least validation error is kept and the alternation ends when it stops
        falling; without it the iterate with the least nested objective is kept.
    on_iteration : callable, optional
        Called after each iteration with its number, the new entry of the history and the weights
        and biases of g; True ends the alternation.
    resume : State, optional
        Go on from here, not from `start`.
    save : callable, optional
        Called with the state after each iteration but the last.

    Returns
    -------
    Result
    """
    began = perf_counter()
    class_weights = rows.sum(class_weights_of, loss.n_classes)
    history: History = {name: [] for name in HISTORY}
    mu, best, best_iter, kept = schedule.mu, (np.inf, np.inf), 0, None
    if resume is None:
        assert start is not None
        coordinates = place(start, mapping, rows, class_weights)
        classifier = loss.g_step(start.merged(coordinates, class_weights), start.n_components, None)
        distance = mapping.regress(coordinates, mu)
    else:
        mu, best, best_iter = resume.mu, resume.best, resume.best_iter
        kept = resume.kept
        history = {name: resume.history[name].tolist() for name in HISTORY}
        began -= history["seconds"][-1]
        mapping.resume_training(resume.mapping)
        classifier = Classifier(resume.classifier, np.nan)
        coordinates, _ = z_step(mapping, loss, rows, classifier.parameters, mu)

    reason = "max_iter"
    for iteration in range(len(history["mu"]), schedule.max_iter + 1):
        if iteration:
            n_components = len(coordinates.moves.total)
            known = classifier.parameters, coordinates.looks
            classifier = loss.g_step(coordinates.blocks, n_components, *known)
            distance = mapping.regress(coordinates, mu)  # the f step
        parameters = classifier.parameters
        penalty = mapping.penalty()
        history["mu"].append(mu)
        history["penalized_objective"].append(penalty + classifier.objective + 0.5 * mu * distance)
        if schedule.grows_after(history):
            mu *= schedule.mu_factor
        # One visit to the rows: what this iterate is worth there, and the next z step.
        last = iteration in (schedule.max_iter, schedule.enough)
        coordinates, worth = z_step(mapping, loss, rows, parameters, None if last else mu)
        values = {
            "mu": history["mu"][-1],
            "penalized_objective": history["penalized_objective"][-1],
            "nested_objective": penalty + squared_norm(parameters) + worth.loss,
            "train_error": worth.wrong / class_weights.sum(),
            "validation_error": validation_error(parameters) if validation_error else np.nan,
            "gap": classifier.gap,
            "seconds": perf_counter() - began,
        }
        for name in HISTORY[2:]:
            history[name].append(values[name])
        first = "validation_error" if validation_error else "nested_objective"
        merit = (values[first], values["nested_objective"])
        if kept is None or merit < best:
            best, best_iter = merit, iteration
            kept = mapping.snapshot(), parameters
        asked_to_stop = on_iteration is not None and on_iteration(iteration, values, parameters)
        found = schedule.stopping_reason(history, validated=validation_error is not None)
        if found or asked_to_stop:
            reason = found or "callback"
            break
        if save is not None and not last:
            state = mapping.training_state()
            save(State(mu, state, parameters, best, best_iter, kept, columns_of(history)))
    assert kept is not None
    mapping.restore(kept[0])
    n_iter = len(history["mu"]) - 1
    return Result(mapping, *kept[1], columns_of(history), best_iter, n_iter, reason)


def columns_of(history: History) -> dict[str, np.ndarray]:
    """Return the history with an array in the place of each list."""
    return {name: np.array(column, dtype=float) for name, column in history.items()}


def z_step(
    mapping: Mapping, loss: Loss, rows: RowValues, classifier: Parameters, mu: float | None
) -> tuple[Coordinates, Worth]:
    """Visit the rows: F, its worth, and argmin over z of ``mu/2 ||z - F||^2 + loss`` of each row.

    Without mu no z step is done, and the coordinates are not defined.
    """
    project = mapping.projection()
    if mu is None:
        blocks, worth = rows.visit(worth_visit, project, loss, classifier)
        return Coordinates(blocks, Moves(None, np.empty(0), np.nan)), worth
    visit = (project, mapping.multiply, loss, classifier, mu)
    blocks, (worth, moves, looks) = rows.visit(z_visit, *visit)
    return Coordinates(blocks, moves, looks), worth


def squared_norm(parameters: Parameters) -> float:
    """Return ``1/2 sum_k ||w_k||^2``, the regulariser of g."""
    return 0.5 * float(np.square(parameters[0]).sum())
