"""A fit from rows to fitted networks: what is trained, on what, in which order."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from supred.common.arrays import HOST, on_host, type_name
from supred.low_dim_svm.starts import simplex_codes
from supred.rbf_net.choices import Candidate, Runners, Training, candidates_of
from supred.rbf_net.fitted import GaussianNetwork
from supred.rbf_net.journal import Journal
from supred.rbf_net.map import train_map
from supred.rbf_net.network import Networks
from supred.rbf_net.problem import (
    Part,
    Scaling,
    Table,
    distinct_rows,
    held_out_sample,
    scaling_of,
    split_rows,
    used_rows,
)
from supred.rbf_net.sizes import Path, largest_size, settle, shrink
from supred.rbf_net.training import (
    BATCH_ROWS,
    LEAST_BATCHES,
    REFIT_RATE,
    Report,
    Result,
    default_centers,
    default_steps,
    problem_of,
    train,
)
from supred.rows.blocks import rows_of

# Rows that tell one data set from another.
ROWS_LOOKED_AT = 64
# Passes over new rows in a call of partial_fit.
UPDATE_PASSES = 8
IMPORTANCE_ROWS = 2000

Rows = tuple[Any, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Settings:
    """The parameters of `RBFNetClassifier` that a fit depends on, and their description.

    Attributes
    ----------
    identity : dict of str
        What a checkpoint must agree with.
    random_state : int, RandomState or None
    """

    from_parameters: ClassVar[tuple[str, ...]] = (
        "n_components",
        "n_centers",
        "metric",
        "noise",
        "gamma",
        "loss",
        "alpha",
        "max_iter",
        "learning_rate",
        "label_smoothing",
        "early_stopping",
        "validation_fraction",
        "refit",
        "checkpoint",
    )

    n_components: int | None
    n_centers: Any
    metric: Any
    noise: Any
    gamma: Any
    loss: str
    alpha: float
    max_iter: int | None
    learning_rate: float
    label_smoothing: float
    early_stopping: bool
    validation_fraction: float
    refit: bool
    checkpoint: Any
    identity: dict[str, str]
    random_state: Any


@dataclass(frozen=True)
class Fitted:
    """What a fit found.

    Attributes
    ----------
    stages : tuple of GaussianNetwork
    scales : tuple of ndarrays
        The factors by which the inputs of each stage were scaled in training.
    coef, intercept : ndarrays
    importances : ndarray of shape (n_features,)
    chosen : dict
        Metric, noise and width.
    choices : dict of ndarrays
    history : dict of lists
    n_iter : int
    stopping_reason : str
    validation_error : float
    path : dict of ndarrays or None
    """

    stages: tuple[GaussianNetwork, ...]
    scales: tuple[np.ndarray, ...]
    coef: np.ndarray
    intercept: np.ndarray
    importances: np.ndarray
    chosen: dict[str, Any]
    choices: dict[str, np.ndarray] = field(default_factory=dict)
    history: dict[str, list[float]] = field(default_factory=dict)
    n_iter: int = 0
    stopping_reason: str = "max_iter"
    validation_error: float = np.nan
    path: dict[str, np.ndarray] | None = None

    def network(self, stage: int, scores: bool) -> Networks:
        """Return a stage as a network of scaled rows, with or without the classifier."""
        net, factor = self.stages[stage], self.scales[stage]
        metric = net.metric.astype(float)
        metric = np.log(metric / factor) if metric.ndim == 1 else metric / factor[:, None]
        n_components = net.W.shape[1]
        return Networks.of(
            metric=metric[None],
            centers=net.centers[None],
            log_gammas=np.log(net.gammas.astype(float))[None],
            W=net.W[None],
            w0=net.w0[None],
            coef=self.coef[None] if scores else np.zeros((1, len(self.coef), n_components)),
            intercept=self.intercept[None] if scores else np.zeros((1, len(self.coef))),
        )

    @property
    def candidate(self) -> Candidate:
        """The choice that was made."""
        rank = None if self.stages[0].metric.ndim == 1 else self.stages[0].metric.shape[1]
        return Candidate(rank, float(self.chosen["noise"]), float(self.chosen["width"]))


def fit_networks(
    X: Any,
    index: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    settings: Settings,
    *,
    held_out: Rows | None = None,
    previous: Fitted | None = None,
    report: Report | None = None,
) -> Fitted:
    """Train a network, and the second one of a map.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowSource of shape (n_rows, n_features)
    index, weights : ndarrays of shape (n_rows,)
        Class indices and weights.
    n_classes : int
    settings : Settings
    held_out : tuple (rows, class indices, weights), optional
        Validation rows that the user gave.
    previous : Fitted, optional
        To go on from.
    report : callable, optional
    """
    dtype = type_name(X)
    X, index, weights = used_rows(X, index, weights)
    journal = journal_of(settings, X, index, weights)
    scaling = scaling_of(X, weights) if previous is None else _scaling(previous, 0)
    distinct = distinct_rows(X, index, weights, scaling)
    table = Table(X, index, weights, n_classes, scaling, distinct)
    rng = _random_state(settings, journal)
    automatic = isinstance(settings.n_centers, str)
    parts, held_table = _parts(table, held_out, settings, rng)
    training = _training(table, held_table, settings, rng, journal, n_classes)
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
        report=report,
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
    report: Report | None = None,
) -> Fitted:
    """Add the second network of a map, and return all for rows that are not scaled."""
    table, nets = training.table, result.nets.to(HOST)
    stages = [GaussianNetwork.of(nets, table.scaling, dtype)]
    scales = [table.scaling.factor]
    verdict = result.verdict
    if _is_map(settings, table.n_classes):
        assert settings.n_components is not None
        drawn = train_map(
            training,
            result,
            parts,
            settings.n_components,
            settings.loss,
            settings.label_smoothing,
            history=result.history,
            report=report,
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
        _importances(result.nets.to(HOST), table),
        {"metric": metric, "noise": candidate.noise if result.descends else 0.0, "width": width},
        _columns(result.tried),
        result.history,
        result.n_iter,
        result.stopping_reason,
        np.nan if verdict is None else verdict.error,
    )


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
    n_classes = len(fitted.coef) if len(fitted.coef) > 1 else 2
    scaling = _scaling(fitted, 0)
    distinct = distinct_rows(X, index, weights, scaling)
    table = Table(X, index, weights, n_classes, scaling, distinct)
    rng = check_random_state(settings.random_state)
    parts, held_table = _parts(table, None, replace(settings, n_centers="auto"), rng)
    training = _training(table, held_table, settings, rng, Journal(), n_classes)
    single = len(fitted.stages) == 1
    start = fitted.network(0, single)
    if not single:
        start = _with_classifier(start, table)

    def shorten(runners: Runners, history: dict[str, list[float]], tell: Any) -> Runners:
        return settle(runners, n_centers, history, tell)

    everything = Part(np.arange(table.n_rows), np.arange(0))
    runners = Runners.of_network(training, fitted.candidate, parts or (everything,), start)
    history: dict[str, list[float]] = {"step": [], "loss": [], "validation_error": []}
    smaller = shorten(runners, history, None)
    result = train(
        replace(training, n_steps=max(1, training.n_steps // 4), learning_rate=_slow(training)),
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
    report: Report | None = None,
) -> Fitted:
    """Do further steps on new rows; see `RBFNetClassifier.partial_fit`."""
    dtype = type_name(X)
    X, index, weights = used_rows(X, index, weights)
    n_classes = len(fitted.coef) if len(fitted.coef) > 1 else 2
    rng = check_random_state(settings.random_state)
    scaling, stage = _scaling(fitted, 0), len(fitted.stages) - 1
    if stage:
        # of a map only the second network learns from few rows
        X = fitted.stages[0].project(X)
        scaling = _scaling(fitted, 1)
    distinct = distinct_rows(X, index, weights, scaling)
    table = Table(X, index, weights, n_classes, scaling, distinct)
    training = _training(table, table, settings, rng, Journal(), n_classes)
    n_steps = max(1, UPDATE_PASSES * table.n_rows // training.batch)
    training = replace(training, n_steps=n_steps, learning_rate=_slow(training))
    candidate = replace(fitted.candidate, noise=0.0) if stage else fitted.candidate
    result = train(training, [candidate], (), report=report, start=fitted.network(stage, True))
    nets = result.nets.to(HOST)
    changed = GaussianNetwork.of(nets, scaling, dtype)
    return replace(
        fitted,
        stages=(*fitted.stages[:-1], changed),
        coef=nets.coef[0].astype(dtype),
        intercept=nets.intercept[0].astype(dtype),
        importances=fitted.importances if stage else _importances(nets, table),
        history=result.history,
        n_iter=result.n_iter,
    )


def _slow(training: Training) -> float:
    return REFIT_RATE * training.learning_rate


def _is_map(settings: Settings, n_classes: int) -> bool:
    return settings.n_components is not None and settings.n_components < n_classes - 1


def _random_state(settings: Settings, journal: Journal) -> np.random.RandomState:
    """Return the source of chance, the same one when a fit is resumed."""
    if journal.path is None or isinstance(settings.random_state, np.random.RandomState):
        return check_random_state(settings.random_state)
    if journal.seed is None:
        journal.seed = int(check_random_state(settings.random_state).randint(2**31 - 1))
    return check_random_state(journal.seed)


def _parts(
    table: Table, held_out: Rows | None, settings: Settings, rng: np.random.RandomState
) -> tuple[tuple[Part, ...], Table]:
    """Return what to train on and what to hold out, and the table of the latter."""
    if held_out is not None:
        X_val, index, weights = used_rows(*held_out)
        given = Table(X_val, index, weights, table.n_classes, table.scaling)
        return (Part(np.arange(table.n_rows), np.arange(given.n_rows)),), given
    if not settings.early_stopping:
        return (), table
    folds = not isinstance(settings.n_centers, str)
    parts = split_rows(table.index, settings.validation_fraction, rng, folds=folds)
    return held_out_sample(parts, rng), table


def _training(
    table: Table,
    held_table: Table,
    settings: Settings,
    rng: np.random.RandomState,
    journal: Journal,
    n_classes: int,
) -> Training:
    if isinstance(settings.n_centers, str):
        n_centers = largest_size(table.n_rows)
    elif settings.n_centers is None:
        n_centers = default_centers(table.n_rows)
    else:
        n_centers = min(int(settings.n_centers), table.n_rows)
    n_components = n_classes - 1
    if settings.n_components is not None:
        n_components = max(n_components, settings.n_components)
    return Training(
        table,
        problem_of(table, settings.loss, settings.alpha, settings.label_smoothing),
        simplex_codes(n_classes, n_components),
        n_centers,
        default_steps(table.n_rows) if settings.max_iter is None else settings.max_iter,
        min(BATCH_ROWS, max(1, table.n_rows // LEAST_BATCHES)),
        settings.learning_rate,
        int(rng.randint(2**31 - 1)),
        held_table,
        journal,
    )


def _width(gamma: Any, scaling: Scaling) -> Any:
    """Return gamma as a factor of the width rule, or "auto"."""
    if isinstance(gamma, str):
        return "auto" if gamma == "auto" else 1.0
    # the mean variance of the scaled features is one
    return float(2.0 * gamma * np.sum(np.square(1.0 / scaling.factor)))


def _scaling(fitted: Fitted, stage: int) -> Scaling:
    return Scaling(fitted.stages[stage].shift.astype(float), fitted.scales[stage])


def _with_classifier(nets: Networks, table: Table) -> Networks:
    """Return a network whose classifier takes the nearest code of a simplex."""
    nets = nets.take(slice(None))
    codes = simplex_codes(table.n_classes, nets.shape.n_components)
    nets.coef[...] = 4.0 * codes
    return nets


def _importances(nets: Networks, table: Table) -> np.ndarray:
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


def journal_of(settings: Settings, X: Any, index: np.ndarray, weights: np.ndarray) -> Journal:
    """Return the checkpoint that the settings ask for, or one that keeps nothing."""
    if settings.checkpoint is None:
        return Journal()
    some = np.unique(np.linspace(0, X.shape[0] - 1, ROWS_LOOKED_AT).astype(int))
    taken = on_host(rows_of(X).take(some))
    taken = taken.toarray() if sparse.issparse(taken) else taken
    identity = {
        **settings.identity,
        "shape of X": f"{X.shape[0]} x {X.shape[1]}",
        "precision of X": str(type_name(X)),
        "rows of X": _digest(taken),
        "y": _digest(index),
        "weights of y": _digest(weights),
    }
    return Journal(settings.checkpoint, identity)


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]
