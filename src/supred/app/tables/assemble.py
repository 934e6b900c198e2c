"""From what a table holds to features and labels: for training, and for a model's columns."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from supred.app.tables.labels import known_labels, labels_to_learn
from supred.app.tables.sources import MemorySource, Source, SparseSource
from supred.app.tables.table import Column, Plan, Table, TableError, check_labels
from supred.common.arguments import listed
from supred.rows.files.columns import (
    LARGEST_IN_TABLE,
    LONGEST_SHOWN,
    MOST_TEXTS,
    Summary,
    is_number,
)

# A text column with more distinct values than this, on more than half of the rows, names rows.
LEAST_IDENTIFIERS = 20
# Day, month and year in any order, then perhaps a time.
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d.*)?$")


def training_plan(
    source: Source,
    *,
    target: str | None = None,
    exclude: Sequence[str] = (),
    keep: Sequence[str] = (),
    drop_unlabelled: bool = False,
    use_unlabelled: bool = False,
) -> Plan:
    """Decide which columns are features, of which kind, and what the labels are.

    Parameters
    ----------
    source : Source
    target : str, optional
        Name of the column of labels, or its position: 1 is the first, -1 the last. Not needed
        where the source says what the labels are.
    exclude : sequence of str
        Columns to leave out, by name or position.
    keep : sequence of str
        Text columns to use although they look like identifiers.
    drop_unlabelled : bool
        Leave out rows without a label; an error otherwise.
    use_unlabelled : bool
        Keep them, for a method that learns from them; labels may then be very few.
    """
    names, title = source.names, source.title
    target = target or source.target
    if not target:
        raise TableError(f"--target is needed; the columns are {listed(names)}.")
    goal = source.target
    if target != goal:
        goal = find_column(target, names, title, option="--target")
    left_out = [find_column(name, names, title) for name in exclude]
    wanted = [find_column(name, names, title, option="--keep") for name in keep]
    if goal in left_out:
        raise TableError(f"{goal!r} is the target and cannot be excluded.")
    y, labelled, notes = labels_to_learn(source, goal, drop_unlabelled or use_unlabelled)
    if use_unlabelled and notes:
        notes = [f"{int((~labelled).sum())} row(s) without a label are used without it."]
    check_labels(y, goal, few=use_unlabelled and not labelled.all())
    named_by = left_out[0] if left_out else None
    rest = [name for name in names if name != goal and name not in left_out]
    if not rest:
        raise TableError(f"{title}: no column is left to learn from beside {goal!r}.")
    summaries = source.summaries(rest)
    distinct = source.distinct([name for name in rest if summaries[name].kind == "text"])
    columns = []
    for name in rest:
        found = summaries[name]
        if found.unusable is not None and found.kind != "text":
            raise TableError(_unusable(title, name, found.unusable))
        if found.kind == "empty":
            notes.append(f"The column {name!r} holds no value and was left out.")
            left_out.append(name)
        elif found.kind != "text":
            columns.append(Column(name, "number"))
        elif name not in wanted and _names_rows(distinct[name], found):
            left_out.append(name)
            odd = _odd_field(distinct[name], found)
            if _are_dates(distinct[name]):
                notes.append(
                    f"The column {name!r} holds dates, which no method reads, and was left out; "
                    "give the number of days, the month or the weekday as a number to use it."
                )
                continue
            notes.append(
                f"The text column {name!r} differs in most rows, as identifiers do, and was left "
                f"out (--keep {name} uses it)."
                if odd is None
                else f"The column {name!r} is not one of numbers, as it holds {odd}, and was left "
                "out; leave such a field empty, and write decimals with a point, to use it."
            )
            named_by = named_by or name
        else:
            columns.append(Column(name, "text", _values(distinct[name], name, title)))
    if not columns:
        raise TableError(" ".join([f"{title}: no column is left to learn from.", *notes[:1]]))
    n_missing = {c.name: summaries[c.name].n_missing for c in columns if c.kind == "number"}
    return Plan(
        title,
        goal,
        columns,
        left_out,
        notes,
        y,
        labelled,
        {name: count for name, count in n_missing.items() if count},
        named_by,
        isinstance(source, SparseSource),
    )


def _names_rows(distinct: set[str] | None, found: Summary) -> bool:
    """Tell whether a text column names rows rather than describing them."""
    count = MOST_TEXTS if distinct is None else len(distinct)
    return count > LEAST_IDENTIFIERS and count > found.n_rows / 2


def _odd_field(distinct: set[str] | None, found: Summary) -> str | None:
    """Return the first field that is no number of a column that is one of numbers for the rest."""
    texts = [text.replace(",", ".", 1) for text in distinct or () if text]
    if found.text is None or 2 * sum(map(is_number, texts)) <= len(texts):
        return None
    row, text = found.text
    return f"{text[:LONGEST_SHOWN]!r} in row {row + 1}"


def _are_dates(distinct: set[str] | None) -> bool:
    """Tell whether all texts of a column look like days, with or without a time."""
    return bool(distinct) and all(DATE.match(text) for text in distinct or () if text)


def _values(distinct: set[str] | None, name: str, title: str) -> tuple[str, ...]:
    if distinct is None:
        raise TableError(
            f"{title}: the text column {name!r} has more than {MOST_TEXTS} different values; "
            f"leave it out with --exclude {name}."
        )
    return tuple(sorted(distinct))


def training_table(source: MemorySource | SparseSource, **options: Any) -> Table:
    """Return the features and labels to train on.

    Parameters
    ----------
    source : MemorySource or SparseSource
    **options
        Those of :func:`training_plan`.
    """
    plan = training_plan(source, **options)
    X = source.matrix(plan.columns)
    if plan.is_sparse:  # whose summaries do not say it
        check_finite(X, plan.columns, plan.title)
    row_names = [str(k + 1) for k in range(X.shape[0])]
    if plan.named_by is not None:
        with suppress(TableError):  # a column that was left out may hold neither numbers nor text
            row_names = source.texts(plan.named_by).fill_null("").to_pylist()
    unlabelled = None
    if not plan.labelled.all():
        kept = np.flatnonzero(plan.labelled)
        if options.get("use_unlabelled"):
            unlabelled = X[np.flatnonzero(~plan.labelled)]
        X, row_names = X[kept], [row_names[k] for k in kept]
    return Table(
        plan.title,
        plan.columns,
        X,
        plan.target,
        plan.y,
        row_names,
        plan.ignored,
        plan.notes,
        unlabelled,
    )


def stratified_part(y: np.ndarray, n_rows: int, seed: int) -> np.ndarray:
    """Return sorted positions of at most `n_rows` rows: every class, in about the same shares.

    Parameters
    ----------
    y : ndarray of shape (n_all_rows,)
        Labels or class indices.
    n_rows : int
        With fewer rows than classes, one row of each of the first classes.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from supred.app.tables.assemble import stratified_part
    >>> y = np.repeat([0, 1, 2], [60, 30, 1])
    >>> np.bincount(y[stratified_part(y, 10, seed=0)]).tolist()
    [6, 3, 1]
    """
    if len(y) <= n_rows:
        return np.arange(len(y))
    _, first, counts = np.unique(y, return_index=True, return_counts=True)
    if n_rows <= len(first):
        return np.sort(first[:n_rows])
    # Classes too small for a row by their share get one; the others are shared out.
    kept = first[counts * n_rows < len(y)]
    rest = np.flatnonzero(~np.isin(y, y[kept]))
    n_more, n_common = n_rows - len(kept), len(first) - len(kept)
    if min(n_more, len(rest) - n_more) >= n_common > 0:
        part = train_test_split(
            rest, train_size=n_more, stratify=y[rest], random_state=seed % 2**32
        )[0]
        if len(np.unique(y[part])) == n_common:
            return np.sort(np.concatenate([kept, part]))
    others = np.random.RandomState(seed % 2**32).permutation(len(y))
    others = others[~np.isin(others, first)][: n_rows - len(first)]
    return np.sort(np.concatenate([first, others]))


def sampled(table: Table, n_rows: int, seed: int) -> Table:
    """Return the table, or a random part of it with the classes in the same shares.

    Parameters
    ----------
    table : Table
    n_rows : int
        Rows to keep; every class keeps one at least.
    seed : int
    """
    if n_rows >= table.n_rows:
        return table
    classes = np.unique(table.labels)
    if n_rows < 2 * len(classes):
        raise TableError(f"--rows {n_rows} is too few for {len(classes)} classes.")
    kept = stratified_part(table.labels, n_rows, seed)
    note = f"A random part of {len(kept)} of {table.n_rows} rows was used, stratified by class."
    return replace(
        table,
        X=table.X[kept],
        y=table.labels[kept],
        row_names=[table.row_names[k] for k in kept],
        notes=[*table.notes, note],
    )


def check_columns(
    source: Source, columns: Sequence[Column], others: Sequence[str], exclude: Sequence[str]
) -> None:
    """Raise a TableError if a table lacks a column of a model, or has one that it does not know.

    Parameters
    ----------
    source : Source
    columns : sequence of Column
        What the model expects.
    others : sequence of str
        Columns that may be there.
    exclude : sequence of str
        Columns to leave out, by name or position.
    """
    title = source.title
    left_out = {find_column(name, source.names, title) for name in exclude}
    names = [name for name in source.names if name not in left_out]
    there = set(names)
    if isinstance(source, SparseSource):  # features that no row names are there all the same
        lacks = [c for c in columns if c.name in left_out or not source.may_hold(c)]
    else:
        lacks = [c for c in columns if c.name not in there]
    if lacks:
        missing = [column.name for column in lacks]
        raise TableError(f"{title} lacks {_columns(missing)} that the model needs.")
    allowed = {*(column.name for column in columns), *others}
    extra = [name for name in names if name not in allowed]
    if extra:
        raise TableError(
            f"{title} has {_columns(extra)} that the model does not know; leave "
            f"{'it' if len(extra) == 1 else 'them'} out with --exclude."
        )


def model_table(
    source: MemorySource | SparseSource,
    columns: Sequence[Column],
    *,
    target: str,
    ignored: Sequence[str] = (),
    exclude: Sequence[str] = (),
    classes: np.ndarray | None = None,
) -> Table:
    """Return the columns that a model was trained on, in its order.

    Parameters
    ----------
    source : MemorySource or SparseSource
    columns : sequence of Column
        What the model expects. A column that is missing or too many is an error, as is text
        where it expects numbers.
    target : str
        The model's target; its column may be there and is needed if `classes` are given.
    ignored : sequence of str
        Columns that may be there and are not looked at.
    exclude : sequence of str
        Columns to leave out, by name or position.
    classes : ndarray, optional
        The model's labels, if those of the rows are wanted: each must be one of them.
    """
    check_columns(source, columns, [target, *ignored], exclude)
    try:
        X = source.matrix(columns)
    except ValueError as error:
        raise TableError(f"{source.title}: {error}") from None
    check_finite(X, columns, source.title)
    row_names = [str(k + 1) for k in range(X.shape[0])]
    table = Table(source.title, list(columns), X, target, None, row_names)
    if classes is not None:
        table.y = known_labels(source, target, classes)
    return table


def check_finite(
    X: Any, columns: Sequence[Column], title: str, rows: Sequence[int] | None = None
) -> None:
    """Raise a TableError that names the column if a number is infinite, or far too large.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, len(columns))
    columns : sequence of Column
    title : str
    rows : sequence of int, optional
        Which rows of the table these are; all by default.
    """
    if hasattr(X, "tocsr"):
        entries = X.tocoo()
        large = np.flatnonzero(np.abs(entries.data) > LARGEST_IN_TABLE)[:1]
        unusable = np.column_stack([entries.row[large], entries.col[large]])
    else:
        unusable = np.argwhere(np.abs(X) > LARGEST_IN_TABLE)
    if len(unusable):
        row, place = unusable[0].tolist()
        row = row if rows is None else int(rows[row])
        raise TableError(_unusable(title, columns[place].name, row))


def _unusable(title: str, name: str, row: int) -> str:
    return (
        f"{title}: the column {name!r} holds an infinite number (row {row + 1}), or one beyond "
        f"{LARGEST_IN_TABLE:g}; divide the column by a constant, or leave the row out."
    )


def find_column(wanted: str, names: Sequence[str], title: str, option: str = "--exclude") -> str:
    """Return the name of a column given by name or by position (1 first, -1 last)."""
    if wanted in names:
        return wanted
    try:
        position = int(wanted)
    except ValueError:
        position = 0
    if 1 <= abs(position) <= len(names):
        return names[position - 1 if position > 0 else position]
    raise TableError(
        f"{title} has no column {wanted!r} (given as {option}); the columns are {listed(names)}."
    )


def _columns(names: list[str]) -> str:
    return f"the column{'s' if len(names) > 1 else ''} {listed([repr(name) for name in names])}"
