"""The process of one contender: ``python -m benchmarks.performance._worker`` (not for users)."""

import argparse
import json
import warnings
from pathlib import Path

from benchmarks.performance._harness import NO_DATA, run_here
from benchmarks.performance._record import plain
from benchmarks.performance._registry import BENCHMARKS
from supred.datasets.real import DataNotFoundError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=list(BENCHMARKS))
    parser.add_argument("contender")
    parser.add_argument("threads", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    try:
        runs = run_here(
            BENCHMARKS[options.benchmark], options.contender, options.threads, options.quick
        )
    except DataNotFoundError as error:
        print(error)
        return NO_DATA
    options.out.write_text(json.dumps(runs, default=plain), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
