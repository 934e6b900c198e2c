"""Rows as a training sees them."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from supred import RBFNetClassifier
from supred.rbf_net.parts import other_parts, split_rows
from supred.rbf_net.problem import distinct_rows, scaling_of


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_a_large_constant_column_beside_small_ones(make):
    """What rounding leaves of its mean stays small."""
    X = np.column_stack([np.full(20, 1e36), np.random.default_rng(0).normal(size=(20, 3))])
    rows = scaling_of(make(X), np.ones(20))(make(X))
    assert np.abs(rows).max() < 10
    assert np.ptp(rows[:, 1:], axis=0).min() > 1


@pytest.mark.parametrize("filled", [1.0, 0.3, 0.01])
def test_the_form_of_the_rows_has_no_say_in_their_scaling(filled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)) * np.geomspace(1e-2, 1e2, 8)
    X[rng.random(X.shape) > filled] = 0
    weights = rng.random(300)
    dense, thin = scaling_of(X, weights), scaling_of(sparse.csr_matrix(X), weights)
    np.testing.assert_allclose(thin.factor, dense.factor)
    np.testing.assert_allclose(thin.shift, dense.shift, atol=1e-12)
    by_one_factor = np.ptp(dense.factor) == 0
    assert by_one_factor == (filled < 0.05), "counts of words are scaled by one factor"


def test_copies_are_one_row_and_order_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(200, 4)).astype(float)
    index = rng.integers(2, size=200)
    weights = rng.random(200)
    scaling = scaling_of(X, weights)
    found = distinct_rows(X, index, weights, scaling)
    keys = {}
    for row, label, weight in zip(X, index, weights, strict=True):
        key = (*row, label)
        keys[key] = keys.get(key, 0.0) + weight
    rows = [(*X[i], index[i]) for i in found.order]
    assert sorted(rows) == sorted(keys)
    np.testing.assert_allclose(found.weights, [keys[row] for row in rows])
    shuffled = rng.permutation(200)
    again = distinct_rows(X[shuffled], index[shuffled], weights[shuffled], scaling)
    np.testing.assert_array_equal(X[shuffled][again.order], X[found.order])
    np.testing.assert_allclose(again.weights, found.weights)
    thin = distinct_rows(sparse.csr_matrix(X), index, weights, scaling)
    np.testing.assert_array_equal(X[thin.order], X[found.order])


def test_last_digits_change_neither_the_order_nor_what_is_a_copy():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(3, size=(300, 2)) - 1.0, rng.normal(size=300).round(2)])
    index, weights = rng.integers(3, size=300), np.ones(300)
    # as if the mean and the deviation of each column had been summed in other blocks
    other = (X - 1e-16) * (1 + 2**-52)
    assert (other != X).any()
    found = distinct_rows(X, index, weights, scaling_of(X, weights))
    again = distinct_rows(other, index, weights, scaling_of(other, weights))
    np.testing.assert_array_equal(X[again.order], X[found.order])
    np.testing.assert_array_equal(again.weights, found.weights)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_scaled_rows_have_unit_variance(scale):
    X = np.random.default_rng(0).normal(5.0, 2.0, size=(300, 6)) * scale
    rows = scaling_of(X, np.ones(300))(X)
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-5)
    assert rows.var(axis=0).mean() == pytest.approx(1.0, rel=1e-4)


def test_one_factor_for_all_unless_few_features_carry_the_variance():
    X = np.random.default_rng(0).normal(size=(300, 6)) * [1, 1, 2, 2, 3, 3]
    assert len(np.unique(scaling_of(X, np.ones(300)).factor)) == 1
    rows = scaling_of(X * [1000, 1, 1, 1, 1, 1], np.ones(300))(X * [1000, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(rows.var(axis=0), 1.0, rtol=1e-4)


def test_weights_scale_as_copies_do():
    X = np.random.default_rng(0).normal(size=(50, 3))
    times = np.random.default_rng(1).integers(1, 4, size=50)
    weighted = scaling_of(X, times.astype(float))
    copied = scaling_of(np.repeat(X, times, axis=0), np.ones(times.sum()))
    np.testing.assert_array_equal(weighted.factor, copied.factor)


def test_folds_of_few_rows_and_one_part_of_many():
    rng = np.random.RandomState(0)
    few = np.repeat([0, 1, 2], [60, 40, 1])
    parts = split_rows(few, 0.1, rng)
    assert len(parts) == 3
    assert len({len(part.train) for part in parts}) == 1
    held = np.concatenate([part.held_out for part in parts])
    assert sorted(held) == list(range(100))  # the single row of a class is always trained on
    assert all(100 in part.train for part in parts)
    (part,) = split_rows(np.repeat([0, 1], 3000), 0.1, rng)
    assert len(part.held_out) == 600
    assert not set(part.train) & set(part.held_out)
    assert split_rows(np.arange(5), 0.1, rng) == ()


@pytest.mark.parametrize("n_places", [70, 700])
def test_a_row_with_two_labels_is_not_trained_on_and_held_out(n_places):
    places = np.append(np.arange(n_places), np.arange(0, n_places, 2))
    index = (np.arange(len(places)) >= n_places).astype(int)
    parts = split_rows(index, 0.1, np.random.RandomState(0), places=places)
    parts += other_parts(index, parts[0], 3, 0, places)
    assert len(parts) > 1
    for part in parts:
        assert len(part.held_out) > 0
        assert not set(places[part.train]) & set(places[part.held_out])


def test_nothing_is_held_out_of_a_few_places_with_several_labels_each():
    places, index = np.tile(np.arange(8), 2), np.repeat([0, 1], 8)
    assert split_rows(index, 0.1, np.random.RandomState(0), places=places) == ()


def test_places_are_rows_without_their_class():
    X = np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0], [0.0, 1.0], [5.0, 5.0]])
    index, weights = np.array([0, 0, 1, 1, 1]), np.ones(5)
    found = distinct_rows(X, index, weights, scaling_of(X, weights))
    assert len(found.order) == 4
    rows = X[found.order]
    same = (rows[:, None] == rows).all(axis=2)
    np.testing.assert_array_equal(found.places[:, None] == found.places, same)


def test_other_parts_hold_out_other_rows_of_every_class():
    index = np.repeat([0, 1, 2], [600, 150, 1])
    (part,) = split_rows(index, 0.2, np.random.RandomState(0))
    others = other_parts(index, part, 3, seed=0)
    held = np.concatenate([part.held_out, *(other.held_out for other in others)])
    assert len(np.unique(held)) == len(held) == 4 * len(part.held_out)
    for other in others:
        assert sorted(np.append(other.train, other.held_out)) == list(range(751))
        np.testing.assert_array_equal(
            np.bincount(index[other.held_out]), np.bincount(index[part.held_out])
        )


@pytest.mark.parametrize("seed", range(5))
def test_sparse_rows_are_scaled_as_dense_ones_are(seed):
    X = np.random.default_rng(seed).normal(size=(33, 4))
    X[:, 0] = X[0, 0]  # by rounding, a constant column used to count as one that varies
    X[::2, 1] = 0.0
    for weights in (np.ones(33), np.random.default_rng(1).random(33)):
        dense, thin = scaling_of(X, weights), scaling_of(sparse.csr_matrix(X), weights)
        np.testing.assert_array_equal(thin.shift, dense.shift)
        np.testing.assert_array_equal(thin.factor, dense.factor)


@pytest.mark.parametrize("again", ["partial_fit", "fit", "prune"])
def test_rows_in_single_precision_are_refused_where_the_model_has_no_number_in_it(again):
    """A column of 1e-45 has a factor that only double precision has a number for."""
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    X = (rng.normal(size=(12, 2)) + y[:, None]) * [1.0, 1e-45]
    model = RBFNetClassifier(
        n_centers=2, max_iter=5, metric="diagonal", warm_start=True, random_state=0
    ).fit(X, y)
    further = getattr(model, again)
    given = {"n_centers": 1} if again == "prune" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="not finite; bring the parameters, the features"):
            further(X.astype(np.float32), y, **given)


def test_noise_whose_square_is_no_number_is_refused_by_a_map():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 4
    X = rng.normal(size=(30, 2)) + y[:, None]
    model = RBFNetClassifier(
        2, noise=1e30, alpha=1e12, max_iter=1, early_stopping=False, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="first network of the map diverged"):
            model.fit(X, y)
