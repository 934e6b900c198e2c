"""Write a saved model as ONNX, C or JavaScript."""

import argparse
from pathlib import Path
from typing import Any

from supred.app.cli._input import check_outputs, read_model_and_table
from supred.app.cli._output import print_json, say
from supred.app.export.c_writer import to_c
from supred.app.export.javascript_writer import to_javascript
from supred.app.export.model_file import load_model
from supred.app.export.onnx_writer import to_onnx
from supred.app.export.quantise import quantisation_errors


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    check_outputs(options, [options.out])
    _check(options)
    model = load_model(options.model)
    facts: dict[str, Any] = {"out": str(options.out), "format": options.to}
    if options.quantise:  # first: rows that cannot be used must not leave a file behind
        facts |= _errors(options)
    if options.to == "onnx":
        to_onnx(model, options.out, overwrite=options.force)
    elif options.to == "js":
        to_javascript(model, options.out, overwrite=options.force)
    else:
        source = to_c(
            model,
            options.out,
            name=options.name,
            quantise=options.quantise,
            overwrite=options.force,
        )
        facts |= {"constant_bytes": source.constant_bytes, "stack_bytes": source.stack_bytes}
    facts["file_bytes"] = Path(options.out).stat().st_size
    _tell(options, facts)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Raise a ValueError where options cannot be combined."""
    only_c = [name for name in ("quantise", "name") if getattr(options, name)]
    if only_c and options.to != "c":
        raise ValueError(f"--{only_c[0]} is for --to c only, got --to {options.to}.")
    if not options.quantise and (options.input is not None or options.dataset is not None):
        raise ValueError("a table is used with --quantise only, to measure the error on it.")


def _errors(options: argparse.Namespace) -> dict[str, float]:
    """Return the error on the validation rows, if there are any, before and after."""
    if options.input is None and options.dataset is None:
        return {}
    model, table = read_model_and_table(options, labelled=True)
    before, after = quantisation_errors(model, table.X, table.labels.tolist())
    return {"error": before, "error_quantised": after}


def _tell(options: argparse.Namespace, facts: dict[str, Any]) -> None:
    """Say what was written."""
    if options.json:
        print_json(facts)
    lines = [f"Wrote {facts['out']}: {facts['file_bytes']} bytes."]
    if "constant_bytes" in facts:
        lines.append(
            f"{facts['constant_bytes']} bytes of constants, {facts['stack_bytes']} bytes of arrays "
            "on the stack."
        )
    if "error" in facts:
        lines.append(
            f"Error on the validation rows: {100 * facts['error']:.2f} %, with bytes "
            f"{100 * facts['error_quantised']:.2f} %."
        )
    elif options.quantise:
        lines.append("Name a table with labels to see what the bytes cost.")
    say(options, *lines)
