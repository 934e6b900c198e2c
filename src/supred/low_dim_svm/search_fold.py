"""One split of the rows on which the candidates of a search are judged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from supred.base.validation import check_weights
from supred.low_dim_svm import problem as parts
from supred.low_dim_svm.classifier import LowDimSVC
from supred.low_dim_svm.held_out import hold_out, wants_held_out
from supred.low_dim_svm.mappings.basis import BasisMapping


class Candidate(NamedTuple):
    """One setting of the parameters that are searched."""

    n_centers: int | None
    gamma: float | None
    alpha: float
    C: float


class Judged(NamedTuple):
    """Accuracy, seconds of the fit without the shared parts, seconds to score."""

    accuracy: float
    fit_seconds: float
    score_seconds: float


class Fold:
    """One split of the rows, on which candidates share what does not depend on (alpha, C).

    Parameters
    ----------
    base : LowDimSVC
        The parameters that are not searched.
    X : {ndarray, sparse matrix} of shape (n_rows, n_features)
    codes, weights : ndarrays of shape (n_rows,)
    classes : ndarray
    train, test : ndarrays of int
    """

    def __init__(
        self,
        base: LowDimSVC,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray,
        classes: np.ndarray,
        train: np.ndarray,
        test: np.ndarray,
    ) -> None:
        self.base = base
        missing = np.setdiff1d(np.arange(len(classes)), codes[train])
        if missing.size:
            raise ValueError(
                f"cv: a training part has no row of class(es) {classes[missing].tolist()}; "
                "use fewer folds, or splits that are stratified."
            )
        self.classes = classes
        self.X, self.codes = X[train], codes[train]
        self.weights = check_weights(weights[train], base.class_weight, self.codes, classes)
        if not weights[test].sum() > 0:
            raise ValueError("cv: the rows of a test part all have weight zero.")
        self.test = parts.HeldOut(X[test], codes[test], weights[test])

    def evaluate(self, candidates: Sequence[Candidate], n_jobs: int | None) -> Iterator[Judged]:
        """Judge the candidates, in order; those that share their mapping in `n_jobs` processes."""
        learned = isinstance(self.base.centers, str) and self.base.centers == "learned"
        for setting, alike in groupby(candidates, key=lambda candidate: candidate[:2]):
            yield from _evaluate(self if learned else self._share(*setting), list(alike), n_jobs)

    def leave_cores_to_others(self) -> None:
        """Fit in one thread: the candidates run side by side."""
        self.base = clone(self.base).set_params(n_jobs=1)

    def judge(self, candidate: Candidate) -> Judged:
        """Fit a whole model: with learned centres there is nothing to share."""
        settings = {name: value for name, value in candidate._asdict().items() if value is not None}
        model = clone(self.base).set_params(class_weight=None, **settings)
        began = perf_counter()
        model.fit(_in_memory(self.X), self.classes[self.codes], sample_weight=self.weights)
        trained = perf_counter()
        right = model.predict(_in_memory(self.test.X)) == self.classes[self.test.codes]
        accuracy = float(np.average(right, weights=self.test.weights))
        return Judged(accuracy, trained - began, perf_counter() - trained)

    def _share(self, n_centers: int | None, gamma: float | None) -> "SharedParts":
        """Choose centres and form the normal equations, as LowDimSVC.fit does."""
        model = clone(self.base)
        model.classes_ = self.classes
        if gamma is not None:
            model.set_params(gamma=gamma)
        if n_centers is not None:
            model.set_params(n_centers=n_centers)
        parts.check_parameters(model, n_rows=len(self.codes))
        rng = check_random_state(model.random_state)
        used = self.weights > 0
        rows = self.X[used], self.codes[used], self.weights[used]
        held_out = None
        if wants_held_out(model):
            rows, held_out = hold_out(model, *rows, rng)
        X, _, weights = rows
        mapping = parts.make_mapping(model, X, weights, rng, many_shifts=True)
        assert isinstance(mapping, BasisMapping)
        mapping.prepare(X, weights)
        # The Gaussians of the test rows go when these parts go.
        test = replace(self.test)
        return SharedParts(model, mapping, rows, held_out, test, rng.get_state())


@dataclass
class SharedParts:
    """What the candidates of one fold, number of centres and gamma have in common.

    Attributes
    ----------
    model : LowDimSVC
    mapping : BasisMapping
        With the training rows prepared.
    rows : tuple
        Training rows, the indices of their classes and their weights.
    held_out : HeldOut or None
        Rows that choose the iterate to keep.
    test : HeldOut
        Rows that judge.
    random_state : tuple
        State of the random numbers when the training begins.
    """

    model: LowDimSVC
    mapping: BasisMapping
    rows: tuple[Any, np.ndarray, np.ndarray]
    held_out: parts.HeldOut | None
    test: parts.HeldOut
    random_state: Any

    def leave_cores_to_others(self) -> None:
        """Make now what all candidates need, so that no process makes it again."""
        self.model.set_params(n_jobs=1)
        self.mapping.decompose()
        for rows in (self.held_out, self.test):
            if rows is not None:
                rows.keep_basis(self.mapping)

    def judge(self, candidate: Candidate) -> Judged:
        """Train with one alpha and C and judge the result."""
        began = perf_counter()
        rng = np.random.RandomState()
        rng.set_state(self.random_state)
        self.model.set_params(alpha=candidate.alpha, C=candidate.C)
        self.mapping.alpha = candidate.alpha
        loss = self.model._train(self.mapping, *self.rows, self.held_out, rng)
        trained = perf_counter()
        accuracy = 1.0 - self.test.error_of(self.mapping, loss)()
        return Judged(accuracy, trained - began, perf_counter() - trained)


def _evaluate(
    judge: Fold | SharedParts, candidates: list[Candidate], n_jobs: int | None
) -> Iterator[Judged]:
    n_processes = min(_n_processes(n_jobs), len(candidates))
    if n_processes == 1:
        yield from map(judge.judge, candidates)
        return
    judge.leave_cores_to_others()
    processes = Parallel(n_jobs=n_processes, return_as="generator")
    yield from processes(delayed(judge.judge)(candidate) for candidate in candidates)


def _n_processes(n_jobs: int | None) -> int:
    """Return how many processes may be used: one inside another search's, or among threads.

    Candidates change the model and the mapping that they share, so threads cannot share them.
    """
    backend, _ = get_active_backend()
    threads = getattr(backend, "supports_sharedmem", False)
    if threads or not backend.supports_return_generator:
        return 1
    return effective_n_jobs(n_jobs)


def _in_memory(X: Any) -> Any:
    """Return rows that joblib has mapped into memory as the array that they were."""
    return X if sparse.issparse(X) else np.asarray(X)
