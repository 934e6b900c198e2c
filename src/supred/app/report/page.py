"""The report of a comparison, as one HTML file."""

import base64
import hashlib
import os
from dataclasses import replace
from importlib import resources
from pathlib import Path
from string import Template

import numpy as np

from supred.app.comparison.result import Comparison
from supred.app.comparison.scores import best_method, ranked
from supred.app.comparison.verdict import bytes_text
from supred.app.export.javascript_writer import javascript_runtime
from supred.app.report.content import check_comparison, pack_comparison
from supred.app.report.html import Markup, join, tag, text
from supred.app.report.packing import safe_json
from supred.app.report.sections import (
    definitions,
    details,
    facts_line,
    items,
    map_line,
    method_charts,
    reasons,
    summary_table,
    verdict_box,
)
from supred.app.tables.assemble import stratified_part
from supred.common.files import atomic_write
from supred.plotting.style import COLORS, DARK_COLORS

PAGE_BYTES = 1_500_000
SCRIPTS = (
    "unpack.js",
    "markers.js",
    "labels.js",
    "backdrop.js",
    "scatter.js",
    "confusion.js",
    "takeaway.js",
    "place.js",
    "page.js",
)
# Bits of a coordinate: the most that fit are taken. A screen has about 2 ** 10 points across.
MOST_BITS, LEAST_BITS = 16, 8
INTERRUPTED = "The comparison was interrupted; what was finished is shown."


def write_report(
    comparison: Comparison,
    path: str | os.PathLike[str],
    *,
    max_points: int = 20_000,
    with_model: bool = True,
    overwrite: bool = True,
) -> Path:
    """Write one HTML file that shows a comparison; it needs no network and no other file.

    The file stays under 1.5 million bytes: coordinates are rounded to what a screen shows, and of
    more rows than `max_points` a stratified part is drawn (all figures are of all rows). It
    appears under its name only when it is complete.

    Parameters
    ----------
    comparison : Comparison
        One without methods makes a page of the map alone.
    path : path-like
    max_points : int, default=20000
        Rows to draw.
    with_model : bool, default=True
        Whether the page holds the map's network, so that a reader can place a row on the map; the
        page states its size.
    overwrite : bool, default=True
        Whether to replace a file of that name; an error otherwise.

    Returns
    -------
    Path

    See Also
    --------
    supred.plotting.MapDisplay : The map as a picture.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from supred.app.comparison.result import Comparison, MethodResult
    >>> from supred.app.report import write_report
    >>> method = MethodResult(
    ...     "Sign", "done", fold_errors=[0.0, 0.5], predicted=np.array([0, 1, 1, 1]),
    ...     latent=np.array([[-1.0], [2.0], [-0.1], [1.5]]),
    ... )
    >>> comparison = Comparison(
    ...     "Four rows", "sign", ["minus", "plus"], ["value"], np.array([0, 1, 0, 1]),
    ...     ["a", "b", "c", "d"], ["Nothing was scaled."], [method], 0, {"supred": "0"}, "-",
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(comparison, Path(folder) / "report.html").read_text("utf-8")
    >>> "Four rows" in page and "http://" not in page
    True
    """
    page = report_page(comparison, max_points=max_points, with_model=with_model)
    with atomic_write(path, overwrite=overwrite) as file:
        file.write(page.encode("utf-8"))
    return Path(path)


def report_page(
    comparison: Comparison, *, max_points: int = 20_000, with_model: bool = True
) -> str:
    """Return the text that `write_report` writes."""
    check_comparison(comparison)
    if max_points < 1:
        raise ValueError(f"max_points={max_points} must be at least 1.")
    if not with_model and comparison.class_map is not None:
        comparison = replace(comparison, class_map=replace(comparison.class_map, model=None))
    return _small_enough(comparison, max_points)


def _small_enough(comparison: Comparison, max_points: int) -> str:
    """Return the page in the finest precision that keeps it under its size."""
    n_shown = max_points
    latents = [method.latent for method in comparison.methods if method.latent is not None]
    n_coordinates = sum(np.shape(latent)[1] for latent in latents) + 2
    while True:
        rows = stratified_part(np.asarray(comparison.y), n_shown, comparison.seed)
        bits = MOST_BITS
        while bits >= LEAST_BITS:
            page = _fill(comparison, rows, bits)
            excess = len(page.encode("utf-8")) - PAGE_BYTES
            if excess < 0:
                return page
            # base64 holds 6 bits in a byte
            bits -= 1 + int(6 * excess / max(len(rows) * n_coordinates, 1))
        if len(rows) <= 1000:  # what is left is text of the user
            return page
        n_shown = len(rows) // 2


def _fill(comparison: Comparison, rows: np.ndarray, bits: int) -> str:
    description, arrays = pack_comparison(comparison, rows, bits)
    style = _palette() + _asset("page.css")
    scripts = [javascript_runtime(), *map(_asset, SCRIPTS)]
    script = "(() => {\n'use strict';\n" + "\n".join(scripts) + "\n})();\n"
    part = None
    if len(rows) < len(comparison.y):
        part = f"A random part of {len(rows):,} rows is drawn. "
    stopped = tag("p", INTERRUPTED, class_="note") if comparison.interrupted else None
    values = {
        "policy": text(f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"),
        "title": text(comparison.title),
        "style": style,
        "facts": facts_line(comparison),
        "verdict": join(verdict_box(comparison), stopped),
        "map_line": join(map_line(comparison)),
        "part": join(part),
        "model_size": bytes_text(len(safe_json(description["model"]))),
        "methods": _methods_part(comparison) if comparison.methods else "",
        "preprocessing": items(comparison.preprocessing),
        "features": text(", ".join(map(str, comparison.features))),
        "n_features": f"{len(comparison.features):,}",
        "seed": text(comparison.seed),
        "versions": definitions(comparison.versions.items()),
        "command": text(comparison.command),
        "first": str(_first_shown(comparison)),
        "data": safe_json(description),
        "arrays": arrays,
        "script": script,
    }
    return Template(_asset("page.html")).substitute(values)


def _first_shown(comparison: Comparison) -> int:
    """Return the position of the most accurate method, -1 without any."""
    best = best_method(comparison.methods, comparison.metric)
    order = ranked(comparison.methods, comparison.metric)
    names = [method.name for method in comparison.methods]
    return names.index(best.name) if best is not None else (order or [-1])[0]


def _methods_part(comparison: Comparison) -> Markup:
    """Return the sections that compare methods."""
    errors, sizes = method_charts(comparison)
    values = {
        "summary": summary_table(comparison),
        "errors": errors,
        "sizes": sizes,
        "reasons": reasons(comparison),
        "details": join(*(details(m, k) for k, m in enumerate(comparison.methods))),
    }
    return Markup(Template(_asset("methods.html")).substitute(values))


def _asset(name: str) -> str:
    return resources.files("supred.app.report").joinpath(name).read_text("utf-8")


def _hash(code: str) -> str:
    """Return what lets exactly this script or style run, and no other."""
    digest = hashlib.sha256(code.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _palette() -> str:
    """Return the colours of the classes as CSS, for light and dark pages."""

    def variables(colors: tuple[str, ...]) -> str:
        return "".join(f"--c{k}:{color};" for k, color in enumerate(colors))

    return (
        f":root{{{variables(COLORS)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not(.light){{{variables(DARK_COLORS)}}}}}\n"
    )
