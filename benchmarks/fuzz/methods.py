"""Whatever else a fitted model can do: answers that are finite, or a clear refusal."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from benchmarks.fuzz import checks
from benchmarks.fuzz._draws import HEAD, estimator, pick
from benchmarks.fuzz.forms import MORE, rows_and_labels

# Labels that some estimators take: of several kinds at once, and of few rows.
OTHER_LABELS = {
    "CategorySpace": "y = (rng.random((n, 3)) < 0.4).astype(int)",
    "MaxMarginProjection": "y = np.where(rng.random((n, 3)) < 0.4, 1, -1)",
    "ClassConstrainedEmbedding": "y = np.where(rng.random(n) < 0.6, -1, np.arange(n) % 3)",
}
# Rows to predict that are nothing like those of the training.
SCALES = (1e-300, 1e-9, -1.0, 1e9, 1e30, 1e200)


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    lines, model = rows_and_labels(rng), estimator(rng)
    name = model.removeprefix("supred.").split("(")[0]
    weights = "weights"
    if name in OTHER_LABELS and rng.random() < 0.5:
        lines.append(OTHER_LABELS[name])
        weights = "None"
    scale, number = pick(rng, SCALES), int(rng.integers(1, 6))
    call = f"methods.check_methods({model}, X, y, {weights}, scale={scale:g}, number={number})"
    return HEAD + MORE + "\n".join(["from benchmarks.fuzz import methods", *lines, call]) + "\n"


def check_methods(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, scale: float, number: int
) -> None:
    """Fit, and call every method that `checks.usable` does not."""
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    with checks.no_numeric_warnings() if checks.is_finite(X) else nullcontext():
        fitted = _attempt(lambda: clone(estimator).fit(X, y, **options))
        if fitted is None:
            return
        for what, call in _calls(fitted, X, y, options, scale, number):
            _check_finite(_attempt(call), what, X)


def _calls(
    fitted: Any, X: Any, y: Any, options: dict[str, Any], scale: float, number: int
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield names and calls of what the model can do."""
    from supred import export
    from supred.plotting import LatentSpaceDisplay

    Z = fitted.transform(X)
    frames = clone(fitted).set_output(transform="pandas")
    calls: dict[str, Callable[[], Any]] = {
        "score": lambda: fitted.score(X, y),
        "score_latent": lambda: fitted.score_latent(Z),
        "inverse_transform": lambda: fitted.inverse_transform(Z),
        "certificate": lambda: fitted.certificate(X, y),
        "explain": lambda: fitted.explain(X, n_loudest=number, latent=True),
        "prune": lambda: fitted.prune(X, y, n_centers=number, **options),
        "partial_fit": lambda: deepcopy(fitted).partial_fit(X, y, **options),
        "suggest": lambda: fitted.suggest(number),
        "leave_labels_out": lambda: fitted.leave_labels_out(),
        "transform_batch": lambda: fitted.transform_batch(X),
    }
    yield from ((name, call) for name, call in calls.items() if hasattr(fitted, name))
    yield "set_output", lambda: frames.fit_transform(X, y, **options)
    yield "get_feature_names_out", fitted.get_feature_names_out
    yield "repr", lambda: (repr(fitted), fitted._repr_html_())
    yield "to_c", lambda: export.to_c(fitted).text
    yield "to_javascript", lambda: export.to_javascript(fitted)
    yield "to_onnx", lambda: export.to_onnx(fitted).SerializeToString()
    yield "quantisation_errors", lambda: export.quantisation_errors(fitted, X, y)
    yield "plot", lambda: _drawn(LatentSpaceDisplay.from_estimator(fitted, X=X, y=y))
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        with np.errstate(all="ignore"):
            others = X * X.dtype.type(scale)
        yield "other rows", lambda: checks.usable(fitted, others)
    if sparse.issparse(X):
        yield "other rows", lambda: checks.usable(fitted, X * -1.0)


def _attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (ValueError, TypeError) as error:
        checks.refused(error)
        return None


def _drawn(display: Any) -> None:
    import matplotlib.pyplot as plt

    plt.close(display.figure_)


def _check_finite(answer: Any, what: str, X: Any) -> None:
    """Check all numbers in an answer, and that a model works."""
    if isinstance(answer, BaseEstimator):
        checks.usable(answer, X)
    elif hasattr(answer, "to_numpy") or isinstance(answer, np.ndarray | float):
        values = np.asarray(answer)
        assert values.dtype.kind != "f" or np.isfinite(values).all(), f"{what} is not finite"
    elif isinstance(answer, tuple | list):
        for part in answer:
            _check_finite(part, what, X)
    elif is_dataclass(answer):
        for name, part in vars(answer).items():
            _check_finite(part, f"{what}.{name}", X)
