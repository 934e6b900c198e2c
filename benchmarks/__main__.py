"""Run a benchmark by its name: ``python -m benchmarks NAME [options]``."""

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from time import perf_counter

import benchmarks
from benchmarks._report import PRINTED

RECORDS = Path(__file__).parent / "records"

# Benchmarks whose quick form must hold before a change lands, in the order of `accuracy`.
ACCURACY = (
    "low_dim_svm",
    "rbf_net",
    "category_space",
    "class_constrained_embedding",
    "max_margin_projection",
)
# Benchmarks of speed and memory, in the order of `bench`; each runs where it is there.
SPEED = ("performance", "scaling", "out_of_memory", "stream", "dask_overhead")


def names() -> list[str]:
    """Return the benchmarks there are."""
    return [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_"]


def load(name: str) -> Callable[[list[str]], int]:
    """Return the main function of a benchmark."""
    return importlib.import_module(f"benchmarks.{name}").main


def accuracy() -> int:
    """Run the quick form of the benchmarks of accuracy: what must hold before a change lands."""
    return run(list(ACCURACY), ["--quick"])


def bench(arguments: list[str]) -> int:
    """Run every benchmark of speed and memory, keep the records and write docs/performance.md."""
    failed = run([name for name in SPEED if name in names()], arguments, keep=RECORDS)
    return load("performance")(["--page"]) or failed


def takes_record(name: str) -> bool:
    """Tell whether a benchmark writes a record itself: its help says so."""
    with redirect_stdout(StringIO()) as told, suppress(SystemExit):
        load(name)(["--help"])
    return "--record" in told.getvalue()


def keep_printed(name: str, path: Path) -> None:
    """Write the tables that a benchmark printed as its record."""
    rows = [
        {"check": row.check, "measured": row.measured, "asked": row.required, "": row.verdict}
        for _, table in PRINTED
        for row in table
    ]
    content = {"title": " / ".join(title for title, _ in PRINTED) or name, "rows": rows}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def run(chosen: list[str], arguments: list[str], keep: Path | None = None) -> int:
    """Run benchmarks one after the other and say which failed.

    With `keep`, a folder, each benchmark's record is put there (`performance` does so itself).
    """
    failed = []
    for name in chosen:
        began = perf_counter()
        print(f"\n=== {name}", flush=True)
        record = keep / f"{name}.json" if keep and name != "performance" else None
        by_itself = record is not None and takes_record(name)
        PRINTED.clear()
        if load(name)([*arguments, *(["--record", str(record)] if by_itself else [])]):
            failed.append(name)
        if record is not None and not by_itself:
            keep_printed(name, record)
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
