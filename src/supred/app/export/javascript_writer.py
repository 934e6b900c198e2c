"""A finite form as one ES module without dependencies."""

import base64
import json
from importlib import resources
from typing import Any

import numpy as np

from supred._version import __version__
from supred.app.export.finite_form import FiniteForm, in_single
from supred.app.export.steps import (
    Absolute,
    Affine,
    Clip,
    Fill,
    Gaussians,
    Polynomials,
    Scale,
    Select,
    SquaredDistances,
    Step,
    UnitLength,
    Votes,
)


def write_javascript(form: FiniteForm) -> str:
    """Return the form as the text of an ES module.

    Parameters
    ----------
    form : FiniteForm
        Its numbers are kept in single precision, as base64; JavaScript computes in double.
    """
    form = in_single(form)
    model = {
        "method": form.method,
        "columns": [*form.inputs.numbers, *form.inputs.texts],
        "nNumbers": len(form.inputs.numbers),
        "categories": [list(values) for values in form.inputs.categories],
        "classes": [_label(label) for label in form.classes.tolist()],
        "decision": form.decision,
        "temperature": form.temperature,
        "toLatent": [_step(step) for step in form.to_latent],
        "toScores": [_step(step) for step in form.to_scores],
    }
    runtime = resources.files("supred.app.export").joinpath("runtime.js").read_text("utf-8")
    # A page may hold the module in a script element, which no text of a model may end.
    text = json.dumps(model, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f"// {form.method}, written by supred {__version__}.\nconst MODEL = {text};\n\n{runtime}"


def _label(label: Any) -> Any:
    return label if isinstance(label, bool | int | str) else str(label)


def _step(step: Step) -> list[Any]:
    """Return the name of a step and what it holds."""
    match step:
        case Fill():
            return ["fill", _floats(step.values)]
        case Scale():
            return ["scale", _floats(step.shift), _floats(step.scale)]
        case Clip():
            return ["clip", step.low, step.high]
        case Select():
            return ["select", step.columns.tolist()]
        case Affine():
            return ["affine", _floats(step.matrix), _floats(step.offset)]
        case SquaredDistances():
            return ["squaredDistances", _floats(step.centers)]
        case Gaussians():
            return ["gaussians", _floats(step.centers), _floats(step.gammas)]
        case Polynomials():
            return ["polynomials", _floats(step.centers), step.gamma, step.coef0, step.degree]
        case UnitLength():
            return ["unitLength"]
        case Absolute():
            return ["absolute"]
        case Votes():
            return ["votes", step.n_classes]


def _floats(array: np.ndarray) -> dict[str, str]:
    content = np.ascontiguousarray(array, dtype="<f4").tobytes()
    return {"f32": base64.b64encode(content).decode("ascii")}
