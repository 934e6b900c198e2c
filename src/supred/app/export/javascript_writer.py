"""A finite form as one ES module without dependencies."""

import base64
import json
from dataclasses import fields
from importlib import resources
from typing import Any

import numpy as np

from supred._version import __version__
from supred.app.export.finite_form import FiniteForm
from supred.app.export.precision import precise
from supred.app.export.steps import Step

EXPORTS = """
/**
 * `predict(row)` returns label, scores, probabilities (or null) and latent coordinates of a row,
 * an array of values in the order of `columns` (numbers first), or an object with these names as
 * keys. A number that is missing is null, "" or NaN; it is an error if the model was not told how
 * to fill gaps. `classes` are the labels, in the order of scores and probabilities; `categories`
 * the known values of each text column.
 */
export const { columns, classes, categories, predict } = modelOf(MODEL);
"""


def write_javascript(form: FiniteForm) -> str:
    """Return the form as the text of an ES module."""
    # A page may hold the module in a script element, which no text of a model may end.
    text = json.dumps(javascript_model(form), separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    title = f"// {form.method}, written by supred {__version__}."
    return f"{title}\nconst MODEL = {text};\n\n{javascript_runtime()}{EXPORTS}"


def javascript_runtime() -> str:
    """Return the source of ``modelOf``, which makes a model of what `javascript_model` returns."""
    return resources.files("supred.app.export").joinpath("runtime.js").read_text("utf-8")


def javascript_model(form: FiniteForm) -> dict[str, Any]:
    """Return the form as JSON-able values.

    Parameters
    ----------
    form : FiniteForm
        Its numbers are kept as base64, in single precision where that is enough; JavaScript
        computes in double.
    """
    found = precise(form)
    form, kind = found.form, "<f8" if found.double_numbers else "<f4"
    return {
        "method": form.method,
        "columns": [*form.inputs.numbers, *form.inputs.texts],
        "nNumbers": len(form.inputs.numbers),
        "categories": [list(values) for values in form.inputs.categories],
        "classes": [
            label if isinstance(label, bool | int | str) else str(label)
            for label in form.classes.tolist()
        ],
        "decision": form.decision,
        "temperature": form.temperature,
        "toLatent": [_step(step, kind) for step in form.to_latent],
        "toScores": [_step(step, kind) for step in form.to_scores],
    }


def _step(step: Step, kind: str) -> list[Any]:
    """Return the name of a step in the runtime and what it holds, in the order of its fields."""
    name = type(step).__name__
    values = (getattr(step, part.name) for part in fields(step))
    return [name[0].lower() + name[1:], *(_plain(value, kind) for value in values)]


def _plain(value: Any, kind: str) -> Any:
    """Return a number, or an array as a list or, of floating-point numbers, as base64."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind != "f":
        return value.tolist()
    content = np.ascontiguousarray(value, dtype=kind).tobytes()
    return {f"f{8 * np.dtype(kind).itemsize}": base64.b64encode(content).decode("ascii")}
