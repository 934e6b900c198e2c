"""A fit as a plan: the mapping, the loss, the start, and the alternation over them."""

from collections.abc import Callable
from functools import partial

import numpy as np

from supred.low_dim_svm.alternation import OnIteration, Result, State, alternate
from supred.low_dim_svm.g_step import Parameters
from supred.low_dim_svm.losses import make_loss
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.mappings.basis import BasisMapping
from supred.low_dim_svm.mappings.choice import make_mapping
from supred.low_dim_svm.mappings.rbf import RBFMapping
from supred.low_dim_svm.problem import Problem
from supred.low_dim_svm.settings import Settings, svms_of
from supred.low_dim_svm.starts import choose_start
from supred.low_dim_svm.visit import BlockRows


def prepare_mapping(problem: Problem, settings: Settings, rng: np.random.RandomState) -> Mapping:
    """Return the mapping that the settings ask for, prepared with the training rows."""
    return make_mapping(
        settings.mapping,
        problem.X,
        problem.class_index,
        problem.weights,
        rng,
        centers=settings.centers,
        n_centers=settings.n_centers,
        gamma=settings.gamma,
        alpha=settings.alpha,
        mu=settings.mu,
        cache_size=problem.cache_size,
    )


def train(
    problem: Problem,
    mapping: Mapping,
    settings: Settings,
    rng: np.random.RandomState,
    *,
    on_iteration: OnIteration | None = None,
    resume: State | None = None,
    save: Callable[[State], None] | None = None,
) -> Result:
    """Run the alternation with a prepared mapping.

    Parameters
    ----------
    problem : Problem
    mapping : Mapping
        As :func:`prepare_mapping` returns it.
    settings : Settings
    rng : RandomState
        Draws the start.
    on_iteration, resume, save
        As in :func:`supred.low_dim_svm.alternation.alternate`.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.problem import Problem
    >>> from supred.low_dim_svm.settings import Settings
    >>> from supred.low_dim_svm.training import prepare_mapping, train
    >>> X, y, rng = np.arange(8.0)[:, None], np.arange(8) // 4, np.random.RandomState(0)
    >>> problem, settings = Problem.of(X, y, np.ones(8), np.unique(y)), Settings(n_centers=4)
    >>> result = train(problem, prepare_mapping(problem, settings, rng), settings, rng)
    >>> result.stopping_reason, float(result.history["train_error"][result.best_iter])
    ('completed', 0.0)
    """
    loss = make_loss(
        settings.loss,
        problem.n_classes,
        C=float(settings.C),  # a whole number beyond 64 bits would make arrays of objects
        multi_class=svms_of(settings.multi_class, problem.n_classes, settings.loss),
        n_rows=problem.n_rows,
    )
    held_out = problem.held_out
    schedule = settings.schedule(
        float(problem.weights.sum()),
        problem.n_classes,
        mapping.n_basis if isinstance(mapping, RBFMapping) else 0,
        validated=held_out is not None,
    )
    if schedule.enough is None and isinstance(mapping, BasisMapping):
        mapping.reduce()
    rows = mapping.rows.attach(BlockRows, problem.class_index, problem.weights)
    start = None
    if resume is None:
        n_components = settings.dimensions(problem.n_classes)
        start = choose_start(settings.init, problem, mapping, rows, n_components, settings.mu, rng)
        if start.Z is not None:
            rows = mapping.rows.attach(BlockRows, problem.class_index, problem.weights, start.Z)

    def validation_error(classifier: Parameters) -> float:
        assert held_out is not None
        return held_out.error(mapping, partial(loss.scores, classifier=classifier))

    return alternate(
        mapping,
        loss,
        rows,
        start,
        schedule,
        validation_error=None if held_out is None else validation_error,
        on_iteration=on_iteration,
        resume=resume,
        save=save,
    )
