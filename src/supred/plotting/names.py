"""Names of classes written into a picture, none upon another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from supred.plotting.style import shown_name

# Where a name may go, in its own widths and heights, the best place first.
STEPS = (
    (0, 0), (0, 1), (0, -1), (0, 2), (0, -2), (0.6, 1), (-0.6, 1), (0.6, -1), (-0.6, -1),
    (1.1, 0), (-1.1, 0), (0, 3), (0, -3),
)  # fmt: skip


def class_places(Z: np.ndarray, y: np.ndarray, classes: Sequence[Any]) -> dict[int, np.ndarray]:
    """Return where each class that has rows lies: of its rows the one nearest to their medians.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, 2)
    y : ndarray of shape (n_rows,)
    classes : sequence of labels

    Returns
    -------
    places : dict of position in `classes` to coordinates
    """
    places = {}
    for k, label in enumerate(classes):
        rows = Z[y == label]
        if len(rows):
            spread = np.maximum(Z.std(axis=0), 1e-12)
            distances = (((rows - np.median(rows, axis=0)) / spread) ** 2).sum(axis=1)
            places[k] = rows[np.argmin(distances)]
    return places


def write_names(ax: Any, places: dict[int, np.ndarray], classes: Sequence[Any]) -> list[Any]:
    """Write the names of the classes at their places; one that finds no room is left out.

    Call it when the limits of the axes are set.

    Parameters
    ----------
    ax : matplotlib Axes
    places : dict
        As `class_places` returns it.
    classes : sequence of labels
    """
    from matplotlib.patheffects import withStroke

    ax.figure.draw_without_rendering()  # the layout decides how large the axes are
    size = "medium" if len(places) <= 12 else "small" if len(places) <= 40 else "x-small"
    halo = [withStroke(linewidth=2.5, foreground="white")]
    taken: list[Any] = []
    written = []
    to_data = ax.transData.inverted()
    for k, place in places.items():
        text = ax.text(
            *place, shown_name(classes[k]), ha="center", va="center", fontsize=size,
            weight="bold", path_effects=halo, zorder=6,
        )  # fmt: skip
        box = text.get_window_extent()
        for across, up in STEPS:
            moved = box.translated(across * box.width, up * box.height)
            if not any(moved.overlaps(other) for other in taken):
                middle = ((moved.x0 + moved.x1) / 2, (moved.y0 + moved.y1) / 2)
                text.set_position(to_data.transform(middle))
                taken.append(moved)
                written.append(text)
                break
        else:
            text.remove()
    return written
