"""Checks of what a model from a file holds for other methods than predictions."""

from typing import Any

import numpy as np
from scipy import sparse

from supred import CategorySpace, ClassConstrainedEmbedding, RBFNetClassifier
from supred.category_space.settings import Settings
from supred.common.arguments import all_finite, check_integer
from supred.numerics.latent_maps import LinearMap

HISTORIES = ("history_", "choices_", "path_")
MOST_IN_HISTORY = 1e150
# What a trade-off of sizes and errors is drawn of.
PATH = ("n_centers", "validation_error", "standard_error", "bytes")


def check_parts(estimator: Any) -> None:
    """Raise an error if a part of a model is not as `fit` leaves it.

    Predictions, which are tried, do not use these parts; training further, pruning, certificates,
    suggestions and pictures do.

    Parameters
    ----------
    estimator : estimator of supred
        As the reader of a file has put it together.
    """
    for name in HISTORIES:
        _check_history(name, getattr(estimator, name, {}))
    if isinstance(estimator, RBFNetClassifier):
        _check_networks(estimator)
    elif isinstance(estimator, CategorySpace):
        _check_axes(estimator)
    elif isinstance(estimator, ClassConstrainedEmbedding):
        _check_graph(estimator)


def _check_history(name: str, history: Any) -> None:
    require(isinstance(history, dict), name)
    for column, values in history.items():
        require(isinstance(column, str), name)
        require(isinstance(values, np.ndarray) and values.ndim == 1, name)
        require(values.dtype.kind in "iuf" or name == "choices_", name)
        if values.dtype.kind == "f":  # beyond, a picture of them overflows
            require(np.abs(values[np.isfinite(values)]).max(initial=0) <= MOST_IN_HISTORY, name)
    if name == "path_" and history:
        require(len({len(history[column]) for column in PATH}) == 1, name)


def _check_networks(model: RBFNetClassifier) -> None:
    """Check what a fit goes on from."""
    fitted = model._fitted()
    require(isinstance(fitted.chosen, dict), "chosen_")
    require(_is_number(fitted.chosen["noise"]), "chosen_")
    width = fitted.chosen["width"]  # NaN where the start has none
    require(_is_number(width) or (isinstance(width, float) and np.isnan(width)), "chosen_")
    require(isinstance(fitted.scales, tuple), "_scales")
    for stage, scales in zip(fitted.stages, fitted.scales, strict=True):
        check_numbers("_scales", scales, stage.shift.shape)
        require((scales > 0).all(), "_scales")
    with np.errstate(all="ignore"):
        for k in range(len(fitted.stages)):
            fitted.network(k, scores=k == len(fitted.stages) - 1)


def _check_axes(model: CategorySpace) -> None:
    """Check what a certificate and the way back to the rows are made of."""
    parameters = model._fit_parameters
    Settings(**parameters).check()
    linear = isinstance(model._map, LinearMap)
    require((parameters["kernel"] == "linear") == linear, "_fit_parameters")
    require(model.alpha_ is None or _is_number(model.alpha_), "alpha_")
    if linear:
        shape = (len(model.classes_), model.n_features_in_)
        check_numbers("_inverse_components", model._inverse_components, shape)


def _check_graph(model: ClassConstrainedEmbedding) -> None:
    """Check the graph of the training rows, and how their labels are tied to it."""
    n_rows = len(model.embedding_)
    require(_is_number(model.beta_) and model.beta_ > 0, "beta_")
    check_integer("n_neighbors_", model.n_neighbors_, low=1)
    epsilon = model.epsilon_
    require(epsilon is None or (_is_number(epsilon) and epsilon > 0), "epsilon_")
    for name, n_heads in (("_distances", n_rows), ("_ties", len(model.classes_))):
        graph = getattr(model, name)
        require(sparse.issparse(graph) and graph.shape == (n_heads, n_rows), name)
        require(graph.dtype.kind == "f" and (graph.data >= 0).all(), name)


def check_numbers(name: str, values: Any, shape: tuple[int, ...]) -> None:
    """Raise a ValueError if a part is not an array of finite numbers of that shape."""
    require(isinstance(values, np.ndarray) and values.dtype.kind == "f", name)
    require(values.shape == shape and all_finite(values), name)


def _is_number(value: Any) -> bool:
    """Tell whether a value is a finite number of at least zero."""
    number = isinstance(value, int | float | np.integer | np.floating)
    largest = float(np.finfo(float).max)  # whole numbers of a file may be larger
    return bool(number and not isinstance(value, bool) and 0 <= value <= largest)


def require(holds: Any, what: str) -> None:
    """Raise a ValueError that says what is not as it must be."""
    if not holds:
        raise ValueError(f"{what}" if " " in what else f"what it says of {what}")
