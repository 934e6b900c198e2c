"""A swiss roll with classes in bands along it."""

from typing import Any

import numpy as np

from supred.common.arguments import check_flag, check_integer, check_real, random_generator

FIRST_ANGLE = 1.5 * np.pi
LAST_ANGLE = 4.5 * np.pi


def make_classes_on_swiss_roll(
    n_samples: int = 1000,
    *,
    n_classes: int = 2,
    n_bands: int = 6,
    height: float = 21.0,
    noise: float = 0.0,
    return_position: bool = False,
    random_state: Any = None,
) -> tuple[np.ndarray, ...]:
    """Make rows spread evenly over a swiss roll, classes in alternating bands along the roll.

    The roll is ``(t cos t, height * u, t sin t)`` with t from 1.5 pi to 4.5 pi. Rows are uniform
    in area: t is drawn so that the arc length is uniform, u is uniform in [0, 1]. The bands have
    equal arc length, and band number b belongs to class ``b % n_classes``.

    Parameters
    ----------
    n_samples : int, default=1000
    n_classes : int, default=2
        At most `n_bands`.
    n_bands : int, default=6
    height : float, default=21.0
        Length of the roll along its axis.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to each coordinate.
    return_position : bool, default=False
        Also return where each row lies on the unrolled sheet.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    y : ndarray of shape (n_samples,)
        Classes 0 to ``n_classes - 1``.
    position : ndarray of shape (n_samples, 2)
        Arc length from the inner end and place along the axis; only with `return_position`.

    See Also
    --------
    make_spirals : Classes in the plane.

    Examples
    --------
    >>> from supred.datasets import make_classes_on_swiss_roll
    >>> X, y = make_classes_on_swiss_roll(100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 3), [0, 1])
    """
    n_samples = check_integer("n_samples", n_samples, low=1)
    n_bands = check_integer("n_bands", n_bands, low=1)
    n_classes = check_integer(
        "n_classes", n_classes, low=1, high=n_bands, why="each class needs a band"
    )
    height = check_real("height", height, low=0.0, low_inclusive=False)
    noise = check_real("noise", noise, low=0.0)
    check_flag("return_position", return_position)
    random = random_generator(random_state)

    start, end = arc_length(np.array([FIRST_ANGLE, LAST_ANGLE]))
    fraction = random.uniform(size=n_samples)
    t = angle_at(start + fraction * (end - start))
    along = height * random.uniform(size=n_samples)
    X = np.column_stack([t * np.cos(t), along, t * np.sin(t)])
    if noise > 0:
        X += noise * random.standard_normal(X.shape)
    y = np.minimum((fraction * n_bands).astype(int), n_bands - 1) % n_classes
    if return_position:
        return X, y, np.column_stack([fraction * (end - start), along])
    return X, y


def arc_length(t: np.ndarray) -> np.ndarray:
    """Return the length of the spiral (t cos t, t sin t) from 0 to t."""
    return 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))


def angle_at(length: np.ndarray) -> np.ndarray:
    """Return the angle t at which the spiral has the given arc length, by Newton's method."""
    # The spiral's length is about t^2 / 2: from there the iteration is monotone and quadratic.
    t = np.sqrt(2 * length)
    for _ in range(20):
        step = (arc_length(t) - length) / np.sqrt(1 + t * t)
        t = t - step
        if np.max(np.abs(step)) < 1e-12:
            break
    return t
