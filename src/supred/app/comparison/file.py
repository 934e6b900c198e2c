"""Results of a comparison in a file, so that the report can be made again."""

import os
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from supred.app.comparison.result import Comparison
from supred.base.container import ModelFileError, one_line, read_container, write_container

KIND = "comparison"
# Means and spreads of such numbers are finite.
LARGEST = 1e150


def save_comparison(
    comparison: Comparison, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a comparison to a file of arrays and JSON.

    Parameters
    ----------
    comparison : Comparison
    path : path
    overwrite : bool
        Whether to replace a file of that name; an error otherwise.
    """
    write_container(path, KIND, comparison, overwrite=overwrite)


def load_comparison(path: str | os.PathLike[str]) -> Comparison:
    """Read a comparison that `save_comparison` wrote.

    Raises
    ------
    ModelFileError
        If the file holds no comparison, is damaged or of another version of supred.
    """
    found = read_container(path, KIND)
    if not isinstance(found, Comparison):
        raise ModelFileError(f"{path} holds no comparison; run supred compare --save again.")
    with one_line(path):
        _check_types(found)
    return found


def _check_types(record: Any) -> None:
    """Raise a ValueError if a field of a record, or of those in it, has another type than said.

    Numbers and texts of an edited file would be counted with or written as they are.
    """
    hints = get_type_hints(type(record))
    for part in fields(record):
        value, hint = getattr(record, part.name), hints[part.name]
        several = get_origin(hint) is list
        kinds = get_args(hint) if several or isinstance(hint, UnionType) else (hint,)
        allowed = [get_origin(kind) or kind for kind in kinds]
        if float in allowed:
            allowed.append(int)
        if several and not isinstance(value, list):
            raise ValueError(f"{part.name} is not a list")
        for item in value if several else [value]:
            if not isinstance(item, tuple(allowed)):
                what = "number" if int in allowed else allowed[0].__name__
                raise ValueError(f"{part.name} is {str(item)[:40]!r}, not a {what}")
            if is_dataclass(item):
                _check_types(item)
            numbers: Any = [item] if float in allowed else []
            if isinstance(item, dict) and hint == dict[str, float]:
                numbers = item.values()
            for number in numbers:
                _check_range(part.name, number)


def _check_range(name: str, number: Any) -> None:
    """Raise a ValueError if a number is not finite or cannot be squared."""
    if number is not None and not (isinstance(number, int | float) and abs(number) <= LARGEST):
        raise ValueError(f"{name} is {str(number)[:40]!r}, not a number or out of range")
