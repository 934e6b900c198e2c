"""Charts as SVG: sharp in print, in the page's colours, readable without the script.

matplotlib would draw ticks too, but the page must not need it: it is an optional dependency.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from supred.app.comparison.verdict import bytes_text
from supred.app.report.html import Markup, tag
from supred.plotting.training_trace import trace_panels

WIDTH = 460
ROW_HEIGHT = 22
NAME_WIDTH, VALUE_WIDTH = 216, 58
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 14, 44
LINE_HEIGHT = 13
TRACE_WIDTH, TRACE_HEIGHT = 350, 210
LONGEST_NAME = 25
# A bar longer than this many times the middle one is cut, so that the others can be told apart.
CUT = 4


class Bar(NamedTuple):
    """One line of a bar chart."""

    name: str
    value: float
    spread: float
    shown: str  # the value in words, at the right end


class _Scale:
    """Data to pixels, linear or logarithmic."""

    def __init__(
        self,
        low: float,
        high: float,
        start: float,
        end: float,
        *,
        logarithmic: bool = False,
        whole: bool = False,
    ) -> None:
        self.logarithmic, self.whole = logarithmic, whole
        self.low, self.high = (math.log10(low), math.log10(high)) if logarithmic else (low, high)
        if self.high == self.low:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        value = math.log10(value) if self.logarithmic else value
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return round numbers inside the scale."""
        if self.logarithmic:
            decades = range(math.floor(self.low), math.ceil(self.high) + 1)
            wide = self.high - self.low > 2
            step = 1 + int((self.high - self.low) / 5)
            every = [m * 10.0**d for d in decades[::step] for m in ((1,) if wide else (1, 2, 5))]
            return [v for v in every if self.low - 1e-9 <= math.log10(v) <= self.high + 1e-9]
        raw = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(raw))
        step_size = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
        step_size = max(step_size, 1.0) if self.whole else step_size
        first = math.ceil(self.low / step_size - 1e-9)
        last = math.floor(self.high / step_size + 1e-9)
        return [k * step_size for k in range(first, last + 1)]


def bar_chart(
    bars: Sequence[Bar], axis: str, *, logarithmic: bool = False, bound: float | None = None
) -> Markup:
    """Return horizontal bars with their names and values: nothing can lie on anything else.

    Parameters
    ----------
    bars : sequence of Bar
    axis : str
        What the values are.
    logarithmic : bool
    bound : float, optional
        A line; bars up to it have bold names.
    """
    if not bars:
        return tag("p", "There is nothing to show.")
    values = np.array([bar.value for bar in bars])
    ends = values + np.array([bar.spread for bar in bars])
    low, high = 0.0, max(float(ends.max()), 1e-9)
    if logarithmic:
        low, high = float(values.min()) / 2, float(values.max()) * 1.2
    else:
        high = 1.05 * min(high, max(CUT * float(np.median(ends)), float(ends[0]) * 1.2, 1e-9))
    x = _Scale(low, high, NAME_WIDTH, WIDTH - VALUE_WIDTH, logarithmic=logarithmic)
    height = ROW_HEIGHT * len(bars) + 40
    bottom = ROW_HEIGHT * len(bars) + 6
    parts: list[Any] = []
    for value in x.ticks():
        at = x(value)
        label = bytes_text(value) if logarithmic else _number(value)
        parts.append(tag("line", class_="grid", x1=at, x2=at, y1=2, y2=bottom))
        parts.append(tag("text", label, class_="tick mid", x=at, y=bottom + 13))
    if bound is not None and bound < high:
        parts.append(tag("line", class_="front", x1=x(bound), x2=x(bound), y1=2, y2=bottom))
    for k, bar in enumerate(bars):
        parts.append(_bar(bar, x, high, ROW_HEIGHT * k + 15, bound))
    parts.append(tag("text", axis, class_="mid", x=(x.start + x.end) / 2, y=bottom + 29))
    summary = f"{axis}: " + "; ".join(f"{bar.name} {bar.shown}" for bar in bars)
    return _svg(parts, summary, WIDTH, height)


def _bar(bar: Bar, x: _Scale, high: float, baseline: float, bound: float | None) -> Markup:
    middle = baseline - 4
    start = x(0.0) if not x.logarithmic else x.start
    end = x(min(max(bar.value, 0.0), high)) if not x.logarithmic else x(bar.value)
    near = bound is not None and bar.value <= bound
    kind = "end on-front" if near else "end"
    name = bar.name if len(bar.name) <= LONGEST_NAME else bar.name[: LONGEST_NAME - 1] + "…"
    width = max(round(end - start, 1), 1.0)
    parts = [
        tag("title", f"{bar.name}: {bar.shown}"),
        tag("text", name, class_=kind, x=NAME_WIDTH - 8, y=baseline),
        tag("rect", class_="fill", x=start, y=middle - 6, width=width, height=12),
    ]
    if bar.spread > 0:
        left = x(min(max(bar.value - bar.spread, 0.0), high))
        right = x(min(bar.value + bar.spread, high))
        parts.append(tag("line", class_="bar", x1=left, x2=right, y1=middle, y2=middle))
    parts.append(tag("text", bar.shown, class_="end", x=WIDTH - 4, y=baseline))
    return tag("g", *parts)


def trace_chart(history: Mapping[str, Any] | None) -> Markup:
    """Return the panels of a training trace, or a sentence if there is none."""
    panels = trace_panels(history) if history else []
    if not panels:
        return tag("p", "This method keeps no trace of its training.")
    return Markup("".join(_trace_panel(*panel) for panel in panels))


def _trace_panel(name: str, columns: dict[str, np.ndarray], logarithmic: bool) -> Markup:
    """Return one panel: some columns of a history over the iterations."""
    share = name == "error"
    series = {column: (100.0 if share else 1.0) * values for column, values in columns.items()}
    values = np.concatenate([v[np.isfinite(v)] for v in series.values()])
    low = 0.0 if share else float(values.min())
    high = max(float(values.max()), 0.1) if share else float(values.max())
    longest = max(len(v) for v in series.values())
    top = TOP + LINE_HEIGHT if len(series) > 1 else TOP  # room for the names of the lines
    x = _Scale(0, max(longest - 1, 1), LEFT, TRACE_WIDTH - RIGHT, whole=True)
    y = _Scale(low, high, TRACE_HEIGHT - BOTTOM, top, logarithmic=logarithmic)
    parts = _frame(x, y, "iteration", "error (%)" if share else name)
    courses = []
    for n, (column, line) in enumerate(series.items()):
        drawn = thinned(line)
        points = " ".join(f"{x(k)},{y(line[k])}" for k in drawn)
        parts.append(tag("polyline", class_=f"trace t{n}", points=points))
        title = column.replace("_", " ")
        courses.append(f"{title} from {_number(line[drawn[0]])} to {_number(line[drawn[-1]])}")
        if len(series) > 1:
            across = LEFT + 147 * n
            parts.append(
                tag("polyline", class_=f"trace t{n}", points=f"{across},8 {across + 20},8")
            )
            parts.append(tag("text", title, class_="tick", x=across + 24, y=12))
    summary = f"{name} over {longest} iterations: {', '.join(courses)}"
    return _svg(parts, summary, TRACE_WIDTH, TRACE_HEIGHT)


def thinned(values: np.ndarray, n_kept: int = 300) -> np.ndarray:
    """Return positions of finite values that keep the shape of a long line."""
    positions = np.flatnonzero(np.isfinite(values))
    if len(positions) <= n_kept:
        return positions
    # The least and the greatest of each stretch, so that no peak is lost.
    kept = {int(positions[0]), int(positions[-1])}
    for stretch in np.array_split(positions, n_kept // 2):
        kept.add(int(stretch[np.argmin(values[stretch])]))
        kept.add(int(stretch[np.argmax(values[stretch])]))
    return np.array(sorted(kept))


def _svg(parts: Sequence[Any], summary: str, width: int, height: int) -> Markup:
    return tag("svg", *parts, viewBox=f"0 0 {width} {height}", role="img", aria_label=summary)


def _frame(x: _Scale, y: _Scale, x_name: str, y_name: str) -> list[Markup]:
    """Return axes, grid lines and their numbers."""
    parts = []
    for value in y.ticks():
        up = y(value)
        parts.append(tag("line", class_="grid", x1=x.start, x2=x.end, y1=up, y2=up))
        parts.append(tag("text", _number(value), class_="tick end", x=x.start - 6, y=up + 4))
    for value in x.ticks():
        parts.append(tag("text", _number(value), class_="tick mid", x=x(value), y=y.start + 17))
    middle = (y.start + y.end) / 2
    parts += [
        tag("line", class_="axis", x1=x.start, x2=x.end, y1=y.start, y2=y.start),
        tag("text", x_name, class_="mid", x=(x.start + x.end) / 2, y=y.start + 36),
        tag("text", y_name, class_="mid", transform=f"translate(10 {middle}) rotate(-90)"),
    ]
    return parts


def _number(value: float) -> str:
    """Return a number short enough to stand beside an axis."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if 10 * unit <= abs(value) < 1e9:
            return f"{value / unit:.4g}{name}"
    return f"{value:.4g}"
