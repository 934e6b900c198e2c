"""Train one method on a table and save the model."""

import argparse
import os
from typing import Any

import numpy as np

import supred
from supred.app.cli import _stream
from supred.app.cli._held_out import held_out_error
from supred.app.cli._input import check_outputs, read_training
from supred.app.cli._output import print_json, say
from supred.app.export.model_file import TableModel, save_model
from supred.app.tables.table import TableError
from supred.common.files import check_output
from supred.rows.device import place_named


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    check_outputs(options, [options.out])
    _check(options)
    estimator = make_estimator(options)
    files = options.input or []
    if options.scheduler is not None:
        from supred.app.cli import _cluster  # needs Dask

        _finish(options, *_cluster.fit(options, estimator, files))
        return 0
    if options.stream:
        _finish(options, *_stream.fit(options, estimator, files))
        return 0
    options.input = files[0] if files else None
    semi_supervised = options.method == "ClassConstrainedEmbedding"
    table, preparation = read_training(
        options, use_unlabelled=semi_supervised and not options.drop_unlabelled
    )
    preparation.check(table)
    preparation.check_size(table)
    model = TableModel.fit(
        estimator, table, preparation, partly_labelled=semi_supervised, device=options.device
    )
    labels = table.labels.astype(str) if semi_supervised else table.labels
    error = float(np.mean(model.predict(table.X) != labels))
    _finish(options, model, table.n_rows, error, table, labels)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Raise a TableError where options cannot be combined."""
    n_files, on_cluster = len(options.input or []), options.scheduler is not None
    if options.stream and on_cluster:
        raise TableError("--stream and --scheduler cannot be combined; give one of them.")
    if options.folds and (options.stream or on_cluster):
        raise TableError("--folds cannot be combined with --stream and --scheduler.")
    if (options.cache or options.no_cache) and not options.stream:
        raise TableError("--cache and --no-cache are for --stream.")
    if options.cache is not None and not os.path.isdir(options.cache):
        raise TableError(f"--cache {options.cache}: there is no such folder; make it.")
    if options.checkpoint is not None:
        check_output(options.checkpoint, overwrite=True)
        if os.path.realpath(options.checkpoint) == os.path.realpath(options.out):
            raise TableError(
                f"{options.out} is named by both --out and --checkpoint; give each its own file."
            )
    if n_files > 1 and not (options.stream or on_cluster):
        raise TableError(f"{n_files} tables were given; several need --stream or --scheduler.")
    try:
        place_named(options.device)
    except (ValueError, ImportError) as error:
        raise TableError(f"--{error}") from None
    for option, used in (
        ("--stream", options.stream),
        ("--scheduler", on_cluster),
        (f"--device {options.device}", options.device != "cpu"),
    ):
        if used and options.method not in _stream.OUT_OF_CORE:
            able = " and ".join(_stream.OUT_OF_CORE)
            raise TableError(f"{option} trains {able} only, not {options.method}.")
    if options.device != "cpu" and on_cluster:
        raise TableError("--device and --scheduler cannot be combined; give one of them.")


def _finish(
    options: argparse.Namespace, model: Any, n_rows: int, error: float, *in_memory: Any
) -> None:
    """Save the model and say what it is."""
    if "checkpoint" in model.estimator.get_params(deep=False):
        model.estimator.set_params(checkpoint=None)  # the fit has come to its end
    held_out, how = held_out_error(options, model, *in_memory)
    save_model(model, options.out, overwrite=options.force)
    size = model.estimator.model_size_
    described = how if held_out is None else f"{100 * held_out:.2f} % ({how})"
    say(
        options,
        *model.notes,
        f"{options.method} on {n_rows} rows, {len(model.columns)} columns, "
        f"{len(model.classes)} classes: training error {100 * error:.2f} %, "
        f"{size.numbers} numbers ({size.bytes} bytes).",
        f"Held-out error: {described}.",
        f"Saved as {options.out}.",
    )
    if options.json:
        print_json(
            {
                "model": str(options.out),
                "method": options.method,
                "rows": n_rows,
                "columns": [column.name for column in model.columns],
                "target": model.target,
                "classes": model.classes.tolist(),
                "training_error": error,
                "held_out_error": held_out,
                "held_out": how,
                "model_bytes": size.bytes,
                "preprocessing": model.notes,
            }
        )


def make_estimator(options: argparse.Namespace) -> Any:
    """Return the estimator with the parameters that --set and --components give."""
    made = getattr(supred, options.method)()
    known = made.get_params(deep=False)
    parameters: dict[str, Any] = {}
    for item in options.set:
        name, equals, text = item.partition("=")
        if not equals:
            raise TableError(f"--set {item}: write NAME=VALUE, such as C=10.")
        if name not in known:
            raise TableError(
                f"--set {item}: {options.method} has no parameter {name!r}; it has "
                f"{', '.join(sorted(known))}."
            )
        parameters[name] = parameter_value(text)
    if options.components is not None:
        if "n_components" not in known:
            raise TableError(f"{options.method} has one dimension per class; drop --components.")
        parameters["n_components"] = options.components
    if options.checkpoint is not None:
        if "checkpoint" not in known:
            raise TableError(f"--checkpoint cannot be combined with {options.method}.")
        parameters["checkpoint"] = options.checkpoint
    if "random_state" in known:
        parameters.setdefault("random_state", options.seed)
    return made.set_params(**parameters)


def parameter_value(text: str) -> Any:
    """Read a value: a whole number, a number, true, false, none or a word.

    Examples
    --------
    >>> from supred.app.cli.fit import parameter_value
    >>> [parameter_value(text) for text in ("3", "1e-3", "true", "none", "rbf")]
    [3, 0.001, True, None, 'rbf']
    """
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
