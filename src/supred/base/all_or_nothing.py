"""Fits that succeed or leave the estimator as it was."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def all_or_nothing(
    method: Callable[Concatenate[Any, Arguments], Answer],
) -> Callable[Concatenate[Any, Arguments], Answer]:
    """Let a method that raises leave the object's attributes as they were; use as a decorator.

    A fit that is refused or interrupted must not leave the unit or the columns of the new rows
    beside the weights of the old model. Attributes are put back, not copied: the method may
    replace arrays but not write into them.

    Examples
    --------
    >>> from supred.base.all_or_nothing import all_or_nothing
    >>> class Count:
    ...     n = 0
    ...     @all_or_nothing
    ...     def set(self, n):
    ...         self.n = n
    ...         if n > 3:
    ...             raise ValueError("too many")
    >>> count = Count()
    >>> count.set(2)
    >>> count.set(5)
    Traceback (most recent call last):
    ValueError: too many
    >>> count.n
    2
    """

    @wraps(method)
    def whole(self: Any, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole
