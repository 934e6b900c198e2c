"""scikit-learn's callbacks (version 1.9 and later) during a fit."""

from collections.abc import Callable
from typing import Any


class FitCallbacks:
    """Tell the callbacks of an estimator of the fit and of its iterations, if it has any.

    Parameters
    ----------
    estimator : estimator
        With or without `CallbackSupportMixin`.
    X, y : rows and labels
    max_iter : int, optional
        Most iterations, the start not counted; None if that is not known.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, max_iter: int | None = None) -> None:
        self._told = {"estimator": estimator, "X": X, "y": y}
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            most = None if max_iter is None else max_iter + 1
            self._context = estimator._init_callback_context(max_subtasks=most)
            self._context.call_on_fit_task_begin(**self._told)

    def iteration(self, so_far: Callable[[], dict[str, Any]] | None = None) -> bool:
        """Report an iteration; True asks the fit to stop.

        Parameters
        ----------
        so_far : callable, optional
            Returns the fitted attributes that predict as the fit stands.
        """
        if self._context is None:
            return False
        step = self._context.subcontext(task_name="iteration")
        step.call_on_fit_task_begin(**self._told)
        more = {} if so_far is None else {"reconstruction_attributes": so_far}
        return bool(step.call_on_fit_task_end(**self._told, **more))

    def close(self) -> None:
        """Say that the fit has come to its end."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._told)
