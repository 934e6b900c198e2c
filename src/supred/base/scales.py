"""The unit of the rows: numbers of extreme size are brought to a safe one at the door.

Squares and products of squares of the rows must neither overflow nor vanish. Rows whose largest
number lies beyond 2^64 or below 2^-64 (2^24 and 2^-24 in single precision) are therefore divided
by a power of two, which changes no digit, when a model is trained and whenever it is used.
Ordinary rows are left alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arguments import OutOfRangeError, largest_magnitude
from supred.common.arrays import cast, is_foreign, type_name
from supred.common.warn import warn_caller

# The exponents of two up to which rows and weights are used as they are.
SAFE_EXPONENT = {np.dtype(np.float64): 64, np.dtype(np.float32): 24}
SAFE_WEIGHTS = 40
# Positive weights differ by no more than this power of two.
MOST_SPREAD = 100
# Rows whose numbers are smaller than this are safe.
SAFE_NUMBER = {kind: 2.0 ** (exponent + 1) for kind, exponent in SAFE_EXPONENT.items()}
# Rows to predict may be so many times larger than a safe number, and not more.
MOST_PREDICTED = 1e100
# Coordinates may be so large that scores are finite: in double precision those made of squares,
# in single precision those that are linear.
MOST_LATENT = {np.dtype(np.float64): 1e140, np.dtype(np.float32): 1e33}


def unit_exponent(values: Any, name: str, *, safe: int | None = None) -> int:
    """Return k such that numbers of extreme size are safe in units of 2^k; 0 if they are safe.

    Parameters
    ----------
    values : ndarray or sparse matrix
        Finite numbers in single or double precision.
    name : str
        What to call them in the warning, which is given unless they are safe.
    safe : int, optional
        Exponent up to which they are; by default that of rows of their type.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from supred.base.scales import unit_exponent
    >>> unit_exponent(np.array([3.0, -1e6]), "X")
    0
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     unit_exponent(np.array([1.5 * 2.0**99]), "X")
    99
    """
    largest = largest_magnitude(values)
    exponent = int(np.frexp(largest)[1]) - 1  # largest is in [2^exponent, 2^(exponent + 1))
    if largest == 0 or abs(exponent) <= (
        SAFE_EXPONENT[type_name(values)] if safe is None else safe
    ):
        return 0
    warn_caller(
        f"the largest number in {name} is {largest:.2g}; {name} is counted in units of "
        f"2^{exponent}, and so are parameters and attributes that have the unit of {name}. "
        f"Scale {name} to keep them in a unit of your own.",
    )
    return exponent


def in_unit(values: Any, exponent: int) -> Any:
    """Return numbers in units of ``2^exponent``; the numbers themselves for exponent 0."""
    if exponent == 0:
        return values
    if sparse.issparse(values):
        values = values.copy()
        values.data = in_unit(values.data, exponent)
        return values
    if is_foreign(values):  # in two steps: the factor itself may not be a finite number
        return values * 2.0 ** -(exponent // 2) * 2.0 ** (exponent // 2 - exponent)
    with np.errstate(over="ignore"):
        return np.ldexp(values, np.int32(-exponent))


def is_safe(X: Any) -> bool:
    """Tell whether no number of the rows is so large that squares may overflow."""
    return largest_magnitude(X) < SAFE_NUMBER[type_name(X)]


def project_far_rows(project: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """Return coordinates of rows that lie far from all rows which a model was trained on.

    Parameters
    ----------
    project : callable
        Makes coordinates of rows.
    X : ndarray or sparse matrix
        Some number of it is not safe.

    Raises
    ------
    OutOfRangeError
        If they lie so far that coordinates or scores would not be finite.
    """
    largest = largest_magnitude(X)
    if largest <= MOST_PREDICTED:
        with np.errstate(over="ignore", invalid="ignore"):
            Z = cast(project(cast(X, np.float64)), type_name(X))
        if largest_magnitude(Z) < MOST_LATENT[type_name(X)]:  # NaN is not
            return Z
    raise OutOfRangeError(
        f"X holds numbers up to {largest:.2g} in the unit of the training rows, too far from them "
        "for finite coordinates and scores; drop such rows, or train on rows of that size."
    )
