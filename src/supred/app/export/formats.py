"""Fitted models as ONNX, C and JavaScript."""

import os
import re
from pathlib import Path
from typing import Any

from supred.app.export.c_writer import CSource, write_c
from supred.app.export.conversion import finite_form_of
from supred.app.export.javascript_writer import write_javascript
from supred.app.export.onnx_writer import write_onnx
from supred.common.files import atomic_write


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    arithmetic: str = "auto",
    overwrite: bool = False,
) -> Any:
    """Return a fitted model as an ONNX model, and write it to a file if one is named.

    The input ``rows`` has the shape (n, n_features) and single precision; a table with text
    columns has the inputs ``numbers`` and ``texts`` in its place. The outputs are ``label``,
    ``scores`` (as `decision_function`, one column for two classes), ``probabilities`` if the
    model has them, and ``latent``. The number of rows is free.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        A fitted estimator of supred, alone, at the end of a Pipeline with StandardScaler,
        MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer or PCA, in a search, or as
        `load_model` returned it.
    path : path, optional
    arithmetic : {"auto", "single", "double"}, default="auto"
        Precision of the sums; inputs, outputs and constants are single. "auto" takes double
        where single precision would change the scores.
    overwrite : bool, default=False
        Whether to replace a file of that name.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ExportError
        If the model cannot be exported; the message says what to use instead.

    See Also
    --------
    to_c : One C header.
    to_javascript : One JavaScript module.
    save_model : For Python.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = to_onnx(LowDimSVC(n_centers=9, random_state=0).fit(X, y))
    >>> [output.name for output in model.graph.output]
    ['label', 'scores', 'latent']
    """
    result = write_onnx(finite_form_of(model), arithmetic=arithmetic)
    _write(path, result.SerializeToString(deterministic=True), overwrite)
    return result


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
    if name is None:
        name = "model" if path is None else re.sub(r"\W", "_", Path(path).stem, flags=re.ASCII)
    source = write_c(finite_form_of(model), name=name, quantise=quantise, arithmetic=arithmetic)
    _write(path, source.text.encode(), overwrite)
    return source


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
    text = write_javascript(finite_form_of(model))
    _write(path, text.encode(), overwrite)
    return text


def _write(path: str | os.PathLike[str] | None, content: bytes, overwrite: bool) -> None:
    if path is not None:
        with atomic_write(path, overwrite=overwrite) as file:
            file.write(content)
