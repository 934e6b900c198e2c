"""What the options name: a table, how it is prepared, a saved model."""

import argparse
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from supred.app.export.model_file import TableModel, load_table_model
from supred.app.tables.assemble import model_table, sampled, training_table
from supred.app.tables.preparation import Preparation
from supred.app.tables.reading import read_builtin, read_source
from supred.app.tables.sources import MemorySource, SparseSource
from supred.app.tables.table import Table, TableError
from supred.common.files import check_output
from supred.rows.files.locating import files_of


def open_table(options: argparse.Namespace) -> MemorySource | SparseSource:
    """Read the table that the options name."""
    if options.dataset is not None:
        if options.input not in (None, "-"):
            raise TableError("a table and --dataset were both given; give one of them.")
        return read_builtin(options.dataset)
    if options.input is None:
        raise TableError("no table was given; name a file, - or --dataset NAME.")
    return read_source(options.input, kind=options.format, header=not options.no_header)


def check_outputs(options: argparse.Namespace, paths: Sequence[str]) -> None:
    """Raise an error, before any work, if one of these files may not be written.

    Those that the command reads may not, with --force neither.
    """
    given = [getattr(options, name, None) for name in ("input", "model", "results", "new")]
    read = [name for one in given if one for name in ([one] if isinstance(one, str) else one)]
    if getattr(options, "stream", False) or getattr(options, "scheduler", None):
        for name in tuple(read):  # folders and patterns
            with suppress(ValueError, OSError):  # who reads them says what is wrong
                read += map(str, files_of(name, options.format))
    for path in paths:
        check_output(path, overwrite=options.force)
        for name in read:
            if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
                raise TableError(f"{path} is read by this command; name another file to write.")


def training_choices(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say about the columns to train on."""
    names = ("target", "exclude", "keep", "drop_unlabelled")
    return {name: getattr(options, name) for name in names}


def preparation_of(options: argparse.Namespace) -> Preparation:
    """Return what is done to a table before a method sees it."""
    return Preparation(options.impute, options.encode, options.scale)


def read_training(
    options: argparse.Namespace, *, use_unlabelled: bool = False
) -> tuple[Table, Preparation]:
    """Read the table to train on, or --rows of it, and how it is prepared."""
    choices = training_choices(options)
    table = training_table(open_table(options), use_unlabelled=use_unlabelled, **choices)
    if getattr(options, "rows", None) is not None:
        table = sampled(table, options.rows, options.seed)
    return table, preparation_of(options)


def read_model_and_table(
    options: argparse.Namespace, *, labelled: bool = False
) -> tuple[TableModel, Table]:
    """Read a saved model, and the columns that it needs of the table."""
    model = load_table_model(options.model)
    table = model_table(
        open_table(options),
        model.columns,
        target=model.target,
        ignored=model.ignored,
        exclude=options.exclude,
        classes=model.classes if labelled else None,
    )
    model.preparation.check(table)
    return model, table
