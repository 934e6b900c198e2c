"""How classes look in every picture: colours and markers, told apart in colour and in grey."""

import re
from typing import Any, NamedTuple

# The first eight are the hues of Okabe and Ito, told apart by colour-blind readers, with their
# lightness spread so that no two have the same grey (a test measures both). The others were added
# one by one, each as far as possible from those before it (in L*a*b*, of moderate chroma).
COLORS = (
    "#0A4C8C", "#F7B32B", "#008A68", "#B83A00", "#C96FA6", "#45ABEB", "#1B1B1B", "#F7F08A",
    "#666600", "#55DD77", "#DD9977", "#772299", "#880033", "#7788FF", "#FF5577", "#663311",
    "#EE88FF", "#007700", "#006677", "#77CCCC", "#AABB88", "#88AA11", "#663355", "#CCBBEE",
)  # fmt: skip
# The same on a dark page.
DARK_COLORS = (
    "#2A66B8", "#F2A31A", "#00A078", "#CC5020", "#D684B6", "#86CFFF", "#FFFFFF", "#F0EA60",
    "#776633", "#CC0055", "#448800", "#66EE88", "#AA55CC", "#FFBB88", "#117788", "#00EEEE",
    "#AACC88", "#AA5555", "#BB2288", "#BBAAFF", "#998800", "#00FFCC", "#FF77DD", "#FF9999",
)  # fmt: skip
N_SAFE = 8
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
EDGE = "#444444"
# Characters that XML has no place for.
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class ClassStyle(NamedTuple):
    """Colour and marker of one class."""

    color: str
    marker: str


def class_style(index: int) -> ClassStyle:
    """Return the style of the class with this index; the first 192 all differ.

    Parameters
    ----------
    index : int
        Position of the class in the sorted classes.

    Examples
    --------
    >>> from supred.plotting.style import class_style
    >>> len({class_style(k) for k in range(192)})
    192
    """
    turn = index // len(COLORS)
    return ClassStyle(COLORS[index % len(COLORS)], MARKERS[(index + turn) % len(MARKERS)])


def shown_name(label: Any) -> str:
    """Return a name as matplotlib must be given it to be shown as it is.

    A dollar sign would begin a formula, a legend leaves out what begins with an underscore, and
    an SVG file must not hold control characters.
    """
    name = NOT_IN_XML.sub("\ufffd", str(label)).replace("$", r"\$")
    return "\u200b" + name if name.startswith("_") else name


def marker_size(n_rows: int) -> float:
    """Return the area of a marker: small for many rows, so that dense regions show."""
    return min(max(12_000 / max(n_rows, 1), 2.0), 30.0)


def new_axes(ax: Any, *, projection: str | None = None, size: tuple[float, float]) -> Any:
    """Return `ax`, or axes in a new figure; a ValueError if `ax` does not fit the projection."""
    if ax is not None:
        if not hasattr(ax, "scatter"):
            raise ValueError(f"ax={ax!r} is not matplotlib Axes; plt.subplots() makes them.")
        if projection == "3d" and ax.name != "3d":
            raise ValueError("ax must be three-dimensional; make it with projection='3d'.")
        return ax
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection=projection)


def plain(ax: Any) -> None:
    """Take away the frame's upper and right line."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_beside(ax: Any, *, title: str | None = None) -> Any:
    """Put the legend right of the axes, in as many columns as its entries need."""
    handles, _ = ax.get_legend_handles_labels()
    columns = 1 + (len(handles) - 1) // 20
    legend = ax.legend(
        title=title,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        ncols=columns,
        fontsize="small" if len(handles) > 20 else None,
        columnspacing=1.0,
        handletextpad=0.3,
    )
    for handle in legend.legend_handles:  # readable, however small the markers of the rows are
        handle.set_sizes([36.0])
    return legend


def zoom_out(ax: Any) -> None:
    """Leave room for the labels of three-dimensional axes, which reach beyond them."""
    ax.set_box_aspect(None, zoom=0.85)
