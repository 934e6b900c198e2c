"""Damaged, edited and hostile files of comparisons."""

import numpy as np

from benchmarks.fuzz._draws import pick
from benchmarks.fuzz.damage import WAYS


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    way, seed = pick(rng, list(WAYS)), int(rng.integers(10**9))
    call = f"damage.check_damaged_comparison({way!r}, {seed})"
    return f"from benchmarks.fuzz import damage\n{call}\n"
