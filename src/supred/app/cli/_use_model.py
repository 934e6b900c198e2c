"""What the commands that use a saved model share."""

import argparse
from typing import TYPE_CHECKING

from supred.app.cli import _options

if TYPE_CHECKING:
    import numpy as np

    from supred.app.export.model_file import TableModel
    from supred.app.tables.table import Table


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model and the table to use it on."""
    parser.add_argument("model", metavar="MODEL", help="a file that supred fit wrote")
    _options.add_input(parser, optional=True)
    _options.add_stream(parser)


def add_rows_to_answer(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that gives an answer for each row."""
    add_model(parser)
    _options.add_output(parser, "write CSV to this file, not to standard output")
    _options.add_json(parser)


def apply(options: argparse.Namespace, method: str) -> "tuple[TableModel, np.ndarray]":
    """Return the model, and what its `predict` or `transform` makes of the table.

    An output file that may not be written is told before anything is computed.
    """
    from supred.common.files import check_output

    if options.out is not None:
        check_output(options.out, overwrite=options.force)
    if options.stream:
        from supred.app.cli import _stream

        model, rows = _stream.read(options)
        return model, getattr(model.estimator, method)(rows)
    model, table = read(options)
    return model, getattr(model, method)(table.X)


def read(options: argparse.Namespace, *, labelled: bool = False) -> "tuple[TableModel, Table]":
    """Read the model, and the columns that it needs of the table."""
    from supred.app.export.model_file import load_model
    from supred.app.tables.assemble import model_table

    model = load_model(options.model)
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
