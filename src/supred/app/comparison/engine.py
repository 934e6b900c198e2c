"""Run methods on the same folds, tuned inside the training rows, under one time budget."""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from supred.app.comparison.class_map import make_map
from supred.app.comparison.clock import UNTUNED, Clock, TimeUpError, Tuning, time_limit
from supred.app.comparison.method import Method
from supred.app.comparison.methods import METHODS, RUN_ORDER, check_methods
from supred.app.comparison.picture import picture_of, source_columns
from supred.app.comparison.prepared import PreparedRows, make_folds
from supred.app.comparison.reasons import FittedFold, column_importances, confused_classes
from supred.app.comparison.result import ClassMap, Comparison, MethodResult, Structure
from supred.app.comparison.scores import METRICS, best_method, error_of
from supred.app.comparison.structure import check_structure
from supred.app.comparison.tuning import choose_setting
from supred.app.comparison.verdict import verdict_of
from supred.app.comparison.versions import versions
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Table, TableError
from supred.plotting.trade_off import model_bytes

# A method may run over its share by this factor before it is stopped.
PATIENCE = 2.5
# Part of a method's share after which no more settings are tried, so that it ends in time.
TUNING_PART = 0.7
# Parts of the budget that are kept for the map, for the reasons, and for the slow methods; the
# first settings of all others may take FIRST_PART of it.
MAP_PART, REASONS_PART, SLOW_PART, FIRST_PART = 0.2, 0.06, 0.12, 0.5
# Above this number of training rows the time of a fit is first measured on this many.
PROBE_ROWS = 2_000

Tell = Callable[[str, int, int], None]


def compare(
    table: Table,
    *,
    preparation: Preparation | None = None,
    methods: Sequence[str] | None = None,
    n_folds: int = 5,
    budget: float | None = None,
    tune: bool = True,
    metric: str = "error",
    n_components: int | None = None,
    explain: bool = True,
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
        Seconds in all. First every method but the slow ones runs with its first setting, the
        strong and quick ones first; then these are tuned, in equal shares; then the slow ones
        have their turn. Parts are kept for the map and the reasons. Without a budget all settings
        are tried.
    tune : bool
        False uses the first setting of each method.
    metric : {"error", "balanced"}
        What settings are chosen and methods are ranked by: the share of rows misclassified, or
        its mean over the classes.
    n_components : int, optional
        Latent dimensions of all methods that have any.
    explain : bool
        Whether to make the map and to look for reasons, which the report shows.
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
    ...     training_table(read_builtin("iris")), methods=["LDA", "SVC"], tune=False,
    ...     explain=False,
    ... )
    >>> [method.status for method in result.methods]
    ['done', 'done']
    """
    preparation = preparation or Preparation()
    preparation.check(table)
    if metric not in METRICS:
        raise TableError(f"metric={metric!r} must be one of {', '.join(METRICS)}.")
    names = check_methods(methods)
    classes, class_index = np.unique(table.labels, return_inverse=True)
    folds = make_folds(class_index, n_folds, seed)
    clock = Clock(budget)
    rows = PreparedRows(table, class_index, preparation, n_components, seed)
    run = _Run(rows, folds, metric, clock, tell)
    interrupted = False
    try:
        run.all_methods(names, tune=tune, explain=explain)
    except KeyboardInterrupt:
        interrupted = True
    ordered = [run.results[name] for name in METHODS if name in run.results]
    held_out = np.zeros(len(class_index), dtype=bool)
    held_out[folds[0][1]] = True
    found = Comparison(
        title=os.path.basename(table.title) or table.title,
        target=table.target,
        classes=[str(label) for label in classes.tolist()],
        features=[column.name for column in table.columns],
        y=class_index,
        row_names=table.row_names,
        preprocessing=preparation.sentences(table),
        methods=ordered,
        seed=seed,
        versions=versions(),
        command=command,
        metric=metric,
        n_folds=len(folds),
        interrupted=interrupted,
        held_out=held_out,
        class_map=run.class_map,
        structure=run.structure,
    )
    if explain and not interrupted:
        found = _with_reasons(found, table, run, clock)
    return replace(found, verdict=verdict_of(found))


def _with_reasons(found: Comparison, table: Table, run: "_Run", clock: Clock) -> Comparison:
    """Add which columns matter and which classes are confused, by the best method."""
    best = best_method(found.methods, found.metric)
    if best is None or best.predicted is None:
        return found
    importances = column_importances(
        run.best_folds.get(best.name, []),
        table.X,
        table.columns,
        found.y,
        metric=found.metric,
        seconds=max(min(clock.left(), REASONS_PART * clock.budget), 1.0),
        seed=found.seed,
    )
    pairs = confused_classes(table.X, table.columns, found.y, best.predicted, len(found.classes))
    return replace(found, importances=importances, confusions=pairs)


class _Run:
    """What the methods of one comparison share, and what was found so far."""

    def __init__(
        self,
        rows: PreparedRows,
        folds: list[tuple[np.ndarray, np.ndarray]],
        metric: str,
        clock: Clock,
        tell: Tell | None,
    ) -> None:
        self.rows, self.folds, self.metric, self.clock = rows, folds, metric, clock
        self.class_index = rows.class_index
        self.tell = tell or (lambda name, fold, n_folds: None)
        self.results: dict[str, MethodResult] = {}
        # The fitted models of the most accurate method alone: others need not be kept.
        self.best_folds: dict[str, list[FittedFold]] = {}
        self.class_map: ClassMap | None = None
        self.structure: Structure | None = None

    def all_methods(self, names: Sequence[str], *, tune: bool, explain: bool) -> None:
        """Run the first settings, make the map, tune; the slow methods come last."""
        order = [name for name in RUN_ORDER if name in names]
        self.results = {
            name: MethodResult(name, "skipped", METHODS[name].missing or "interrupted by the user")
            for name in order
        }
        ready = [METHODS[name] for name in order if not METHODS[name].missing]
        quick = [method for method in ready if not method.slow] or ready
        slow = [method for method in ready if method not in quick]
        train, test = self.folds[0]
        if explain:
            split = self.rows.split(train, test)
            self.structure = check_structure(split.X_train, self.class_index[train], self.rows.seed)
        later = (MAP_PART + REASONS_PART) * explain + SLOW_PART * bool(slow)
        self._first_settings(quick, reserve=max(later, FIRST_PART if tune else 0.0))
        if explain:
            self.class_map = self._map()
        later = REASONS_PART * explain + SLOW_PART * bool(slow)
        if tune:
            self._tune(quick, reserve=later)
        self._first_settings(slow, reserve=REASONS_PART * explain)
        if tune:
            self._tune(slow, reserve=REASONS_PART * explain)

    def _first_settings(self, methods: Sequence[Method], *, reserve: float) -> None:
        for k, method in enumerate(methods):
            left = self.clock.left(reserve=reserve)
            share = left / (len(methods) - k)
            limit = min(self.clock.left(), max(PATIENCE * share, left / 4, 1.0))
            self.results[method.name] = self._attempt(method, limit, UNTUNED)

    def _tune(self, methods: Sequence[Method], *, reserve: float) -> None:
        """Tune in equal shares, the quick ones first: what they leave goes to the others."""
        done = [method for method in methods if self.results[method.name].status == "done"]
        done.sort(key=lambda method: self.results[method.name].fit_seconds or 0.0)
        for k, method in enumerate(done):
            share = self.clock.left(reserve=reserve) / (len(done) - k)
            result = self.results[method.name]
            tuning = Tuning.affordable(
                TUNING_PART * share, result.fit_seconds or 0.0, len(self.folds)
            )
            if tuning is None or (result.n_settings_all or 1) <= 1:
                continue  # the result would be the same
            limit = min(self.clock.left(), max(PATIENCE * share, 1.0))
            tuned = self._attempt(method, limit, tuning)
            # Chosen inside the training rows, it counts whether or not it turned out better.
            if tuned.status == "done":
                self.results[method.name] = tuned

    def _attempt(self, method: Method, limit: float, tuning: Tuning) -> MethodResult:
        """Return a method's result: done, failed with its reason, or skipped for want of time."""
        too_long = "raise --budget or use fewer --rows"
        if limit <= 0:
            reason = "the time budget was spent before it began; raise --budget"
            return MethodResult(method.name, "skipped", reason)
        try:
            with _quietly(limit):
                needed = self._expected_seconds(method, limit)
                if needed > limit:
                    reason = f"it would take about {needed:.0f} s; {too_long}"
                    return MethodResult(method.name, "skipped", reason)
                result = self._folds_of(method, tuning)
        except TimeUpError:
            reason = f"not finished within {limit:.0f} s; {too_long}"
            result = MethodResult(method.name, "skipped", reason)
        except MemoryError:
            result = MethodResult(method.name, "failed", "not enough memory")
        except Exception as error:
            # Whatever one method stumbles over must not stop the others.
            result = MethodResult(method.name, "failed", _one_line(error))
        self.tell(method.name, len(self.folds), len(self.folds))
        return result

    def _expected_seconds(self, method: Method, limit: float) -> float:
        """Return how long all folds may take, from a fit to a part of the rows.

        An alarm cannot end a fit that runs in compiled code, such as that of an SVC.
        """
        train, test = self.folds[0]
        known = self.results[method.name].fit_seconds
        if known is not None or len(train) <= 2 * PROBE_ROWS or not np.isfinite(limit):
            return (known or 0.0) * len(self.folds)
        part = train[np.random.RandomState(self.rows.seed).permutation(len(train))[:PROBE_ROWS]]
        split = self.rows.split(part, test[:PROBE_ROWS])
        began = perf_counter()
        model = method.make(method.settings(split.facts)[0], split.facts)
        model.fit(split.X_train, self.class_index[part])
        model.predict(split.X_test)
        seconds = perf_counter() - began
        return float(seconds * (len(train) / PROBE_ROWS) ** method.growth * len(self.folds))

    def _folds_of(self, method: Method, tuning: Tuning) -> MethodResult:
        began = perf_counter()
        predicted = np.zeros(len(self.class_index), dtype=int)
        fitted: list[FittedFold] = []
        fit_times, predict_times, choices = [], [], []
        for k, (train, test) in enumerate(self.folds):
            self.tell(method.name, k, len(self.folds))
            time_left = max(tuning.seconds - (perf_counter() - began), 0.0)
            fold_tuning = Tuning(time_left / (len(self.folds) - k), tuning.n_checks)
            choice = choose_setting(method, self.rows, train, fold_tuning, self.metric)
            split = self.rows.split(train, test)
            model = method.make(method.settings(split.facts)[choice.place], split.facts)
            start = perf_counter()
            model.fit(split.X_train, self.class_index[train])
            fit_times.append(perf_counter() - start)
            start = perf_counter()
            predicted[test] = model.predict(split.X_test)
            predict_times.append(perf_counter() - start)
            choices.append(choice)
            fitted.append(FittedFold(split.transformer, model, test))
        errors = {
            metric: [
                error_of(self.class_index[test], predicted[test], metric) for _, test in self.folds
            ]
            for metric in METRICS
        }
        place = Counter(choice.place for choice in choices).most_common(1)[0][0]
        train, test = self.folds[0]
        split, first = self.rows.split(train, test), fitted[0].model
        settings = method.settings(split.facts)
        history = getattr(first, "history_", None)
        result = MethodResult(
            method.name,
            "done",
            fold_errors=errors["error"],
            fold_balanced_errors=errors["balanced"],
            n_basis=method.basis(first),
            model_bytes=model_bytes(first),
            fit_seconds=float(np.mean(fit_times)),
            predict_seconds=float(np.mean(predict_times)),
            parameters={key: _plain(value) for key, value in settings[place].items()},
            predicted=predicted,
            history=_lists(history) if isinstance(history, dict) else None,
            n_settings=min(choice.n_tried for choice in choices),
            n_settings_all=len(settings),
        )
        best = best_method([*self.results.values(), result], self.metric)
        if best is result:
            self.best_folds = {method.name: fitted}
        return replace(
            result, **picture_of(first, split.X_train, split.X_test, self.class_index, train, test)
        )

    def _map(self) -> ClassMap | None:
        """Return the map, None if there is no time for it or it fails."""
        train, test = self.folds[0]
        limit = self.clock.left()
        self.tell("map", 0, 1)
        try:
            with _quietly(limit):
                split = self.rows.split(train, test)
                return make_map(
                    split.X_train,
                    split.X_test,
                    self.class_index,
                    train,
                    test,
                    columns=source_columns(split.transformer, self.rows.columns),
                    seed=self.rows.seed,
                )
        except (TimeUpError, MemoryError, ValueError):
            return None


@contextmanager
def _quietly(limit: float) -> Iterator[None]:
    """Run a block for a limited time, without warnings: the page says what matters."""
    with time_limit(limit), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _lists(history: dict[str, Any]) -> dict[str, list[float]]:
    return {name: [float(v) for v in values] for name, values in history.items()}
