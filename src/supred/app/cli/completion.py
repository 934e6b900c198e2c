"""Print a script that completes commands and options in the shell."""

import argparse

from supred.app.cli.parser import make_parser

# What an argument is called in the help, if it is the name of a file.
FILES = ("TABLE", "MODEL", "FILE", "RESULTS")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    print(script(options.shell), end="")
    return 0


def script(shell: str) -> str:
    """Return the script for a shell, made from the parser of the commands."""
    try:
        import shtab
    except ImportError:
        raise ImportError("completion needs shtab; install 'supred[cli]'.") from None
    parser = make_parser()
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for command in commands.choices.values():
        for action in command._actions:
            if action.metavar in FILES:
                action.complete = shtab.FILE
    return str(shtab.complete(parser, shell))
