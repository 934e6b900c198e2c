"""The parts of the page that are text and tables, readable without the script."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from supred.app.comparison.peers import MAJORITY
from supred.app.comparison.result import Comparison, Confusion, Difference, MethodResult
from supred.app.comparison.scores import Estimate, best_method, estimate, ranked
from supred.app.comparison.verdict import bytes_text, has_structure, seconds_text
from supred.app.report.charts import Bar, bar_chart, trace_chart
from supred.app.report.html import Markup, join, tag

COLUMNS = (
    ("method", "method"),
    (
        "held-out error",
        "Share of rows misclassified while held out, mean over the folds ± its standard error",
    ),
    ("balanced error", "The same as a mean over the classes: small classes count as much"),
    ("tuning", "Settings tried of all settings, on folds of the training rows"),
    ("latent dimensions", "Coordinates that the classifier works on"),
    ("basis functions", "Kernels or support vectors that must be evaluated for a new row"),
    ("model size", "What must be kept to predict"),
    ("fit", "Time to train on one fold"),
    ("predict", "Time to predict all held-out rows of a fold"),
)
LISTED_COLUMNS = 12
DASH = "–"


def verdict_box(comparison: Comparison) -> Markup | None:
    """Return the verdict, its first sentence large."""
    if not comparison.verdict:
        return None
    first, *rest = comparison.verdict
    more = tag("ul", *(tag("li", sentence) for sentence in rest)) if rest else None
    kind = "verdict" if has_structure(comparison) else "verdict doubt"
    return tag("div", tag("p", first, class_="first"), more, class_=kind)


def facts_line(comparison: Comparison) -> Markup:
    """Return the table's size in one sentence."""
    counts = np.bincount(np.asarray(comparison.y), minlength=len(comparison.classes))
    sizes = f"{counts.min():,} to {counts.max():,}" if counts.size else "no"
    folds = f", {comparison.n_folds} folds" if comparison.n_folds else ""
    if comparison.n_repeats > 1:
        folds += f", drawn {comparison.n_repeats} times (predictions shown are of the first)"
    return join(
        f"{len(comparison.y):,} rows, {len(comparison.features):,} features, "
        f"{len(comparison.classes):,} classes of ",
        tag("em", comparison.target),
        f" ({sizes} rows each){folds}",
    )


def summary_table(comparison: Comparison) -> Markup:
    """Return the table of all methods, the most accurate first."""
    best = best_method(comparison.methods, comparison.metric)
    head = tag("tr", *(tag("th", name, scope="col", title=why) for name, why in COLUMNS))
    body = [
        _summary_row(comparison.methods[k], k, best)
        for k in ranked(comparison.methods, comparison.metric)
    ]
    return tag("table", tag("thead", head), tag("tbody", *body))


def _summary_row(method: MethodResult, position: int, best: MethodResult | None) -> Markup:
    # The script turns this name into a switch for the pictures.
    name = tag("th", method.name, scope="row", data_pick=position)
    if method.status != "done":
        words = "not run" if method.status == "skipped" else method.status
        reason = f"{words}: {method.reason}" if method.reason else words
        cell = tag("td", reason, colspan=len(COLUMNS) - 1)
        return tag("tr", name, cell, class_="no-result")
    tried = None
    if method.n_settings is not None and method.n_settings_all is not None:
        tried = f"{method.n_settings} of {method.n_settings_all} settings"
    kind = None if method.tuning == "tuned" else "mark"
    size, fit, predict = method.model_bytes, method.fit_seconds, method.predict_seconds
    cells = [
        tag("td", _error_text(estimate(method))),
        tag("td", _error_text(estimate(method, "balanced"))),
        tag("td", tag("span", method.tuning, class_=kind, title=tried)),
        tag("td", DASH if method.n_components is None else f"{method.n_components:,}"),
        tag("td", DASH if method.n_basis is None else f"{method.n_basis:,}"),
        tag("td", DASH if size is None else bytes_text(size)),
        tag("td", DASH if fit is None else seconds_text(fit)),
        tag("td", DASH if predict is None else seconds_text(predict)),
    ]
    return tag("tr", name, *cells, class_="best" if method is best else None)


def _error_text(error: Estimate | None) -> Markup:
    if error is None:
        return join(DASH)
    return join(
        f"{100 * error.mean:.2f}\u00a0% ", tag("small", f"± {100 * error.standard_error:.2f}")
    )


def method_charts(comparison: Comparison) -> tuple[Markup, Markup]:
    """Return errors and sizes of all methods as bars, errors within one standard error marked."""
    metric = comparison.metric
    errors, sizes, bound = [], [], None
    for k in ranked(comparison.methods, metric):
        method = comparison.methods[k]
        error = estimate(method, metric)
        if error is None or method.name == MAJORITY:
            continue
        value, spread = 100 * error.mean, 100 * error.standard_error
        bound = value + spread if bound is None else bound
        errors.append(Bar(method.name, value, spread, f"{value:.1f}"))
        if method.model_bytes:
            size = method.model_bytes
            sizes.append(Bar(method.name, float(size), 0.0, bytes_text(size)))
    axis = "balanced held-out error (%)" if metric == "balanced" else "held-out error (%)"
    return bar_chart(errors, axis, bound=bound), bar_chart(sizes, "model size", logarithmic=True)


def reasons(comparison: Comparison) -> Markup:
    """Return which columns matter, and in what the confused classes differ."""
    best = best_method(comparison.methods, comparison.metric)
    if best is None or not (comparison.importances or comparison.confusions):
        return tag("p", "No reasons were looked for.", class_="hint")
    parts: list[Any] = []
    if comparison.importances:
        bars = [
            Bar(item.column, 100 * item.rise, 100 * item.spread, f"{100 * item.rise:.1f}")
            for item in comparison.importances[:LISTED_COLUMNS]
        ]
        looked = len(comparison.importances)
        n_columns = len(comparison.features)
        some = ""
        if looked < n_columns:
            some = f" {looked} of {n_columns} columns were looked at, those that differ most first."
        parts += [
            tag("h3", "Which columns matter"),
            tag("div", bar_chart(bars, "rise of the error, in points"), class_="chart"),
            tag(
                "p",
                f"How much the held-out error of {best.name} rises when a column's values are "
                "shuffled, with its spread over folds and shuffles. Columns that say the same "
                f"share their importance.{some}",
                class_="hint",
            ),
        ]
    parts += [_weights(comparison), *(_pair(comparison, pair) for pair in comparison.confusions)]
    return join(*parts)


def _weights(comparison: Comparison) -> Markup | None:
    """Return the columns that weigh most in the metric which the map learned."""
    if comparison.class_map is None or not comparison.class_map.weights:
        return None
    weights = sorted(comparison.class_map.weights.items(), key=lambda item: -item[1])
    total = sum(weight for _, weight in weights) or 1.0
    named = ", ".join(f"{name} ({100 * w / total:.0f} %)" for name, w in weights[:6])
    return tag("p", f"In the metric that the map learned, these weigh most: {named}.")


def _pair(comparison: Comparison, pair: Confusion) -> Markup:
    first, second = comparison.classes[pair.first], comparison.classes[pair.second]
    counts = join(
        *_taken(pair.n_first, first, second),
        ", ",
        *_taken(pair.n_second, second, first),
        ". ",
        tag("span", class_="cells", data_pair=f"{pair.first},{pair.second}"),
    )
    title = tag("h3", f"{first} and {second}")
    if not pair.differences:
        return tag("div", title, tag("p", counts), class_="pair")
    names = ("column", f"mean of {first}", f"mean of {second}", "confused rows", "they look")
    head = tag("tr", *(tag("th", name) for name in names))
    body = [
        tag(
            "tr",
            tag("th", item.column, scope="row"),
            *(tag("td", f"{value:.4g}") for value in (item.first, item.second, item.confused)),
            tag("td", _looks(item, first, second)),
        )
        for item in pair.differences
    ]
    table = tag("table", tag("thead", head), tag("tbody", *body))
    why = "The columns in which the two differ most, and where the confused rows lie in them."
    hint, scroll = tag("p", why, class_="hint"), tag("div", table, class_="scroll")
    return tag("div", title, tag("p", counts), hint, scroll, class_="pair")


def _taken(count: int, true: str, taken_for: str) -> tuple[Any, ...]:
    """Return how many rows of a class were taken for another, in words."""
    rows = "row" if count == 1 else "rows"
    return tag("b", f"{count:,}"), f" {rows} of class {true} taken for {taken_for}"


def _looks(item: Difference, first: str, second: str) -> str:
    """Say which class confused rows resemble in a column."""
    share = (item.confused - item.first) / ((item.second - item.first) or 1.0)
    return "between" if 1 / 3 <= share <= 2 / 3 else f"like {first if share < 0.5 else second}"


def map_line(comparison: Comparison) -> Markup | None:
    """Return how good the map is, so that nobody takes a pretty picture for a good one."""
    found = comparison.class_map
    if found is None:
        return None
    best = best_method(comparison.methods, comparison.metric)
    error = best and estimate(best)
    beside = f"; {best.name} in all dimensions: {error}" if best and error else ""
    return join(
        f"{int(found.held_out.sum()):,} held-out rows, placed by an RBFNetClassifier of two "
        f"dimensions that did not see them; the other {int((~found.held_out).sum()):,} rows, with "
        "those it was trained on, are faint. Error of the map on the held-out rows: ",
        tag("b", f"{100 * found.error:.1f} %"),
        f" (5 nearest neighbours on the map: {100 * found.neighbor_error:.1f} %){beside}.",
    )


def items(sentences: Iterable[str]) -> Markup:
    """Return sentences as a list."""
    lines = [tag("li", sentence) for sentence in sentences]
    return tag("ul", *lines) if lines else tag("p", "Nothing was done to the data.")


def definitions(pairs: Iterable[tuple[Any, Any]]) -> Markup:
    """Return names and values as a definition list."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs))


def details(method: MethodResult, position: int) -> Markup:
    """Return what belongs to one method alone: its trace and its parameters."""
    return tag(
        "div",
        tag("h3", method.name),
        tag("div", trace_chart(method.history), class_="traces"),
        tag("h4", "Parameters chosen by tuning"),
        _parameters(method),
        class_="of-method",
        data_method=position,
    )


def _parameters(method: MethodResult) -> Markup:
    if not method.parameters:
        return tag("p", "There is nothing to tune, or the method chooses its settings itself.")
    tried = None
    if method.n_settings is not None and method.n_settings_all is not None:
        short = "" if method.tuning == "tuned" else " in the time given"
        tried = tag(
            "p", f"{method.n_settings} of {method.n_settings_all} settings were tried{short}."
        )
    shown = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in method.parameters.items()}
    return join(definitions(shown.items()), tried)
