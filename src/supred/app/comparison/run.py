"""The methods of one comparison at work: one fold of each, the other folds, tuning, the map."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np

from supred.app.comparison.class_map import make_map
from supred.app.comparison.clock import UNTUNED, Clock, TimeUpError, Tuning, time_limit
from supred.app.comparison.method import Method
from supred.app.comparison.methods import METHODS, RUN_ORDER
from supred.app.comparison.picture import picture_of
from supred.app.comparison.prepared import PreparedRows
from supred.app.comparison.reasons import FittedFold
from supred.app.comparison.result import ClassMap, MethodResult, Structure
from supred.app.comparison.scores import METRICS, best_method, error_of
from supred.app.comparison.structure import check_structure
from supred.app.comparison.tuning import Choice, choose_setting
from supred.common.arguments import one_line
from supred.common.threads import one_blas_thread
from supred.plotting.trade_off import model_bytes

# A method may run over its share by this factor before it is stopped.
PATIENCE = 2.5
# Part of a method's share after which no more settings are tried, so that it ends in time.
TUNING_PART = 0.7
# Parts of the budget that are kept for the map, for the reasons, for the slow methods, and for
# tuning, which methods that take long with their first setting may use up.
MAP_PART, REASONS_PART, SLOW_PART, TUNED_PART = 0.15, 0.05, 0.1, 0.2
# What needs less than this part of the time that is left does not wait.
QUICK_PART = 0.1
# Above this number of training rows the time of a fit is first measured on this many.
PROBE_ROWS = 2_000
TOO_LONG = "raise --budget or use fewer --rows"

Tell = Callable[[str, int, int], None]


@dataclass
class Folds:
    """What the folds of a method gave, so far."""

    predicted: list[np.ndarray] = field(default_factory=list)  # of the held-out rows
    models: list[FittedFold] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    fit_seconds: list[float] = field(default_factory=list)
    predict_seconds: list[float] = field(default_factory=list)


class Run:
    """What the methods of one comparison share, and what was found so far."""

    def __init__(
        self,
        rows: PreparedRows,
        folds: list[tuple[np.ndarray, np.ndarray]],
        metric: str,
        clock: Clock,
        tell: Tell | None,
        *,
        n_repeats: int = 1,
    ) -> None:
        self.rows, self.folds, self.metric, self.clock = rows, folds, metric, clock
        self.n_first = len(folds) // n_repeats  # folds of the first division of the rows
        self.class_index = rows.class_index
        self.tell = tell or (lambda name, fold, n_folds: None)
        self.results: dict[str, MethodResult] = {}
        # The fitted models of the most accurate method alone: others need not be kept.
        self.best_folds: dict[str, list[FittedFold]] = {}
        self.probed: set[str] = set()  # methods whose time on all rows was estimated
        self.class_map: ClassMap | None = None
        self.structure: Structure | None = None

    def all_methods(self, names: Sequence[str], *, tune: bool, explain: bool) -> None:
        """Run the first settings, tune, make the map; the slow methods come last."""
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
        self._first_settings(quick, reserve=later, tuning=TUNED_PART * tune)
        if tune:
            later = (self._map_part() + REASONS_PART) * explain + SLOW_PART * bool(slow)
            self._tune(quick, reserve=later)
        if explain:
            self.class_map = self._map()
        self._first_settings(slow, reserve=REASONS_PART * explain)
        if tune:
            self._tune(slow, reserve=REASONS_PART * explain)

    def _first_settings(
        self, methods: Sequence[Method], *, reserve: float, tuning: float = 0.0
    ) -> None:
        """Run one fold of each method, and the others where its share of the time allows.

        What takes longer waits until all have begun, so that a short budget is not spent on
        methods that cannot finish in it. Those that wait keep their order, the strong first: they
        have a claim on what is left, before weaker methods and before the part that is kept for
        tuning.
        """
        waiting: list[tuple[float, Method, Folds]] = []
        for k, method in enumerate(methods):
            left = self.clock.left(reserve=reserve + tuning)
            share = max(left - sum(needed for needed, *_ in waiting), 0.0) / (len(methods) - k)
            began, folds = perf_counter(), Folds()
            limit = max(min(PATIENCE * share, left / 2), left / 4, 1.0)
            if self._attempt(method, limit, partial(self._fold, method, 0, UNTUNED, folds)):
                needed = (perf_counter() - began) * (len(self.folds) - 1)
                waiting.append((needed, method, folds))
                if needed <= max(share, QUICK_PART * self.clock.left()):
                    self._finish(*waiting.pop(), limit=limit)
        for needed, method, folds in waiting:
            left = self.clock.left(reserve=reserve)
            if needed > max(left, 1.0):
                reason = f"it would take about {needed:.0f} s more; {TOO_LONG}"
                self.results[method.name] = MethodResult(method.name, "skipped", reason)
            else:
                self._finish(needed, method, folds, limit=left)

    def _finish(self, needed: float, method: Method, folds: Folds, *, limit: float) -> None:
        """Run the folds that are left with the first setting."""
        limit = max(limit, PATIENCE * needed, 1.0)
        self._attempt(method, limit, partial(self._rest, method, UNTUNED, folds))

    def _tune(self, methods: Sequence[Method], *, reserve: float) -> None:
        """Tune in equal shares, the quick ones first: what they leave goes to the others."""
        done = [method for method in methods if self.results[method.name].status == "done"]
        done = [method for method in done if (self.results[method.name].n_settings_all or 1) > 1]
        done.sort(key=lambda method: self.results[method.name].fit_seconds or 0.0)
        for k, method in enumerate(done):
            share = self.clock.left(reserve=reserve) / (len(done) - k)
            before = self.results[method.name]
            cost = (before.fit_seconds or 0.0) + (before.predict_seconds or 0.0)
            tuning = Tuning.affordable(TUNING_PART * share, cost, len(self.folds))
            if tuning is None:  # the result would be the same
                continue
            limit = max(PATIENCE * share, 1.0)
            self._attempt(method, limit, partial(self._rest, method, tuning, Folds()))
            # Chosen inside the training rows, it counts whether or not it turned out better.
            if self.results[method.name].status != "done":
                self.results[method.name] = before

    def _attempt(self, method: Method, limit: float, work: Callable[[], None]) -> bool:
        """Do a piece of work on a method; tell whether it ended, or keep why it did not."""
        status, reason = "skipped", "the time budget was spent before it began; raise --budget"
        limit = min(limit, self.clock.left())
        try:
            if limit > 0:
                with _quietly(limit):
                    needed = self._expected_seconds(method, limit)
                    if needed <= limit:
                        work()
                        return True
                    reason = f"it would take about {needed:.0f} s; {TOO_LONG}"
        except TimeUpError:
            reason = f"not finished within {limit:.0f} s; {TOO_LONG}"
        except MemoryError:
            status, reason = "failed", "not enough memory"
        except Exception as error:
            # Whatever one method stumbles over must not stop the others.
            status, reason = "failed", f"{type(error).__name__}: {one_line(error)}"
        finally:
            self.tell(method.name, len(self.folds), len(self.folds))
        self.results[method.name] = MethodResult(method.name, status, reason)
        return False

    def _expected_seconds(self, method: Method, limit: float) -> float:
        """Return how long all folds may take, from a fit to a part of the rows.

        An alarm cannot end a fit that runs in compiled code, such as that of an SVC.
        """
        train, test = self.folds[0]
        if method.name in self.probed or len(train) <= 2 * PROBE_ROWS or not np.isfinite(limit):
            return 0.0
        part = train[np.random.RandomState(self.rows.seed).permutation(len(train))[:PROBE_ROWS]]
        split = self.rows.split(part, test[:PROBE_ROWS])
        began = perf_counter()
        split.fit(method, 0, self.class_index[part]).predict(split.X_test)
        self.probed.add(method.name)
        growth = (len(train) / PROBE_ROWS) ** method.growth
        return float((perf_counter() - began) * growth * len(self.folds))

    def _fold(self, method: Method, k: int, tuning: Tuning, done: Folds) -> None:
        """Tune on the training rows of a fold, fit, and predict its held-out rows."""
        self.tell(method.name, k, len(self.folds))
        train, test = self.folds[k]
        choice = choose_setting(method, self.rows, train, tuning, self.metric)
        split = self.rows.split(train, test)
        start = perf_counter()
        model = split.fit(method, choice.place, self.class_index[train])
        fitted = perf_counter()
        done.predicted.append(np.asarray(model.predict(split.X_test)))
        done.predict_seconds.append(perf_counter() - fitted)
        done.fit_seconds.append(fitted - start)
        done.choices.append(choice)
        done.models.append(FittedFold(split.transformer, model, test))

    def _rest(self, method: Method, tuning: Tuning, done: Folds) -> None:
        """Run the folds that are left and keep the result."""
        began = perf_counter()
        for k in range(len(done.choices), len(self.folds)):
            time_left = max(tuning.seconds - (perf_counter() - began), 0.0)
            self._fold(method, k, Tuning(time_left / (len(self.folds) - k), tuning.n_checks), done)
        result = self._result(method, done)
        others = [self.results[name] for name in self.results if name != method.name]
        if best_method([*others, result], self.metric) is result:
            self.best_folds = {method.name: done.models[: self.n_first]}
        self.results[method.name] = result

    def _result(self, method: Method, done: Folds) -> MethodResult:
        """Put the folds together; sizes and the picture are those of the first."""
        predicted = np.zeros(len(self.class_index), dtype=int)
        held_out = [test for _, test in self.folds]
        for test, found in zip(held_out[: self.n_first], done.predicted, strict=False):
            predicted[test] = found
        errors = {
            metric: [
                error_of(self.class_index[test], found, metric)
                for test, found in zip(held_out, done.predicted, strict=True)
            ]
            for metric in METRICS
        }
        train, test = self.folds[0]
        split, first = self.rows.split(train, test), done.models[0].model
        settings = method.settings(split.facts)
        chosen = settings[Counter(c.place for c in done.choices).most_common(1)[0][0]]
        history = None
        if isinstance(getattr(first, "history_", None), dict):
            history = {name: np.asarray(v, float).tolist() for name, v in first.history_.items()}
        return MethodResult(
            method.name,
            "done",
            fold_errors=errors["error"],
            fold_balanced_errors=errors["balanced"],
            n_basis=method.basis(first),
            model_bytes=model_bytes(first),
            fit_seconds=float(np.mean(done.fit_seconds)),
            predict_seconds=float(np.mean(done.predict_seconds)),
            parameters=chosen,
            predicted=predicted,
            history=history,
            n_settings=min(choice.n_tried for choice in done.choices),
            n_settings_all=len(settings),
            **picture_of(first, split.X_train, split.X_test, self.class_index, train, test),
        )

    def _map_part(self) -> float:
        """Return the part of the budget that the map needs, if the network was tried already."""
        tried = self.results.get("RBFNetClassifier")
        seconds = 1.5 * (tried.fit_seconds or 0.0) if tried is not None else 0.0
        return max(MAP_PART, seconds / self.clock.budget)

    def _map(self) -> ClassMap | None:
        """Return the map, None if it fails or takes far too long."""
        train, test = self.folds[0]
        limit = max(self.clock.left(), self.clock.budget / 2)
        self.tell("map", 0, 1)
        try:
            with _quietly(limit):
                split = self.rows.split(train, test)
                return make_map(
                    self.rows.X,
                    self.rows.columns,
                    split.transformer,
                    self.class_index,
                    train,
                    test,
                    seed=self.rows.seed,
                )
        except (TimeUpError, MemoryError, ValueError):
            return None


@contextmanager
def _quietly(limit: float) -> Iterator[None]:
    """Run a block for a limited time, without warnings: the page says what matters.

    On one BLAS thread: on tables of this size more of them cost time, on a busy machine much.
    """
    with one_blas_thread(), time_limit(limit), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
