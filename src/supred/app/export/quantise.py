"""Numbers in one byte: centres and weights as whole numbers from -127 to 127 with scales."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supred.app.export.conversion import finite_form_of
from supred.app.export.finite_form import FiniteForm, single
from supred.app.export.steps import Affine, Gaussians, Polynomials, SquaredDistances, Step
from supred.common.labels import one_label_per_row

LARGEST = 127
# Smaller matrices stay as they are: they take few bytes and their errors reach the scores.
LEAST_NUMBERS = 256


@dataclass(frozen=True, eq=False)
class Bytes:
    """A matrix as whole numbers of one byte, and one scale per column."""

    values: np.ndarray
    scales: np.ndarray


def to_bytes(matrix: np.ndarray) -> Bytes:
    """Return the nearest whole numbers; the largest number of each column becomes 127.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.app.export.quantise import to_bytes
    >>> to_bytes(np.array([[0.5, 0.0], [-1.0, 2.0]])).values
    array([[  64,    0],
           [-127,  127]], dtype=int8)
    """
    scales = single(np.abs(matrix).max(axis=0) / LARGEST)
    values = np.rint(matrix / np.where(scales > 0, scales, 1.0))
    return Bytes(np.clip(values, -LARGEST, LARGEST).astype(np.int8), scales)


def is_quantised(matrix: np.ndarray) -> bool:
    """Tell whether a matrix is large enough to be kept in bytes."""
    return matrix.size >= LEAST_NUMBERS


def quantised(form: FiniteForm) -> FiniteForm:
    """Return the form as it is once its centres and weights were kept in bytes.

    `to_bytes` of its matrices is exact.
    """
    return replace(
        form,
        to_latent=tuple(_quantised(step) for step in form.to_latent),
        to_scores=tuple(_quantised(step) for step in form.to_scores),
    )


def quantisation_errors(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return the share of rows with a wrong label, before and after `to_c(quantise=True)`.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        As in `to_c`.
    X : array-like or DataFrame of shape (n_rows, n_features)
        Rows that were not used for training.
    y : array-like of shape (n_rows,)

    Returns
    -------
    before, after : floats

    See Also
    --------
    to_c : Writes the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.export import quantisation_errors
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LowDimSVC(n_centers=30, random_state=0).fit(X[::2], y[::2])
    >>> before, after = quantisation_errors(model, X[1::2], y[1::2])
    >>> after < before + 0.05
    True
    """
    form = finite_form_of(model)
    rows = form.inputs.split(X)
    if rows[0].ndim != 2 or rows[0].shape[1] != len(form.inputs.numbers):
        raise ValueError(
            f"X has the shape {rows[0].shape}, but the model takes rows of "
            f"{len(form.inputs.numbers)} numbers; give the columns that it was trained on."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        answers = [version.evaluate(*rows) for version in (form, quantised(form))]
    known = [np.isfinite(answer.scores).all(axis=1) for answer in answers]
    unknown = ~np.all(known, axis=0) | np.isinf(rows[0]).any(axis=1)
    if unknown.any():
        raise ValueError(
            f"X: the scores of row {np.flatnonzero(unknown)[0]} are not finite; leave out rows "
            "with gaps or with numbers that are far larger than those of the training."
        )
    found = [answer.labels for answer in answers]
    y = one_label_per_row("y", y, found[0].shape)
    before, after = (float(np.mean(labels != y)) for labels in found)
    return before, after


def _quantised(step: Step) -> Step:
    if isinstance(step, Affine) and is_quantised(step.matrix):
        return replace(step, matrix=_nearest(step.matrix))
    if isinstance(step, Gaussians | Polynomials | SquaredDistances) and is_quantised(step.centers):
        return replace(step, centers=_nearest(step.centers))
    return step


def _nearest(matrix: np.ndarray) -> np.ndarray:
    kept = to_bytes(matrix)
    return kept.values * kept.scales
