"""Make the report again from results that were kept."""

import argparse

from supred.app.cli import _options, compare

HELP = "make the report from results that supred compare --save kept"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("results", metavar="RESULTS", help="a file of supred compare --save")
    _options.add_output(parser, "where to write the report (default: NAME-report.html)")
    _options.add_model_in_page(parser)
    _options.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from pathlib import Path

    from supred.app.comparison.file import load_comparison
    from supred.app.report import write_report
    from supred.common.files import check_output

    page = options.out or f"{Path(options.results).stem}-report.html"
    check_output(page, overwrite=options.force)
    comparison = load_comparison(options.results)
    write_report(comparison, page, with_model=not options.no_model, overwrite=options.force)
    _options.say(options, f"Report: {page}")
    if options.json:
        _options.print_json(compare.as_json(comparison, page))
    return 0
