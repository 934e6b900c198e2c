"""Give the latent coordinates of each row of a table, by a saved model."""

import argparse

from supred.app.cli.predict import write_answers


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    write_answers(options, ["coordinates"])
    return 0
