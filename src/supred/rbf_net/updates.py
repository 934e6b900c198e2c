"""Fitted networks trained further: with fewer centres, or on new rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from supred.common.arguments import random_generator
from supred.common.arrays import HOST, type_name
from supred.low_dim_svm.starts import simplex_codes
from supred.rbf_net.choices import Runners, Training
from supred.rbf_net.fitted import Fitted, GaussianNetwork
from supred.rbf_net.journal import Journal
from supred.rbf_net.network import Networks
from supred.rbf_net.parts import Part
from supred.rbf_net.plan import Told, finish, importances, parts_of, reporter, training_of
from supred.rbf_net.problem import Table, check_scaled, distinct_rows, used_rows
from supred.rbf_net.settings import Settings
from supred.rbf_net.sizes import settle
from supred.rbf_net.training import REFIT_RATE, train

# Passes over new rows in a call of partial_fit.
UPDATE_PASSES = 8


def prune_networks(
    X: Any,
    index: np.ndarray,
    weights: np.ndarray,
    fitted: Fitted,
    settings: Settings,
    n_centers: int,
) -> Fitted:
    """Return a network with fewer centres, trained further; see `RBFNetClassifier.prune`."""
    dtype = type_name(X)
    X, index, weights = used_rows(X, index, weights)
    table = _table(X, index, weights, fitted)
    rng = random_generator(settings.random_state)
    parts, held_table = parts_of(table, None, replace(settings, n_centers="auto"), rng)
    training = training_of(table, held_table, settings, rng, Journal())
    start = _start(fitted, 0)
    everything = Part(np.arange(table.n_rows), np.arange(0))
    runners = Runners.of_network(training, fitted.candidate, parts or (everything,), start)
    history: dict[str, list[float]] = {"step": [], "loss": [], "validation_error": []}
    smaller = settle(runners, n_centers, history)
    result = train(
        _slower(training, max(1, training.n_steps // 4)),
        [fitted.candidate],
        parts,
        refit=settings.refit,
        start=smaller.state.nets,
    )
    return finish(training, result, parts, settings, dtype)


def update_networks(
    X: Any,
    index: np.ndarray,
    weights: np.ndarray,
    fitted: Fitted,
    settings: Settings,
    report: Told | None = None,
) -> Fitted:
    """Do further steps on new rows; see `RBFNetClassifier.partial_fit`.

    Of a map the first network stays as it is: rows that it moved would leave the Gaussians of the
    second behind.
    """
    dtype = type_name(X)
    X, index, weights = used_rows(X, index, weights)
    rng = random_generator(settings.random_state)
    table, candidate = _table(X, index, weights, fitted), fitted.candidate
    stage = len(fitted.stages) - 1
    if stage:
        candidate = replace(candidate, noise=0.0)
        # rows that differ may have the same latent coordinates, and still count one by one
        Z = fitted.stages[0].project(X)
        table = Table(Z, index, weights, table.n_classes, fitted.scaling(stage), table.distinct)
    training = training_of(table, table, settings, rng, Journal())
    training = _slower(training, max(1, UPDATE_PASSES * table.n_rows // training.batch))
    tell = None if stage else reporter(report, table.scaling, dtype)
    result = train(training, [candidate], (), report=tell, start=_start(fitted, stage))
    nets = result.nets.to(HOST)
    changed = GaussianNetwork.of(nets, table.scaling, dtype)
    return replace(
        fitted,
        stages=(*fitted.stages[:-1], changed),
        coef=nets.coef[0].astype(dtype),
        intercept=nets.intercept[0].astype(dtype),
        importances=fitted.importances if stage else importances(nets, table),
        history=result.history,
        n_iter=result.n_iter,
    )


def _table(X: Any, index: np.ndarray, weights: np.ndarray, fitted: Fitted) -> Table:
    scaling = fitted.scaling(0)
    check_scaled(X, scaling)
    distinct = distinct_rows(X, index, weights, scaling)
    return Table(X, index, weights, fitted.n_classes, scaling, distinct)


def _start(fitted: Fitted, stage: int) -> Networks:
    """Return a stage as a network with a classifier.

    That of the first network of a map, which the model does not keep, takes the nearest code.
    """
    last = stage == len(fitted.stages) - 1
    nets = fitted.network(stage, last)
    if not last:
        nets.coef[...] = 4.0 * simplex_codes(fitted.n_classes, nets.shape.n_components)
    return nets


def _slower(training: Training, n_steps: int) -> Training:
    return replace(training, n_steps=n_steps, learning_rate=REFIT_RATE * training.learning_rate)
