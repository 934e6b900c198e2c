"""Numbers in one byte: centres and weights as whole numbers from -127 to 127 with scales."""

from dataclasses import dataclass, replace

import numpy as np

from supred.app.export.finite_form import FiniteForm, single
from supred.app.export.steps import Affine, Gaussians, Polynomials, Step

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

    `to_bytes` of its matrices is exact. Where a linear map follows Gaussians its offset makes
    up for the mean of what was lost.
    """
    return replace(
        form,
        to_latent=tuple(_quantised(step) for step in form.to_latent),
        to_scores=tuple(_quantised(step) for step in form.to_scores),
    )


def _quantised(step: Step) -> Step:
    if isinstance(step, Affine) and is_quantised(step.matrix):
        return replace(step, matrix=_nearest(step.matrix))
    if isinstance(step, Gaussians | Polynomials) and is_quantised(step.centers):
        return replace(step, centers=_nearest(step.centers))
    return step


def _nearest(matrix: np.ndarray) -> np.ndarray:
    kept = to_bytes(matrix)
    return kept.values * kept.scales
