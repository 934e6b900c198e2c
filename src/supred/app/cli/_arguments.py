"""How arguments are read: what may follow what, and the values of single ones."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())} (see {self.prog} --help)\n")


class CommandParser(Parser):
    """A parser of a command: a table may also follow the options, as in MODEL --json TABLE."""

    _mixed = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        if self._mixed or args is None or "--" in args:
            return super().parse_known_args(args, namespace)
        self._mixed = True  # argparse comes back here, first for the options alone
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixed = False


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    return whole(text, low=1)


def whole(text: str, low: int = 0) -> int:
    """Read a whole number of at least `low`."""
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if number < low:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {low}")
    return number


def seed(text: str) -> int:
    """Read a whole number that NumPy takes as a seed."""
    number = whole(text)
    if number >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 2^32 - 1")
    return number


def file_name(text: str) -> str:
    """Read the name of a file, which is not empty."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def output_name(text: str) -> str:
    """Read the name of a file to be written; that of standard input is none."""
    if text == "-":
        raise argparse.ArgumentTypeError("'-' is not the name of a file; write ./- if it is meant")
    return file_name(text)


def seconds(text: str) -> float:
    """Read a time such as 60s, 2m, 1h or 90 (seconds).

    Examples
    --------
    >>> from supred.app.cli._arguments import seconds
    >>> seconds("2m"), seconds("1.5")
    (120.0, 1.5)
    """
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    unit = units.get(text[-1:].lower())
    try:
        number = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 60s, 2m or 1h")
    return number
