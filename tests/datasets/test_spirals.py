"""The spirals."""

import numpy as np
import pytest

from supred.datasets import make_spirals


def test_spirals_are_rotations_of_each_other():
    X, y = make_spirals(5000, n_classes=3, turns=1.0, random_state=0)
    radius = np.linalg.norm(X, axis=1)
    angle = np.arctan2(X[:, 1], X[:, 0])
    # what is left after unwinding is the angle of the class
    left = np.mod(angle - 2 * np.pi * radius, 2 * np.pi)
    for k in range(3):
        off = np.angle(np.exp(1j * (left[y == k] - 2 * np.pi * k / 3)))
        np.testing.assert_allclose(off, 0.0, atol=1e-9)
    assert np.bincount(y).tolist() == [1667, 1667, 1666]
    assert radius.max() <= 1.0


def test_noise_and_seed():
    first, _ = make_spirals(100, noise=0.1, random_state=0)
    again, _ = make_spirals(100, noise=0.1, random_state=0)
    other, _ = make_spirals(100, noise=0.1, random_state=1)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 2, "n_classes": 3}, "n_samples=2"),
        ({"n_classes": 0}, "n_classes=0"),
        ({"turns": 0}, "turns=0"),
        ({"noise": -1}, "noise=-1"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        make_spirals(**options)
