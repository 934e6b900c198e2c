"""Give the latent coordinates of each row of a table, by a saved model."""

import argparse

from supred.app.cli import _use_model

HELP = "give the latent coordinates of each row, by a saved model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _use_model.add_rows_to_answer(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    return _use_model.answer(options, ["coordinates"])
