"""Whether the verdict of ``supred compare`` holds on other folds.

``python -m benchmarks verdict [--table NAME] [--budget SECONDS]`` compares all methods on each
table twice, with the same budget: once as a user would, and once with another seed, so on fresh
folds with fresh draws. The method that the first verdict names must be within one standard error
of the lowest error of the second. Tables of scikit-learn and of UCI (with ``SUPRED_DATA``).
"""

import argparse
from collections.abc import Iterator, Sequence

from benchmarks._report import Row, print_rows
from supred.app.comparison.engine import compare
from supred.app.comparison.result import MethodResult
from supred.app.comparison.scores import best_method, estimate
from supred.app.tables.assemble import sampled, training_table
from supred.app.tables.reading import read_builtin
from supred.datasets.real import DataNotFoundError

TABLES = ("digits", "breast-cancer", "wine", "segmentation", "vehicle", "satellite")
MOST_ROWS = 3000


def methods_of(name: str, seed: int, budget: float) -> Sequence[MethodResult]:
    """Return what all methods reach on a table, on the folds of a seed."""
    table = sampled(training_table(read_builtin(name)), MOST_ROWS, 0)
    return compare(table, budget=budget, seed=seed).methods


def check(name: str, budget: float) -> Row:
    """Return how the method that the verdict names fares on fresh folds."""
    named = best_method(methods_of(name, 0, budget))
    fresh = methods_of(name, 1, budget)
    best = best_method(fresh)
    assert named is not None
    assert best is not None
    again = estimate(next(method for method in fresh if method.name == named.name))
    lowest = estimate(best)
    assert lowest is not None
    limit = lowest.mean + lowest.standard_error
    measured = "no result" if again is None else f"{100 * again.mean:.2f} %"
    return Row(
        f"{name}: {named.name} ({estimate(named)}), on fresh folds",
        measured,
        f"{best.name} {100 * lowest.mean:.2f} %",
        f"<= {100 * limit:.2f} %",
        again is not None and again.mean <= limit,
    )


def rows(names: Sequence[str], budget: float) -> Iterator[Row]:
    for name in names:
        try:
            yield check(name, budget)
        except DataNotFoundError:
            yield Row(f"{name}: not measured, SUPRED_DATA has no such table", "-")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks verdict", description=__doc__)
    parser.add_argument("--table", choices=TABLES, action="append")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--quick", action="store_true", help="two small tables, 20 s each")
    options = parser.parse_args(arguments)
    if options.quick:
        found = rows(("breast-cancer", "wine"), 20.0)
    else:
        found = rows(options.table or TABLES, options.budget)
    return 0 if print_rows("The verdict on fresh folds", found) else 1
