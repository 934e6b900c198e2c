"""Smaller models from larger ones: n_centers="auto" and `LowDimSVC.prune`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from supred.base.validation import check_weights
from supred.common.arguments import check_integer
from supred.low_dim_svm.mappings.basis import RBFMapping
from supred.rbf_net.pruning import prune_basis
from supred.rbf_net.refinement import Network

if TYPE_CHECKING:
    from supred.rbf_net.learning import Descent

# Each model of the path has this share of the centres of the one before, and as many steps to
# settle as this share of a fit's.
SHRINK = 0.7
SETTLE = 0.3
# The path ends when the error is this many standard errors above the best.
GIVE_UP = 3.0


def without_some(task: "Descent", net: Network, n_keep: int) -> Network:
    """Return the network with the centres that it can spare taken away."""
    phi, weights = task.some_features(net)
    found = prune_basis(phi, weights, net.W, net.coef, n_keep)
    return replace(
        net,
        centers=net.centers[found.kept],
        log_gammas=net.log_gammas[found.kept],
        W=found.W,
        w0=net.w0 + found.shift,
    ).astype(np.float32)


def shrink(task: "Descent", rng: np.random.RandomState) -> None:
    """Take centres away step by step; keep the smallest model within one standard error.

    The standard error is that of the least validation error on the path.
    """
    assert task.result is not None
    results = [task.result]
    if task.held_out is None:
        record_path(task, results, np.array([np.nan]), 0.0)
        return
    while True:
        errors = np.array([result.merit for result in results])
        best = float(errors.min())
        spread = task.standard_error(best)
        size = len(results[-1].network.W)
        smaller = int(size * SHRINK)
        if smaller < 1 or errors[-1] > best + GIVE_UP * spread:
            break
        net = without_some(task, results[-1].network, smaller)
        results.append(task.run(net, rng, share=SETTLE))
    task.result = results[int(np.flatnonzero(errors <= best + spread)[-1])]
    record_path(task, results, errors, spread)


def record_path(task: "Descent", results: list[Any], errors: np.ndarray, spread: float) -> None:
    """Give the model its `path_`, the smallest first."""
    task.model.path_ = {
        "n_centers": np.array([len(result.network.W) for result in results])[::-1],
        "validation_error": errors[::-1],
        "standard_error": np.full(len(results), spread),
        "bytes": np.array([task.n_bytes(result.network) for result in results])[::-1],
    }


def pruned(
    model: Any,
    X: Any,
    y: Any,
    n_centers: int,
    sample_weight: Any,
    X_val: Any,
    y_val: Any,
    sample_weight_val: Any,
) -> Any:
    """Return a smaller model than the fitted one; see `LowDimSVC.prune`."""
    if not isinstance(model.mapping_, RBFMapping):
        raise ValueError(f"prune: mapping={model.mapping!r} has no centres to take away.")
    size = model.mapping_.n_basis
    check_integer("n_centers", n_centers, low=1, high=size, why="the centres that there are")
    validation = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
    if not (isinstance(model.centers, str) and model.centers == "learned"):
        chosen = _centers_worth_keeping(model, X, n_centers, sample_weight)
        smaller = clone(model).set_params(centers=chosen, n_centers=None, gamma=model.gamma_)
        return smaller.fit(X, y, sample_weight, **validation)
    if not np.array_equal(np.unique(y), model.classes_):
        raise ValueError(
            f"prune: y holds the classes {np.unique(y).tolist()}, but the model was trained on "
            f"{model.classes_.tolist()}; give rows of the same classes."
        )
    smaller = clone(model).set_params(n_centers=n_centers)
    smaller._smaller_of = model
    try:
        return smaller.fit(X, y, sample_weight, **validation)
    finally:
        del smaller._smaller_of


def _centers_worth_keeping(model: Any, X: Any, n_centers: int, sample_weight: Any) -> np.ndarray:
    """Return the fixed centres that a smaller model should have."""
    X = validate_data(model, X, reset=False, **model._input_options)
    weights = check_weights(sample_weight, None, np.zeros(X.shape[0], int), np.array([0]))
    rng = check_random_state(model.random_state)
    some = np.sort(rng.permutation(X.shape[0])[: max(10_000, 20 * model.mapping_.n_basis)])
    phi = model.mapping_.features(X[some])
    found = prune_basis(phi, weights[some], model.mapping_.W, model.coef_, n_centers)
    return model.mapping_.centers[found.kept]
