"""A fit that was interrupted goes on from its last iteration."""

from itertools import pairwise
from typing import Any

import numpy as np

from supred.base.checkpoint import (
    Checkpoint,
    check_array,
    check_path,
    data_identity,
    digest,
    is_kept,
    parameters_identity,
)
from supred.common.arguments import check_integer
from supred.low_dim_svm.alternation import HISTORY, State
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.mappings.basis import BasisMapping
from supred.low_dim_svm.problem import Problem
from supred.low_dim_svm.settings import MAX_ITER, Settings, svms_of
from supred.numerics.decisions import task_signs

# Parameters that do not change the model.
FREE = ("checkpoint", "verbose", "n_jobs", "cache_size")


class AlternationCheckpoint(Checkpoint):
    """The state of an alternation in a file; parameters are those of the base class."""

    def save(self, state: State) -> None:
        """Write the state; one that no fit could go on from leaves the file as it is."""
        parts = (*state.mapping["parameters"], *state.classifier, *_finite_history(state))
        if all(map(is_kept, parts)):
            super().save(state)

    def resumed(self, problem: Problem, mapping: Mapping, settings: Settings) -> State | None:
        """Return the state in the file, or None; all of it must be as this fit would write it.

        Parameters
        ----------
        problem : Problem
        mapping : Mapping
            Prepared with the training rows.
        settings : Settings
        """
        state, n_classes = self.state, problem.n_classes
        if state is None:
            return None
        assert isinstance(mapping, BasisMapping)  # `make_checkpoint` refuses others
        n_components = settings.dimensions(n_classes)
        kind = svms_of(settings.multi_class, n_classes, settings.loss)
        n_svms = task_signs(np.arange(n_classes), n_classes, kind).shape[1]
        with self.restoring():
            if not isinstance(state, State):
                raise ValueError(f"its state is a {type(state).__name__}")
            kept_parameters, kept_classifier = state.kept
            for weights, shift in (state.mapping["parameters"], kept_parameters):
                check_array("W", weights, (mapping.n_basis, n_components))
                check_array("w0", shift, (n_components,))
            for coef, intercept in (state.classifier, kept_classifier):
                check_array("coef", coef, (n_svms, n_components))
                check_array("intercept", intercept, (n_svms,))
            _check_history(state, settings, validated=problem.held_out is not None)
        return state


def make_checkpoint(
    path: Any, parameters: dict[str, Any], problem: Problem
) -> AlternationCheckpoint | None:
    """Return the checkpoint of a fit, or None without a path.

    Parameters
    ----------
    path : path or None
    parameters : dict
        Those of the estimator.
    problem : Problem
        Before a part of its rows is split off by chance.
    """
    check_path(path)
    if path is None:
        return None
    if not isinstance(parameters["mapping"], str):
        raise ValueError(
            f"checkpoint={str(path)!r} cannot be combined with mapping={parameters['mapping']!r}; "
            "use mapping='rbf' or 'linear', or leave checkpoint at None."
        )
    identity = parameters_identity(parameters, FREE)
    identity |= data_identity("X", "y", problem.X, problem.class_index, problem.weights)
    identity["classes"] = digest(np.asarray(problem.classes, dtype=str))
    held_out = problem.held_out
    if held_out is not None:
        identity |= data_identity(
            "X_val", "y_val", held_out.X, held_out.class_index, held_out.weights
        )
    return AlternationCheckpoint(path, "LowDimSVC", identity)


def _check_history(state: State, settings: Settings, *, validated: bool) -> None:
    most = MAX_ITER if isinstance(settings.max_iter, str) else settings.max_iter
    n_done = check_integer("its length", len(state.history["mu"]), low=1, high=most)
    for name in HISTORY:
        check_array(name, state.history[name], (n_done,), finite=False)
    for column in _finite_history(state):
        check_array("history", column, (n_done,))
    if validated:
        check_array("validation_error", state.history["validation_error"], (n_done,))
    check_array("best", np.array(state.best), (2,))
    check_integer("best_iter", state.best_iter, low=0, high=n_done - 1)
    # mu stays or grows by its factor, up to rounding
    values = [*state.history["mu"].tolist(), state.mu]
    rises = all(a <= b <= a * settings.mu_factor * 1.0001 for a, b in pairwise(values))
    if not rises or values[0] != settings.mu:
        raise ValueError(f"mu={state.mu!r} does not follow from mu={settings.mu!r}")


def _finite_history(state: State) -> list[np.ndarray]:
    """Return the columns that the rest of the fit rests on; the others may hold NaN."""
    names = ("mu", "penalized_objective", "nested_objective", "train_error", "seconds")
    return [state.history[name] for name in names]
