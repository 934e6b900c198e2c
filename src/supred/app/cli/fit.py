"""Train one method on a table and save the model."""

import argparse
from typing import Any

from supred.app.cli import _options

HELP = "train one method on a table and save the model"

METHODS = (
    "LowDimSVC",
    "RBFNetClassifier",
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
    _options.add_stream(parser)
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="where LowDimSVC and RBFNetClassifier write the state of a fit; one that was "
        "interrupted goes on from there",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="train on a Dask cluster: the address of its scheduler, or local for workers on this "
        "machine; reads CSV, TSV and Parquet, also several files",
    )
    _options.add_output(parser, "where to save the model, by custom NAME.supred", required=True)
    _options.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from supred.common.files import check_output

    check_output(options.out, overwrite=options.force)
    estimator = make_estimator(options)
    files = options.input or []
    if options.scheduler is not None:
        if options.stream:
            from supred.app.tables.table import TableError

            raise TableError("--stream and --scheduler cannot be combined; give one of them.")
        from supred.app.cli import _cluster

        _finish(options, *_cluster.fit(options, estimator, files))
        return 0
    if options.stream:
        from supred.app.cli import _stream

        _finish(options, *_stream.fit(options, estimator, files))
        return 0
    if len(files) > 1:
        from supred.app.tables.table import TableError

        raise TableError(f"{len(files)} tables were given; several need --stream or --scheduler.")
    options.input = files[0] if files else None
    table, preparation = _options.read_training(options)
    preparation.check(table)

    import numpy as np

    from supred.app.export.model_file import TableModel

    labels = table.labels
    if options.method == "ClassConstrainedEmbedding":
        labels = labels.astype(str)  # the number -1 would mean a row without a label
    model = TableModel.fit(
        estimator,
        table.X,
        labels,
        table.columns,
        target=table.target,
        preparation=preparation,
        ignored=table.ignored,
        notes=preparation.sentences(table),
    )
    _finish(options, model, table.n_rows, float(np.mean(model.predict(table.X) != labels)))
    return 0


def _finish(options: argparse.Namespace, model: Any, n_rows: int, error: float) -> None:
    """Save the model and say what it is."""
    from supred.app.export.model_file import save_model

    save_model(model, options.out, overwrite=options.force)
    size = model.estimator.model_size_
    _options.say(
        options,
        *model.notes,
        f"{options.method} on {n_rows} rows, {len(model.columns)} columns, "
        f"{len(model.classes)} classes: training error {100 * error:.2f} %, "
        f"{size.numbers} numbers ({size.bytes} bytes).",
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
