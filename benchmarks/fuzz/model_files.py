"""Damaged, edited and hostile model files."""

import numpy as np

from benchmarks.fuzz._draws import PARAMETERS, pick
from benchmarks.fuzz.damage import WAYS


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    import supred

    name = pick(rng, [name for name in PARAMETERS if name in dir(supred)])
    way, seed = pick(rng, list(WAYS)), int(rng.integers(10**9))
    return f"from benchmarks.fuzz import damage\ndamage.check_damaged({name!r}, {way!r}, {seed})\n"
