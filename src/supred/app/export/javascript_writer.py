"""A fitted model as one ES module without dependencies."""

import base64
import json
import os
from dataclasses import fields
from importlib import resources
from typing import Any

import numpy as np

from supred._version import __version__
from supred.app.export.conversion import finite_form_of
from supred.app.export.finite_form import FiniteForm
from supred.app.export.precision import precise
from supred.app.export.steps import Step
from supred.common.files import atomic_write

EXPORTS = """
/**
 * `predict(row)` returns label, scores, probabilities (or null) and latent coordinates of a row,
 * an array of values in the order of `columns` (numbers first), or an object with these names as
 * keys. A number that is missing is null, "" or NaN; it is an error if the model was not told how
 * to fill gaps, as is a text that is no number, or a key that is not there. `classes` are the
 * labels, in the order of scores and probabilities; `categories` the known values of each text
 * column.
 */
export const { columns, classes, categories, predict } = modelOf(MODEL);
"""


def to_javascript(
    model: Any, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False
) -> str:
    """Return a fitted model as an ES module, and write it to a file if one is named.

    The module has no dependencies and exports ``predict(row)``, which returns label, scores,
    probabilities and latent coordinates, and ``columns``, ``classes`` and ``categories``.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        As in `to_onnx`.
    path : path, optional
        By custom ending in ``.mjs`` or ``.js``.
    overwrite : bool, default=False
        Whether to replace a file of that name.

    Returns
    -------
    text : str

    See Also
    --------
    to_onnx : For ONNX Runtime.
    to_c : One C header.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.export import to_javascript
    >>> X, y = load_iris(return_X_y=True)
    >>> "export const { columns, classes, categories, predict }" in to_javascript(
    ...     LowDimSVC(n_centers=9, random_state=0).fit(X, y))
    True
    """
    form = finite_form_of(model)
    # A page may hold the module in a script element, which no text of a model may end.
    data = json.dumps(javascript_model(form), separators=(",", ":"), allow_nan=False)
    data = data.replace("<", "\\u003c")
    title = f"// {form.method}, written by supred {__version__}."
    text = f"{title}\nconst MODEL = {data};\n\n{javascript_runtime()}{EXPORTS}"
    if path is not None:
        with atomic_write(path, overwrite=overwrite) as file:
            file.write(text.encode())
    return text


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
        "classes": [_label(label) for label in form.classes.tolist()],
        "decision": form.decision,
        "temperature": form.temperature,
        "toLatent": [_step(step, kind) for step in form.to_latent],
        "toScores": [_step(step, kind) for step in form.to_scores],
    }


def _label(label: Any) -> bool | int | str:
    """Return a label as JavaScript can tell it from others: integers beyond 2^53 as texts."""
    exact = isinstance(label, bool | str) or (isinstance(label, int) and abs(label) < 2**53)
    return label if exact else str(label)


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
