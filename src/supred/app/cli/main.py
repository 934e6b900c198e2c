"""The command `supred`: reads the arguments, runs a command, turns errors into one line."""

import argparse
import importlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from supred.app.cli._output import to_stderr
from supred.app.cli.parser import make_parser

# Exit codes, for scripts.
OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


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
            if isinstance(stream, io.TextIOWrapper):
                # A pipe has neither there.
                stream.reconfigure(encoding="utf-8", newline="\n")
    _open_what_is_closed()
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


class _Closed(io.TextIOBase):
    """Standard output that the caller has closed: an error once something is written."""

    def write(self, text: str) -> int:
        raise OSError("standard output is closed; redirect it to a file, or pass --out.")


def _open_what_is_closed() -> None:
    """Put something in the place of streams that the caller has closed, which are None."""
    for stream, number in ((sys.stdin, 0), (sys.stdout, 1), (sys.stderr, 2)):
        if stream is None and not _is_open(number):
            # Else the next file that is opened gets the number, and what libraries print.
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:  # print would write messages among the results
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _is_open(number: int) -> bool:
    """Tell whether a file descriptor is open."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _run(options: argparse.Namespace) -> int:
    """Run a command; whatever goes wrong becomes one line on stderr and an exit code."""
    with _tidy_end() as received:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warn(options)
                # Only now: what a command needs takes a second to import.
                command = importlib.import_module(f"supred.app.cli.{options.command}")
                code = int(command.run(options))
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # The reader, `head` for one, has seen enough. Python must not flush once more.
            _close_output()
            return OK
        except KeyboardInterrupt:
            return _fail(options, "interrupted.", INTERRUPTED)
        except (ValueError, OSError, ImportError) as error:
            # TableError and ModelFileError are ValueErrors, as is what an estimator says of
            # its arguments; a full disk is an OSError. A module whose import is interrupted may
            # turn that into an ImportError of its own.
            if received:
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
            to_stderr(f"supred {options.command}: warning: {text}")

    return show


def _text_of(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, UnicodeEncodeError) and error.encoding != "utf-8":  # of standard output
        letter = error.object[error.start]
        text = f"{error.encoding} has no {letter!r}; pass --out, or set PYTHONIOENCODING=utf-8."
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        text = f"{name}{error.strerror}."
    return text or type(error).__name__


def _fail(options: argparse.Namespace, text: str, code: int) -> int:
    to_stderr(f"supred {options.command}: error: {text}")
    if code == BAD_INPUT:
        try:
            sys.stdout.flush()
        except OSError:  # standard output was what failed
            _close_output()
    return code


def _close_output() -> None:
    """Write nothing more to standard output."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


@contextmanager
def _tidy_end() -> Iterator[list[int]]:
    """Make SIGTERM raise KeyboardInterrupt too, so that half-written files are removed.

    Yields the numbers of the signals received so far.
    """
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = {}
    with suppress(ValueError):  # not the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, interrupt)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
