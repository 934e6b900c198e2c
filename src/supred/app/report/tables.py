"""The parts of the page that are plain text and tables. All text of the user is escaped here."""

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from supred.app.comparison.result import Comparison, MethodResult

COLUMNS = (
    ("method", "method"),
    (
        "held-out error",
        "Share of rows misclassified while held out, mean over the folds ± its standard error",
    ),
    ("latent dimensions", "Coordinates that the classifier works on"),
    ("basis functions", "Kernels or support vectors that must be evaluated for a new row"),
    ("model size", "What must be kept to predict"),
    ("fit", "Time to train on one fold"),
    ("predict", "Time to predict all held-out rows of a fold"),
)


def text(value: Any) -> str:
    """Escape text of the user for HTML, in elements and attributes alike."""
    return escape(str(value).encode("utf-8", "replace").decode("utf-8"), quote=True)


def mean_error(method: MethodResult) -> float | None:
    """Return the mean held-out error, or None without one."""
    errors = np.asarray(method.fold_errors, dtype=float)
    return float(errors.mean()) if errors.size and np.isfinite(errors).all() else None


def standard_error(method: MethodResult) -> float | None:
    """Return the standard error of the mean over the folds."""
    n_folds = len(method.fold_errors)
    return float(np.std(method.fold_errors, ddof=1) / n_folds**0.5) if n_folds > 1 else None


def ordered(methods: list[MethodResult]) -> list[int]:
    """Return the methods' positions: the most accurate first, those without a result last."""

    def key(k: int) -> tuple[bool, float]:
        error = mean_error(methods[k])
        return (methods[k].status != "done" or error is None, error if error is not None else 0.0)

    return sorted(range(len(methods)), key=key)


def bytes_text(count: float) -> str:
    """Return a size to three digits.

    Examples
    --------
    >>> from supred.app.report.tables import bytes_text
    >>> bytes_text(512), bytes_text(20_480), bytes_text(3.5e6)
    ('512 B', '20.5 kB', '3.5 MB')
    """
    for unit in ("B", "kB", "MB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB" if count < 999.5 else f"{count:.0f} GB"


def seconds_text(seconds: float) -> str:
    """Return a time to two or three digits."""
    if seconds >= 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds:.2g} s" if seconds >= 0.0995 else f"{1000 * seconds:.2g} ms"


def summary_table(comparison: Comparison) -> str:
    """Return the table of all methods, the most accurate first."""
    best = min((e for m in comparison.methods if (e := mean_error(m)) is not None), default=None)
    head = "".join(
        f'<th scope="col" title="{text(why)}">{text(name)}</th>' for name, why in COLUMNS
    )
    body = "".join(
        _summary_row(comparison.methods[k], k, best) for k in ordered(comparison.methods)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _summary_row(method: MethodResult, position: int, best: float | None) -> str:
    # The script turns this name into a switch for the pictures.
    name = f'<th scope="row" data-pick="{position}">{text(method.name)}</th>'
    if method.status != "done":
        reason = f"{method.status}: {method.reason}" if method.reason else method.status
        return (
            f'<tr class="no-result">{name}<td colspan="{len(COLUMNS) - 1}">{text(reason)}</td></tr>'
        )
    error, error_bar = mean_error(method), standard_error(method)
    cells = ["&ndash;"] * (len(COLUMNS) - 1)
    if error is not None:
        cells[0] = f"{100 * error:.2f}&nbsp;%"
        if error_bar is not None:
            cells[0] += f" <small>± {100 * error_bar:.2f}</small>"
        if error == best:
            cells[0] = f"<strong>{cells[0]}</strong>"
    for column, count in ((1, method.n_components), (2, method.n_basis)):
        if count is not None:
            cells[column] = f"{count:,}"
    if method.model_bytes is not None:
        exact = f"{method.model_bytes:,} bytes"
        cells[3] = f'<span title="{exact}">{bytes_text(method.model_bytes)}</span>'
    for column, duration in ((4, method.fit_seconds), (5, method.predict_seconds)):
        if duration is not None:
            cells[column] = seconds_text(duration)
    kind = ' class="best"' if error is not None and error == best else ""
    return f"<tr{kind}>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def facts_line(comparison: Comparison) -> str:
    """Return the table's size in one sentence."""
    counts = np.bincount(np.asarray(comparison.y), minlength=len(comparison.classes))
    sizes = f"{counts.min():,} to {counts.max():,}" if counts.size else "no"
    folds = f", {comparison.n_folds} folds" if comparison.n_folds else ""
    return (
        f"{len(comparison.y):,} rows, {len(comparison.features):,} features, "
        f"{len(comparison.classes):,} classes of <em>{text(comparison.target)}</em> "
        f"({sizes} rows each){folds}"
    )


def items(sentences: Iterable[str]) -> str:
    """Return sentences as a list."""
    lines = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f"<ul>{lines}</ul>" if lines else "<p>Nothing was done to the data.</p>"


def definitions(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Return names and values as a definition list."""
    lines = "".join(f"<div><dt>{text(n)}</dt><dd>{text(v)}</dd></div>" for n, v in pairs)
    return f"<dl>{lines}</dl>"


def parameters_of(method: MethodResult) -> str:
    """Return the parameters that tuning chose, and of how many settings."""
    if not method.parameters:
        return "<p>Nothing was tuned.</p>"
    tried = ""
    if method.n_settings is not None and method.n_settings_all is not None:
        tried = f"<p>{method.n_settings} of {method.n_settings_all} settings were tried"
        tried += (
            ".</p>" if method.n_settings == method.n_settings_all else " in the time given.</p>"
        )
    chosen = definitions((name, _short(value)) for name, value in method.parameters.items())
    return chosen + tried


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
