"""The command line: ``python -m benchmarks performance``."""

import argparse
import os
from pathlib import Path

from benchmarks.performance._harness import Benchmark, measure
from benchmarks.performance._page import PAGE, write_page
from benchmarks.performance._record import (
    QUICK,
    RECORDS,
    Record,
    compare,
    load_average,
    read,
    write,
)
from benchmarks.performance._registry import BENCHMARKS
from supred.datasets.real import DataNotFoundError


def main(arguments: list[str] | None = None) -> int:
    """Run benchmarks, compare with the last records, or write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks performance",
        description="Time and accuracy beside what a user would take instead, as ratios.",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(BENCHMARKS),
        metavar="NAME",
        help=f"run these only: {', '.join(BENCHMARKS)}",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small generated rows; compare the ratios with the recorded ones",
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write the records to this file (default: benchmarks/records/NAME.json"
        ", nothing with --quick)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=None,
        help="threads of every process (default: 2, and 1 with --quick)",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="write docs/performance.md from the records and run nothing",
    )
    options = parser.parse_args(arguments)
    if options.threads is None:
        options.threads = 1 if options.quick else min(2, os.cpu_count() or 1)
    if options.threads < 1:
        parser.error(f"--threads {options.threads}: use 1 or more")
    if options.page:
        write_page(PAGE)
        return 0
    chosen = [BENCHMARKS[name] for name in options.only or BENCHMARKS]
    if options.quick:
        return quick(chosen, options.threads, options.record)
    return full(chosen, options.threads, options.record)


def full(chosen: list[Benchmark], threads: int, path: Path | None) -> int:
    """Run benchmarks in full; each record is written as soon as it is there."""
    records: list[Record] = []
    load = load_average()
    if load is not None and load > 0.5:
        print(f"The load of this machine is {load}: times will be too long and uneven.")
    for benchmark in chosen:
        print(f"\n{benchmark.title}", flush=True)
        try:
            record = measure(benchmark, threads=threads, quick=False)
        except DataNotFoundError as error:
            print(f"  skipped: {error}")
            continue
        print_figures(record)
        records.append(record)
        if path is None:
            write([record], RECORDS / f"{benchmark.name}.json")
        else:
            write(records, path)
    reached = all(record.reached for record in records)
    skipped = f" ({len(chosen) - len(records)} skipped)" if len(records) < len(chosen) else ""
    print(f"\n{'All' if reached else 'Not all'} figures reached{skipped}")
    return 0 if reached else 1


def quick(chosen: list[Benchmark], threads: int, path: Path | None) -> int:
    """Run the small set and compare its ratios with the recorded ones, twice if need be."""
    last = read(QUICK)
    records, faults = [], []
    for benchmark in chosen:
        if not benchmark.in_quick:
            continue
        print(f"\n{benchmark.name}", flush=True)
        record = measure(benchmark, threads=threads, quick=True)
        print_figures(record)
        worse = compare([record], last)
        if worse:
            print("  worse than recorded; once more")
            record = measure(benchmark, threads=threads, quick=True)
            print_figures(record)
            worse = compare([record], last)
        records.append(record)
        faults += worse
    if path is not None:
        write(records, path)
    if not last:
        print("\nThere is no record to compare with: add --record benchmarks/records/quick.json")
    for fault in faults:
        print(f"\nWORSE: {fault}")
    print(f"\n{len(faults)} ratios worse than recorded")
    return 1 if faults else 0


def print_figures(record: Record) -> None:
    """Print the figures of a record, what stands beside them and the verdicts."""
    lines = [
        (figure.name, figure.measured, figure.asked, figure.verdict, figure.note)
        for figure in record.figures
    ]
    widths = [max((len(line[i]) for line in lines), default=0) for i in range(4)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:4], widths, strict=True)]
        print("  " + "  ".join([*cells, line[4]]).rstrip(), flush=True)
