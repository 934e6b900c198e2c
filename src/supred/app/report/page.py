"""The report of a comparison, as one HTML file."""

import base64
import hashlib
import os
import tempfile
from importlib import resources
from pathlib import Path

import numpy as np

from supred.app.comparison.result import Comparison, MethodResult
from supred.app.report.charts import trace_chart, trade_off_chart
from supred.app.report.content import check_comparison, choose_rows, pack_comparison
from supred.app.report.packing import safe_json
from supred.app.report.tables import (
    definitions,
    facts_line,
    items,
    ordered,
    parameters_of,
    summary_table,
    text,
)
from supred.plotting.style import COLORS, DARK_COLORS

PAGE_BYTES = 1_000_000
SCRIPTS = ("unpack.js", "markers.js", "scatter.js", "confusion.js", "page.js")
# Bits of a coordinate: the most that fit are taken. A screen has about 2 ** 10 points across.
MOST_BITS, LEAST_BITS = 12, 8
INTERRUPTED = '<p class="note">The comparison was interrupted; what was finished is shown.</p>'


def write_report(
    comparison: Comparison, path: str | os.PathLike[str], *, max_points: int = 20_000
) -> Path:
    """Write one HTML file that shows a comparison; it needs no network and no other file.

    The file stays under a million bytes: coordinates are rounded to what a screen shows, and of
    more rows than `max_points` a random part is drawn (all figures are of all rows). It appears
    under its name only when it is complete.

    Parameters
    ----------
    comparison : Comparison
    path : path-like
        An existing file is replaced.
    max_points : int, default=20000
        Rows to draw.

    Returns
    -------
    Path

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
    check_comparison(comparison)
    if max_points < 1:
        raise ValueError(f"max_points={max_points} must be at least 1.")
    return write_whole(Path(path), _smallest_enough(comparison, max_points).encode("utf-8"))


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file that is either complete or not there."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes files that only their owner reads
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return path


def _smallest_enough(comparison: Comparison, max_points: int) -> str:
    """Return the page in the finest precision that keeps it under its size."""
    n_shown = max_points
    while True:
        rows = choose_rows(np.asarray(comparison.y), n_shown, comparison.seed)
        n_numbers = len(rows) * sum(
            np.shape(m.latent)[1] for m in comparison.methods if m.latent is not None
        )
        bits = MOST_BITS
        while bits >= LEAST_BITS:
            page = _fill(comparison, rows, bits)
            excess = len(page.encode("utf-8")) - PAGE_BYTES
            if excess < 0:
                return page
            bits -= 1 + int(6 * excess / max(n_numbers, 1))  # base64 holds 6 bits in a byte
        if len(rows) <= 1000:  # what is left is text of the user
            return page
        n_shown = len(rows) // 2


def _fill(comparison: Comparison, rows: np.ndarray, bits: int) -> str:
    description, arrays = pack_comparison(comparison, rows, bits)
    style = _palette() + _asset("page.css")
    script = "(() => {\n'use strict';\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"
    drawn = len(rows)
    part = "" if drawn == len(comparison.y) else f"A random part of {drawn:,} rows is drawn. "
    values = {
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
        "title": text(comparison.title),
        "style": style,
        "facts": facts_line(comparison),
        "advice": text(comparison.advice),
        "stopped": INTERRUPTED if comparison.interrupted else "",
        "summary": summary_table(comparison),
        "part": part,
        "trade_off": trade_off_chart(comparison),
        "details": "".join(_details(m, k) for k, m in enumerate(comparison.methods)),
        "preprocessing": items(comparison.preprocessing),
        "features": text(", ".join(map(str, comparison.features))),
        "n_features": f"{len(comparison.features):,}",
        "seed": text(comparison.seed),
        "versions": definitions(comparison.versions.items()),
        "command": text(comparison.command),
        "first": str(_first_shown(comparison.methods)),
        "data": safe_json(description),
        "arrays": arrays,
        "script": script,
    }
    # Split once at the placeholders: text of the user that looks like one stays as it is.
    pieces = _asset("page.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        filled += [values[name], rest]
    return "".join(filled)


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

    fills = "".join(f".f{k}{{fill:var(--c{k})}}" for k in range(len(COLORS)))
    return (
        f":root{{{variables(COLORS)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not(.light){{{variables(DARK_COLORS)}}}}}\n"
        f"{fills}\n"
    )


def _first_shown(methods: list[MethodResult]) -> int:
    """Return the most accurate method that has a picture."""
    order = ordered(methods)
    pictured = [k for k in order if methods[k].latent is not None]
    return (pictured or order or [0])[0]


def _details(method: MethodResult, position: int) -> str:
    """Return what belongs to one method alone: its trace and its parameters."""
    return (
        f'<div class="of-method" data-method="{position}"><h3>{text(method.name)}</h3>'
        f'<div class="traces">{trace_chart(method.history)}</div>'
        f"<h4>Parameters chosen by tuning</h4>{parameters_of(method)}</div>"
    )
