"""Try every method on a table: one table of results, one report."""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any

from supred.app.cli import _options
from supred.app.cli._progress import MethodProgress

if TYPE_CHECKING:
    from supred.app.comparison import Comparison, MethodResult

HELP = "try every method on a table, on the same folds, and write a report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _options.add_training(parser)
    parser.add_argument(
        "--budget",
        type=_options.seconds,
        metavar="TIME",
        default=_options.seconds("120s"),
        help="time in all, such as 60s, 5m or 1h (default: 120s)",
    )
    parser.add_argument("--methods", metavar="A,B,...", help="methods to compare (see supred info)")
    parser.add_argument(
        "--folds", type=_options.positive, default=5, help="folds of the cross-validation (5)"
    )
    parser.add_argument(
        "--components", type=_options.positive, metavar="L", help="latent dimensions of all methods"
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
        type=_options.positive,
        metavar="N",
        help="use a random part of the rows, for a large table and little time",
    )
    parser.add_argument(
        "--no-tune", action="store_true", help="use the first setting of each method"
    )
    _options.add_output(parser, "where to write the report (default: NAME-report.html)")
    parser.add_argument("--no-report", action="store_true", help="the table only")
    _options.add_model_in_page(parser)
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    parser.add_argument(
        "--save", metavar="FILE", help="keep the results, for supred report to show again"
    )
    parser.add_argument(
        "--save-model", metavar="FILE", help="fit the best method to all rows and save it"
    )
    _options.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from supred.common.files import check_output

    page = report_path(options)
    for path in (page, options.save, options.save_model):
        if path is not None:
            check_output(path, overwrite=options.force)
    table, preparation = _options.read_training(options, use_unlabelled=not options.drop_unlabelled)

    from supred.app.comparison.engine import compare
    from supred.app.comparison.methods import check_methods

    names = check_methods(options.methods.split(",") if options.methods else None)
    _options.say(options, *preparation.sentences(table))
    rounds = 1 if options.no_tune else 2
    with MethodProgress(len(names) * rounds, shown=not options.quiet) as progress:
        comparison = compare(
            table,
            preparation=preparation,
            methods=names,
            n_folds=options.folds,
            budget=options.budget,
            tune=not options.no_tune,
            metric=options.metric,
            n_components=options.components,
            explain=page is not None or options.save is not None,
            seed=options.seed,
            command=shlex.join(["supred", *options.argv]),
            tell=progress.tell,
        )
    if options.json:
        _options.print_json(as_json(comparison, page))
    else:
        print("\n".join(_options.aligned(table_rows(comparison))))
        sys.stdout.flush()
    if comparison.interrupted:
        _options.say(options, "Interrupted: what was finished is kept.")
    _options.say(options, *comparison.verdict)
    if options.save is not None:
        from supred.app.comparison.file import save_comparison

        save_comparison(comparison, options.save, overwrite=options.force)
        _options.say(options, f"Results: {options.save}")
    if options.save_model is not None and not comparison.interrupted:
        from supred.app.comparison.take_away import save_best_model

        told = save_best_model(
            comparison,
            table,
            preparation,
            options.save_model,
            n_components=options.components,
            overwrite=options.force,
        )
        _options.say(options, told)
    if page is not None:
        from supred.app.report import write_report

        write_report(comparison, page, with_model=not options.no_model, overwrite=options.force)
        _options.say(options, f"Report: {page}")
        if options.open:
            import webbrowser
            from pathlib import Path

            webbrowser.open(Path(page).absolute().as_uri())
    if comparison.interrupted:
        return 130
    return 0 if any(method.status == "done" for method in comparison.methods) else 1


def report_path(options: argparse.Namespace) -> str | None:
    """Return where the report goes, None if there is to be none."""
    if options.no_report:
        return None
    if options.out is not None:
        return str(options.out)
    return f"{default_name(options)}-report.html"


def default_name(options: argparse.Namespace) -> str:
    """Return what the output of a table is called, without its ending."""
    from pathlib import Path

    name = options.dataset or (Path(options.input).stem if options.input not in (None, "-") else "")
    return name or "supred"


def table_rows(comparison: "Comparison") -> list[list[str]]:
    """Return the table: a header, then one row per method."""
    from supred.app.comparison.scores import estimate, ranked
    from supred.app.comparison.verdict import bytes_text

    head = ["method", "error %", "± s.e.", "balanced %", "dims", "basis", "size", "fit s"]
    rows = [[*head, "predict ms", ""]]
    for k in ranked(comparison.methods, comparison.metric):
        method = comparison.methods[k]
        error, balanced = estimate(method), estimate(method, "balanced")
        if error is None or balanced is None:
            blank = ["-"] * 8
            rows.append([method.name, *blank, f"{method.status}: {method.reason}"])
            continue
        rows.append(
            [
                method.name,
                f"{100 * error.mean:.2f}",
                f"{100 * error.standard_error:.2f}",
                f"{100 * balanced.mean:.2f}",
                _shown(method.n_components),
                _shown(method.n_basis),
                bytes_text(method.model_bytes or 0),
                f"{method.fit_seconds or 0:.3g}",
                f"{1000 * (method.predict_seconds or 0):.3g}",
                "" if method.tuning == "tuned" else method.tuning,
            ]
        )
    widest = max(len(row[-1]) for row in rows)
    for row in rows:  # reasons read from the left
        row[-1] = row[-1].ljust(widest)
    return rows


def _shown(number: int | None) -> str:
    return "-" if number is None else str(number)


def as_json(comparison: "Comparison", page: str | None) -> dict[str, Any]:
    """Return the results without the rows."""
    return {
        "title": comparison.title,
        "target": comparison.target,
        "classes": comparison.classes,
        "features": comparison.features,
        "rows": len(comparison.y),
        "folds": comparison.n_folds,
        "repeats": comparison.n_repeats,
        "seed": comparison.seed,
        "preprocessing": comparison.preprocessing,
        "methods": [_method_json(method) for method in comparison.methods],
        "metric": comparison.metric,
        "verdict": comparison.verdict,
        "permutation_p_value": comparison.structure and comparison.structure.p_value,
        "map_error": comparison.class_map and comparison.class_map.error,
        "map_neighbor_error": comparison.class_map and comparison.class_map.neighbor_error,
        "column_importances": {item.column: item.rise for item in comparison.importances},
        "interrupted": comparison.interrupted,
        "versions": comparison.versions,
        "command": comparison.command,
        "report": page,
    }


def _method_json(method: "MethodResult") -> dict[str, Any]:
    from supred.app.comparison.scores import estimate

    error, balanced = estimate(method), estimate(method, "balanced")
    return {
        "name": method.name,
        "status": method.status,
        "reason": method.reason,
        "error": error and error.mean,
        "standard_error": error and error.standard_error,
        "balanced_error": balanced and balanced.mean,
        "tuning": method.tuning,
        "fold_errors": method.fold_errors,
        "n_components": method.n_components,
        "n_basis": method.n_basis,
        "model_bytes": method.model_bytes,
        "fit_seconds": _options.json_number(method.fit_seconds),
        "predict_seconds": _options.json_number(method.predict_seconds),
        "parameters": method.parameters,
        "settings_tried": method.n_settings,
        "settings_in_all": method.n_settings_all,
    }
