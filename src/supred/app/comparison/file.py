"""Results of a comparison in a file, so that the report can be made again."""

import os
from dataclasses import fields
from typing import Any

import numpy as np

from supred.app.comparison.result import (
    ClassMap,
    ColumnImportance,
    Comparison,
    Confusion,
    Difference,
    MethodResult,
    Structure,
)
from supred.base.container import ModelFileError, read_container, write_container
from supred.plotting.latent_model import Regions

KIND = "comparison"
_RECORDS: dict[str, Any] = {
    record.__name__: record
    for record in (
        ClassMap,
        ColumnImportance,
        Comparison,
        Confusion,
        Difference,
        MethodResult,
        Structure,
    )
}
# Fields that are counted with or written as they are: text in their place is refused.
_NUMBERS = (
    ("seed", int),
    ("n_folds", int),
    ("n_components", int),
    ("n_basis", int),
    ("model_bytes", int),
    ("n_settings", int),
    ("n_settings_all", int),
    ("n_rows", int),
    ("n_permutations", int),
    ("first", (int, float)),
    ("second", (int, float)),
    ("n_first", int),
    ("n_second", int),
    ("fit_seconds", (int, float)),
    ("predict_seconds", (int, float)),
    ("error", (int, float)),
    ("neighbor_error", (int, float)),
    ("p_value", (int, float)),
    ("rise", (int, float)),
    ("spread", (int, float)),
    ("confused", (int, float)),
    ("effect", (int, float)),
)


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
    write_container(path, KIND, _plain(comparison), overwrite=overwrite)


def load_comparison(path: str | os.PathLike[str]) -> Comparison:
    """Read a comparison that `save_comparison` wrote.

    Raises
    ------
    ModelFileError
        If the file holds no comparison, is damaged or of another version of supred.
    """
    value = read_container(path, KIND)
    try:
        found = _restored(value)
    except (TypeError, KeyError, ValueError) as error:
        what = " ".join(str(error).split())[:120]
        raise ModelFileError(f"{path} is damaged ({what}); run supred compare again.") from None
    if not isinstance(found, Comparison):
        raise ModelFileError(f"{path} holds no comparison; run supred compare --save again.")
    return found


def _plain(value: Any) -> Any:
    """Return records as dicts with the name of their class."""
    if type(value).__name__ in _RECORDS:
        state = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"record": type(value).__name__, **state}
    if isinstance(value, Regions):
        return {"record": "Regions", **value._asdict()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _restored(value: Any) -> Any:
    """Return the records that `_plain` took apart, their numbers checked."""
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if not isinstance(value, dict) or "record" not in value:
        return value
    state = {name: _restored(item) for name, item in value.items() if name != "record"}
    if value["record"] == "Regions":
        return Regions(**{name: np.asarray(item) for name, item in state.items()})
    for name, kind in _NUMBERS:
        if state.get(name) is not None and not isinstance(state[name], kind):
            raise ValueError(f"{name} is {state[name]!r}, not a number")
    return _RECORDS[value["record"]](**state)
