"""What the pictures of latent spaces draw: rows, and the regions and names of the classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from supred.plotting.latent_model import Regions
from supred.plotting.style import COLORS, EDGE, class_style, marker_size, shown_name

# Above this number of rows a vector file holds the rows as a bitmap.
BITMAP_ROWS = 5_000
# Training rows beside held-out ones: area and opacity.
PALE_SIZE, PALE, FULL = 0.6, 0.3, 0.8
# Where a name may go, in its own widths and heights, the best place first.
STEPS = (
    (0, 0), (0, 1), (0, -1), (0, 2), (0, -2), (0.6, 1), (-0.6, 1), (0.6, -1), (-0.6, -1),
    (1.1, 0), (-1.1, 0), (0, 3), (0, -3),
)  # fmt: skip


def check_mask(held_out: Any, n_rows: int) -> np.ndarray | None:
    """Return which rows were held out, or raise a ValueError."""
    if held_out is None:
        return None
    mask = np.asarray(held_out)
    if mask.dtype != bool or mask.shape != (n_rows,):
        raise ValueError(
            f"held_out must hold True or False for each of the {n_rows} rows, "
            f"got {mask.dtype} of shape {mask.shape}."
        )
    return mask


def draw_rows(
    ax: Any,
    coordinates: Sequence[np.ndarray],
    y: np.ndarray,
    classes: Sequence[Any] | np.ndarray,
    *,
    held_out: np.ndarray | None = None,
    wrong: np.ndarray | None = None,
) -> None:
    """Draw rows with colour and marker of their class.

    Parameters
    ----------
    ax : matplotlib Axes
    coordinates : two or three ndarrays of shape (n_rows,)
    y : ndarray of shape (n_rows,)
    classes : sequence of labels
    held_out : ndarray of bool of shape (n_rows,), optional
        These are drawn full, the others pale.
    wrong : ndarray of bool of shape (n_rows,), optional
        These are circled.
    """
    full = np.ones(len(y), dtype=bool) if held_out is None else held_out
    size = marker_size(int(full.sum()))

    def scatter(rows: np.ndarray, area: float, **options: Any) -> None:
        places = [values[rows] for values in coordinates]
        ax.scatter(*places, s=area, rasterized=len(y) > BITMAP_ROWS, **options)

    for k, label in enumerate(classes):
        look = dict(zip(("facecolors", "marker"), class_style(k), strict=True))
        rows = y == label
        if held_out is not None:
            scatter(rows & ~full, PALE_SIZE * size, alpha=PALE, linewidths=0, **look)
        edge = {"edgecolors": EDGE, "linewidths": 0.3 if size > 4 else 0.0}
        scatter(rows & full, size, alpha=FULL, label=shown_name(label), **edge, **look)
    if held_out is not None:
        for name, alpha in (("training row", PALE), ("held-out row", FULL)):
            ax.scatter([], [], s=30, color=COLORS[6], alpha=alpha, linewidths=0, label=name)
    if wrong is not None and wrong.any():
        circle = {"facecolors": "none", "edgecolors": EDGE, "linewidths": 0.9}
        scatter(wrong, 4 * size + 12, label="misclassified", **circle)


def draw_regions(ax: Any, regions: Regions, n_classes: int) -> None:
    """Shade the predicted classes, with a line where they meet (for readers in grey)."""
    from matplotlib.colors import ListedColormap

    tints = ListedColormap([class_style(k).color for k in range(n_classes)])
    ax.pcolormesh(
        regions.x,
        regions.y,
        regions.class_index,
        cmap=tints,
        vmin=-0.5,
        vmax=n_classes - 0.5,
        alpha=0.18,
        shading="nearest",
        rasterized=True,
        zorder=0,
    )
    for k in np.unique(regions.class_index)[:-1]:
        ax.contour(
            regions.x,
            regions.y,
            (regions.class_index == k).astype(float),
            levels=[0.5],
            colors=EDGE,
            linewidths=0.4,
            zorder=0.5,
        )


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
