"""Checks of single arguments: each error names the argument, what was found and what to do."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state


def largest_magnitude(values: Any) -> float:
    """Return the largest absolute value of an array or sparse matrix; NaN if it holds one.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.arguments import largest_magnitude
    >>> largest_magnitude(np.array([1.0, -3.0]))
    3.0
    """
    values = values.data if sparse.issparse(values) else values
    # Without the absolute values, which would take as much memory as the rows.
    return 0.0 if 0 in values.shape else float(max(values.max(), -values.min()))


def all_finite(values: Any) -> bool:
    """Tell whether all numbers of an array or sparse matrix are finite, without a copy.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.arguments import all_finite
    >>> all_finite(np.array([1.0, -3.0])), all_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    return math.isfinite(largest_magnitude(values))


class OutOfRangeError(ValueError):
    """Rows are so large, or so far from those of the training, that numbers would overflow."""


# Counts stay whole numbers where they are multiplied with numbers in double precision.
LARGEST_COUNT = 2**53
# A latent space has a few dimensions; what is made of them takes their square of memory.
MOST_COMPONENTS = 1000
# No parameter has a use beyond this; its square is finite, and itself in single precision.
LARGEST_PARAMETER = 1e30
# Nor below this, where it must be above zero: what is divided by it stays finite.
SMALLEST_PARAMETER = 1e-100
# More threads than any machine has.
MOST_JOBS = 10_000


def check_choice(name: str, value: Any, options: Sequence[str]) -> None:
    """Raise a ValueError if `value` is not one of the strings `options`."""
    if not (isinstance(value, str) and value in options):
        wanted = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name}={value!r} is not known; use one of {wanted}.")


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is the word "auto"; an array is not."""
    return isinstance(value, str) and value == "auto"


def check_real(
    name: str,
    value: Any,
    *,
    low: float = -np.inf,
    high: float = LARGEST_PARAMETER,
    low_inclusive: bool = True,
    high_inclusive: bool = True,
) -> float:
    """Return `value` as a float inside the interval, or raise a ValueError that names it."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool | np.bool_
    )
    if number and not low_inclusive and low == 0 < value < SMALLEST_PARAMETER:
        low, low_inclusive = SMALLEST_PARAMETER, True
    inside = (
        number
        and -np.inf < value < np.inf  # compares whole numbers of any size, and is false for NaN
        and (low <= value if low_inclusive else low < value)
        and (value <= high if high_inclusive else value < high)
    )
    if not inside:
        left = "[" if low_inclusive and np.isfinite(low) else "("
        right = "]" if high_inclusive and np.isfinite(high) else ")"
        raise ValueError(
            f"{name}={value!r} is out of range; use a number in {left}{low:g}, {high:g}{right}."
        )
    return float(value)


def check_integer(
    name: str, value: Any, *, low: int, high: int = LARGEST_COUNT, why: str = ""
) -> int:
    """Return `value` as an int inside ``[low, high]``, or raise a ValueError that names it."""
    if (
        not isinstance(value, int | np.integer)
        or isinstance(value, bool)
        or not low <= value <= high
    ):
        upper = "" if high == LARGEST_COUNT else f" and at most {high}"
        raise ValueError(
            f"{name}={value!r} is out of range; use a whole number of at least {low}{upper}"
            f"{' (' + why + ')' if why else ''}."
        )
    return int(value)


def check_n_jobs(n_jobs: Any) -> None:
    """Raise a ValueError if `n_jobs` is neither None nor a whole number other than zero.

    Examples
    --------
    >>> from supred.common.arguments import check_n_jobs
    >>> check_n_jobs(-1)
    """
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0 or abs(n_jobs) > MOST_JOBS):
        raise ValueError(
            f"n_jobs={n_jobs!r} is out of range; use None, a whole number of threads or "
            f"processes up to {MOST_JOBS}, or -1 for all cores."
        )


def random_generator(random_state: Any) -> np.random.RandomState:
    """Return the generator that a `random_state` stands for, or raise a ValueError that names it.

    Examples
    --------
    >>> from supred.common.arguments import random_generator
    >>> random_generator(0).randint(100)
    44
    """
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} is not known; use None, a whole number from 0 to "
            "2^32 - 1, or a RandomState."
        ) from error


def check_flag(name: str, value: Any) -> None:
    """Raise a ValueError if `value` is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} is not known; use True or False.")


def check_verbose(verbose: Any) -> None:
    """Raise a ValueError if `verbose` is neither a truth value nor a whole number."""
    if not isinstance(verbose, bool | np.bool_):
        check_integer("verbose", verbose, low=0)


def check_one_per_row(name: str, values: np.ndarray, n_rows: int) -> None:
    """Raise a ValueError if there is not one value for each row."""
    if len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} values for {n_rows} rows; give one per row.")


def check_unmasked(name: str, values: Any) -> None:
    """Raise a ValueError if some values of an array are masked: NumPy would take the mask off.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.common.arguments import check_unmasked
    >>> check_unmasked("X", np.ma.masked_array([[1.0, 2.0]], mask=False))
    """
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} has {np.ma.count_masked(values)} masked value(s), which are not known; "
            "fill them in (array.filled(value)), or drop their rows."
        )


def check_at_hand(name: str, values: Any) -> None:
    """Raise a TypeError if values are not there yet: NumPy would make one object of them.

    Examples
    --------
    >>> from supred.common.arguments import check_at_hand
    >>> check_at_hand("y", iter([1, 2]))
    Traceback (most recent call last):
    TypeError: y is a list_iterator, whose values are not there yet; give an array or a list.
    """
    kind = type(values)
    if isinstance(values, Iterator) or (
        hasattr(kind, "__dask_graph__") and not hasattr(kind, "ndim")
    ):
        raise TypeError(
            f"{name} is a {kind.__name__}, whose values are not there yet; give an array or a list."
        )


def as_numbers(name: str, values: Any, what: str, dtype: Any = float) -> np.ndarray:
    """Return a copy of values as an array of numbers, or raise a ValueError that names them.

    Parameters
    ----------
    name : str
    values : array-like
    what : str
        What to give instead.
    dtype : dtype

    Examples
    --------
    >>> from supred.common.arguments import as_numbers
    >>> as_numbers("prior", [1, "2"], "give one share per class")
    array([1., 2.])
    """
    check_unmasked(name, values)
    try:
        found = np.asarray(values)
        if found.dtype.kind == "c":
            raise TypeError("they are complex")
        return found.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} cannot be read as numbers ({one_line(error)}); {what}."
        ) from error


def one_line(error: BaseException) -> str:
    """Return what an error says, on one line.

    Examples
    --------
    >>> from supred.common.arguments import one_line
    >>> one_line(ValueError("too    long"))
    'too long'
    """
    return " ".join(str(error).split())[:200] or type(error).__name__


def listed(items: Sequence[Any], most: int = 12, more: str = "more") -> str:
    """Return the first items, and how many there are besides.

    Examples
    --------
    >>> from supred.common.arguments import listed
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = ", ".join(str(item) for item in items[:most])
    return shown + (f" and {len(items) - most} {more}" if len(items) > most else "")
