"""Experiments of the max-margin projection."""

import numpy as np


def draw_digits(y: np.ndarray, digits: tuple[int, ...], count: int, seed: int) -> np.ndarray:
    """Return the indices of `count` rows of each digit."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.choice(np.flatnonzero(y == digit), count, replace=False) for digit in digits]
    )
