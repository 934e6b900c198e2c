"""Describe a saved model, or this installation."""

import argparse
from collections.abc import Iterator
from typing import Any

from supred.app.cli._output import print_json, print_lines
from supred.app.comparison.methods import METHODS
from supred.app.comparison.result import versions
from supred.app.export.model_file import load_table_model
from supred.app.tables.builtin import BUILTIN


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    document: dict[str, Any]
    if options.model is not None:
        document = _model(options.model)
    else:
        methods = {name: method.missing or "ready" for name, method in METHODS.items()}
        document = {"versions": versions(), "methods": methods, "data sets": BUILTIN}
    if options.json:
        print_json(document)
        return 0
    print_lines(_lines(document))
    return 0


def _lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield a description, for people."""
    for name, value in document.items():
        if isinstance(value, dict):
            yield f"{name}:"
            width = max((len(key) for key in value), default=0)
            for key, item in value.items():
                yield f"  {key.ljust(width)}  {item}"
        elif isinstance(value, list):
            yield f"{name}: {', '.join(str(item) for item in value)}"
        else:
            yield f"{name}: {value}"


def _model(path: str) -> dict[str, Any]:
    model = load_table_model(path)
    size = model.method.model_size_
    parameters = model.method.get_params(deep=False)
    plain = (bool, int, float, str, type(None))
    return {
        "method": type(model.method).__name__,
        "target": model.target,
        "classes": model.classes.tolist(),
        "columns": {column.name: column.kind for column in model.columns},
        "latent dimensions": len(model.method.get_feature_names_out()),
        "numbers": size.numbers,
        "bytes": size.bytes,
        "preprocessing": model.notes,
        "columns not looked at": model.ignored,
        "parameters": {
            name: value if isinstance(value, plain) else str(value)
            for name, value in parameters.items()
        },
    }
