"""One sentence of advice from the table of results."""

from collections.abc import Sequence

import numpy as np

from supred.app.comparison.result import MethodResult


def mean_error(method: MethodResult) -> float:
    """Return the mean held-out error, a share."""
    return float(np.mean(method.fold_errors))


def standard_error(method: MethodResult) -> float:
    """Return the standard error of the mean over the folds."""
    errors = method.fold_errors
    return float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0


def advise(methods: Sequence[MethodResult]) -> str:
    """Name the most accurate method, and the smallest within one standard error of it.

    Examples
    --------
    >>> from supred.app.comparison import MethodResult
    >>> from supred.app.comparison.advice import advise
    >>> large = MethodResult("SVC", "done", fold_errors=[0.01, 0.03], model_bytes=50_000)
    >>> small = MethodResult("LowDimSVC", "done", fold_errors=[0.02, 0.03], model_bytes=5_000)
    >>> advise([large, small])
    'Most accurate: SVC (2.0 % ± 1.0 held-out error); smallest within one standard error of it: \
LowDimSVC (2.5 % ± 0.5, 5.0 kB, 10 times smaller).'
    """
    done = [method for method in methods if method.status == "done" and method.fold_errors]
    if not done:
        return "No method finished; the table says why."
    best = min(done, key=lambda method: (mean_error(method), method.model_bytes or 0))
    bound = mean_error(best) + standard_error(best)
    near = [
        method for method in done if mean_error(method) <= bound and method.model_bytes is not None
    ]
    first = (
        f"Most accurate: {best.name} ({100 * mean_error(best):.1f} % "
        f"± {100 * standard_error(best):.1f} held-out error"
    )
    smallest = min(near, key=lambda method: method.model_bytes or 0, default=best)
    if smallest is best:
        return f"{first}); it is also the smallest within one standard error."
    ratio = (best.model_bytes or 0) / max(smallest.model_bytes or 1, 1)
    times = f", {ratio:.{0 if ratio >= 3 else 1}f} times smaller" if ratio > 1 else ""
    return (
        f"{first}); smallest within one standard error of it: {smallest.name} "
        f"({100 * mean_error(smallest):.1f} % ± {100 * standard_error(smallest):.1f}, "
        f"{bytes_text(smallest.model_bytes)}{times})."
    )


def bytes_text(count: int | None) -> str:
    """Return a size in bytes, kB or MB."""
    if count is None:
        return "-"
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:.1f} MB"
