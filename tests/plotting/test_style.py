"""The palette is measured: in grey, and as colour-blind readers see it."""

import numpy as np
import pytest

from supred.plotting.style import COLORS, DARK_COLORS, N_SAFE, class_style

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
SEEN_BY = {
    "most": np.eye(3),
    "protanopes": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopes": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopes": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear_rgb(color):
    c = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear sRGB, white point D65."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    t = np.array(to_xyz) @ rgb / np.array([0.9505, 1.0, 1.089])
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("reader", SEEN_BY)
@pytest.mark.parametrize("colors", [COLORS, DARK_COLORS])
def test_colours_are_told_apart(reader, colors):
    # The first eight by all readers; more colours than that only by most.
    told = colors if reader == "most" else colors[:N_SAFE]
    seen = [lab(np.clip(np.array(SEEN_BY[reader]) @ linear_rgb(c), 0, 1)) for c in told]
    distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(distances) > 16  # 2.3 is just noticeable


@pytest.mark.parametrize("colors", [COLORS, DARK_COLORS])
def test_greys_are_told_apart(colors):
    lightness = sorted(lab(linear_rgb(c))[0] for c in colors[:N_SAFE])
    assert np.diff(lightness).min() > 6


def test_many_classes_all_differ():
    styles = [class_style(k) for k in range(192)]
    assert len(set(styles)) == 192
    assert len({s.color for s in styles[:24]}) == 24
    assert len({s.marker for s in styles[:8]}) == 8  # the first eight even without any colour
