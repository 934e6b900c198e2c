"""Time: what is left, how much tuning it pays for, and an end to what runs over."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

# Folds of the training rows on which settings are judged; the first of them where time is short.
INNER_FOLDS = 3
# Seconds beyond which a limit is none; alarms of some systems do not reach much further.
LONGEST = 1e9


class TimeUpError(BaseException):
    """The time of a method is spent; no library catches this by mistake."""


class Clock:
    """The time that is left, and how much of it is a method's.

    Parameters
    ----------
    budget : float or None
        Seconds in all; None means no limit.
    """

    def __init__(self, budget: float | None) -> None:
        self.budget = np.inf if budget is None else budget
        self.end = perf_counter() + self.budget

    def left(self, *, reserve: float = 0.0) -> float:
        """Return the seconds that are left, without a reserve (a share of the budget)."""
        if not np.isfinite(self.end):
            return float(np.inf)
        return self.end - perf_counter() - reserve * self.budget


class Tuning(NamedTuple):
    """How much a method may be tuned."""

    seconds: float
    n_checks: int  # inner folds that judge a setting

    @classmethod
    def affordable(cls, seconds: float, fit_seconds: float, n_folds: int) -> "Tuning | None":
        """Return what there is time for; None if not for two settings in each fold."""
        for n_checks in (INNER_FOLDS, 1):
            if seconds >= 2 * n_checks * n_folds * fit_seconds:
                return cls(seconds, n_checks)
        return None


UNTUNED = Tuning(0.0, 0)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeUpError inside the block after some seconds.

    Uses an alarm of the system, which only the main thread can set and which Windows lacks;
    elsewhere the block runs to its end.
    """
    if (
        not seconds < LONGEST
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(signum: int, frame: Any) -> None:
        raise TimeUpError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
