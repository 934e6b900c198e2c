"""Fits that are killed at any moment and go on from their checkpoint."""

import numpy as np


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    return (
        f"from benchmarks.fuzz import commands\ncommands.check_kill({rng.uniform(0.0, 1.0):.2f})\n"
    )
