"""The parameters and the record of ClassConstrainedEmbedding."""

from typing import Any

import numpy as np

from supred.class_embedding.eigenvectors import METHODS
from supred.common.arguments import check_choice, check_integer, check_real


def check_parameters(model: Any) -> None:
    """Raise a ValueError that names the first parameter that is out of range."""
    if model.n_components is not None:
        check_integer("n_components", model.n_components, low=1)
    check_integer("n_neighbors", model.n_neighbors, low=1)
    for name in ("epsilon", "beta"):
        value = getattr(model, name)
        if isinstance(value, str):
            check_choice(name, value, ("auto",))
        else:
            check_real(name, value, low=0.0, low_inclusive=False, high=np.finfo(float).max)
    check_choice("affinity", model.affinity, ("nearest_neighbors", "precomputed"))
    check_choice("eigen_solver", model.eigen_solver, ("auto", *METHODS))
    check_real("alpha", model.alpha, low=0.0)
    check_real("tol", model.tol, low=0.0)
    if model.max_iter is not None:
        check_integer("max_iter", model.max_iter, low=1)


def as_columns(entries: list[dict[str, float]]) -> dict[str, np.ndarray]:
    """Return the record of a fit, one array per column, NaN where an entry has no value.

    Examples
    --------
    >>> from supred.class_embedding.parameters import as_columns
    >>> as_columns([{"beta": 0.1, "error": 0.5}, {"beta": 0.1, "residual": 0.0}])["error"]
    array([0.5, nan])
    """
    names = dict.fromkeys(name for entry in entries for name in entry)
    return {name: np.array([entry.get(name, np.nan) for entry in entries]) for name in names}
