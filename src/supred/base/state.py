"""Fitted state as plain values: what model files and checkpoints hold.

A class says itself what it must keep. It either has `to_state`, which returns a dict of plain
values (None, numbers, strings, arrays, lists, tuples and dicts of these, and parts that can say
the same), and the class method `from_state`, its inverse; or it is a dataclass, whose fields are
its state. Where `from_state` takes much memory beside the arrays of the state, a class method
`bytes_to_restore` says how much, and the reader of a file counts it. `register` makes its name
known to the reader of files, which makes no other objects.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from supred.numerics.kernel_basis import LandmarkKernel
from supred.numerics.kernels import GaussianCenters

Made = TypeVar("Made", bound=type)

_CLASSES: dict[str, type] = {}


def register(made: Made) -> Made:
    """Let objects of a class be written to files and made again; use it as a decorator.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from supred.base.state import from_state, register, to_state
    >>> @register
    ... @dataclass(frozen=True)
    ... class Interval:
    ...     low: float
    ...     high: float
    >>> to_state(Interval(0.0, 1.0))
    {'low': 0.0, 'high': 1.0}
    >>> from_state(Interval, {"low": 0.0, "high": 1.0})
    Interval(low=0.0, high=1.0)
    """
    known = _CLASSES.setdefault(made.__name__, made)
    if known.__qualname__ != made.__qualname__ or known.__module__ != made.__module__:
        raise ValueError(f"two classes are called {made.__name__}; rename one of them.")
    _CLASSES[made.__name__] = made
    return made


def registered_classes() -> Mapping[str, type]:
    """Return the registered classes by name, as far as their modules are imported."""
    return MappingProxyType(_CLASSES)


def to_state(part: Any) -> dict[str, Any]:
    """Return the state of an object, by its own method or by the fields of a dataclass."""
    if hasattr(part, "to_state"):
        return part.to_state()
    if not is_dataclass(part):
        raise TypeError(f"{type(part).__name__} has no to_state and is not a dataclass.")
    return {field.name: getattr(part, field.name) for field in fields(part)}


def from_state(made: Any, state: dict[str, Any]) -> Any:
    """Return the object of class `made` whose state `to_state` returned."""
    return made.from_state(state) if hasattr(made, "from_state") else made(**state)


def present_attributes(part: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return those of the named attributes that an object has."""
    return {name: getattr(part, name) for name in names if hasattr(part, name)}


for _made in (GaussianCenters, LandmarkKernel):  # numerics/ lies below this module
    register(_made)
