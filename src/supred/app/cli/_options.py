"""Options that several commands share, and what is made of them."""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from supred.app.tables.builtin import BUILTIN, ENCODE, FORMATS, IMPUTE, SCALE

if TYPE_CHECKING:
    from supred.app.tables.preparation import Preparation
    from supred.app.tables.sources import MemorySource, SparseSource
    from supred.app.tables.table import Table


def add_input(
    parser: argparse.ArgumentParser, *, optional: bool = False, several: bool = False
) -> None:
    """Add the table: a file (or several), ``-``, or a built-in data set."""
    parser.add_argument(
        "input",
        nargs="*" if several else "?",
        metavar="TABLE",
        default="-" if optional else None,
        help="CSV, TSV, Parquet, NPY, NPZ or svmlight file; - is standard input"
        + (" (the default)" if optional else ""),
    )
    parser.add_argument(
        "--dataset",
        choices=list(BUILTIN),
        metavar="NAME",
        help="a built-in data set (see supred info)",
    )
    parser.add_argument("--format", choices=FORMATS, help="format, where the name does not tell")
    parser.add_argument(
        "--no-header", action="store_true", help="the first line of CSV or TSV holds no names"
    )
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave out a column, by name or position (may be repeated)",
    )


def add_training(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add what training on a table needs."""
    add_input(parser, several=several)
    parser.add_argument(
        "--target", metavar="COLUMN", help="the classes: a name, or a position (1 first, -1 last)"
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="use a text column although it looks like an identifier (may be repeated)",
    )
    parser.add_argument(
        "--drop-unlabelled", action="store_true", help="leave out rows without a class"
    )
    parser.add_argument(
        "--impute",
        choices=IMPUTE,
        default="median",
        help="what stands in for a missing number; none: an error (default: median)",
    )
    parser.add_argument(
        "--encode",
        choices=ENCODE,
        default="onehot",
        help="text columns: 0/1 columns, left out, or an error (default: onehot)",
    )
    parser.add_argument(
        "--scale",
        choices=SCALE,
        default="standard",
        help="numbers to mean 0 and deviation 1, or as they are (default: standard)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all that is random (0)")


def add_stream(parser: argparse.ArgumentParser) -> None:
    """Add --stream."""
    parser.add_argument(
        "--stream",
        action="store_true",
        help="read the rows block by block, never all at once (CSV, TSV, Parquet, NPY, svmlight; a "
        "file, a folder or a pattern)",
    )


def add_output(parser: argparse.ArgumentParser, what: str, *, required: bool = False) -> None:
    """Add the place of the output."""
    parser.add_argument("--out", metavar="FILE", required=required, help=what)
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json and --quiet."""
    parser.add_argument("--json", action="store_true", help="results as JSON on standard output")
    parser.add_argument("--quiet", action="store_true", help="no messages but errors")


def add_model_in_page(parser: argparse.ArgumentParser) -> None:
    """Add --no-model."""
    parser.add_argument(
        "--no-model",
        action="store_true",
        help="leave the map's network out of the page; a reader cannot place rows then",
    )


def open_table(options: argparse.Namespace) -> "MemorySource | SparseSource":
    """Read the table that the options name."""
    from supred.app.tables.reading import read_builtin, read_source
    from supred.app.tables.table import TableError

    if options.dataset is not None:
        if options.input not in (None, "-"):
            raise TableError("a table and --dataset were both given; give one of them.")
        return read_builtin(options.dataset)
    if options.input is None:
        raise TableError("no table was given; name a file, - or --dataset NAME.")
    return read_source(options.input, kind=options.format, header=not options.no_header)


def training_choices(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say about the columns to train on."""
    names = ("target", "exclude", "keep", "drop_unlabelled")
    return {name: getattr(options, name) for name in names}


def read_training(
    options: argparse.Namespace, *, use_unlabelled: bool = False
) -> "tuple[Table, Preparation]":
    """Read the table to train on, or --rows of it, and how it is prepared."""
    from supred.app.tables.assemble import sampled, training_table
    from supred.app.tables.preparation import Preparation

    choices = training_choices(options)
    table = training_table(open_table(options), use_unlabelled=use_unlabelled, **choices)
    if getattr(options, "rows", None) is not None:
        table = sampled(table, options.rows, options.seed)
    return table, Preparation(options.impute, options.encode, options.scale)


def say(options: argparse.Namespace, *lines: str) -> None:
    """Tell the user something on standard error."""
    if not options.quiet:
        for line in lines:
            print(line, file=sys.stderr)


def print_json(value: Any) -> None:
    """Print JSON that other programs read: no NaN."""
    print(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def aligned(rows: list[list[str]]) -> Iterable[str]:
    """Yield the rows of a table with aligned columns, the first of them to the left."""
    first, *rest = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        right = [cell.rjust(width) for cell, width in zip(cells, rest, strict=True)]
        yield "  ".join([name.ljust(first), *right]).rstrip()


def json_number(value: float | None) -> float | None:
    """Return a number that JSON has: None for NaN and infinity."""
    if value is None or value != value or abs(value) == float("inf"):
        return None
    return float(value)


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    return whole(text, low=1)


def whole(text: str, low: int = 0) -> int:
    """Read a whole number of at least `low`."""
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if number < low:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {low}")
    return number


def seconds(text: str) -> float:
    """Read a time such as 60s, 2m, 1h or 90 (seconds).

    Examples
    --------
    >>> from supred.app.cli._options import seconds
    >>> seconds("2m"), seconds("1.5")
    (120.0, 1.5)
    """
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    unit = units.get(text[-1:].lower())
    try:
        number = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 60s, 2m or 1h")
    return number
