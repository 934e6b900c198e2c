"""The command `supred`: reads the arguments, runs a command, turns errors into one line.

Nothing heavy is imported here or at the top of a command's file: `supred --help` must not wait.
"""

import argparse
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

from supred._version import __version__

COMMANDS = (
    "compare",
    "map",
    "fit",
    "transform",
    "predict",
    "evaluate",
    "export",
    "report",
    "info",
    "completion",
)

# Exit codes, for scripts.
OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

DESCRIPTION = "Supervised dimensionality reduction for classification, on your own table."
EPILOG = (
    "Results go to standard output, messages to standard error. Exit codes: 0 done, 1 the command "
    "failed, 2 bad input (nothing was written), 130 interrupted. "
    "Try: supred compare --dataset digits --budget 60s"
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = _Parser(prog="supred", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"supred {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in COMMANDS:
        module = importlib.import_module(f"supred.app.cli.{name}")
        sub = commands.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, those of the process by default.

    Returns
    -------
    code : int
        0 done, 1 failed, 2 bad input, 130 interrupted.
    """
    if argv is None and sys.platform == "win32":
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(encoding="utf-8", newline="\n")  # a pipe has neither there
    argv = list(sys.argv[1:] if argv is None else argv)
    parser = make_parser()
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    if options.command is None:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    options.argv = argv
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    """Run a command; whatever goes wrong becomes one line on stderr and an exit code."""
    with _TidyEnd() as end:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warn(options)
                code = int(options.run(options))
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # The reader, `head` for one, has seen enough. Python must not flush once more.
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            return OK
        except KeyboardInterrupt:
            return _fail(options, "interrupted.", INTERRUPTED)
        except (ValueError, OSError, ImportError) as error:
            # TableError and ModelFileError are ValueErrors, as is what an estimator says of
            # its arguments; a full disk is an OSError. A module whose import is interrupted may
            # turn that into an ImportError of its own.
            if end.interrupted:
                return _fail(options, "interrupted.", INTERRUPTED)
            return _fail(options, _text_of(error), BAD_INPUT)
        except MemoryError:
            return _fail(options, "not enough memory.", FAILED)


def _warn(options: argparse.Namespace) -> Callable[..., None]:
    """Return a function that shows a warning as one line, without the place in the code."""

    def show(
        message: Warning | str, category: type[Warning], *place: object, **more: object
    ) -> None:
        if issubclass(category, UserWarning) and not getattr(options, "quiet", False):
            text = " ".join(str(message).split())
            print(f"supred {options.command}: warning: {text}", file=sys.stderr)

    return show


def _text_of(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        text = f"{name}{error.strerror}."
    return text or type(error).__name__


def _fail(options: argparse.Namespace, text: str, code: int) -> int:
    print(f"supred {options.command}: error: {text}", file=sys.stderr)
    if code == BAD_INPUT:
        try:
            sys.stdout.flush()
        except OSError:  # standard output was what failed
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    return code


class _TidyEnd:
    """Make SIGTERM raise KeyboardInterrupt too, so that half-written files are removed."""

    def __enter__(self) -> "_TidyEnd":
        self.interrupted = False
        self.before: dict[int, Any] = {}
        with suppress(ValueError):  # not the main thread
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self.before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        self.interrupted = True
        raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
