"""A picture of what accuracy costs."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from supred.common.arguments import check_choice
from supred.common.labels import one_label_per_row
from supred.plotting.style import EDGE, class_style, new_axes, plain, shown_name

# against what -> name of the axis
LABELS = {"bytes": "model size (bytes)", "seconds": "prediction time (s)"}
REPEATS = 3


@dataclass(kw_only=True, eq=False, repr=False)
class TradeOffDisplay:
    """Error of several methods against their model size or prediction time.

    A method is worth its cost if no other is both as small and as accurate; a line joins these.

    Parameters
    ----------
    names : sequence of str
    errors : array-like of shape (n_methods,)
        Share of rows misclassified.
    costs : array-like of shape (n_methods,)
        Positive: bytes or seconds.
    spreads : array-like of shape (n_methods,), optional
        Drawn as error bars.
    against : {"bytes", "seconds"}, default="bytes"
        What the costs are.

    Attributes
    ----------
    front_ : ndarray of int
        The methods that are worth their cost, the cheapest first.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    supred.RBFNetClassifier : With ``n_centers="auto"`` it has a path of sizes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from supred.plotting import TradeOffDisplay
    >>> display = TradeOffDisplay(
    ...     names=["small", "large", "poor"], errors=[0.05, 0.02, 0.08], costs=[1e3, 1e5, 1e4]
    ... ).plot()
    >>> display.front_.tolist()
    [0, 1]
    """

    names: Sequence[str]
    errors: Any
    costs: Any
    spreads: Any = None
    against: str = "bytes"

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        *,
        X: Any,
        y: Any,
        against: str = "bytes",
        ax: Any = None,
    ) -> "TradeOffDisplay":
        """Measure fitted estimators on held-out rows and plot them.

        Parameters
        ----------
        estimators : mapping of str to fitted classifier
        X, y : array-like
            Rows that none of them was trained on, and their labels.
        against : {"bytes", "seconds"}, default="bytes"
            Size of the model (its ``model_size_``, else of its pickle) or time to predict `X`
            (the shortest of three).
        ax : matplotlib Axes, optional
        """
        check_choice("against", against, tuple(LABELS))
        _check_methods("estimators", estimators)
        errors, costs = [], []
        for name, estimator in estimators.items():
            if not hasattr(estimator, "predict"):
                raise ValueError(
                    f"estimators[{name!r}]={estimator!r} has no predict; give a fitted classifier."
                )
            seconds = []
            for _ in range(REPEATS):
                began = perf_counter()
                predicted = estimator.predict(X)
                seconds.append(perf_counter() - began)
            errors.append(np.mean(predicted != one_label_per_row("y", y, np.shape(predicted))))
            costs.append(model_bytes(estimator) if against == "bytes" else min(seconds))
        return cls(names=list(estimators), errors=errors, costs=costs, against=against).plot(ax=ax)

    @classmethod
    def from_path(cls, estimator: Any, *, ax: Any = None) -> "TradeOffDisplay":
        """Plot the models that ``RBFNetClassifier(n_centers="auto")`` tried, each by its size.

        Parameters
        ----------
        estimator : fitted RBFNetClassifier, or a pipeline that ends with one
        ax : matplotlib Axes, optional
        """
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        path = getattr(last, "path_", None)
        if path is None:
            raise ValueError(
                f"{type(last).__name__} has no path_; fit RBFNetClassifier with n_centers='auto'."
            )
        return cls(
            names=[f"{size}" for size in path["n_centers"]],
            errors=path["validation_error"],
            costs=path["bytes"],
            spreads=path["standard_error"],
        ).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        *,
        y: Any,
        predictions: Mapping[str, Any],
        costs: Mapping[str, float],
        against: str = "bytes",
        ax: Any = None,
    ) -> "TradeOffDisplay":
        """Plot predictions that are at hand.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            True labels.
        predictions : mapping of str to array-like
            Predicted labels of each method.
        costs : mapping of str to float
            Bytes or seconds of the same methods.
        against : {"bytes", "seconds"}, default="bytes"
        ax : matplotlib Axes, optional
        """
        _check_methods("predictions", predictions)
        _check_methods("costs", costs, least=0)
        missing = sorted(set(predictions) - set(costs))
        if missing:
            raise ValueError(f"costs has no entry for {missing}; give one for each prediction.")
        y = np.asarray(y)
        return cls(
            names=list(predictions),
            errors=[
                np.mean(one_label_per_row(f"predictions[{name!r}]", p, y.shape) != y)
                for name, p in predictions.items()
            ],
            costs=[costs[name] for name in predictions],
            against=against,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "TradeOffDisplay":
        """Draw the methods.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        check_choice("against", self.against, tuple(LABELS))
        percent, costs = 100 * np.asarray(self.errors, float), np.asarray(self.costs, float)
        if not len(self.names) == len(percent) == len(costs):
            raise ValueError(
                f"names, errors and costs must be of one length, got {len(self.names)}, "
                f"{len(percent)} and {len(costs)}."
            )
        if not (costs > 0).all():
            raise ValueError("costs must be positive: their axis is logarithmic.")
        ax = new_axes(ax, size=(6.5, 4.5))
        self.front_ = pareto_front(percent, costs)
        ax.plot(costs[self.front_], percent[self.front_], color=EDGE, lw=0.8, zorder=1)
        for k, name in enumerate(self.names):
            color, marker = class_style(k)
            ax.errorbar(
                costs[k],
                percent[k],
                yerr=None if self.spreads is None else 100 * self.spreads[k],
                color=color,
                ecolor=EDGE,
                elinewidth=0.8,
                marker=marker,
                markersize=8,
                markeredgecolor=EDGE,
                markeredgewidth=0.5,
                capsize=2,
                ls="none",
            )
            ax.annotate(
                shown_name(name),
                (costs[k], percent[k]),
                xytext=(7, 5),
                textcoords="offset points",
                weight="bold" if k in self.front_ else "normal",
            )
        ax.set_xscale("log")
        ax.margins(x=0.2, y=0.15)
        ax.set_ylim(bottom=min(0, -0.03 * percent.max()))
        if costs.max() > 5 * costs.min():
            ax.xaxis.set_minor_formatter("")
        ax.set_xlabel(LABELS[self.against])
        ax.set_ylabel("held-out error (%)")
        plain(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def pareto_front(errors: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return the methods that no other beats in both error and cost, the cheapest first."""
    order = np.lexsort((errors, costs))
    front, best = [], np.inf
    for k in order:
        if errors[k] < best:
            front.append(k)
            best = errors[k]
    return np.array(front, dtype=int)


def model_bytes(fitted: Any) -> int:
    """Return the size of what a fitted estimator keeps: its ``model_size_``, else its pickle."""
    last = fitted[-1] if hasattr(fitted, "steps") else fitted
    size = getattr(last, "model_size_", None)
    return int(size.bytes) if size is not None else len(pickle.dumps(fitted))


def _check_methods(name: str, values: Any, *, least: int = 1) -> None:
    """Raise a ValueError if this is not something for each of so many methods or more."""
    if not isinstance(values, Mapping) or len(values) < least:
        raise ValueError(f"{name}={values!r}: give a dict of one or more methods by name.")
