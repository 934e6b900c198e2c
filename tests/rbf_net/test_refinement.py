"""The descent on all parameters: gradients against finite differences, and that it descends."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from supred.rbf_net.refinement import (
    Batches,
    Network,
    hinge_slopes,
    log_slopes,
    mean_loss,
    refine,
    scores_of,
)

N_ROWS, N_FEATURES, N_CENTERS, N_COMPONENTS = 40, 5, 7, 3


def network(n_scores, seed=0):
    rng = np.random.RandomState(seed)
    return Network(
        centers=rng.normal(size=(N_CENTERS, N_FEATURES)),
        log_gammas=-1.5 + 0.3 * rng.normal(size=N_CENTERS),
        log_scales=0.3 * rng.normal(size=N_FEATURES),
        W=rng.normal(size=(N_CENTERS, N_COMPONENTS)),
        w0=rng.normal(size=N_COMPONENTS),
        coef=rng.normal(size=(n_scores, N_COMPONENTS)),
        intercept=rng.normal(size=n_scores),
    )


def problem(loss, n_classes, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    codes = rng.randint(n_classes, size=N_ROWS)
    one_hot = np.eye(n_classes)[codes]
    if n_classes == 2:
        one_hot = one_hot[:, 1:]
    targets = 2 * one_hot - 1 if loss is hinge_slopes else 0.9 * one_hot + 0.1 / n_classes
    return X, targets, rng.uniform(0.2, 3.0, size=N_ROWS)


@pytest.mark.parametrize("loss", [hinge_slopes, log_slopes])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradients_are_those_of_finite_differences(loss, n_classes):
    X, targets, weights = problem(loss, n_classes)
    net = network(targets.shape[1])
    _, gradient = mean_loss(net, X, targets, weights, loss)
    step = 1e-6
    for value, slope in zip(net.parts(), gradient.parts(), strict=True):
        numeric = np.empty_like(value)
        for index in np.ndindex(value.shape):
            kept = value[index]
            ends = []
            for sign in (1, -1):
                value[index] = kept + sign * step
                ends.append(mean_loss(net, X, targets, weights, loss)[0])
            value[index] = kept
            numeric[index] = (ends[0] - ends[1]) / (2 * step)
        # relative to the largest entry: differences of small ones drown in rounding
        assert np.abs(slope - numeric).max() <= 1e-5 * np.abs(numeric).max()


def test_hinge_of_pairs_leaves_out_other_classes():
    losses, slopes = hinge_slopes(np.zeros((1, 3)), np.array([[1.0, 0.0, -1.0]]))
    assert losses.tolist() == [2.0]
    np.testing.assert_array_equal(slopes, [[-1.0, 0.0, 1.0]])


def test_log_loss_of_two_classes_is_that_of_two_scores():
    scores, second = np.array([[0.7], [-2.0]]), np.array([[1.0], [0.0]])
    both = np.column_stack([np.zeros(2), scores])
    one, two = (
        log_slopes(scores, second),
        log_slopes(both, np.column_stack([1 - second, second])),
    )
    np.testing.assert_allclose(one[0], two[0])
    np.testing.assert_allclose(one[1][:, 0], two[1][:, 1])


def moons(n_rows=400):
    X, y = make_moons(n_rows, noise=0.1, random_state=0)
    signs = (2.0 * y - 1.0)[:, None].astype(np.float32)
    X = X.astype(np.float32)
    return X, y, Batches(lambda chosen: X[chosen], signs, np.ones(n_rows, np.float32), 50)


def poor_start():
    rng = np.random.RandomState(0)
    return Network(
        centers=0.1 * rng.normal(size=(6, 2)),
        log_gammas=np.zeros(6),
        log_scales=np.zeros(2),
        W=0.1 * rng.normal(size=(6, 1)),
        w0=np.zeros(1),
        coef=np.ones((1, 1)),
        intercept=np.zeros(1),
    ).astype(np.float32)


def error(net, X, y):
    return float(np.mean((scores_of(net, X)[:, 0] > 0) != y))


def test_it_learns_the_moons_from_a_poor_start():
    X, y, batches = moons()
    start = poor_start()
    before = [value.copy() for value in start.parts()]
    found = refine(start, batches, hinge_slopes, np.random.RandomState(0), n_steps=600)
    assert error(found.network, X, y) <= 0.01 < 0.05 < error(start, X, y)
    for value, old in zip(start.parts(), before, strict=True):
        np.testing.assert_array_equal(value, old)
    assert found.best_step == 600
    assert found.history["loss"][-1] < 0.1 * found.history["loss"][1]


def test_same_seed_same_result_and_scales_can_rest():
    _, _, batches = moons()
    runs = [
        refine(
            poor_start(), batches, hinge_slopes, np.random.RandomState(3), n_steps=60, scale_rate=0
        ).network
        for _ in range(2)
    ]
    for one, two in zip(runs[0].parts(), runs[1].parts(), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(runs[0].log_scales, 0)


def test_the_best_by_the_merit_is_kept():
    _, _, batches = moons()
    values = iter([0.5, 0.2, 0.4, 0.3, 0.9])
    seen = []

    def merit(net):
        seen.append(net.centers.copy())
        return next(values)

    found = refine(
        poor_start(),
        batches,
        hinge_slopes,
        np.random.RandomState(0),
        n_steps=40,
        n_checks=4,
        merit=merit,
    )
    assert found.best_step == 10
    assert found.merit == 0.2
    assert found.history["step"] == [0, 10, 20, 30, 40]
    np.testing.assert_array_equal(found.network.centers, seen[1])


@pytest.mark.parametrize(
    ("merits", "step"), [([0.5, 0.2, 0.4, 0.28, 0.9], 30), ([0.5, 0.2, 0.2, 0.4, 0.4], 20)]
)
def test_a_later_one_within_the_tolerance_is_kept(merits, step):
    _, _, batches = moons()
    values = iter(merits)
    found = refine(
        poor_start(),
        batches,
        hinge_slopes,
        np.random.RandomState(0),
        n_steps=40,
        n_checks=4,
        merit=lambda net: next(values),
        tolerance=lambda best: 0.1,
    )
    assert found.best_step == step


def test_it_stops_when_asked():
    _, _, batches = moons()
    found = refine(
        poor_start(),
        batches,
        hinge_slopes,
        np.random.RandomState(0),
        n_steps=40,
        n_checks=4,
        on_check=lambda step, history: step >= 20,
    )
    assert found.stopped == "callback"
    assert found.history["step"] == [0, 10, 20]


def test_weights_are_copies_in_one_batch():
    X, targets, _ = problem(log_slopes, 4)
    net = network(4)
    times = np.random.RandomState(1).randint(1, 4, size=N_ROWS)
    weighted = mean_loss(net, X, targets, times.astype(float), log_slopes)
    copied = mean_loss(
        net,
        np.repeat(X, times, axis=0),
        np.repeat(targets, times, axis=0),
        np.ones(times.sum()),
        log_slopes,
    )
    assert weighted[0] == pytest.approx(copied[0], rel=1e-12)
    for one, two in zip(weighted[1].parts(), copied[1].parts(), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
