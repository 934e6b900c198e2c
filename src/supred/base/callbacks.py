"""scikit-learn's callbacks (version 1.9 and later) during a fit."""

from collections.abc import Callable
from typing import Any

import numpy as np


class FitCallbacks:
    """Tell the callbacks of an estimator of the fit and of its iterations, if it has any.

    Parameters
    ----------
    estimator : estimator
        With or without `CallbackSupportMixin`.
    X, y : rows and labels
    max_iter : int
        Most iterations, the start not counted.
    """

    def __init__(self, estimator: Any, X: Any, y: np.ndarray, max_iter: int) -> None:
        self._told = {"estimator": estimator, "X": X, "y": y}
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=max_iter + 1)
            self._context.call_on_fit_task_begin(**self._told)

    def iteration(self, so_far: Callable[[], dict[str, Any]]) -> bool:
        """Report an iteration; True asks the fit to stop.

        Parameters
        ----------
        so_far : callable
            Returns the fitted attributes that predict as the fit stands.
        """
        if self._context is None:
            return False
        step = self._context.subcontext(task_name="iteration")
        step.call_on_fit_task_begin(**self._told)
        return bool(step.call_on_fit_task_end(**self._told, reconstruction_attributes=so_far))

    def close(self) -> None:
        """Say that the fit has come to its end."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._told)
