"""The command ``python -m reproduction``: arguments and what it prints."""

import argparse
import sys
from pathlib import Path

HELP = "measure the papers' tables and figures and show them beside what was published"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "experiments",
        nargs="*",
        metavar="EXPERIMENT",
        help="names of experiments or papers (default: all; see --list)",
    )
    parser.add_argument("--list", action="store_true", help="list the experiments and end")
    parser.add_argument(
        "--data", metavar="DIR", help="folder with the papers' data (default: SUPRED_DATA)"
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", action="store_true", help="few draws, about ten minutes in all (the default)"
    )
    size.add_argument(
        "--full", action="store_true", help="the papers' numbers of draws and sizes: hours"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        default="out/reproduction",
        help="folder for tables, figures and finished draws (default: %(default)s); a run that "
        "was interrupted goes on from there",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command; return its exit code."""
    from reproduction.registry import choose

    try:
        experiments = choose(options.experiments)
    except ValueError as error:
        print(f"reproduction: {error}", file=sys.stderr)
        return 2
    if options.list:
        for experiment in experiments:
            print(f"{experiment.name:<28} {experiment.title}")
        return 0
    if options.data is not None and not Path(options.data).is_dir():
        print(f"reproduction: --data {options.data} is not a folder.", file=sys.stderr)
        return 2
    from reproduction.runner import run_experiments
    from reproduction.tables import describe

    out = Path(options.out)
    try:
        outcomes = run_experiments(
            experiments, out, quick=not options.full, data_dir=options.data, progress=True
        )
    except KeyboardInterrupt:
        print(
            f"\nInterrupted. Finished draws are kept in {out}; the same command goes on from "
            f"there.",
            file=sys.stderr,
        )
        return 130
    for outcome in outcomes:
        print("\n".join(describe(outcome, level=1)))
    print(f"\nTables, figures and results: {out}")
    failed = any(outcome.failed for outcome in outcomes)
    return 1 if failed or not any(outcome.measured for outcome in outcomes) else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=HELP)
    add_arguments(parser)
    return run(parser.parse_args(arguments))
