"""One split of the rows on which the candidates of a search are judged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from supred.base.validation import check_weights
from supred.common.arguments import random_generator
from supred.common.warn import warn_caller
from supred.low_dim_svm.mappings.basis import BasisMapping
from supred.low_dim_svm.problem import HeldOut, Problem
from supred.low_dim_svm.settings import Settings, svms_of
from supred.low_dim_svm.training import prepare_mapping, train
from supred.numerics.decisions import linear_scores

# For more candidates than these the equations of a fold are reduced at once for all of them.
FEW_CANDIDATES = 3


class Candidate(NamedTuple):
    """One setting of the parameters that are searched."""

    n_centers: int | None
    gamma: float | str
    n_components: int | None
    alpha: float
    C: float


class Judged(NamedTuple):
    """Accuracy, seconds of the fit without the shared parts, seconds to score."""

    accuracy: float
    fit_seconds: float
    score_seconds: float


@dataclass(frozen=True)
class Fold:
    """One split of the rows, on which candidates share what does not depend on (alpha, C).

    Attributes
    ----------
    problem : Problem
        The rows to train on.
    test : HeldOut
        The rows that judge.
    settings : Settings
        The parameters that are not searched.
    seed : int
        Every candidate draws from the same seed.
    """

    problem: Problem
    test: HeldOut
    settings: Settings
    seed: int

    @classmethod
    def of(
        cls,
        X: Any,
        class_index: np.ndarray,
        weights: np.ndarray,
        classes: np.ndarray,
        train_rows: np.ndarray,
        test_rows: np.ndarray,
        settings: Settings,
        seed: int,
    ) -> "Fold":
        """Return the fold of the rows with these indices.

        Rows of a class without a row to train on, or of weight zero only, count as wrong.
        """
        train_rows = train_rows[weights[train_rows] > 0]
        present = np.unique(class_index[train_rows])
        if len(present) < 2:
            raise ValueError("cv: a training part has rows of one class only; use other splits.")
        if len(present) < len(classes):
            missing = np.setdiff1d(np.arange(len(classes)), present)
            warn_caller(
                f"cv: a training part has no row of class(es) {classes[missing].tolist()}; "
                "use fewer folds, or splits that are stratified.",
            )
            class_index = np.where(
                np.isin(class_index, present), np.searchsorted(present, class_index), -1
            )
            classes = classes[present]
        trained = class_index[train_rows]
        if not weights[test_rows].sum() > 0:
            raise ValueError("cv: the rows of a test part all have weight zero.")
        problem = Problem.of(
            X[train_rows],
            trained,
            check_weights(weights[train_rows], settings.class_weight, trained, classes),
            classes,
            cache_size=settings.cache_size,
        )
        test = HeldOut(X[test_rows], class_index[test_rows], weights[test_rows], problem.cache_size)
        return cls(problem, test, settings, seed)

    def evaluate(self, candidates: Sequence[Candidate], n_jobs: int | None) -> Iterator[Judged]:
        """Judge the candidates, in order; those that share their mapping in `n_jobs` processes."""
        for (n_centers, gamma), alike in groupby(candidates, key=lambda c: c[:2]):
            yield from self._share(n_centers, gamma).evaluate(list(alike), n_jobs)

    def _share(self, n_centers: int | None, gamma: float | str) -> "SharedParts":
        """Choose centres and form the normal equations, as LowDimSVC.fit does."""
        settings = replace(self.settings, n_centers=n_centers, gamma=gamma)
        rng = random_generator(self.seed)
        problem = self.problem
        if settings.early_stopping:
            problem = problem.with_held_out(settings.validation_fraction, rng)
        # Candidates have an alpha each; a number here keeps the mapping from choosing one.
        given = replace(settings, alpha=1.0)
        mapping = prepare_mapping(problem, given, rng)
        assert isinstance(mapping, BasisMapping)
        # The Gaussians of the test rows go when these parts go.
        return SharedParts(problem, mapping, replace(self.test), settings, rng.get_state())


@dataclass(frozen=True)
class SharedParts:
    """What the candidates of one fold, number of centres and gamma have in common.

    Attributes
    ----------
    problem : Problem
    mapping : BasisMapping
        With the training rows prepared.
    test : HeldOut
        Rows that judge.
    settings : Settings
    random_state : tuple
        State of the random numbers when the training begins.
    """

    problem: Problem
    mapping: BasisMapping
    test: HeldOut
    settings: Settings
    random_state: Any

    def evaluate(self, candidates: Sequence[Candidate], n_jobs: int | None) -> Iterator[Judged]:
        """Judge the candidates, in order, in `n_jobs` processes."""
        n_processes = min(_n_processes(n_jobs), len(candidates))
        if len(candidates) > FEW_CANDIDATES:
            self.mapping.reduce()
        if n_processes == 1:
            yield from map(self.judge, candidates)
            return
        # Made now, so that no process makes them again.
        for rows in (self.problem.held_out, self.test):
            if rows is not None:
                rows.keep_basis(self.mapping)
        alone = replace(self, settings=replace(self.settings, n_jobs=1))
        processes = Parallel(n_jobs=n_processes, return_as="generator")
        yield from processes(delayed(alone.judge)(candidate) for candidate in candidates)

    def judge(self, candidate: Candidate) -> Judged:
        """Train with one alpha, C and number of dimensions, and judge the result."""
        began = perf_counter()
        rng = np.random.RandomState()
        rng.set_state(self.random_state)
        settings = replace(
            self.settings,
            alpha=candidate.alpha,
            C=candidate.C,
            n_components=candidate.n_components,
        )
        self.mapping.alpha = candidate.alpha
        result = train(self.problem, self.mapping, settings, rng)
        trained = perf_counter()
        score = partial(
            linear_scores,
            coef=result.coef,
            intercept=result.intercept,
            n_classes=self.problem.n_classes,
            multi_class=svms_of(settings.multi_class, self.problem.n_classes, settings.loss),
        )
        error = self.test.error(self.mapping, score)
        return Judged(1.0 - error, trained - began, perf_counter() - trained)


def _n_processes(n_jobs: int | None) -> int:
    """Return how many processes may be used: one inside another search's, or among threads.

    Candidates change the mapping that they share, so threads cannot share it.
    """
    backend, _ = get_active_backend()
    threads = getattr(backend, "supports_sharedmem", False)
    if threads or not backend.supports_return_generator:
        return 1
    return effective_n_jobs(n_jobs)
