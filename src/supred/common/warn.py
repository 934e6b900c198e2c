"""Warnings that show the line of the user's code."""

import sys
import warnings

# Callers whose lines tell the user nothing: the library, and what calls it on the user's behalf.
PASSED_ON = ("supred", "sklearn", "joblib")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and show the line that called the library, however deep inside it this is.

    Examples
    --------
    >>> import warnings
    >>> from supred.common.warn import warn_caller
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_caller("all rows are equal")
    >>> print(found[0].message)
    all rows are equal
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package_of(frame.f_globals) in PASSED_ON:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package_of(names: dict[str, object]) -> str:
    return str(names.get("__name__")).partition(".")[0]
