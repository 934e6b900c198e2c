"""Results of a comparison in a file, so that the report can be made again."""

import os

from supred.app.comparison.result import Comparison, MethodResult
from supred.app.export.container import ModelFileError, read_container, write_container

KIND = "comparison"
_CLASSES: dict[str, type] = {"Comparison": Comparison, "MethodResult": MethodResult}


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
    write_container(path, KIND, comparison, _CLASSES, overwrite=overwrite)


def load_comparison(path: str | os.PathLike[str]) -> Comparison:
    """Read a comparison that `save_comparison` wrote.

    Raises
    ------
    ModelFileError
        If the file holds no comparison or is damaged.
    """
    value = read_container(path, KIND, _CLASSES)
    if not isinstance(value, Comparison) or not all(
        isinstance(method, MethodResult) for method in getattr(value, "methods", [None])
    ):
        raise ModelFileError(f"{path} is damaged; make it again.")
    return value
