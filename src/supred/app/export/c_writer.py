"""A fitted model as one C99 header: no allocation, no dependency but math.h."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supred._version import __version__
from supred.app.export.c_steps import Body, quoted
from supred.app.export.conversion import finite_form_of
from supred.app.export.finite_form import ExportError, FiniteForm, in_single
from supred.app.export.precision import precise
from supred.app.export.quantise import quantised
from supred.common.files import atomic_write, check_output


@dataclass(frozen=True)
class CSource:
    """A model in C.

    Attributes
    ----------
    text : str
        The header.
    constant_bytes : int
        Bytes of constants that `predict` reads, which may stay in flash.
    stack_bytes : int
        Bytes of the arrays that `predict` keeps on the stack.
    """

    text: str
    constant_bytes: int
    stack_bytes: int


def to_c(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    quantise: bool = False,
    arithmetic: str = "auto",
    overwrite: bool = False,
) -> CSource:
    """Return a fitted model as a C99 header, and write it to a file if one is named.

    The header allocates nothing and needs nothing but ``math.h``. ``NAME_predict`` returns the
    number of a row's class and hands out scores and latent coordinates; ``NAME_label`` gives the
    label, ``NAME_probabilities`` the probabilities if the model has them.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        As in `to_onnx`.
    path : path, optional
    name : str, optional
        Prefix of every name in the header; by default the name of the file without its ending,
        or "model".
    quantise : bool, default=False
        Keep large matrices in bytes: a quarter of the size, slightly other scores.
        `quantisation_errors` tells what it costs.
    arithmetic : {"auto", "single", "double"}, default="auto"
        Precision of the sums; constants, inputs and outputs are `float`. "auto" takes double
        where single precision would change the scores.
    overwrite : bool, default=False
        Whether to replace a file of that name.

    Returns
    -------
    CSource
        The text, and its bytes of constants and on the stack.

    See Also
    --------
    quantisation_errors : What bytes instead of floats cost.
    to_onnx : For ONNX Runtime.
    to_javascript : For browsers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.export import to_c
    >>> X, y = load_iris(return_X_y=True)
    >>> source = to_c(LowDimSVC(n_centers=9, random_state=0).fit(X, y), name="iris")
    >>> "int iris_predict(const float *row" in source.text, source.constant_bytes < 500
    (True, True)
    """
    if path is not None:
        check_output(path, overwrite=overwrite)
    if name is None:
        name = "model" if path is None else re.sub(r"\W", "_", Path(path).stem, flags=re.ASCII)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ExportError(
            f"name={name!r} cannot begin the names of a C header; use letters, digits and "
            "underscores, the first of them a letter."
        )
    form = finite_form_of(model)
    form.check_texts("C", errors="surrogateescape", end="\0")
    found = precise(form, arithmetic)
    # Bytes are coarser than single precision by far.
    form = in_single(quantised(form)) if quantise else found.form
    body = Body(
        name,
        "double" if found.double_sums else "float",
        "double" if found.double_numbers and not quantise else "float",
        quantise,
    )
    body.inputs(form.inputs)
    body.chain(form.to_latent)
    body.result("latent", form.n_latent)
    body.chain(form.to_scores)
    body.result("scores", form.n_scores)
    decision = _DECISIONS[form.decision].format(n=form.n_scores)
    arguments = "const float *row, float *latent, float *scores"
    if form.inputs.texts:
        arguments = "const float *row, const char *const *texts, float *latent, float *scores"
    text = _HEADER.format(
        name=name,
        upper=name.upper(),
        method=form.method,
        version=__version__,
        constant_bytes=body.constant_bytes,
        stack_bytes=body.stack_bytes,
        n_numbers=len(form.inputs.numbers),
        n_texts=len(form.inputs.texts),
        n_latent=form.n_latent,
        n_scores=form.n_scores,
        n_classes=len(form.classes),
        answer=_ANSWERS[form.decision],
        text_argument=_TEXT_ARGUMENT if form.inputs.texts else "",
        constants="\n".join(body.constants),
        compare=_COMPARE.format(name=name) if form.inputs.texts else "",
        arguments=arguments,
        body="\n".join(f"    {line}" if line else "" for line in body.lines),
        decision=decision,
        labels=_table(name, "label", [str(label) for label in form.classes.tolist()]),
        columns=_table(name, "column", [*form.inputs.numbers, *form.inputs.texts]),
        probabilities=_probabilities(form, name),
    )
    if path is not None:
        with atomic_write(path, overwrite=overwrite) as file:
            file.write(text.encode())
    return CSource(text, body.constant_bytes, body.stack_bytes)


def _table(name: str, what: str, texts: list[str]) -> str:
    """Return a function from a number to a text."""
    entries = ",\n        ".join(quoted(text) for text in texts)
    return (
        f"static inline const char *{name}_{what}(int index)\n{{\n"
        f"    static const char *const texts[] = {{\n        {entries}}};\n"
        f'    return index >= 0 && index < {len(texts)} ? texts[index] : "";\n}}\n'
    )


def _probabilities(form: FiniteForm, name: str) -> str:
    if form.temperature is None:
        return ""
    n_classes = len(form.classes)
    factor = f"{np.float32(1 / form.temperature)}f"
    zero = "0.0f" if form.decision == "sign" else "scores[0]"
    score = "(k ? scores[0] : 0.0f)" if form.decision == "sign" else "scores[k]"
    return _PROBABILITIES.format(
        name=name, n_classes=n_classes, factor=factor, zero=zero, score=score
    )


_DECISIONS = {
    "largest": """\
    int best = 0;
    for (int k = 0; k < {n}; k++) {{
        if (!(s[k] - s[k] == 0)) return -1;
        if (s[k] > s[best]) best = k;
    }}
    return best;""",
    "sign": """\
    if (!(s[0] - s[0] == 0)) return -1;
    return s[0] > 0;""",
    "tasks": """\
    for (int k = 0; k < {n}; k++) {{
        if (!(s[k] - s[k] == 0)) return -1;
    }}
    return 0;""",
}

_ANSWERS = {
    "largest": "the number of the class, that of the largest score",
    "sign": "the number of the class, 1 where the score is positive",
    "tasks": "0; task k says +1 where scores[k] is positive, else -1",
}

_TEXT_ARGUMENT = """
 *   texts   the texts of the row; a text that was not there in training counts as none"""

_HEADER = """\
/* {method}, written by supred {version}.
 *
 * {constant_bytes} bytes of constants, {stack_bytes} bytes of arrays on the stack.
 *
 * int {name}_predict(...) returns {answer},
 * or -1 if a number of the row is not finite.
 *   row     the numbers of the row, in the order of {name}_column{text_argument}
 *   latent  receives the latent coordinates, or NULL
 *   scores  receives the scores, or NULL
 */
#ifndef {upper}_H
#define {upper}_H

#include <math.h>

#define {upper}_N_NUMBERS {n_numbers}
#define {upper}_N_TEXTS {n_texts}
#define {upper}_N_LATENT {n_latent}
#define {upper}_N_SCORES {n_scores}
#define {upper}_N_CLASSES {n_classes}
#define {upper}_CONSTANT_BYTES {constant_bytes}
#define {upper}_STACK_BYTES {stack_bytes}

{constants}

{compare}static inline int {name}_predict({arguments})
{{
{body}
{decision}
}}

{labels}
{columns}{probabilities}
#endif
"""

_COMPARE = """\
static inline int {name}_same(const char *a, const char *b)
{{
    while (*a && *a == *b) {{
        a++;
        b++;
    }}
    return *a == *b;
}}

"""

_PROBABILITIES = """
/* The probability of each class, from the scores of {name}_predict. */
static inline void {name}_probabilities(const float *scores, float *probabilities)
{{
    float largest = {zero}, sum = 0.0f;
    for (int k = 0; k < {n_classes}; k++) {{
        if ({score} > largest) largest = {score};
    }}
    for (int k = 0; k < {n_classes}; k++) {{
        probabilities[k] = expf(({score} - largest) * {factor});
        sum += probabilities[k];
    }}
    for (int k = 0; k < {n_classes}; k++) probabilities[k] /= sum;
}}
"""
