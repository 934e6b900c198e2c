"""A fit from rows to fitted networks: what is trained, on what, in which order."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from supred.common.arrays import HOST, on_host, type_name
from supred.common.threads import count_threads
from supred.low_dim_svm.starts import simplex_codes
from supred.numerics.kernels import warn_of_far_rows
from supred.rbf_net.choices import Runners, Training, candidates_of
from supred.rbf_net.descent import State
from supred.rbf_net.fitted import Fitted, GaussianNetwork
from supred.rbf_net.journal import Journal
from supred.rbf_net.map import train_map
from supred.rbf_net.network import Networks
from supred.rbf_net.parts import Part, held_out_sample, split_rows
from supred.rbf_net.problem import (
    Scaling,
    Table,
    check_scaled,
    distinct_rows,
    scaling_of,
    used_rows,
)
from supred.rbf_net.settings import Settings
from supred.rbf_net.sizes import Path, largest_size, shrink
from supred.rbf_net.training import (
    Report,
    Result,
    default_batch,
    default_centers,
    default_steps,
    problem_of,
    train,
)

IMPORTANCE_ROWS = 2000
# Factors of the width rule between this and its inverse are told apart; beyond it every Gaussian is
# zero or one on all rows, and single precision has no number for the width.
MOST_WIDTH = 1e20

Rows = tuple[Any, np.ndarray, np.ndarray]
# Told of the phase, step, mean loss and validation error of each check, and of a function that
# returns the fitted attributes that predict as the fit stands; True ends the fit.
Told = Callable[[str, int, float, float, Callable[[], dict[str, Any]]], bool]


def fit_networks(
    X: Any,
    index: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    settings: Settings,
    journal: Journal,
    *,
    held_out: Rows | None = None,
    previous: Fitted | None = None,
    report: Told | None = None,
) -> Fitted:
    """Train a network, and the second one of a map.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource of shape (n_rows, n_features)
    index, weights : ndarrays of shape (n_rows,)
        Class indices and weights.
    n_classes : int
    settings : Settings
    journal : Journal
    held_out : tuple (rows, class indices, weights), optional
        Validation rows that the user gave.
    previous : Fitted, optional
        To go on from.
    report : callable, optional
    """
    dtype = type_name(X)
    X, index, weights = used_rows(X, index, weights)
    if previous is None:
        scaling = scaling_of(X, weights)
        warn_of_far_rows(X, weights, scaling.rows_of)
    else:
        scaling = previous.scaling(0)
        check_scaled(X, scaling)
    distinct = distinct_rows(X, index, weights, scaling)
    table = Table(X, index, weights, n_classes, scaling, distinct)
    rng = journal.random_state(settings.random_state)
    automatic = isinstance(settings.n_centers, str)
    parts, held_table = parts_of(table, held_out, settings, rng)
    training = training_of(table, held_table, settings, rng, journal)
    candidates = candidates_of(
        settings.metric,
        settings.noise,
        _width(settings.gamma, scaling),
        table.n_features,
        training.n_centers,
        few_rows=len(parts) > 1,
    )
    start = None
    path: list[Path] = []
    if previous is not None:
        candidates = [previous.candidate]
        start = previous.network(0, len(previous.stages) == 1)

    def shorten(runners: Runners, history: dict[str, list[float]], tell: Any) -> Runners:
        smaller, found = shrink(runners, history, tell)
        path.append(found)
        return smaller

    refit = settings.refit and held_out is None
    result = train(
        training,
        candidates,
        parts,
        refit=refit,
        report=reporter(report, table.scaling, dtype),
        start=start,
        shorten=shorten if automatic and parts else None,
    )
    fitted = finish(training, result, parts, settings, dtype, report)
    journal.remove()
    return replace(fitted, path=_path(path, dtype) if path else None)


def finish(
    training: Training,
    result: Result,
    parts: tuple[Part, ...],
    settings: Settings,
    dtype: Any,
    report: Told | None = None,
) -> Fitted:
    """Add the second network of a map, and return all for rows that are not scaled."""
    table, nets = training.table, result.nets.to(HOST)
    stages = [GaussianNetwork.of(nets, table.scaling, dtype)]
    scales = [table.scaling.factor]
    verdict = result.verdict
    if settings.is_map(table.n_classes):
        assert settings.n_components is not None
        drawn = train_map(
            training,
            result,
            parts,
            settings.n_components,
            settings.loss,
            history=result.history,
            # until there is a map, the first network predicts
            report=reporter(report, table.scaling, dtype, result.nets),
        )
        nets, verdict = drawn.nets.to(HOST), drawn.verdict
        stages.append(GaussianNetwork.of(nets, drawn.scaling, dtype))
        scales.append(drawn.scaling.factor)
    candidate = result.candidate
    width = candidate.width if result.descends else np.nan
    metric: Any = "diagonal" if stages[0].metric.ndim == 1 else stages[0].metric.shape[1]
    return Fitted(
        tuple(stages),
        tuple(scales),
        nets.coef[0].astype(dtype),
        nets.intercept[0].astype(dtype),
        importances(result.nets.to(HOST), table),
        {"metric": metric, "noise": candidate.noise if result.descends else 0.0, "width": width},
        _columns(result.tried),
        result.history,
        result.n_iter,
        result.stopping_reason,
        np.nan if verdict is None else verdict.error,
    )


def reporter(
    report: Told | None, scaling: Scaling, dtype: Any, finished: Networks | None = None
) -> Report | None:
    """Return what a training reports to, which adds the network as it stands, or one given."""
    if report is None:
        return None

    def tell(phase: str, state: State, loss: float, error: float) -> bool:
        def so_far() -> dict[str, Any]:
            nets = (state.nets if finished is None else finished).to(HOST)
            return {
                "stages_": (GaussianNetwork.of(nets, scaling, dtype),),
                "coef_": nets.coef[0].astype(dtype),
                "intercept_": nets.intercept[0].astype(dtype),
                "_n_features_out": nets.shape.n_components,
            }

        return report(phase, state.step, loss, error, so_far)

    return tell


def parts_of(
    table: Table, held_out: Rows | None, settings: Settings, rng: np.random.RandomState
) -> tuple[tuple[Part, ...], Table]:
    """Return what to train on and what to hold out, and the table of the latter."""
    if held_out is not None:
        X_val, index, weights = used_rows(*held_out)
        check_scaled(X_val, table.scaling)
        given = Table(X_val, index, weights, table.n_classes, table.scaling)
        return (Part(np.arange(table.n_rows), np.arange(given.n_rows)),), given
    if not settings.early_stopping:
        return (), table
    folds = not isinstance(settings.n_centers, str)
    fraction, places = settings.validation_fraction, table.places
    parts = split_rows(table.index, fraction, rng, folds=folds, places=places)
    return held_out_sample(parts, rng), table


def training_of(
    table: Table,
    held_table: Table,
    settings: Settings,
    rng: np.random.RandomState,
    journal: Journal,
) -> Training:
    """Return what the settings make of a table."""
    if isinstance(settings.n_centers, str):
        n_centers = largest_size(table.n_rows)
    elif settings.n_centers is None:
        n_centers = default_centers(table.n_rows)
    else:
        n_centers = min(int(settings.n_centers), table.n_rows)
    n_components = table.n_classes - 1
    if settings.n_components is not None:
        n_components = max(n_components, settings.n_components)
    return Training(
        table,
        problem_of(table, settings.loss, settings.alpha, settings.label_smoothing),
        simplex_codes(table.n_classes, n_components),
        n_centers,
        default_steps(table.n_rows) if settings.max_iter is None else settings.max_iter,
        default_batch(table.n_rows),
        settings.learning_rate,
        int(rng.randint(2**31 - 1)),
        held_table,
        count_threads(settings.n_jobs),
        journal,
    )


def _width(gamma: Any, scaling: Scaling) -> Any:
    """Return gamma as a factor of the width rule, or "auto"."""
    if isinstance(gamma, str):
        return "auto" if gamma == "auto" else 1.0
    # the mean variance of the scaled features is one
    factor = float(2.0 * gamma * np.sum(np.square(1.0 / scaling.factor)))
    return min(max(factor, 1.0 / MOST_WIDTH), MOST_WIDTH)


def importances(nets: Networks, table: Table) -> np.ndarray:
    """Return the share of each feature in the metric, weighted by its variance."""
    some = np.arange(table.n_rows)[:: max(1, table.n_rows // IMPORTANCE_ROWS)]
    rows = on_host(table.take(some))
    metric = nets.metric[0].astype(float)
    squares = np.exp(2 * metric) if metric.ndim == 1 else np.square(metric).sum(axis=1)
    shares = squares * rows.var(axis=0, dtype=float)
    total = shares.sum()
    return shares / total if total > 0 else np.full(len(shares), 1.0 / len(shares))


def _columns(tried: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    return {
        name: np.array([entry[name] for entry in tried]) for name in (tried[0] if tried else ())
    }


def _path(path: list[Path], dtype: Any) -> dict[str, np.ndarray]:
    found = path[0]
    return {
        "n_centers": np.array(found.n_centers)[::-1],
        "validation_error": np.array(found.errors)[::-1],
        "standard_error": np.full(len(found.errors), found.spread),
        "bytes": np.array(found.numbers)[::-1] * np.dtype(dtype).itemsize,
    }
