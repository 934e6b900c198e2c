"""Where the alternation starts."""

import numpy as np
import pytest

from supred.low_dim_svm import starts
from supred.low_dim_svm.starts import (
    class_confusion,
    placed_by_swaps,
    random_points,
    simplex_codes,
    sphere_codes,
    spread_points,
)
from supred.low_dim_svm.visit import BlockRows


@pytest.mark.parametrize(("n_classes", "n_components"), [(2, 1), (3, 2), (6, 5), (6, 9)])
def test_simplex_is_regular(n_classes, n_components):
    codes = simplex_codes(n_classes, n_components)
    distances = np.linalg.norm(codes[:, None] - codes, axis=2)
    np.testing.assert_allclose(np.linalg.norm(codes, axis=1), 1.0)
    np.testing.assert_allclose(codes.mean(axis=0), 0.0, atol=1e-12)
    off_diagonal = distances[~np.eye(n_classes, dtype=bool)]
    np.testing.assert_allclose(off_diagonal, off_diagonal[0])


def test_simplex_needs_room():
    with pytest.raises(ValueError, match="needs 4 dimensions"):
        simplex_codes(5, 3)


@pytest.mark.parametrize(
    ("n_points", "n_components", "nearest"),
    # the octahedron and the simplex are the known optima
    [(6, 3, np.sqrt(2)), (4, 3, np.sqrt(8 / 3)), (8, 4, np.sqrt(2))],
)
def test_points_are_spread_over_the_sphere(n_points, n_components, nearest):
    points = spread_points(n_points, n_components, np.random.RandomState(0))
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0)
    distances = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(n_points)
    np.testing.assert_allclose(distances.min(), nearest, rtol=0.02)


def test_confusable_classes_are_neighbours_on_the_circle():
    """Classes that are alike in the order of a hidden ring must be placed in that order."""
    rng = np.random.RandomState(3)
    ring = rng.permutation(10)
    confusion = np.zeros((10, 10))
    for place in range(10):
        confusion[ring[place], ring[(place + 1) % 10]] = 1.0
    codes = sphere_codes(10, 2, confusion, np.random.RandomState(0))
    step = 2 * np.sin(np.pi / 10)
    for place in range(10):
        gap = np.linalg.norm(codes[ring[place]] - codes[ring[(place + 1) % 10]])
        np.testing.assert_allclose(gap, step)


def test_no_swap_of_many_classes_is_better():
    """The gains of all swaps, which one matrix holds, are those of the objective itself."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(60, 3))
    likeness = np.exp(-np.square(means[:, None] - means).sum(axis=2))
    np.fill_diagonal(likeness, 0.0)
    points = spread_points(60, 2, np.random.RandomState(0))
    distances = np.square(points[:, None] - points).sum(axis=2)
    order = placed_by_swaps(likeness, distances)
    assert sorted(order) == list(range(60))
    least = (likeness * distances[np.ix_(order, order)]).sum()
    for i in range(60):
        for j in range(i):
            other = order.copy()
            other[[i, j]] = other[[j, i]]
            assert (likeness * distances[np.ix_(other, other)]).sum() >= least - 1e-9 * least


@pytest.mark.parametrize("n_components", [2, 3])
def test_many_classes_do_not_search_all_pairs(n_components, monkeypatch):
    """Of 100 classes it would take minutes."""
    found = starts.quadratic_assignment

    def quick(*arguments, method, **options):
        assert method != "2opt"
        return found(*arguments, method=method, **options)

    monkeypatch.setattr(starts, "quadratic_assignment", quick)
    confusion = np.random.default_rng(0).random((120, 120))
    codes = sphere_codes(120, n_components, confusion, np.random.RandomState(0))
    np.testing.assert_allclose(np.linalg.norm(codes, axis=1), 1.0)
    distances = np.linalg.norm(codes[:, None] - codes, axis=2) + 9 * np.eye(120)
    assert distances.min() > (0.05 if n_components == 2 else 0.2)


def test_one_dimension_is_a_line():
    points = spread_points(5, 1, np.random.RandomState(0))
    np.testing.assert_allclose(points.ravel(), [-1, -0.5, 0, 0.5, 1])


def test_random_points_are_one_per_class():
    codes = random_points(7, 3, np.random.RandomState(0))
    assert codes.shape == (7, 3)
    assert len(np.unique(codes.round(6), axis=0)) == 7


def test_confusion_is_a_weighted_sum_of_what_is_positive():
    scores = np.array([[0.9, 0.1], [0.5, -0.5], [0.2, 0.8]])
    rows = BlockRows(0, np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]))
    _, confusion = class_confusion(scores, rows, np.asarray, 2)
    np.testing.assert_allclose(confusion, [[3.2, 0.3], [0.4, 1.6]])
