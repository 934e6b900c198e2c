"""Values and gradients of networks, against slow references and differences."""

import warnings

import numpy as np
import pytest

from supred import RBFNetClassifier
from supred.rbf_net.network import (
    Networks,
    Noise,
    Shape,
    hinge_slopes,
    log_slopes,
    mean_loss,
    noise_width,
    scores,
)

STEP = 1e-5


def drawn(rank, n_scores, *, n_networks=2, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    nets = Networks.zeros(Shape(n_features, rank, 5, 2, n_scores), n_networks, float)
    nets.flat[...] = 0.5 * rng.normal(size=nets.flat.shape)
    rows = rng.normal(size=(1, 7, n_features))
    classes = rng.integers(max(2, n_scores), size=7)
    weights = rng.random((1, 7)) + 0.1
    return nets, rows, classes, weights / weights.sum()


def one_row(nets, k, x):
    """The definition, written out."""
    metric = nets.metric[k]
    u = np.exp(metric) * x if metric.ndim == 1 else metric.T @ x
    distances = np.square(u - nets.centers[k]).sum(axis=1)
    phi = np.exp(-np.exp(nets.log_gammas[k]) * distances)
    return nets.coef[k] @ (nets.W[k].T @ phi + nets.w0[k]) + nets.intercept[k]


@pytest.mark.parametrize("rank", [None, 2, 4])
def test_scores_are_the_definition(rank):
    nets, rows, _, _ = drawn(rank, 3)
    found = scores(nets, rows)
    expected = [[one_row(nets, k, x) for x in rows[0]] for k in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def slopes_by_differences(nets, loss):
    found = np.zeros_like(nets.flat)
    for j in range(nets.flat.shape[1]):
        for sign in (1, -1):
            moved = nets.take(slice(None))
            moved.flat[:, j] += sign * STEP
            found[:, j] += sign * loss(moved) / (2 * STEP)
    return found


@pytest.mark.parametrize("rank", [None, 2, 4])
@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("loss", ["log", "hinge"])
@pytest.mark.parametrize("noisy", [False, True])
def test_the_gradient_is_that_of_differences(rank, n_scores, loss, noisy):
    nets, rows, classes, shares = drawn(rank, n_scores)
    one_hot = np.eye(max(2, n_scores))[classes][None]
    one_hot = one_hot[..., 1:] if n_scores == 1 else one_hot
    targets = 0.9 * one_hot + 0.1 / max(2, n_scores) if loss == "log" else 2 * one_hot - 1
    row_loss = log_slopes if loss == "log" else hinge_slopes
    noise = None
    if noisy:
        if noise_width(nets.shape) < 4:
            pytest.skip("noise that is drawn in few dimensions: see below")
        normals = np.random.default_rng(1).normal(size=(1, 7, 4))
        noise = Noise(np.array([0.3, 0.6]), normals)
    gradient = Networks.zeros(nets.shape, 2, float)
    spare = Networks.zeros(nets.shape, 2, float)

    def value(moved):
        return mean_loss(moved, rows, targets, shares, row_loss, spare, noise)

    mean_loss(nets, rows, targets, shares, row_loss, gradient, noise)
    np.testing.assert_allclose(gradient.flat, slopes_by_differences(nets, value), atol=1e-8)


def test_noise_in_few_dimensions_is_noise_of_the_rows():
    """Means over many draws, of loss and gradient, agree with noise added to all features."""
    nets, rows, classes, _ = drawn(2, 3, n_networks=1, n_features=8)
    n_draws = 20_000
    rng = np.random.default_rng(2)
    rows = np.repeat(rows, n_draws, axis=1)
    targets = np.eye(3)[np.repeat(classes, n_draws)][None]
    shares = np.full((1, rows.shape[1]), 1 / rows.shape[1])
    assert noise_width(nets.shape) == 2
    results = []
    for width in (2, 8):
        gradient = Networks.zeros(nets.shape, 1, float)
        noise = Noise(np.array([0.7]), rng.normal(size=(1, rows.shape[1], width)))
        loss = mean_loss(nets, rows, targets, shares, log_slopes, gradient, noise)
        results.append((loss, gradient.flat))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=2e-2)
    np.testing.assert_allclose(results[0][1], results[1][1], atol=5e-3)


def test_networks_in_a_stack_are_networks_alone():
    nets, rows, classes, shares = drawn(2, 3, n_networks=3)
    targets = np.eye(3)[classes][None]
    together = Networks.zeros(nets.shape, 3, float)
    losses = mean_loss(nets, rows, targets, shares, log_slopes, together)
    for k in range(3):
        alone = Networks.zeros(nets.shape, 1, float)
        loss = mean_loss(nets.take([k]), rows, targets, shares, log_slopes, alone)
        np.testing.assert_allclose(loss, losses[k : k + 1])
        np.testing.assert_allclose(alone.flat[0], together.flat[k], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("options", [{"gamma": 1e9}, {"learning_rate": 10.0}])
def test_a_network_that_diverges_gives_a_finite_model_or_an_error(options):
    rng = np.random.default_rng(115927)
    y = np.arange(24) % 4
    X = (rng.normal(size=(24, 7)) - 1000) * 1e8
    model = RBFNetClassifier(max_iter=20, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model.fit(X, y)
        except ValueError as error:
            message = str(error)
        else:
            message = "not finite" * (not np.isfinite(model.decision_function(X)).all())
    assert message == "" or "holds a number that is not finite" in message
