import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from supred.datasets.swiss_roll import angle_at, arc_length, make_classes_on_swiss_roll


def test_arc_length_is_the_integral():
    for t in (0.5, 4.7, 14.1):
        expected, _ = quad(lambda s: np.sqrt(1 + s * s), 0, t)
        assert arc_length(np.array(t)) == pytest.approx(expected)
    t = np.linspace(1.5 * np.pi, 4.5 * np.pi, 50)
    np.testing.assert_allclose(angle_at(arc_length(t)), t, rtol=1e-12)


def test_rows_lie_on_the_roll_uniformly_in_area():
    X, y, position = make_classes_on_swiss_roll(4000, return_position=True, random_state=0)
    t = np.hypot(X[:, 0], X[:, 2])
    assert t.min() >= 1.5 * np.pi
    assert t.max() <= 4.5 * np.pi
    np.testing.assert_allclose(X[:, 0], t * np.cos(t), atol=1e-9)
    np.testing.assert_allclose(X[:, 1], position[:, 1])
    length = np.diff(arc_length(np.array([1.5 * np.pi, 4.5 * np.pi])))[0]
    np.testing.assert_allclose(arc_length(t) - arc_length(np.array(1.5 * np.pi)), position[:, 0])
    assert stats.kstest(position[:, 0] / length, "uniform").pvalue > 0.01
    assert stats.kstest(X[:, 1] / 21, "uniform").pvalue > 0.01
    np.testing.assert_array_equal(y, (position[:, 0] / length * 6).astype(int) % 2)


def test_bands_go_round_the_classes():
    _, y, position = make_classes_on_swiss_roll(
        500, n_classes=3, n_bands=4, return_position=True, random_state=0
    )
    along = y[np.argsort(position[:, 0])]
    changes = along[np.flatnonzero(np.diff(along, prepend=-1))]
    assert changes.tolist() == [0, 1, 2, 0]


def test_noise_and_repeatability():
    X, y = make_classes_on_swiss_roll(300, random_state=3)
    again, _ = make_classes_on_swiss_roll(300, random_state=3)
    noisy, same = make_classes_on_swiss_roll(300, noise=0.5, random_state=3)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    assert np.std(noisy - X) == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "n_samples=0 is out of range"),
        ({"n_bands": 0}, "n_bands=0 is out of range"),
        ({"n_classes": 7}, "n_classes=7 is out of range.*each class needs a band"),
        ({"height": 0.0}, "height=0.0 is out of range"),
        ({"noise": -1.0}, "noise=-1.0 is out of range"),
        ({"return_position": np.ones(2)}, "return_position=.* is not known"),
    ],
)
def test_bad_arguments(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_classes_on_swiss_roll(**parameters)
