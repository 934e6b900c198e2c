"""Make the report again from results that were kept."""

import argparse
from pathlib import Path

from supred.app.cli._input import check_outputs
from supred.app.cli._output import json_text, say
from supred.app.cli.compare import as_json
from supred.app.comparison.file import load_comparison
from supred.app.report.page import report_page
from supred.base.container import one_line
from supred.common.files import atomic_write


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    page = options.out or f"{Path(options.results).stem}-report.html"
    check_outputs(options, [page])
    comparison = load_comparison(options.results)
    with one_line(options.results):
        text = report_page(comparison, with_model=not options.no_model)
        answer = json_text(as_json(comparison, page)) if options.json else None
    with atomic_write(page, overwrite=options.force) as file:
        file.write(text.encode("utf-8"))
    say(options, f"Report: {page}")
    if answer is not None:
        print(answer)
    return 0
