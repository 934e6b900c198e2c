"""Charts as SVG: sharp in print, in the page's colours, readable without the script."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from supred.app.comparison.result import Comparison
from supred.app.report.tables import bytes_text, mean_error, standard_error, text
from supred.plotting.style import COLORS, class_style
from supred.plotting.trade_off import worth_their_cost
from supred.plotting.training_trace import trace_panels

WIDTH, HEIGHT = 500, 310
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 14, 44
LINE_HEIGHT = 13
LETTER_WIDTH = 7.2  # of a bold letter, on average
TRACE_WIDTH, TRACE_HEIGHT = 350, 210

# Outlines of matplotlib's markers, about the origin, "reach" 1.
_SHAPES = {
    "s": "M-.85-.85H.85V.85H-.85Z",
    "^": "M0-1.1L1 .8H-1Z",
    "v": "M0 1.1L1-.8H-1Z",
    "D": "M0-1.15L1.15 0L0 1.15L-1.15 0Z",
    "P": "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "X": "M-.6-1.1L0-.5L.6-1.1L1.1-.6L.5 0L1.1 .6L.6 1.1L0 .5L-.6 1.1L-1.1 .6L-.5 0L-1.1-.6Z",
    "*": "M0-1.2L.3-.4L1.15-.37L.48.15L.7 .97L0 .5L-.7 .97L-.48 .15L-1.15-.37L-.3-.4Z",
    "o": "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",
}


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
            few = self.high - self.low > 2
            steps = (1,) if few else (1, 2, 5)
            every = [m * 10.0**d for d in decades for m in steps]
            return [v for v in every if self.low - 1e-9 <= math.log10(v) <= self.high + 1e-9]
        raw = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
        step = max(step, 1.0) if self.whole else step
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def trade_off_chart(comparison: Comparison) -> str:
    """Return the chart of held-out error against model size, or a sentence if there is none."""
    shown = [
        (k, m, error)
        for k, m in enumerate(comparison.methods)
        if m.status == "done" and m.model_bytes and (error := mean_error(m)) is not None
    ]
    if not shown:
        return "<p>No method has both an error and a model size.</p>"
    sizes = np.array([m.model_bytes for _, m, _ in shown], dtype=float)
    errors = np.array([100 * error for _, _, error in shown])
    bars = np.array([100 * (standard_error(m) or 0.0) for _, m, _ in shown])
    x = _Scale(
        sizes.min() / 1.6, sizes.max() * 3, LEFT, WIDTH - RIGHT, logarithmic=True
    )  # room for names on the right
    y = _Scale(0.0, 1.08 * max(float((errors + bars).max()), 0.1), HEIGHT - BOTTOM, TOP)
    parts = _frame(x, y, "model size", "held-out error (%)", bytes_text)
    front = worth_their_cost(errors, sizes)
    path = " ".join(f"{x(sizes[k])},{y(errors[k])}" for k in front)
    parts.append(f'<polyline class="front" points="{path}"/>')
    names = [_shortened(m.name) for _, m, _ in shown]
    places = place_names(names, [x(s) for s in sizes], [y(e) for e in errors])
    for n, (k, method, _) in enumerate(shown):
        across, up = x(sizes[n]), y(errors[n])
        low, high = y(max(errors[n] - bars[n], 0.0)), y(errors[n] + bars[n])
        parts.append(f'<line class="bar" x1="{across}" x2="{across}" y1="{low}" y2="{high}"/>')
        what = f"{method.name}: {errors[n]:.2f} %, {bytes_text(sizes[n])}"
        parts.append(f"<g><title>{text(what)}</title>{_marker(k, across, up)}</g>")
        left, baseline = places[n]
        weight = ' class="on-front"' if n in front else ""
        parts.append(f'<text{weight} x="{left}" y="{baseline}">{text(names[n])}</text>')
    told = "Held-out error against model size: " + "; ".join(
        f"{m.name} {e:.2f} % at {bytes_text(s)}"
        for (_, m, _), e, s in zip(shown, errors, sizes, strict=True)
    )
    return _svg(parts, told, WIDTH, HEIGHT)


def trace_chart(history: Mapping[str, Any] | None) -> str:
    """Return the panels of a training trace, or a sentence if there is none."""
    panels = trace_panels(history) if history else []
    if not panels:
        return "<p>This method keeps no trace of its training.</p>"
    return "".join(_trace_panel(*panel) for panel in panels)


def _trace_panel(name: str, columns: dict[str, np.ndarray], logarithmic: bool) -> str:
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
    parts = _frame(x, y, "iteration", "error (%)" if share else name, _number)
    told = []
    for n, (column, line) in enumerate(series.items()):
        drawn = thinned(line)
        points = " ".join(f"{x(k)},{y(line[k])}" for k in drawn)
        parts.append(f'<polyline class="trace t{n}" points="{points}"/>')
        title = column.replace("_", " ")
        told.append(f"{title} from {_number(line[drawn[0]])} to {_number(line[drawn[-1]])}")
        if len(series) > 1:
            across = LEFT + 147 * n
            parts.append(
                f'<polyline class="trace t{n}" points="{across},8 {across + 20},8"/>'
                f'<text class="tick" x="{across + 24}" y="12">{text(title)}</text>'
            )
    summary = f"{name} over {longest} iterations: {', '.join(told)}"
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


def _svg(parts: list[str], told: str, width: int, height: int) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{text(told)}">'
        f"{''.join(parts)}</svg>"
    )


def _frame(x: _Scale, y: _Scale, x_name: str, y_name: str, x_text: Any) -> list[str]:
    """Return axes, grid lines and their numbers."""
    parts = []
    for value in y.ticks():
        up = y(value)
        parts.append(f'<line class="grid" x1="{x.start}" x2="{x.end}" y1="{up}" y2="{up}"/>')
        parts.append(
            f'<text class="tick end" x="{x.start - 6}" y="{up + 4}">{_number(value)}</text>'
        )
    for value in x.ticks():
        parts.append(
            f'<text class="tick mid" x="{x(value)}" y="{y.start + 17}">{text(x_text(value))}</text>'
        )
    parts.append(
        f'<line class="axis" x1="{x.start}" x2="{x.end}" y1="{y.start}" y2="{y.start}"/>'
        f'<text class="mid" x="{(x.start + x.end) / 2}" y="{y.start + 36}">{text(x_name)}</text>'
        f'<text class="mid" transform="translate(10 {(y.start + y.end) / 2}) rotate(-90)">'
        f"{text(y_name)}</text>"
    )
    return parts


def _number(value: float) -> str:
    return f"{value:.4g}"


def _marker(position: int, across: float, up: float) -> str:
    shape = _SHAPES[class_style(position).marker]
    color = position % len(COLORS)
    return (
        f'<path class="mark f{color}" d="{shape}" transform="translate({across} {up}) scale(6)"/>'
    )


def place_names(
    names: list[str], acrosses: list[float], ups: list[float]
) -> list[tuple[float, float]]:
    """Return left end and baseline of each name: by its point, not on another, not outside."""
    places: list[tuple[float, float]] = [(0.0, 0.0)] * len(names)
    taken: list[tuple[float, float, float]] = []  # left, right, baseline
    steps = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5]
    for k in np.argsort(ups, kind="stable"):
        width = LETTER_WIDTH * len(names[k])
        left = acrosses[k] + 10
        if left + width > WIDTH:
            left = max(acrosses[k] - 10 - width, 0.0)
        candidates = [ups[k] + 4 + LINE_HEIGHT * step for step in steps]
        inside = [c for c in candidates if TOP <= c <= HEIGHT - BOTTOM - 3] or candidates
        free = [
            c
            for c in inside
            if all(
                left > end or left + width < start or abs(c - other) >= LINE_HEIGHT
                for start, end, other in taken
            )
        ]
        baseline = round((free or inside)[0], 1)
        taken.append((left, left + width, baseline))
        places[k] = (round(left, 1), baseline)
    return places


def _shortened(name: str, length: int = 32) -> str:
    return name if len(name) <= length else name[: length - 1] + "…"
