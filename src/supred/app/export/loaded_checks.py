"""Checks of a model that came from a file: it must work before anyone uses it."""

from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from supred.app.export.loaded_parts import check_parts, require
from supred.app.export.table_model import TableModel, innermost, outermost
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Column
from supred.common.arguments import OutOfRangeError, all_finite

# Rows that are tried: all numbers of a row are equal to one of these. A model must have an answer
# for zeros; the others may lie too far from rows that were next to nothing.
NEAR, FAR = (0.0,), (1.0, -1.0, 1000.0, -1000.0)
MOST_FEATURES = 10**7
# Labels become objects of Python.
MOST_CLASSES, MOST_LABEL_BYTES = 10**6, 64 * 2**20
# Wider rows are tried as sparse ones.
MOST_DENSE = 10**5


def check_model(model: Any) -> None:
    """Raise an error if a model does not give finite answers of the right shapes.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        As the reader of a file has put it together.
    """
    estimator = model.estimator if isinstance(model, TableModel) else model
    last = innermost(estimator)
    _check_classes(last.classes_)
    _check_features(outermost(estimator))
    require(0 < last.row_unit_ < np.inf, "the unit of the rows")
    last.check_finite()
    check_parts(last)
    if isinstance(model, TableModel):
        check_table(model)
    pairwise = get_tags(last).input_tags.pairwise  # distances, which are not negative
    far = tuple(value for value in FAR if value > 0 or not pairwise)
    for values, accepted in ((NEAR, ()), (far, (OutOfRangeError,))):
        with suppress(*accepted):
            _check_answers(estimator, last, _probes(model, values))
    _check_description(last)


def _check_description(last: Any) -> None:
    """Raise an error if what is told of a model cannot be told."""
    size = last.model_size_
    counts = [size.numbers, size.bytes]
    with suppress(AttributeError):  # of some it is not known
        counts.append(last.flops_per_row_)
    require(all(isinstance(count, int | np.integer) for count in counts), "the size of the model")
    require(len(last.get_feature_names_out()) == last._n_features_out, "the latent dimensions")


def check_table(model: TableModel) -> None:
    """Raise a ValueError if the table of a model is not described as it must be."""
    require(isinstance(model.preparation, Preparation), "the preparation")
    require(isinstance(model.target, str), "the target")
    require(type(model.sparse) is bool, "sparse")
    for texts in (model.ignored, model.notes):
        require(all(isinstance(text, str) for text in texts), "ignored columns or notes")
    require(len(model.columns) > 0, "no columns")
    for column in model.columns:
        require(isinstance(column, Column) and isinstance(column.name, str), "a column")
        require(column.kind in ("number", "text"), "the kind of a column")
        require(all(isinstance(value, str) for value in column.values), "values of a column")


def _check_classes(classes: Any) -> None:
    require(isinstance(classes, np.ndarray) and classes.ndim == 1, "classes")
    require(0 < len(classes) <= MOST_CLASSES, "classes")
    if classes.dtype.kind == "f":
        require(all_finite(classes), "classes")
    if classes.dtype.kind == "U":
        n_letters = int(np.char.str_len(classes).sum())
        require(4 * n_letters <= MOST_LABEL_BYTES, f"labels of {n_letters} letters")
    labels = classes.tolist()
    require(all(isinstance(label, bool | int | float | str) for label in labels), "classes")
    require(len(set(labels)) == len(labels), "a class twice")


def _check_features(estimator: Any) -> None:
    n_features = estimator.n_features_in_
    whole = isinstance(n_features, int | np.integer) and not isinstance(n_features, bool)
    require(whole and 0 < n_features <= MOST_FEATURES, "the number of features")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        require(isinstance(names, np.ndarray) and names.dtype == object, "feature names")
        require(names.shape == (n_features,), "feature names")
        require(all(isinstance(name, str) for name in names.tolist()), "feature names")


def _probes(model: Any, values: tuple[float, ...]) -> Any:
    table = isinstance(model, TableModel)
    n_features = len(model.columns) if table else outermost(model).n_features_in_
    if n_features > MOST_DENSE:
        return sparse.csr_matrix((2, n_features))
    rows = np.repeat(np.array(values)[:, None], n_features, axis=1)
    return model.transformer.transform(rows) if table else rows


def _check_answers(estimator: Any, last: Any, rows: Any) -> None:
    n_rows, classes = rows.shape[0], last.classes_
    latent = estimator.transform(rows)
    require(latent.shape == (n_rows, last._n_features_out), "latent coordinates of another shape")
    require(_finite(latent), "latent coordinates that are not finite")
    labels = estimator.predict(rows)
    expected = (n_rows,) if len(classes) == 2 else (n_rows, len(classes))
    names = set(classes.tolist())
    if getattr(last, "multilabel_", False):
        expected, names = (n_rows, len(classes)), {0, 1}
    if getattr(last, "multitask_", False):
        expected = (n_rows, last.n_tasks_)
    require(labels.shape in ((n_rows,), expected), "labels of another shape")
    known = set(labels.ravel().tolist()) <= names
    require(known, "labels that are not among the classes")
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(rows))
        require(scores.shape == expected, "scores of another shape")
        require(_finite(scores), "scores that are not finite")
    if hasattr(estimator, "predict_proba"):
        probabilities = estimator.predict_proba(rows)
        require(probabilities.shape == (n_rows, len(classes)), "probabilities of another shape")
        require(_finite(probabilities), "probabilities that are not finite")


def _finite(values: np.ndarray) -> bool:
    return values.dtype.kind in "fiu" and all_finite(values)
