"""What the figures share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supred.plotting.style import COLORS, MARKERS

# Classes are told apart up to this many.
N_COLORS = len(COLORS)


def panels(n_rows: int, n_columns: int, size: tuple[float, float] = (3.2, 3.0)) -> tuple[Any, Any]:
    """Return a figure and a two-dimensional array of axes."""
    import matplotlib.pyplot as plt

    return plt.subplots(
        n_rows,
        n_columns,
        figsize=(size[0] * n_columns, size[1] * n_rows),
        squeeze=False,
        layout="constrained",
    )


def save(figure: Any, path: Path) -> None:
    """Write the figure and let it go."""
    import matplotlib.pyplot as plt

    figure.savefig(path, dpi=120)
    plt.close(figure)


def scatter(ax: Any, Z: np.ndarray, y: np.ndarray, title: str = "", size: float = 6) -> None:
    """Draw rows in two dimensions, coloured by class, without ticks."""
    for k, label in enumerate(np.unique(y)):
        rows = y == label
        ax.scatter(
            Z[rows, 0],
            Z[rows, 1],
            s=size,
            color=COLORS[k % N_COLORS],
            marker=MARKERS[(k + k // N_COLORS) % len(MARKERS)],
            alpha=0.7,
            linewidths=0,
            label=str(label),
        )
    ax.set_title(title, fontsize=9)
    ax.set_xticks([])
    ax.set_yticks([])


def dots(ax: Any, found: Mapping[str, Sequence[float]]) -> None:
    """Draw one column per method: a dot for each draw, a line for their mean."""
    for k, values in enumerate(found.values()):
        ax.scatter([k] * len(values), values, color=COLORS[0], s=18, alpha=0.7)
        ax.plot([k - 0.2, k + 0.2], [np.mean(values)] * 2, color="k")
    labels = [name.replace(" + ", "\n+ ").replace(" with", "\nwith") for name in found]
    ax.set_xticks(range(len(labels)), labels, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)


def curves(
    ax: Any,
    x: Sequence[float],
    lines: Mapping[str, Sequence[Sequence[float]]],
    *,
    xlabel: str,
    ylabel: str,
    bars: str = "deviation",
) -> None:
    """Draw a line per method: the mean over the draws, with bars.

    Parameters
    ----------
    ax : matplotlib Axes
    x : sequence of float
    lines : mapping of str to nested sequences
        For each method, the values of the draws at each x.
    xlabel, ylabel : str
    bars : {"deviation", "error"}
        One standard deviation of the draws, or the standard error of their mean.
    """
    for k, (name, draws) in enumerate(lines.items()):
        mean = [float(np.mean(v)) if len(v) else np.nan for v in draws]
        spread = [float(np.std(v, ddof=1)) if len(v) > 1 else 0.0 for v in draws]
        if bars == "error":
            spread = [s / np.sqrt(max(len(v), 1)) for s, v in zip(spread, draws, strict=True)]
        ax.errorbar(
            x,
            mean,
            yerr=spread,
            color=COLORS[k % N_COLORS],
            marker=MARKERS[k % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
            capsize=2,
            label=name,
        )
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
