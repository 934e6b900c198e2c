"""Models in files without pickle: fitted estimators, Pipelines, searches and tables."""

import os
import warnings
from numbers import Real
from typing import Any

import numpy as np

import supred
from supred.app.export.loaded_checks import check_model
from supred.app.export.sklearn_records import ESTIMATORS, from_record, to_record
from supred.app.export.table_model import TableModel
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Column
from supred.base.container import (
    MAX_BYTES,
    ModelFileError,
    one_line,
    read_container,
    write_container,
)
from supred.base.state import register
from supred.common.arguments import check_flag
from supred.common.files import check_path

__all__ = ["ModelFileError", "TableModel", "load_model", "load_table_model", "save_model"]

KIND = "model"


def save_model(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model to a file of arrays and one JSON description.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        A fitted estimator of supred; a Pipeline that ends in one and begins with scikit-learn's
        usual transformers (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Normalizer,
        SimpleImputer, VarianceThreshold, PCA, TruncatedSVD); a GridSearchCV or
        RandomizedSearchCV of these; or a model with its table, as the command line has it.
    path : path
        By custom ending in ``.supred``. The file is there when it is complete, or not at all.
    overwrite : bool
        Whether to replace a file of that name; an error otherwise.

    Raises
    ------
    ModelFileError
        If a part of the model is of a kind that cannot be saved (a kernel function, a regressor
        as the mapping).

    See Also
    --------
    load_model : Reads it back.
    to_onnx : For other programs than Python.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.export import load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LowDimSVC(n_centers=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.supred")
    ...     save_model(model, path)
    ...     bool((load_model(path).predict(X) == model.predict(X)).all())
    True
    """
    check_flag("overwrite", overwrite)
    _register_classes()
    value = model if isinstance(model, TableModel) else to_record(model)
    write_container(path, KIND, value, overwrite=overwrite)


def load_model(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that `save_model` wrote.

    Nothing in the file is run: it holds arrays and names of known classes only, and the model is
    tried on a few rows before it is returned. Still, as with any program, do not trust the
    predictions of a model whose origin you do not know.

    Parameters
    ----------
    path : path
    max_bytes : int, default=268435456
        A file that declares more bytes of content than this is refused.

    Returns
    -------
    estimator, Pipeline, search or TableModel
        What was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model of supred, is damaged, too large or of another version. The
        message is one line.
    OSError
        If the file cannot be opened.

    See Also
    --------
    save_model : Writes one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.export import load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.supred")
    ...     save_model(LowDimSVC(n_centers=20, random_state=0).fit(X, y), path)
    ...     load_model(path).predict(X[:3])
    array([0, 0, 0])
    """
    check_path(path)
    if not isinstance(max_bytes, Real) or isinstance(max_bytes, bool) or not max_bytes >= 0:
        raise ValueError(f"max_bytes={max_bytes!r} is out of range; use a number of bytes.")
    _register_classes()
    with one_line(path), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = read_container(path, KIND, max_bytes=max_bytes)
        model = value if isinstance(value, TableModel) else from_record(value)
        check_model(model)
        return model


def load_table_model(path: str | os.PathLike[str]) -> TableModel:
    """Read a model for tables; one that was saved without a table gets one of plain numbers."""
    model = load_model(path)
    return model if isinstance(model, TableModel) else TableModel.around(model)


def _register_classes() -> None:
    """Register what a model file may hold; importing a method registers its parts."""
    for name in ESTIMATORS:
        register(getattr(supred, name))
    for made in (Preparation, Column):
        register(made)
