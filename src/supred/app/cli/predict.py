"""Predict the class of each row of a table with a saved model."""

import argparse

from supred.app.cli import _use_model

HELP = "predict the class of each row with a saved model"

# option -> what it adds
MORE = {"proba": "probabilities", "scores": "scores", "coordinates": "coordinates"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _use_model.add_rows_to_answer(parser)
    parser.add_argument("--proba", action="store_true", help="add the probability of each class")
    parser.add_argument("--scores", action="store_true", help="add the score of each class")
    parser.add_argument("--coordinates", action="store_true", help="add the latent coordinates")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    more = [kind for name, kind in MORE.items() if getattr(options, name)]
    return _use_model.answer(options, ["predicted", *more])
