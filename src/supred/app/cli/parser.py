"""The arguments of all commands.

Nothing heavy is imported here: `supred --help` and the completion of a shell must not wait.
"""

import argparse
from collections.abc import Callable

from supred._version import __version__
from supred.app.cli._arguments import (
    CommandParser,
    Parser,
    file_name,
    output_name,
    positive,
    seconds,
    seed,
    whole,
)
from supred.app.tables.builtin import BUILTIN, ENCODE, FORMATS, IMPUTE, SCALE

DESCRIPTION = "Supervised dimensionality reduction for classification, on your own table."
EPILOG = (
    "Results go to standard output, messages to standard error. Exit codes: 0 done, 1 the command "
    "failed, 2 bad input (nothing was written), 130 interrupted. "
    "Try: supred compare --dataset digits --budget 60s"
)
# What `supred fit` can train, the default first.
METHODS = (
    "RBFNetClassifier",
    "LowDimSVC",
    "CategorySpace",
    "MaxMarginProjection",
    "ClassConstrainedEmbedding",
    "KernelDiscriminantAnalysis",
)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = Parser(prog="supred", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"supred {__version__}")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", parser_class=CommandParser
    )
    for name, (about, add_arguments) in COMMANDS.items():
        add_arguments(commands.add_parser(name, help=about, description=about))
    return parser


def _compare(parser: argparse.ArgumentParser) -> None:
    _add_training(parser)
    parser.add_argument(
        "--budget",
        type=seconds,
        metavar="TIME",
        default=120.0,
        help="time in all, such as 60s, 5m or 1h (default: 120s)",
    )
    parser.add_argument("--methods", metavar="A,B,...", help="methods to compare (see supred info)")
    parser.add_argument(
        "--folds", type=positive, default=5, help="folds of the cross-validation (5)"
    )
    parser.add_argument(
        "--components", type=positive, metavar="L", help="latent dimensions of all methods"
    )
    parser.add_argument(
        "--metric",
        choices=("error", "balanced"),
        default="error",
        help="what methods are tuned and ranked by: the share of rows misclassified, or its mean "
        "over the classes, in which small ones count as much as large ones (default: error)",
    )
    parser.add_argument(
        "--rows",
        type=positive,
        metavar="N",
        help="use a random part of the rows, for a large table and little time",
    )
    parser.add_argument(
        "--no-tune", action="store_true", help="use the first setting of each method"
    )
    _add_output(parser, "where to write the report (default: NAME-report.html)")
    parser.add_argument("--no-report", action="store_true", help="the table only")
    _add_no_model(parser)
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    parser.add_argument(
        "--save",
        type=output_name,
        metavar="FILE",
        help="keep the results, for supred report to show again",
    )
    parser.add_argument(
        "--save-model",
        type=output_name,
        metavar="FILE",
        help="fit the best method to all rows and save it",
    )
    _add_json(parser)


def _map(parser: argparse.ArgumentParser) -> None:
    _add_training(parser)
    parser.add_argument(
        "--new",
        type=file_name,
        metavar="TABLE",
        help="draw the rows of this table into the map, as stars",
    )
    parser.add_argument("--rows", type=positive, metavar="N", help="use a random part of the rows")
    _add_output(
        parser, "where to write the map: .html, .png, .svg or .pdf (default: NAME-map.html)"
    )
    _add_no_model(parser)
    _add_json(parser)


def _fit(parser: argparse.ArgumentParser) -> None:
    _add_training(parser, several=True)
    parser.add_argument(
        "--method", choices=METHODS, default=METHODS[0], help=f"default: {METHODS[0]}"
    )
    parser.add_argument("--components", type=positive, help="latent dimensions")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the method, such as C=10 or kernel=rbf (may be repeated)",
    )
    parser.add_argument(
        "--folds",
        type=whole,
        metavar="K",
        help="measure the error by K-fold cross-validation; 0: by the validation part only "
        "(default: 5 up to 5000 rows)",
    )
    _add_stream(parser)
    parser.add_argument(
        "--checkpoint",
        type=output_name,
        metavar="FILE",
        help="where LowDimSVC and RBFNetClassifier write the state of a fit; one that was "
        "interrupted goes on from there",
    )
    parser.add_argument(
        "--cache",
        type=file_name,
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
    _add_output(parser, "where to save the model, by custom NAME.supred", required=True)
    _add_json(parser)


def _transform(parser: argparse.ArgumentParser) -> None:
    _add_model_and_table(parser)
    _add_stream(parser)
    _add_output(
        parser, "write to this file, not to standard output: Parquet if it ends so, else CSV"
    )
    _add_json(parser)


def _predict(parser: argparse.ArgumentParser) -> None:
    _transform(parser)
    parser.add_argument("--proba", action="store_true", help="add the probability of each class")
    parser.add_argument("--scores", action="store_true", help="add the score of each class")
    parser.add_argument("--coordinates", action="store_true", help="add the latent coordinates")


def _evaluate(parser: argparse.ArgumentParser) -> None:
    _add_model_and_table(parser)
    # Refused by a sentence that says what to do instead.
    parser.add_argument("--stream", action="store_true", help=argparse.SUPPRESS)
    _add_json(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    _add_input(parser)
    parser.add_argument("--to", choices=("onnx", "c", "js"), required=True, help="the format")
    parser.add_argument(
        "--quantise",
        action="store_true",
        help="C: keep centres and weights in one byte each; with a labelled TABLE of validation "
        "rows, the error before and after is reported",
    )
    parser.add_argument(
        "--name", help="C: what the names in the header begin with (default: that of the file)"
    )
    _add_output(parser, "where to write the exported model", required=True)
    _add_json(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", type=file_name, metavar="RESULTS", help="a file of supred compare --save"
    )
    _add_output(parser, "where to write the report (default: NAME-report.html)")
    _add_no_model(parser)
    _add_json(parser)


def _info(parser: argparse.ArgumentParser) -> None:
    _add_model(parser, nargs="?")
    _add_json(parser)


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


# name -> what it is for, and what adds its arguments; a module of the same name runs it
COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "compare": ("try every method on a table, on the same folds, and write a report", _compare),
    "map": (
        "draw a map of the classes of a table, with held-out rows, as HTML, PNG, SVG or PDF",
        _map,
    ),
    "fit": ("train one method on a table and save the model", _fit),
    "transform": ("give the latent coordinates of each row, by a saved model", _transform),
    "predict": ("predict the class of each row with a saved model", _predict),
    "evaluate": ("measure a saved model on rows whose class is known", _evaluate),
    "export": ("write a saved model as ONNX, C or JavaScript", _export),
    "report": ("make the report from results that supred compare --save kept", _report),
    "info": ("describe a saved model, or this installation: versions, methods, data sets", _info),
    "completion": ("print a script for tab completion in bash, zsh or tcsh", _completion),
}


def _add_training(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add a table to train on, or several, and how it is prepared."""
    _add_input(parser, nargs="*" if several else "?")
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
    parser.add_argument("--seed", type=seed, default=0, help="seed of all that is random (0)")


def _add_input(
    parser: argparse.ArgumentParser, *, nargs: str = "?", default: str | None = None
) -> None:
    """Add the table: a file (or several), ``-``, or a built-in data set."""
    parser.add_argument(
        "input",
        nargs=nargs,
        type=file_name,
        metavar="TABLE",
        default=default,
        help="CSV, TSV, Parquet, NPY, NPZ or svmlight file; - is standard input"
        + (" (the default)" if default == "-" else ""),
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


def _add_model(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    parser.add_argument(
        "model", nargs=nargs, type=file_name, metavar="MODEL", help="a file that supred fit wrote"
    )


def _add_model_and_table(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    _add_input(parser, default="-")


def _add_stream(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stream",
        action="store_true",
        help="read the rows block by block, never all at once (CSV, TSV, Parquet, NPY, svmlight; a "
        "file, a folder or a pattern)",
    )


def _add_output(parser: argparse.ArgumentParser, what: str, *, required: bool = False) -> None:
    parser.add_argument("--out", type=output_name, metavar="FILE", required=required, help=what)
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")


def _add_no_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-model",
        action="store_true",
        help="leave the map's network out of the page; a reader cannot place rows then",
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="results as JSON on standard output")
    parser.add_argument("--quiet", action="store_true", help="no messages but errors")
