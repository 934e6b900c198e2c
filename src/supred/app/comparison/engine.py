"""Run methods on the same folds, tuned inside the training rows, under one time budget."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from supred.app.comparison.clock import Clock
from supred.app.comparison.methods import METHODS, check_methods
from supred.app.comparison.prepared import PreparedRows, make_folds
from supred.app.comparison.reasons import column_importances, confused_classes
from supred.app.comparison.result import Comparison
from supred.app.comparison.run import REASONS_PART, Run, Tell
from supred.app.comparison.scores import METRICS, best_method
from supred.app.comparison.verdict import verdict_of
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Table, TableError

# Rows in all that the divisions of a small table into folds hold, and how many there are at most;
# with fewer seconds than this there is one.
REPEATED_ROWS, MOST_REPEATS, LEAST_REPEATED = 2000, 4, 30.0


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
        Stratified folds, the same for all methods. Tables of up to 1000 rows are divided into
        folds two to four times if there is a budget to tune in: on few rows one division decides
        too much.
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
    >>> from supred.app.tables.reading import read_builtin
    >>> result = compare(
    ...     training_table(read_builtin("iris")), methods=["LDA", "SVC"], tune=False,
    ...     explain=False,
    ... )
    >>> [method.status for method in result.methods]
    ['done', 'done']
    """
    preparation = preparation or Preparation()
    preparation.check(table)
    preparation.check_size(table)
    if metric not in METRICS:
        raise TableError(f"metric={metric!r} must be one of {', '.join(METRICS)}.")
    names = check_methods(methods)
    classes, class_index = np.unique(table.labels, return_inverse=True)
    if table.unlabelled is not None:
        n_folds = min(n_folds, int(np.bincount(class_index).max()))
        users = [name for name in names if METHODS[name].uses_unlabelled]
        note = (
            f"The {table.unlabelled.shape[0]} row(s) without a label are used by "
            f"{', '.join(users) or 'none of the methods'}; the others learn from the "
            f"{table.n_rows} labelled rows."
        )
        table = replace(table, notes=[*table.notes, note])
    n_repeats = 1
    if tune and budget is not None and budget >= LEAST_REPEATED:
        n_repeats = min(max(REPEATED_ROWS // len(class_index), 1), MOST_REPEATS)
    folds = make_folds(class_index, n_folds, seed, n_repeats=n_repeats)
    clock = Clock(budget)
    rows = PreparedRows(table, class_index, preparation, n_components, seed)
    run = Run(rows, folds, metric, clock, tell, n_repeats=n_repeats)
    interrupted = False
    try:
        run.all_methods(names, tune=tune, explain=explain)
    except KeyboardInterrupt:
        interrupted = True
    ordered = [run.results[name] for name in METHODS if name in run.results]
    held_out = np.zeros(len(class_index), dtype=bool)
    held_out[folds[0][1]] = True
    found = Comparison.of(
        table,
        preparation,
        classes,
        class_index,
        methods=ordered,
        seed=seed,
        command=command,
        metric=metric,
        n_folds=n_folds,
        n_repeats=n_repeats,
        interrupted=interrupted,
        held_out=held_out,
        class_map=run.class_map,
        structure=run.structure,
    )
    if explain and not interrupted:
        found = _with_reasons(found, table, run, clock)
    return replace(found, verdict=verdict_of(found))


def _with_reasons(found: Comparison, table: Table, run: Run, clock: Clock) -> Comparison:
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
        # A slow method may have taken more than its part; reasons need half of theirs.
        seconds=REASONS_PART
        * max(min(clock.left() / REASONS_PART, clock.budget), clock.budget / 2),
        seed=found.seed,
    )
    pairs = confused_classes(table.X, table.columns, found.y, best.predicted, len(found.classes))
    return replace(found, importances=importances, confusions=pairs)
