"""Spirals: classes that no straight line can separate."""

from typing import Any

import numpy as np

from supred.common.arguments import check_integer, check_real, random_generator


def make_spirals(
    n_samples: int = 1000,
    *,
    n_classes: int = 2,
    turns: float = 1.5,
    noise: float = 0.0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Make interleaved spirals in the plane, one per class.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows in all; the classes differ by one row at most.
    n_classes : int, default=2
        Number of spirals, each turned against the last by an equal angle.
    turns : float, default=1.5
        How often a spiral goes around the origin.
    noise : float, default=0.0
        Standard deviation of Gaussian noise; the outer radius is 1.
    random_state : int, RandomState or None, default=None
        Draws the places along the spirals and the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ..

    See Also
    --------
    make_classes_on_swiss_roll : Classes on a sheet that is rolled up.

    Examples
    --------
    >>> from supred.datasets import make_spirals
    >>> X, y = make_spirals(300, n_classes=3, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 2), [0, 1, 2])
    """
    check_integer("n_classes", n_classes, low=1)
    check_integer("n_samples", n_samples, low=n_classes, why="one row per class")
    check_real("turns", turns, low=0, low_inclusive=False)
    check_real("noise", noise, low=0)
    rng = random_generator(random_state)
    y = np.arange(n_samples) % n_classes
    # Uniform along the arc, nearly: the arc length of a spiral grows with the radius squared.
    radius = np.sqrt(rng.uniform(0.02, 1.0, size=n_samples))
    angle = 2 * np.pi * (turns * radius + y / n_classes)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X + noise * rng.normal(size=X.shape), y
