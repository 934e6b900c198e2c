"""Train one method on a table and save the model."""

import argparse
from typing import Any

from supred.app.cli import _options

HELP = "train one method on a table and save the model"

METHODS = (
    "RBFNetClassifier",
    "LowDimSVC",
    "CategorySpace",
    "MaxMarginProjection",
    "ClassConstrainedEmbedding",
    "KernelDiscriminantAnalysis",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _options.add_training(parser, several=True)
    parser.add_argument(
        "--method", choices=METHODS, default=METHODS[0], help=f"default: {METHODS[0]}"
    )
    parser.add_argument("--components", type=_options.positive, help="latent dimensions")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the method, such as C=10 or kernel=rbf (may be repeated)",
    )
    parser.add_argument(
        "--folds",
        type=_options.whole,
        metavar="K",
        help="measure the error by K-fold cross-validation; 0: by the validation part only "
        "(default: 5 up to 5000 rows)",
    )
    _options.add_stream(parser)
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="where LowDimSVC and RBFNetClassifier write the state of a fit; one that was "
        "interrupted goes on from there",
    )
    parser.add_argument(
        "--cache",
        metavar="DIR",
        help="folder for the copy of text files as numbers that --stream makes and removes "
        "(default: that of --checkpoint, or the usual one for temporary files)",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="parse text files in each pass over the rows"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="train on a Dask cluster: the address of its scheduler, or local for workers on this "
        "machine; reads CSV, TSV and Parquet, also several files",
    )
    parser.add_argument(
        "--device",
        default="cpu",
        metavar="DEVICE",
        help="where LowDimSVC and RBFNetClassifier compute: cpu, cuda, cuda:N, or auto for CUDA if "
        "torch finds it (default: cpu)",
    )
    _options.add_output(parser, "where to save the model, by custom NAME.supred", required=True)
    _options.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from supred.common.files import check_output

    check_output(options.out, overwrite=options.force)
    _check(options)
    estimator = make_estimator(options)
    files = options.input or []
    if options.scheduler is not None:
        from supred.app.cli import _cluster

        _finish(options, *_cluster.fit(options, estimator, files))
        return 0
    if options.stream:
        from supred.app.cli import _stream

        _finish(options, *_stream.fit(options, estimator, files))
        return 0
    options.input = files[0] if files else None
    semi_supervised = options.method == "ClassConstrainedEmbedding"
    table, preparation = _options.read_training(
        options, use_unlabelled=semi_supervised and not options.drop_unlabelled
    )
    preparation.check(table)

    import numpy as np

    from supred.app.export.model_file import TableModel

    model = TableModel.fit_table(
        estimator,
        table,
        preparation,
        partly_labelled=semi_supervised,
        device=options.device,
    )
    labels = table.labels.astype(str) if semi_supervised else table.labels
    error = float(np.mean(model.predict(table.X) != labels))
    _finish(options, model, table.n_rows, error, table, labels)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Raise a TableError where options cannot be combined."""
    from supred.app.tables.table import TableError

    n_files = len(options.input or [])
    out_of_core = options.stream or options.scheduler is not None
    if options.stream and options.scheduler is not None:
        raise TableError("--stream and --scheduler cannot be combined; give one of them.")
    if options.folds and out_of_core:
        raise TableError("--folds cannot be combined with --stream and --scheduler.")
    if (options.cache or options.no_cache) and not options.stream:
        raise TableError("--cache and --no-cache are for --stream.")
    _check_device(options)
    if n_files > 1 and not out_of_core:
        raise TableError(f"{n_files} tables were given; several need --stream or --scheduler.")


def _check_device(options: argparse.Namespace) -> None:
    """Raise a TableError if --device is not there, or cannot be used."""
    from supred.app.cli._stream import OUT_OF_CORE
    from supred.app.tables.table import TableError
    from supred.rows.device import place_named

    if options.device == "cpu":
        return
    try:
        place_named(options.device)
    except (ValueError, ImportError) as error:
        raise TableError(f"--{error}") from None
    if options.method not in OUT_OF_CORE:
        raise TableError(
            f"--device {options.device} trains {' and '.join(OUT_OF_CORE)} only, not "
            f"{options.method}."
        )
    if options.scheduler is not None:
        raise TableError("--device and --scheduler cannot be combined; give one of them.")


def _finish(
    options: argparse.Namespace, model: Any, n_rows: int, error: float, *in_memory: Any
) -> None:
    """Save the model and say what it is."""
    from supred.app.cli._held_out import held_out_error
    from supred.app.export.model_file import save_model

    held_out, how = held_out_error(options, model.estimator, *in_memory)
    save_model(model, options.out, overwrite=options.force)
    size = model.estimator.model_size_
    told = how if held_out is None else f"{100 * held_out:.2f} % ({how})"
    _options.say(
        options,
        *model.notes,
        f"{options.method} on {n_rows} rows, {len(model.columns)} columns, "
        f"{len(model.classes)} classes: training error {100 * error:.2f} %, "
        f"{size.numbers} numbers ({size.bytes} bytes).",
        f"Held-out error: {told}.",
        f"Saved as {options.out}.",
    )
    if options.json:
        _options.print_json(
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
    import supred
    from supred.app.tables.table import TableError

    made = getattr(supred, options.method)()
    known = made.get_params(deep=False)
    parameters: dict[str, Any] = {}
    for item in options.set:
        name, equals, text = item.partition("=")
        if not equals or name not in known:
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
