"""How a command answers: results on standard output, messages on standard error."""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from supred.common.letters import visible


def say(options: argparse.Namespace, *lines: str) -> None:
    """Tell the user something on standard error."""
    if not options.quiet:
        for line in lines:
            to_stderr(line)


def to_stderr(line: str) -> None:
    """Write a line to standard error; one that cannot be written ends no work."""
    try:
        print(visible(line), file=sys.stderr, flush=True)
    except OSError:  # nobody reads it any more, or a disk is full
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def json_text(value: Any) -> str:
    """Return JSON that other programs read; a ValueError if a number is not finite."""
    return json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)


def print_json(value: Any) -> None:
    """Print JSON that other programs read: no NaN."""
    print(json_text(value))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for people: letters that cannot be written, or not be seen, become escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(visible(line).encode(encoding, "backslashreplace").decode(encoding))


def aligned(rows: list[list[str]]) -> Iterable[str]:
    """Yield the rows of a table with aligned columns, the first of them to the left."""
    first, *rest = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        right = [cell.rjust(width) for cell, width in zip(cells, rest, strict=True)]
        yield "  ".join([name.ljust(first), *right]).rstrip()
