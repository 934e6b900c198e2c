"""A fit that was interrupted goes on from its last iteration."""

from typing import Any

import numpy as np

from supred.base.checkpoint import (
    Checkpoint,
    check_path,
    data_identity,
    digest,
    parameters_identity,
)
from supred.low_dim_svm.problem import Problem

# Parameters that do not change the model.
FREE = ("checkpoint", "verbose", "n_jobs", "cache_size")


def make_checkpoint(path: Any, parameters: dict[str, Any], problem: Problem) -> Checkpoint | None:
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
    return Checkpoint(path, "LowDimSVC", identity)
