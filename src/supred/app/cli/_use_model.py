"""What the commands that use a saved model share."""

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any

from supred.app.cli import _options

if TYPE_CHECKING:
    import numpy as np

    from supred.app.export.model_file import TableModel
    from supred.app.tables.table import Table

# What a model says of the rows of a block, by kind.
Answers = dict[str, Any]


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model and the table to use it on."""
    parser.add_argument("model", metavar="MODEL", help="a file that supred fit wrote")
    _options.add_input(parser, optional=True)
    _options.add_stream(parser)


def add_rows_to_answer(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that gives an answer for each row."""
    add_model(parser)
    _options.add_output(
        parser, "write to this file, not to standard output: Parquet if it ends so, else CSV"
    )
    _options.add_json(parser)


def read(options: argparse.Namespace, *, labelled: bool = False) -> "tuple[TableModel, Table]":
    """Read the model, and the columns that it needs of the table."""
    from supred.app.export.model_file import load_table_model
    from supred.app.tables.assemble import model_table

    model = load_table_model(options.model)
    table = model_table(
        _options.open_table(options),
        model.columns,
        target=model.target,
        ignored=model.ignored,
        exclude=options.exclude,
        labelled=labelled,
    )
    model.preparation.check(table)
    return model, table


def answer(options: argparse.Namespace, wanted: Iterable[str]) -> int:
    """Write what the model says of each row, block by block.

    An output file that may not be written is an error before anything is computed.

    Parameters
    ----------
    options : Namespace
    wanted : iterable of {"predicted", "probabilities", "scores", "coordinates"}
    """
    from supred.common.files import atomic_write, check_output

    if options.out is not None:
        check_output(options.out, overwrite=options.force)
    blocks: Iterable[Any]
    if options.stream:
        from supred.app.cli import _stream

        model, rows = _stream.read(options)
        blocks = rows.blocks()
    else:
        model, table = read(options)
        blocks = [model.transformer.transform(table.X)]
    methods = [_method(model.estimator, kind) for kind in wanted]
    answers = ({kind: ask(X) for kind, ask in methods} for X in blocks)
    if options.out is None:
        _write_text(options, model, answers, sys.stdout.write)
        return 0
    with atomic_write(options.out, overwrite=options.force) as file:
        if str(options.out).lower().endswith((".parquet", ".pq")) and not options.json:
            _write_parquet(model, answers, file)
        else:
            _write_text(options, model, answers, lambda text: file.write(text.encode()))
    return 0


METHODS = {
    "predicted": "predict",
    "probabilities": "predict_proba",
    "scores": "decision_function",
    "coordinates": "transform",
}


def _method(estimator: Any, kind: str) -> tuple[str, Callable[[Any], "np.ndarray"]]:
    """Return the method of an estimator that answers with `kind`."""
    try:
        return kind, getattr(estimator, METHODS[kind])
    except AttributeError as error:
        from supred.common.arguments import one_line

        raise ValueError(f"the model gives no {kind}: {one_line(error)}") from None


def _columns(model: "TableModel", answers: Answers) -> dict[str, "np.ndarray"]:
    """Return the answers of a block as named columns."""
    classes = [str(label) for label in model.classes.tolist()]
    result: dict[str, np.ndarray] = {}
    for kind, values in answers.items():
        if kind == "predicted":
            names = [model.target]
        elif kind == "coordinates":
            names = [str(name) for name in model.method.get_feature_names_out()]
        else:
            width = 1 if values.ndim == 1 else values.shape[1]
            words = classes[1:] if width == 1 else classes
            if width != len(words):  # of pairs of classes
                words = [str(k + 1) for k in range(width)]
            one = kind.replace("ies", "y").rstrip("s")
            names = [f"{one} of {word}" for word in words]
        result |= dict(zip(names, values.reshape(len(values), -1).T, strict=True))
    return result


def _write_text(
    options: argparse.Namespace,
    model: "TableModel",
    blocks: Iterable[Answers],
    write: Callable[[str], Any],
) -> None:
    """Write CSV, or JSON with --json."""
    if options.json:
        import numpy as np

        found = list(blocks)
        document = {kind: np.concatenate([b[kind] for b in found]).tolist() for kind in found[0]}
        names = model.method.get_feature_names_out().tolist()
        about = {"target": model.target, "classes": model.classes.tolist(), "names": names}
        write(json.dumps({**about, **document}, ensure_ascii=False) + "\n")
        return
    header = True
    for block in blocks:
        columns = _columns(model, block)
        lines = io.StringIO()
        # A float is written as the shortest text that reads back as the same number.
        writer = csv.writer(lines, lineterminator="\n")
        if header:
            writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        write(lines.getvalue())
        header = False


def _write_parquet(model: "TableModel", blocks: Iterable[Answers], file: IO[bytes]) -> None:
    import pyarrow
    from pyarrow import parquet

    writer = None
    for block in blocks:
        table = pyarrow.table(_columns(model, block))
        writer = writer or parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
