"""Run methods on the same folds, tuned inside the training rows, under one time budget."""

import importlib.metadata
import os
import platform
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from supred._version import __version__
from supred.app.comparison.advice import advise
from supred.app.comparison.clock import (
    INNER_FOLDS,
    UNTUNED,
    Clock,
    TimeUpError,
    Tuning,
    time_limit,
)
from supred.app.comparison.methods import METHODS, RUN_ORDER, Facts, Method
from supred.app.comparison.result import Comparison, MethodResult
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Table, TableError

# Points of the grid of decision regions, in each direction.
GRID = 150
# A method may run over its share by this factor before it is stopped.
PATIENCE = 2.5
# Part of a method's share after which no more settings are tried, so that it ends in time.
TUNING_PART = 0.7

Tell = Callable[[str, int, int], None]


def compare(
    table: Table,
    *,
    preparation: Preparation | None = None,
    methods: Sequence[str] | None = None,
    n_folds: int = 5,
    budget: float | None = None,
    tune: bool = True,
    n_components: int | None = None,
    seed: int = 0,
    command: str = "",
    tell: Tell | None = None,
) -> Comparison:
    """Compare methods on a table.

    Parameters
    ----------
    table : Table
    preparation : Preparation, optional
        What to do to the rows; learnt from the training rows of each fold alone.
    methods : sequence of str, optional
        Names from ``METHODS``; the usual ones by default.
    n_folds : int
        Stratified folds, the same for all methods.
    budget : float, optional
        Seconds in all. First every method runs with its first setting, so that all have a
        result; a method that cannot finish this in its share of the time is skipped. What is left
        is for tuning, in equal shares. Without a budget all settings are tried.
    tune : bool
        False uses the first setting of each method.
    n_components : int, optional
        Latent dimensions of all methods that have any.
    seed : int
    command : str
        What the user typed, for the report.
    tell : function of method, fold and number of folds, optional
        Called before each fold, and with fold = n_folds when a round of a method has ended; there
        are two rounds, or one without tuning.

    Returns
    -------
    Comparison
        Methods in the order of ``METHODS``. After a KeyboardInterrupt it holds what was finished.

    Examples
    --------
    >>> from supred.app.comparison.engine import compare
    >>> from supred.app.tables.assemble import training_table
    >>> from supred.app.tables.sources import read_builtin
    >>> result = compare(
    ...     training_table(read_builtin("iris")), methods=["LDA", "SVC"], tune=False
    ... )
    >>> [method.status for method in result.methods]
    ['done', 'done']
    """
    preparation = preparation or Preparation()
    preparation.check(table)
    names = check_methods(methods)
    classes, codes = np.unique(table.labels, return_inverse=True)
    folds = make_folds(codes, n_folds, seed)
    run = _Run(table.X, codes, folds, preparation, table, n_components, seed, tell)
    results, interrupted = run.all_methods(names, Clock(budget), tune=tune)
    ordered = [results[name] for name in METHODS if name in results]
    return Comparison(
        title=os.path.basename(table.title) or table.title,
        target=table.target,
        classes=[str(label) for label in classes.tolist()],
        features=[column.name for column in table.columns],
        y=codes,
        row_names=table.row_names,
        preprocessing=preparation.sentences(table),
        methods=ordered,
        seed=seed,
        versions=versions(),
        command=command,
        advice=advise(ordered),
        n_folds=len(folds),
        interrupted=interrupted,
    )


def check_methods(methods: Sequence[str] | None) -> list[str]:
    """Return the names of the methods to run, or raise a TableError that lists what there is."""
    if not methods:
        return [name for name, method in METHODS.items() if method.usual]
    known = {name.lower().replace(" ", ""): name for name in METHODS}
    found = []
    for name in methods:
        if name.lower().replace(" ", "") not in known:
            raise TableError(f"the method {name!r} is not known; use one of {', '.join(METHODS)}.")
        found.append(known[name.lower().replace(" ", "")])
    return found


def make_folds(codes: np.ndarray, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return stratified folds; rows of a class with fewer rows than folds are in some of them."""
    most = int(np.bincount(codes).max())
    if n_folds < 2 or n_folds > most:
        raise TableError(
            f"{n_folds} folds cannot be made; use 2 or more, and at most {most}, the number of "
            "rows of the largest class."
        )
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with few rows are expected
        folds = list(splitter.split(np.zeros((len(codes), 1)), codes))
    for train, _ in folds:
        if len(np.unique(codes[train])) < 2:
            raise TableError("a fold has rows of one class only; use fewer folds or more rows.")
    return folds


class _Run:
    """What the methods of one comparison share."""

    def __init__(
        self,
        X: Any,
        codes: np.ndarray,
        folds: list[tuple[np.ndarray, np.ndarray]],
        preparation: Preparation,
        table: Table,
        n_components: int | None,
        seed: int,
        tell: Tell | None,
    ) -> None:
        self.X, self.codes, self.folds = X, codes, folds
        self.sparse = hasattr(X, "tocsr")
        self.steps = preparation.pipeline(table.columns, sparse=self.sparse)
        self.n_components, self.seed = n_components, seed
        self.tell = tell or (lambda name, fold, n_folds: None)
        self._prepared: dict[Any, tuple[Any, Any, Facts]] = {}

    def all_methods(
        self, names: Sequence[str], clock: Clock, *, tune: bool
    ) -> tuple[dict[str, MethodResult], bool]:
        """Run the first settings of all methods, then tune them; tell whether it was stopped."""
        order = [name for name in RUN_ORDER if name in names]
        ready = [name for name in order if not METHODS[name].missing]
        results = {
            name: MethodResult(name, "skipped", METHODS[name].missing or "interrupted by the user")
            for name in order
        }
        try:
            for k, name in enumerate(ready):
                limit = min(clock.left(), max(PATIENCE * clock.share(len(ready) - k), 1.0))
                results[name] = self._attempt(METHODS[name], limit, UNTUNED)
            tunable = [name for name in ready if tune and results[name].status == "done"]
            for k, name in enumerate(tunable):
                share = clock.share(len(tunable) - k)
                tuning = Tuning.affordable(
                    TUNING_PART * share, results[name].fit_seconds or 0.0, len(self.folds)
                )
                if tuning is None:  # the result would be the same
                    continue
                limit = min(clock.left(), max(PATIENCE * share, 1.0))
                tuned = self._attempt(METHODS[name], limit, tuning)
                # Chosen inside the training rows, it counts whether or not it turned out better.
                if tuned.status == "done":
                    results[name] = tuned
        except KeyboardInterrupt:
            return results, True
        return results, False

    def _attempt(self, method: Method, limit: float, tuning: Tuning) -> MethodResult:
        """Return a method's result: done, failed with its reason, or skipped for want of time."""
        if limit <= 0:
            return MethodResult(method.name, "skipped", "the time budget was spent before it began")
        try:
            with time_limit(limit), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = self._folds_of(method, tuning)
        except TimeUpError:
            result = MethodResult(
                method.name,
                "skipped",
                f"not finished within {limit:.0f} s; raise --budget or use fewer --rows",
            )
        except MemoryError:
            result = MethodResult(method.name, "failed", "not enough memory")
        except Exception as error:
            # Whatever one method stumbles over must not stop the others.
            reason = " ".join(str(error).split())[:300]
            result = MethodResult(method.name, "failed", f"{type(error).__name__}: {reason}")
        self.tell(method.name, len(self.folds), len(self.folds))
        return result

    def _folds_of(self, method: Method, tuning: Tuning) -> MethodResult:
        began = perf_counter()
        predicted = np.zeros(len(self.codes), dtype=int)
        errors, fit_times, predict_times, chosen, tried = [], [], [], [], []
        for k, (train, test) in enumerate(self.folds):
            self.tell(method.name, k, len(self.folds))
            time_left = max(tuning.seconds - (perf_counter() - began), 0.0)
            fold_tuning = Tuning(time_left / (len(self.folds) - k), tuning.n_checks)
            X_train, X_test, facts = self._rows(train, test)
            place, count = self._choose(method, train, facts, fold_tuning)
            model = method.make(method.settings(facts)[place], facts)
            start = perf_counter()
            model.fit(X_train, self.codes[train])
            fit_times.append(perf_counter() - start)
            start = perf_counter()
            predicted[test] = model.predict(X_test)
            predict_times.append(perf_counter() - start)
            errors.append(float(np.mean(predicted[test] != self.codes[test])))
            chosen.append(place)
            tried.append(count)
        result = MethodResult(
            method.name,
            "done",
            fold_errors=errors,
            fit_seconds=float(np.mean(fit_times)),
            predict_seconds=float(np.mean(predict_times)),
            predicted=predicted,
            n_settings=min(tried),
        )
        self._fit_all(method, Counter(chosen).most_common(1)[0][0], result)
        return result

    def _choose(
        self, method: Method, train: np.ndarray, facts: Facts, tuning: Tuning
    ) -> tuple[int, int]:
        """Return the place of the best setting on folds of the training rows, and how many ran."""
        n_settings = len(method.settings(facts))
        n_inner = min(INNER_FOLDS, int(np.bincount(self.codes[train]).max()))
        if tuning.seconds <= 0 or n_settings == 1 or n_inner < 2:
            return 0, 1
        began = perf_counter()
        inner = make_folds(_dense_codes(self.codes[train]), n_inner, self.seed)[: tuning.n_checks]
        best, best_error, count = 0, np.inf, 0
        for place in range(n_settings):
            start = perf_counter()
            wrong = 0
            for learn, check in inner:
                X_learn, X_check, inner_facts = self._rows(train[learn], train[check])
                model = method.make(method.settings(inner_facts)[place], inner_facts)
                model.fit(X_learn, self.codes[train[learn]])
                wrong += int(np.sum(model.predict(X_check) != self.codes[train[check]]))
                if perf_counter() - began > tuning.seconds:  # the setting at work does not count
                    return best, max(count, 1)
            count += 1
            if wrong < best_error:
                best, best_error = place, wrong
            cost = perf_counter() - start
            if perf_counter() - began + cost > tuning.seconds:  # no time for one more
                break
        return best, count

    def _fit_all(self, method: Method, place: int, result: MethodResult) -> None:
        """Fit the setting that was chosen most often on all rows; keep pictures and sizes."""
        everything = np.arange(len(self.codes))
        X, _, facts = self._rows(everything, everything[:1])
        settings = method.settings(facts)
        model = method.make(settings[place], facts).fit(X, self.codes)
        result.parameters = {key: _plain(value) for key, value in settings[place].items()}
        result.n_settings_all = len(settings)
        result.n_basis = method.basis(model)
        result.model_bytes = int(sum(_bytes_of(array) for array in method.arrays(model)))
        history = getattr(model, "history_", None)
        if isinstance(history, dict):
            result.history = {name: [float(v) for v in values] for name, values in history.items()}
        if method.latent is None:
            return
        Z = method.latent(model, X)
        result.n_components = Z.shape[1]
        result.latent = Z[:, :3].astype(float)
        if Z.shape[1] != 2 or method.decide is None:
            return
        # A classifier that also looks at other dimensions has no regions in these two.
        if np.array_equal(method.decide(model, Z), model.predict(X)):
            result.regions = _regions(method, model, result.latent)

    def _rows(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any, Facts]:
        """Prepare rows by what is learnt from the training ones, once for all methods."""
        key = (train.tobytes(), test.tobytes())
        if key not in self._prepared:
            steps = clone(self.steps)
            X_train = steps.fit_transform(_take(self.X, train))
            X_test = steps.transform(_take(self.X, test))
            facts = Facts.of(X_train, self.codes[train], self.n_components, self.seed)
            numbers = X_train.shape[0] * X_train.shape[1]
            if numbers > 2_000_000:  # large rows are prepared again rather than kept
                return X_train, X_test, facts
            self._prepared[key] = X_train, X_test, facts
        return self._prepared[key]


def _take(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _dense_codes(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes, return_inverse=True)[1]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _bytes_of(array: Any) -> int:
    if hasattr(array, "tocsr"):
        rows = array.tocsr()
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
    return int(np.asarray(array).nbytes)


def _regions(method: Method, model: Any, Z: np.ndarray) -> Any:
    low, high = Z.min(axis=0), Z.max(axis=0)
    margin = 0.08 * np.maximum(high - low, 1e-12)
    across, up = (np.linspace(low[k] - margin[k], high[k] + margin[k], GRID) for k in (0, 1))
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(across, up)])
    assert method.decide is not None
    return across, up, np.asarray(method.decide(model, grid)).reshape(GRID, GRID)


def versions() -> dict[str, str]:
    """Return the versions of what took part."""
    found = {"supred": __version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "umap-learn"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
