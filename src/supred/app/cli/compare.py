"""Try every method on a table: one table of results, one report."""

import argparse
import os
import shlex
import sys
import webbrowser
from pathlib import Path
from typing import Any

from supred.app.cli._input import check_outputs, read_training
from supred.app.cli._output import aligned, print_json, print_lines, say
from supred.app.cli._progress import MethodProgress
from supred.app.comparison import Comparison, MethodResult
from supred.app.comparison.engine import compare
from supred.app.comparison.file import save_comparison
from supred.app.comparison.methods import check_methods
from supred.app.comparison.scores import estimate, ranked
from supred.app.comparison.take_away import save_best_model
from supred.app.comparison.verdict import bytes_text
from supred.app.report import write_report


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    page = report_path(options)
    outputs = [path for path in (page, options.save, options.save_model) if path is not None]
    check_outputs(options, outputs)
    if len({os.path.realpath(path) for path in outputs}) < len(outputs):
        raise ValueError(
            f"{page or options.save} is named by two of --out, --save and --save-model; give each "
            "its own file."
        )
    table, preparation = read_training(options, use_unlabelled=not options.drop_unlabelled)
    names = check_methods(options.methods.split(",") if options.methods else None)
    say(options, *preparation.sentences(table))
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
        print_json(as_json(comparison, page))
    else:
        print_lines(aligned(table_rows(comparison)))
        sys.stdout.flush()
    if comparison.interrupted:
        say(options, "Interrupted: what was finished is kept.")
    say(options, *comparison.verdict)
    if options.save is not None:
        save_comparison(comparison, options.save, overwrite=options.force)
        say(options, f"Results: {options.save}")
    if page is not None:
        write_report(comparison, page, with_model=not options.no_model, overwrite=options.force)
        say(options, f"Report: {page}")
        if options.open:
            webbrowser.open(Path(page).absolute().as_uri())
    is_done = any(method.status == "done" for method in comparison.methods)
    if options.save_model is not None and not is_done:
        say(options, "No method finished, so there is no model to save.")
    elif options.save_model is not None and not comparison.interrupted:
        sentence = save_best_model(
            comparison,
            table,
            preparation,
            options.save_model,
            n_components=options.components,
            overwrite=options.force,
        )
        say(options, sentence)
    if comparison.interrupted:
        return 130
    return 0 if is_done else 1


def report_path(options: argparse.Namespace) -> str | None:
    """Return where the report goes, None if there is to be none."""
    if options.no_report:
        return None
    if options.out is not None:
        return str(options.out)
    return f"{default_name(options)}-report.html"


def default_name(options: argparse.Namespace) -> str:
    """Return what the output of a table is called, without its ending."""
    name = options.dataset or (Path(options.input).stem if options.input not in (None, "-") else "")
    return name or "supred"


def table_rows(comparison: Comparison) -> list[list[str]]:
    """Return the table: a header, then one row per method."""
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


def as_json(comparison: Comparison, page: str | None) -> dict[str, Any]:
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


def _method_json(method: MethodResult) -> dict[str, Any]:
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
        "fit_seconds": method.fit_seconds,
        "predict_seconds": method.predict_seconds,
        "parameters": method.parameters,
        "settings_tried": method.n_settings,
        "settings_in_all": method.n_settings_all,
    }
