"""What differs between the supported versions of scikit-learn, and nothing else."""

from collections.abc import Callable
from typing import Any

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in for scikit-learn before 1.9, which has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is: there are no callbacks to tear down."""
        return method


__all__ = ["CallbackSupportMixin", "with_callbacks"]
