"""Whether single precision is enough to compute the scores of a form."""

from dataclasses import replace
from typing import Any

import numpy as np

from supred.app.export.finite_form import FiniteForm, arrays_of, run
from supred.app.export.steps import Gaussians, Polynomials, SquaredDistances, Step, UnitLength

ARITHMETIC = ("auto", "single", "double")
# Largest error of the scores, relative to their size, that single precision may cause.
LARGEST_ERROR = 5e-6
N_PROBES = 200


def uses_double(form: FiniteForm, arithmetic: str) -> bool:
    """Tell whether sums are to be done in double precision; numbers are kept in single.

    Wide Gaussians overlap, and their weights are large and cancel. The sum of a thousand of
    them then loses four of the seven digits of single precision.

    Parameters
    ----------
    form : FiniteForm
    arithmetic : {"auto", "single", "double"}
        "auto" measures the error of single precision at and between the centres.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import KernelDiscriminantAnalysis
    >>> from supred.app.export.conversion import finite_form_of
    >>> from supred.app.export.precision import uses_double
    >>> form = finite_form_of(KernelDiscriminantAnalysis(kernel="linear").fit(
    ...     *load_iris(return_X_y=True)))
    >>> uses_double(form, "auto")
    False
    """
    if arithmetic not in ARITHMETIC:
        raise ValueError(f"arithmetic={arithmetic!r} is not known; use one of {ARITHMETIC}.")
    if arithmetic == "auto":
        return single_precision_error(form) > LARGEST_ERROR
    return arithmetic == "double"


def single_precision_error(form: FiniteForm) -> float:
    """Return the largest error of scores in single precision, relative to their typical size.

    The rows that are tried are those where the model knows something: centres of the first
    kernel, and points half way between two of them. Where only the direction of the latent
    coordinates counts the error is infinite: far from all centres they are smaller than any
    number of single precision.
    """
    steps = form.to_latent + form.to_scores
    kernels = [k for k, step in enumerate(steps) if isinstance(step, Gaussians | Polynomials)]
    if not kernels:
        return 0.0
    steps = steps[kernels[0] :]
    if any(isinstance(step, UnitLength) for step in steps):
        return float("inf")
    centers = arrays_of(steps[0])["centers"]
    rng = np.random.default_rng(0)
    first, second = rng.integers(len(centers), size=(2, N_PROBES))
    rows = np.vstack([centers[first], 0.5 * (centers[first] + centers[second])])
    rows = rows.astype(np.float32)
    expected = run(steps, rows.astype(float))
    found = rows
    for step in steps:
        found = _in_single(step, found)
    size = np.sqrt(np.mean(np.square(expected)))
    return float(np.abs(found - expected).max() / max(size, np.finfo(float).tiny))


def _in_single(step: Step, rows: np.ndarray) -> np.ndarray:
    """Return what a step makes of rows if all is done in single precision."""
    arrays: dict[str, Any] = {
        name: array.astype(np.float32) if array.dtype.kind == "f" else array
        for name, array in arrays_of(step).items()
    }
    if isinstance(step, Gaussians | SquaredDistances):
        centers = arrays["centers"]
        squares = np.sum(rows * rows, axis=1)[:, None] - 2 * rows @ centers.T
        squares = np.maximum(squares + np.sum(centers * centers, axis=1), 0)
        return np.exp(-arrays["gammas"] * squares) if isinstance(step, Gaussians) else squares
    return replace(step, **arrays).apply(rows).astype(np.float32)
