"""The map as a picture: rows, names and far rows where they belong."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection, QuadMesh
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from supred.plotting import MapDisplay
from supred.plotting.drawing import class_places
from supred.plotting.latent_model import robust_limits


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    held_out = np.arange(len(y)) % 3 == 0
    fitted = make_pipeline(PCA(2), KNeighborsClassifier()).fit(X[~held_out], y[~held_out])
    return X, np.asarray(y), held_out, fitted


def test_held_out_rows_are_drawn_full_and_training_rows_faint(iris):
    X, y, held_out, fitted = iris
    display = MapDisplay.from_estimator(fitted, X=X, y=y, held_out=held_out, title="iris")
    Z = fitted[:-1].transform(X)
    drawn = [c for c in display.ax_.collections if isinstance(c, PathCollection)]
    full = np.vstack([c.get_offsets() for c in drawn if c.get_alpha() > 0.5])
    faint = np.vstack([c.get_offsets() for c in drawn if c.get_alpha() < 0.5])
    np.testing.assert_allclose(np.sort(full[:, 0]), np.sort(Z[held_out, 0]))
    np.testing.assert_allclose(np.sort(faint[:, 0]), np.sort(Z[~held_out, 0]))
    error = np.mean(fitted.predict(X[held_out]) != y[held_out])
    assert display.ax_.get_xlabel() == (
        f"error of the map on {held_out.sum()} held-out rows: {100 * error:.1f} %"
    )
    assert any(isinstance(c, QuadMesh) for c in display.ax_.collections)


def test_names_stand_at_their_classes_and_not_on_each_other():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 30
    Z = 3 * rng.normal(size=(30, 2))[y] + 0.2 * rng.normal(size=(600, 2))
    display = MapDisplay(Z=Z, y=y, classes=list(range(30))).plot()
    display.figure_.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.names_]
    assert len(boxes) >= 20
    for k, box in enumerate(boxes):
        shrunk = box.shrunk(0.98, 0.98)
        assert not any(shrunk.overlaps(other) for other in boxes[:k])
    places = class_places(Z, y, list(range(30)))
    for text in display.names_:
        place = places[int(text.get_text())]
        assert np.hypot(*(np.array(text.get_position()) - place)) < 2


def test_far_rows_are_marked_at_the_border_and_squeeze_nothing():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(100, 2))
    Z[7] = [1e6, 0.0]
    display = MapDisplay(Z=Z, y=np.arange(100) % 2, classes=[0, 1]).plot()
    low, high = display.ax_.get_xlim()
    assert high < 10
    marks = display.ax_.get_lines()
    assert len(marks) == 1
    across, up = (float(v[0]) for v in marks[0].get_data())
    assert high - 0.05 * (high - low) < across < high
    assert up == pytest.approx(0.0, abs=0.1)


def test_robust_limits():
    values = np.array([*np.linspace(-1, 1, 200), 50.0, -70.0, np.nan])
    low, high = robust_limits(values)
    assert -2.0 < low < -1 < 1 < high < 2.0
    assert robust_limits(np.array([0.0, 1.0, 2.0])) == (0.0, 2.0)
    assert robust_limits(np.full(3, 5.0)) == (4.0, 6.0)
    assert robust_limits(np.array([np.nan])) == (-1.0, 1.0)


def test_a_large_class_does_not_push_the_others_out():
    rng = np.random.default_rng(0)
    values = np.r_[rng.normal(size=970), 20 + rng.normal(size=29), 1e4]
    y = np.r_[np.zeros(970), np.ones(30)]
    assert robust_limits(values)[1] < 10
    assert 21 < robust_limits(values, y)[1] < 40


def test_new_rows_are_stars_inside_the_picture(iris):
    X, y, _, fitted = iris
    display = MapDisplay.from_estimator(fitted, X=X, y=y, X_new=np.vstack([X[:2], 100 + X[:1]]))
    stars = display.ax_.collections[-1].get_offsets()
    assert len(stars) == 3
    np.testing.assert_allclose(stars[:2], fitted[:-1].transform(X[:2]))
    assert stars[2, 0] < display.ax_.get_xlim()[1]


def test_a_map_needs_two_dimensions(iris):
    X, y, _, _ = iris
    fitted = make_pipeline(PCA(3), KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="has 3 latent dimensions; a map needs n_components=2"):
        MapDisplay.from_estimator(fitted, X=X, y=y)
