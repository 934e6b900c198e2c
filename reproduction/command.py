"""The command ``python -m reproduction``: arguments and what it prints."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.performance._record import Record
    from reproduction.base import Experiment

ROOT = Path(__file__).parent.parent
RECORDS = Path(__file__).parent / "records"
PAGE = ROOT / "docs" / "reproduction.md"
IMAGES = "images/reproduction/"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Measure the papers' tables and figures and show them beside what they print.",
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="experiments or papers (default: all; see --list)"
    )
    parser.add_argument("--list", action="store_true", help="list the experiments and end")
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="list every table, figure and claim of the texts with its verdict and end",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="make records, figures and docs/reproduction.md of the finished draws and end",
    )
    parser.add_argument("--data", metavar="DIR", help="folder with the data (default: SUPRED_DATA)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="few draws, small sizes (the default)")
    size.add_argument("--full", action="store_true", help="the papers' draws and sizes: hours")
    parser.add_argument(
        "--out",
        metavar="DIR",
        default="out/reproduction",
        help="folder for tables, figures and finished draws (default: %(default)s); a run that was "
        "interrupted goes on from there",
    )
    options = parser.parse_args(arguments)
    if options.data is not None and not Path(options.data).is_dir():
        print(f"reproduction: --data {options.data} is not a folder.", file=sys.stderr)
        return 2
    from reproduction.registry import choose

    try:
        experiments = choose(options.only)
    except ValueError as error:
        print(f"reproduction: {error}", file=sys.stderr)
        return 2
    if options.list:
        for experiment in experiments:
            print(f"{experiment.name:<28} {experiment.title}")
        return 0
    if options.coverage:
        print(coverage(experiments))
        return 0
    if options.page:
        write_page(experiments, Path(options.out))
        return 0
    try:
        return run(experiments, Path(options.out), quick=not options.full, data=options.data)
    except KeyboardInterrupt:
        print(
            f"\nInterrupted. Finished draws are kept in {options.out}; the same command goes on "
            "from there.",
            file=sys.stderr,
        )
        return 130


def run(experiments: "list[Experiment]", out: Path, *, quick: bool, data: str | None = None) -> int:
    """Measure experiments one after the other; print and write what comes out."""
    from reproduction.base import Data
    from reproduction.page import describe, write_record
    from reproduction.runner import draw_figure, measure
    from reproduction.store import Store

    out.mkdir(parents=True, exist_ok=True)
    found, store = Data(data), Store(out / "draws")
    outcomes = []
    for experiment in experiments:
        outcome = measure(experiment, store, found, quick=quick)
        draw_figure(outcome, out)
        text = "\n".join(describe(experiment, write_record(outcome, out), images=""))
        (out / f"{experiment.name}.md").write_text(text.strip() + "\n", encoding="utf-8")
        print(text, flush=True)
        outcomes.append(outcome)
    print(f"\nTables, figures and results: {out}")
    failed = any(outcome.failed for outcome in outcomes)
    return 1 if failed or not any(outcome.measured for outcome in outcomes) else 0


def write_page(experiments: "list[Experiment]", out: Path) -> None:
    """Make records and figures of the finished draws, full ones before quick ones; the page.

    A record that is there already stays where no draw of its experiment is at hand.
    """
    from reproduction.page import page, write_record
    from reproduction.registry import all_experiments
    from reproduction.runner import collect, draw_figure
    from reproduction.store import Store

    images = PAGE.parent / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        outcome = collect(experiment, Store(out / "draws"))
        if outcome.measured:
            draw_figure(outcome, images)
            write_record(outcome, RECORDS)
    text = page(list(all_experiments().values()), records(), IMAGES)
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE} is written.")


def records() -> "dict[str, Record]":
    """Return the records that are kept with the code, by name."""
    from benchmarks.performance._record import read

    return {record.name: record for path in RECORDS.glob("*.json") for record in read(path)}


def coverage(experiments: "list[Experiment]") -> str:
    """Return the list of what the texts say, as a Markdown table."""
    from benchmarks._report import markdown
    from reproduction.coverage import entries
    from reproduction.registry import all_statements

    found = entries(experiments, all_statements(), records())
    lines = [[e.where, e.text, e.covered_by, e.protocol, e.verdict] for e in found]
    return markdown(["where", "what", "covered by", "protocol", "verdict"], lines)
