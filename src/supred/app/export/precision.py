"""Whether single precision is enough: for the sums of a form, and for the numbers it keeps."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supred.app.export.finite_form import FiniteForm, arrays_of, in_single, rounded, run
from supred.app.export.steps import (
    Affine,
    Gaussians,
    Polynomials,
    Scale,
    SquaredDistances,
    Step,
    UnitLength,
    Votes,
)

ARITHMETIC = ("auto", "single", "double")
# Largest errors of the scores, relative to their size, that sums in single precision and numbers
# rounded to it may cause. Both are measured at a few rows only, so they stay below the 1e-5 that
# is promised.
LARGEST_ERROR = 5e-6
LARGEST_ROUNDING = 3e-6
# Parts of an exponent of a Gaussian; far larger ones are infinite in single precision.
LARGEST_EXPONENT = 1e30
# So many rows are tried, fewer where each has so many scores that these would take much memory.
N_PROBES, MOST_SCORES = 200, 2**21


@dataclass(frozen=True)
class Precise:
    """A form with the numbers that are to be written, and their precision.

    Attributes
    ----------
    form : FiniteForm
    double_sums : bool
        Whether sums are to be done in double precision.
    double_numbers : bool
        Whether the numbers are kept in double precision; sums are then double too.
    """

    form: FiniteForm
    double_sums: bool
    double_numbers: bool


@np.errstate(over="ignore", invalid="ignore")  # what single precision cannot hold is measured
def precise(form: FiniteForm, arithmetic: str = "auto") -> Precise:
    """Return a form with its numbers in the precision that its scores need.

    Wide Gaussians overlap, and their weights are large and cancel. The sum of a thousand of
    them then loses four of the seven digits of single precision; where it loses more, rounding
    the weights and centres is too coarse as well.

    Parameters
    ----------
    form : FiniteForm
    arithmetic : {"auto", "single", "double"}
        Precision of the sums. "auto" measures the error of single precision at and between the
        centres. With "single" the numbers are single too; otherwise that is measured.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import KernelDiscriminantAnalysis
    >>> from supred.app.export.conversion import finite_form_of
    >>> from supred.app.export.precision import precise
    >>> form = finite_form_of(KernelDiscriminantAnalysis(kernel="linear").fit(
    ...     *load_iris(return_X_y=True)))
    >>> precise(form).double_sums
    False
    """
    if arithmetic not in ARITHMETIC:
        raise ValueError(f"arithmetic={arithmetic!r} is not known; use one of {ARITHMETIC}.")
    votes = any(isinstance(step, Votes) for step in form.to_scores)
    # A vote turns over at zero, where single precision may err; so it is cast in double.
    double_sums = arithmetic == "double" or (arithmetic == "auto" and votes)
    probes = _probes(form)
    if arithmetic == "single" or probes is None:
        return Precise(in_single(form), double_sums, False)
    steps, rows = probes
    expected = run(steps, rows)
    double_numbers = _error(run(rounded(steps), rows), expected) > LARGEST_ROUNDING
    double_sums = (
        double_sums
        or double_numbers
        # Far from all centres a direction is made of numbers that single precision cannot hold.
        or any(
            isinstance(step, UnitLength) or largest_exponent(step) > LARGEST_EXPONENT
            for step in steps
        )
        or _error(_run_in_single(steps, rows), expected) > LARGEST_ERROR
    )
    return Precise(form if double_numbers else in_single(form), double_sums, double_numbers)


def largest_exponent(step: Step) -> float:
    """Return the largest gamma ||c||^2 of Gaussians; 0 for other steps."""
    if not isinstance(step, Gaussians):
        return 0.0
    return float(np.max(step.gammas * np.sum(np.square(step.centers), axis=1)))


def _probes(form: FiniteForm) -> tuple[tuple[Step, ...], np.ndarray] | None:
    """Return the last steps, and rows for them where the model knows something.

    These are centres of the first kernel, and points half way between two of them. Without a
    kernel they are the rows nearest to zero that have scores of an ordinary size; None if the
    scores are not linear.
    """
    steps = form.to_latent + form.to_scores
    kernels = [k for k, step in enumerate(steps) if isinstance(step, Gaussians | Polynomials)]
    rng = np.random.default_rng(0)
    n_probes = max(2, min(N_PROBES, MOST_SCORES // form.n_scores))
    if kernels:
        steps = steps[kernels[0] :]
        centers = arrays_of(steps[0])["centers"]
        first, second = rng.integers(len(centers), size=(2, n_probes))
        rows = np.vstack([centers[first], 0.5 * (centers[first] + centers[second])])
    else:
        steps = _linear_end(steps)
        if not steps:
            return None
        if any(isinstance(step, Affine) for step in steps):
            matrix, offset = _composed(steps)
            scores = rng.normal(size=(n_probes, len(offset)))
            rows = (scores - offset) @ np.linalg.pinv(matrix)
        else:  # no matrix: of very many classes it would be too much
            rows = rng.normal(size=(n_probes, form.n_scores))
            for step in reversed(steps):
                rows = rows / step.scale + step.shift  # type: ignore[union-attr]
    return steps, rows.astype(np.float32).astype(float)


def _linear_end(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the last steps that are affine, without votes."""
    affine: list[Step] = []
    for step in reversed(steps):
        if not isinstance(step, Affine | Scale | Votes):
            break
        if not isinstance(step, Votes):
            affine.insert(0, step)
    return tuple(affine)


def _composed(steps: tuple[Step, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix and the offset of affine steps one after the other."""
    last = steps[-1]
    if isinstance(last, Affine):  # of very many classes the square of their number is too much
        matrix, offset, steps = last.matrix, last.offset, steps[:-1]
    else:
        n_out = len(last.scale)  # type: ignore[union-attr]
        matrix, offset = np.eye(n_out), np.zeros(n_out)
    for step in reversed(steps):
        if isinstance(step, Affine):
            offset = offset + step.offset @ matrix
            matrix = step.matrix @ matrix
        elif isinstance(step, Scale):
            matrix = step.scale[:, None] * matrix
            offset = offset - step.shift @ matrix
    return matrix, offset


def _error(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference of scores, relative to their typical size."""
    if not np.isfinite(found).all():
        return np.inf
    size = np.sqrt(np.mean(np.square(expected)))
    return float(np.abs(found - expected).max() / max(size, np.finfo(float).tiny))


def _run_in_single(steps: tuple[Step, ...], rows: np.ndarray) -> np.ndarray:
    """Return what the steps make of rows if all is done in single precision."""
    rows = rows.astype(np.float32)
    for step in steps:
        arrays: dict[str, Any] = {
            name: array.astype(np.float32) if array.dtype.kind == "f" else array
            for name, array in arrays_of(step).items()
        }
        if isinstance(step, Gaussians | SquaredDistances):
            centers = arrays["centers"]
            squares = np.sum(rows * rows, axis=1)[:, None] - 2 * rows @ centers.T
            squares = np.maximum(squares + np.sum(centers * centers, axis=1), 0)
            rows = np.exp(-arrays["gammas"] * squares) if isinstance(step, Gaussians) else squares
        else:
            rows = replace(step, **arrays).apply(rows).astype(np.float32)
    return rows
