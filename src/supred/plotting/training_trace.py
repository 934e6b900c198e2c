"""A picture of how training went."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from supred.plotting.style import COLORS, EDGE, plain

# What is drawn together: name of the panel, its columns, whether its axis may be logarithmic.
PANELS = (
    ("objective", ("penalized_objective", "nested_objective", "objective"), True),
    ("error", ("train_error", "validation_error"), False),
    ("mu", ("mu",), True),
    ("residual", ("residual",), True),
    ("width", ("width",), False),
)
LINES = ("-", "--", ":", "-.")


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingTraceDisplay:
    """Objective, errors and mu over the iterations of a fit, one panel for each.

    Parameters
    ----------
    history : dict of array-like
        As ``history_`` of the estimators: one entry per iteration, the start first.
    best_iter : int, optional
        The iteration whose model was kept; marked by a line.
    title : str, optional

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One for each panel, from the top.
    ax_ : matplotlib Axes
        The uppermost panel.
    figure_ : matplotlib Figure

    See Also
    --------
    supred.LowDimSVC : The estimator whose history it draws.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.plotting import TrainingTraceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    >>> display = TrainingTraceDisplay.from_estimator(model)
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['objective', 'error (%)', 'mu']
    """

    history: Mapping[str, Any]
    best_iter: int | None = None
    title: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, title: str | None = None, ax: Any = None
    ) -> "TrainingTraceDisplay":
        """Plot the training of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with a dict ``history_``, or Pipeline that ends with one
        title : str, optional
        ax : matplotlib Axes, optional
            Its place is divided between the panels.
        """
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        history = getattr(last, "history_", None)
        if not isinstance(history, Mapping):
            raise ValueError(
                f"estimator={type(last).__name__} has no trace of iterations in history_; "
                "it must be fitted, and its method iterative."
            )
        best = getattr(last, "best_iter_", None)
        return cls(history=history, best_iter=best, title=title).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "TrainingTraceDisplay":
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Its place is divided between the panels.
        """
        panels = trace_panels(self.history)
        if not panels:
            raise ValueError(
                f"history has no column to draw: found {sorted(self.history)}, "
                f"need one of {sorted(name for _, names, _ in PANELS for name in names)}."
            )
        self.axes_ = _divide(ax, len(panels))
        for panel, (name, columns, logarithmic) in zip(self.axes_, panels, strict=True):
            _draw_panel(panel, name, columns, logarithmic=logarithmic)
            if self.best_iter is not None:
                label = "iterate kept" if panel is self.axes_[0] else None
                panel.axvline(self.best_iter, color=EDGE, lw=0.8, ls=":", label=label)
            if len(panel.get_legend_handles_labels()[0]) > 1:
                panel.legend(frameon=False, fontsize="small")
        self.axes_[-1].set_xlabel("iteration")
        if self.title:
            self.axes_[0].set_title(self.title)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return self


def trace_panels(
    history: Mapping[str, Any],
) -> list[tuple[str, dict[str, np.ndarray], bool]]:
    """Return the panels that a history fills: name, columns, whether the axis is logarithmic."""
    found = []
    for name, names, may_be_logarithmic in PANELS:
        columns = {n: np.asarray(history[n], dtype=float) for n in names if n in history}
        columns = {n: v for n, v in columns.items() if v.size and np.isfinite(v).any()}
        if columns:
            values = np.concatenate([v[np.isfinite(v)] for v in columns.values()])
            wide = values.min() > 0 and values.max() > 20 * values.min()
            found.append((name, columns, may_be_logarithmic and wide))
    return found


def _divide(ax: Any, n_panels: int) -> np.ndarray:
    import matplotlib.pyplot as plt

    if ax is None:
        size = (6.5, 1.2 + 1.6 * n_panels)
        _, axes = plt.subplots(
            n_panels, 1, sharex=True, squeeze=False, figsize=size, layout="constrained"
        )
        return axes[:, 0]
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax must be made by subplots: its place is divided between the panels.")
    ax.set_axis_off()
    grid = place.subgridspec(n_panels, 1)
    axes = [ax.figure.add_subplot(grid[0])]
    axes += [ax.figure.add_subplot(grid[i], sharex=axes[0]) for i in range(1, n_panels)]
    for panel in axes[:-1]:
        panel.tick_params(labelbottom=False)
    return np.array(axes)


def _draw_panel(ax: Any, name: str, columns: dict[str, np.ndarray], *, logarithmic: bool) -> None:
    share = name == "error"
    for k, (column, values) in enumerate(columns.items()):
        ax.plot(
            np.arange(len(values)),
            100 * values if share else values,
            color=COLORS[(0, 3, 2)[k % 3]],
            ls=LINES[k % len(LINES)],
            marker="." if len(values) <= 60 else None,
            label=column.replace("_", " "),
        )
    if logarithmic:
        ax.set_yscale("log")
    if share:
        ax.set_ylim(bottom=0)
    ax.set_ylabel("error (%)" if share else name)
    plain(ax)
