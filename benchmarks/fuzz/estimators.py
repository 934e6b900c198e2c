"""Random fits: any estimator, any parameters, rows and weights of any scale."""

import numpy as np

from benchmarks.fuzz._draws import HEAD, estimator, rows_and_labels, weights


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    lines = rows_and_labels(rng)
    call = f"checks.check_fit({estimator(rng)}, X, y, {weights(rng)})"
    return HEAD + "\n".join([*lines, call]) + "\n"
