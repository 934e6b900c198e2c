"""Checks of what a model from a file holds for other methods than predictions."""

from typing import Any

import numpy as np
from scipy import sparse

from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    LowDimSVC,
    LowDimSVCCV,
    RBFNetClassifier,
)
from supred.base.scales import MOST_LATENT
from supred.category_space.settings import Settings
from supred.common.arguments import all_finite, check_integer, largest_magnitude
from supred.numerics.latent_maps import LinearMap

HISTORIES = ("history_", "choices_", "path_")
# Squares of larger numbers overflow, in a picture of them, too.
MOST_IN_HISTORY = 1e150
# A column of rows in their unit has a spread of 2^64 at most, and its inverse as scale.
LEAST_SCALE = 1e-30
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
    best_iter = getattr(estimator, "best_iter_", None)
    if best_iter is not None:
        check_integer("best_iter_", best_iter, low=0)
    if isinstance(estimator, RBFNetClassifier):
        _check_networks(estimator)
    elif isinstance(estimator, CategorySpace):
        _check_axes(estimator)
    elif isinstance(estimator, ClassConstrainedEmbedding):
        _check_graph(estimator)
    elif isinstance(estimator, LowDimSVCCV):
        best = estimator.best_estimator_
        require(type(best) is LowDimSVC, "best_estimator_")
        require(best.row_unit_ == estimator.row_unit_, "best_estimator_")
        require(np.array_equal(best.classes_, estimator.classes_), "best_estimator_")


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
    n_columns = model.n_features_in_
    for stage, scales in zip(fitted.stages, fitted.scales, strict=True):
        n_centers, rank = stage.centers.shape
        columns = (n_columns,)
        check_numbers("shift", stage.shift, columns)
        check_numbers(
            "metric", stage.metric, columns if stage.metric.ndim == 1 else (*columns, rank)
        )
        check_numbers("gammas", stage.gammas, (n_centers,))
        check_numbers("W", stage.W, (n_centers, *stage.w0.shape))
        check_numbers("_scales", scales, columns)
        require((scales >= LEAST_SCALE).all(), "_scales")
        n_columns = len(stage.w0)  # of a map the second network sees what the first makes
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
        most = largest_magnitude(model._inverse_components)
        require(most <= MOST_IN_HISTORY, "_inverse_components")


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
        require(graph.dtype in (np.float64, np.float32) and (graph.data >= 0).all(), name)
    require(largest_magnitude(model.embedding_) <= MOST_LATENT[np.dtype(float)], "embedding_")


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
