"""Run a benchmark by its name: ``python -m benchmarks NAME [options]``."""

import importlib
import pkgutil
import sys
from collections.abc import Callable
from time import perf_counter

import benchmarks

# Benchmarks of speed and memory, in the order of `bench`; each runs where it is there.
SPEED = ("performance", "scaling", "out_of_memory", "dask_overhead")


def names() -> list[str]:
    """Return the benchmarks there are."""
    return [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_"]


def load(name: str) -> Callable[[list[str]], int]:
    """Return the main function of a benchmark."""
    return importlib.import_module(f"benchmarks.{name}").main


def accuracy() -> int:
    """Run the quick form of every benchmark of accuracy: what must hold before a change lands."""
    return run([name for name in names() if name not in SPEED], ["--quick"])


def bench(arguments: list[str]) -> int:
    """Run every benchmark of speed and memory, and write docs/performance.md."""
    failed = run([name for name in SPEED if name in names()], arguments)
    return load("performance")(["--page"]) or failed


def run(chosen: list[str], arguments: list[str]) -> int:
    """Run benchmarks one after the other and say which failed."""
    failed = []
    for name in chosen:
        began = perf_counter()
        print(f"\n=== {name}", flush=True)
        if load(name)(arguments):
            failed.append(name)
        print(f"({perf_counter() - began:.0f} s)", flush=True)
    print(f"\n{len(chosen) - len(failed)} passed, {len(failed)} failed {' '.join(failed)}".rstrip())
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    known = [*names(), "accuracy", "bench"]
    if not arguments or arguments[0] not in known:
        print(f"usage: python -m benchmarks NAME [options]; NAME is one of {', '.join(known)}")
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if arguments[0] == "accuracy":
        return accuracy()
    if arguments[0] == "bench":
        return bench(arguments[1:])
    return load(arguments[0])(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
