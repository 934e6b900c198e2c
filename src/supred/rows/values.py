"""What lives with the rows: one value for each block, made and used where the block is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from supred.common.arrays import HOST, Place, on_host
from supred.common.threads import in_order

if TYPE_CHECKING:
    from supred.rows.blocks import LocalRows, Rows


class RowValues(ABC):
    """One value per block of rows, such as the labels of its rows.

    A value never changes. A visit makes new ones, which can be made again by the same visit if
    they are lost. The functions may run elsewhere, as those of :class:`supred.rows.blocks.Rows`.

    Attributes
    ----------
    rows : Rows
        The rows of the blocks.
    place : Place
        Where the values of the blocks are.
    """

    rows: "Rows"
    place: Place = HOST

    @abstractmethod
    def visit(self, function: Callable[..., Any], *arguments: Any) -> tuple["RowValues", Any]:
        """Call ``function(block, value, *arguments)`` for each block of rows.

        The function returns the new value of the block and a term; the new values and the sum of
        the terms, in the order of the blocks, are returned.
        """

    @abstractmethod
    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add up ``function(value, *arguments)`` in the order of the blocks, without their rows."""

    @abstractmethod
    def collect(self, function: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Stack ``function(value)``: for callers that cannot do without."""


class LocalValues(RowValues):
    """Values of blocks that are visited on this machine, in the threads that there are.

    Parameters
    ----------
    rows : LocalRows
    parts : list of slice
        The blocks.
    values : list
        One for each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.rows.blocks import rows_of
    >>> labels = rows_of(np.eye(3)).attach(lambda first, y: y, np.array([1, 2, 3]))
    >>> doubled, total = labels.visit(lambda block, y: (2 * y, block.T @ y))
    >>> total, int(doubled.sum(np.sum))
    (array([1., 2., 3.]), 12)
    """

    def __init__(self, rows: "LocalRows", parts: list[slice], values: list[Any]) -> None:
        self.rows: LocalRows = rows
        self.place = rows.place
        self.parts = parts
        self.values = values

    def visit(self, function: Callable[..., Any], *arguments: Any) -> tuple["LocalValues", Any]:
        """Call ``function(block, value, *arguments)`` for each block of rows."""
        made = []

        def terms() -> Iterable[Any]:
            visited = zip(self.parts, self.values, strict=True)
            calls = ((part, (value, *arguments)) for part, value in visited)
            for value, term in self.rows.visits(function, calls):
                made.append(value)
                yield term

        total = total_of(terms())
        return type(self)(self.rows, self.parts, made), total

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add up ``function(value, *arguments)`` in the order of the blocks."""
        calls = ((value, *arguments) for value in self.values)
        return total_of((in_order if self.place.is_host else starmap)(function, calls))

    def collect(self, function: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Stack ``function(value)``."""
        return np.concatenate([function(value) for value in self.values])


class StoredValues(LocalValues):
    """Values of blocks that are visited on a device and stored on the host."""

    def visit(self, function: Callable[..., Any], *arguments: Any) -> tuple["LocalValues", Any]:
        """Call ``function(block, value, *arguments)`` for each block of rows, on the device."""
        return super().visit(partial(_visit_stored, function, self.place), *arguments)

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add up ``function(value, *arguments)`` of the values on the device."""
        return super().sum(partial(_sum_stored, function, self.place), *arguments)


def _visit_stored(
    function: Callable[..., Any], place: Place, block: Any, value: Any, *arguments: Any
) -> tuple[Any, Any]:
    value, term = function(block, _with_arrays(place.put, value), *arguments)
    return _with_arrays(on_host, value), term


def _sum_stored(function: Callable[..., Any], place: Place, value: Any, *arguments: Any) -> Any:
    return function(_with_arrays(place.put, value), *arguments)


def _with_arrays(move: Callable[[Any], Any], value: Any) -> Any:
    """Return a value whose arrays, which are itself or its fields, were moved."""
    if not is_dataclass(value):
        return move(value)
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return replace(
        value,  # type: ignore[type-var]
        **{name: move(each) for name, each in found.items() if hasattr(each, "shape")},
    )


def total_of(terms: Iterable[Any]) -> Any:
    """Add up terms in their order; the first one is written to."""
    total: Any = None
    for term in terms:
        total = term if total is None else add(total, term)
    if total is None:
        raise ValueError("there are no rows to sum over.")
    return total


def add(total: Any, term: Any) -> Any:
    """Add an array, a number or a tuple of them to `total`, in place where that is possible."""
    if isinstance(total, tuple):
        return tuple(add(one, other) for one, other in zip(total, term, strict=True))
    total += term
    return total
