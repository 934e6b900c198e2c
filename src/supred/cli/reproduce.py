"""``supred reproduce``: the papers' tables and figures, measured beside published."""

from supred.experiments.command import HELP, add_arguments, run

__all__ = ["HELP", "add_arguments", "run"]
