"""From what a file holds to features and labels: for training, and for a model's columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supred.app.tables.sources import Raw
from supred.app.tables.table import (
    Column,
    Table,
    TableError,
    check_labels,
    frame_of,
    labels_of,
    looks_like_identifiers,
)
from supred.app.tables.text_files import first_text, is_missing, numbers_of


def training_table(
    raw: Raw,
    *,
    target: str | None = None,
    exclude: Sequence[str] = (),
    keep: Sequence[str] = (),
    drop_unlabelled: bool = False,
) -> Table:
    """Return the features and labels to train on.

    Parameters
    ----------
    raw : Raw
    target : str, optional
        Name of the column of labels, or its position: 1 is the first, -1 the last. Not needed
        where the file says what the labels are.
    exclude : sequence of str
        Columns to leave out, by name or position.
    keep : sequence of str
        Text columns to use although they look like identifiers.
    drop_unlabelled : bool
        Leave out rows without a label; an error otherwise.
    """
    table = _from_matrix(raw, target, exclude) if raw.fields is None else None
    if table is None:
        table = _from_fields(raw, target, exclude, keep)
    texts, table.y = table.y, None
    assert texts is not None
    _set_labels(table, list(texts), drop_unlabelled)
    check_labels(table.labels, table.target)
    check_finite(table)
    return table


def _from_matrix(raw: Raw, target: str | None, exclude: Sequence[str]) -> Table:
    if target is not None and target not in (raw.target, *raw.names):
        raise TableError(f"{raw.title} has no column {target!r}; its labels are {raw.target!r}.")
    X, names, y, goal = raw.X, list(raw.names), raw.y, raw.target
    out = [find_column(name, names, raw.title) for name in exclude]
    if target is not None and target in names:
        from supred.app.tables.sources import label_texts

        column = X[:, [names.index(target)]]
        column = column.toarray() if hasattr(column, "toarray") else column
        y, goal, out = label_texts(column.ravel()), target, [*out, target]
    if y is None:
        raise TableError(f"{raw.title} has no labels; name their column with --target.")
    kept = [k for k, name in enumerate(names) if name not in out]
    if not kept:
        raise TableError(f"{raw.title}: no column is left to learn from.")
    X = X[:, kept] if len(kept) < len(names) else X
    columns = [Column(names[k], "number") for k in kept]
    ignored = [name for name in out if name != goal]
    return Table(raw.title, columns, X, goal, y, _numbers(X.shape[0]), ignored)  # type: ignore[arg-type]


def _from_fields(
    raw: Raw, target: str | None, exclude: Sequence[str], keep: Sequence[str]
) -> Table:
    fields = raw.fields or {}
    names = list(fields)
    target = target or raw.target
    if not target:
        raise TableError(f"--target is needed; the columns are {_list(names)}.")
    goal = find_column(target, names, raw.title, option="--target")
    left_out = [find_column(name, names, raw.title, option="--exclude") for name in exclude]
    wanted = [find_column(name, names, raw.title, option="--keep") for name in keep]
    if goal in left_out:
        raise TableError(f"{goal!r} is the target and cannot be excluded.")
    notes, columns, values = [], [], []
    row_names = next((_texts(fields[name]) for name in left_out), None)
    for name in names:
        if name == goal or name in left_out:
            continue
        numbers = fields[name] if _is_array(fields[name]) else numbers_of(fields[name])
        if numbers is not None and np.isnan(numbers).all():
            notes.append(f"The column {name!r} holds no value and was left out.")
            left_out.append(name)
        elif numbers is not None:
            columns.append(Column(name, "number"))
            values.append(numbers)
        elif name not in wanted and looks_like_identifiers(fields[name]):
            notes.append(
                f"The text column {name!r} differs in most rows, as identifiers do, and was left "
                f"out (--keep {name} uses it)."
            )
            left_out.append(name)
            row_names = row_names or list(fields[name])
        else:
            columns.append(Column(name, "text"))
            values.append(["" if is_missing(field) else field for field in fields[name]])
    if not columns:
        raise TableError(f"{raw.title}: no column is left to learn from.")
    labels = _texts(fields[goal])
    if row_names is None:
        row_names = _numbers(len(labels))
    X = frame_of(columns, values)
    return Table(raw.title, columns, X, goal, labels, row_names, left_out, notes)  # type: ignore[arg-type]


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
    classes, codes, counts = np.unique(table.labels, return_inverse=True, return_counts=True)
    if n_rows < 2 * len(classes):
        raise TableError(f"--rows {n_rows} is too few for {len(classes)} classes.")
    rng = np.random.default_rng(seed)
    share = np.maximum(np.floor(counts * n_rows / table.n_rows), 1).astype(int)
    rows = [
        rng.choice(np.flatnonzero(codes == k), size=size, replace=False)
        for k, size in enumerate(share)
    ]
    kept = np.sort(np.concatenate(rows))
    note = f"A random part of {len(kept)} of {table.n_rows} rows was used, stratified by class."
    return replace(
        table,
        X=table.X.iloc[kept] if hasattr(table.X, "iloc") else table.X[kept],
        y=table.labels[kept],
        row_names=[table.row_names[k] for k in kept],
        notes=[*table.notes, note],
    )


def model_table(
    raw: Raw,
    columns: Sequence[Column],
    *,
    target: str,
    ignored: Sequence[str] = (),
    labelled: bool = False,
) -> Table:
    """Return the columns that a model was trained on, in its order.

    Parameters
    ----------
    raw : Raw
    columns : sequence of Column
        What the model expects. A column that is missing or too many is an error, as is text
        where it expects numbers.
    target : str
        The model's target; its column may be there and is needed if `labelled`.
    ignored : sequence of str
        Columns that may be there and are not looked at.
    labelled : bool
        Whether labels are wanted.
    """
    names = raw.names if raw.fields is None else list(raw.fields)
    wanted = [column.name for column in columns]
    missing = [name for name in wanted if name not in names]
    if missing and raw.fields is None and not raw.n_features_known:
        raw, missing = _widened(raw, wanted), []
        names = raw.names
    if missing:
        raise TableError(f"{raw.title} lacks {_columns(missing)} that the model needs.")
    allowed = {*wanted, target, *ignored}
    extra = [name for name in names if name not in allowed]
    if extra:
        raise TableError(
            f"{raw.title} has {_columns(extra)} that the model does not know; "
            "leave them out with --exclude."
        )
    y: list[str] | None = None
    if raw.fields is None:
        order = [names.index(name) for name in wanted]
        X = raw.X if order == list(range(raw.X.shape[1])) else raw.X[:, order]
        y = raw.y
    else:
        values = [_values(raw.fields[column.name], column, raw.title) for column in columns]
        X = frame_of(list(columns), values)
        y = _texts(raw.fields[target]) if target in raw.fields else None
    table = Table(raw.title, list(columns), X, target, None, _numbers(X.shape[0]))
    if labelled:
        if y is None:
            raise TableError(f"{raw.title} has no column {target!r}, the model's target.")
        _set_labels(table, y, drop=False)
    check_finite(table)
    return table


def without(raw: Raw, exclude: Sequence[str]) -> Raw:
    """Return the raw table without the columns that the user excludes."""
    if not exclude:
        return raw
    names = raw.names if raw.fields is None else list(raw.fields)
    out = {find_column(name, names, raw.title, option="--exclude") for name in exclude}
    kept = [name for name in names if name not in out]
    if raw.fields is not None:
        return Raw(raw.title, {name: raw.fields[name] for name in kept}, target=raw.target)
    X = raw.X[:, [names.index(name) for name in kept]]
    return Raw(raw.title, None, X, kept, raw.y, raw.target, raw.n_features_known)


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
        f"{title} has no column {wanted!r} (given as {option}); the columns are {_list(names)}."
    )


def check_finite(table: Table) -> None:
    """Raise a TableError that names the column if a number is infinite."""
    X = table.X
    for k, column in enumerate(table.columns):
        if column.kind != "number" or hasattr(X, "tocsr"):
            continue
        values = X[column.name].to_numpy() if hasattr(X, "iloc") else X[:, k]
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            raise TableError(
                f"{table.title}: the column {column.name!r} holds an infinite number "
                f"(row {infinite[0] + 1}); numbers must be finite."
            )


def _set_labels(table: Table, texts: list[str], drop: bool) -> None:
    missing = np.array([is_missing(text) for text in texts])
    if missing.any():
        if not drop:
            raise TableError(
                f"{table.title}: {missing.sum()} row(s) have no value of the target "
                f"{table.target!r}, the first is row {int(np.argmax(missing)) + 1}; fill them in "
                "or pass --drop-unlabelled."
            )
        kept = np.flatnonzero(~missing)
        if not kept.size:
            raise TableError(f"{table.title}: the target {table.target!r} is empty in all rows.")
        table.X = table.X.iloc[kept] if hasattr(table.X, "iloc") else table.X[kept]
        table.row_names = [table.row_names[k] for k in kept]
        texts = [texts[k] for k in kept]
        table.notes.append(f"{missing.sum()} row(s) without a label were left out.")
    table.y = labels_of(texts, table.target)


def _values(fields: Any, column: Column, title: str) -> Any:
    if column.kind == "text":
        return ["" if is_missing(field) else field for field in _texts(fields)]
    if _is_array(fields):
        return fields
    numbers = numbers_of(fields)
    if numbers is None:
        row, text = first_text(fields)
        raise TableError(
            f"{title}: the model expects numbers in the column {column.name!r}, but row "
            f"{row + 1} holds {text!r}."
        )
    return numbers


def _widened(raw: Raw, wanted: list[str]) -> Raw:
    """Give sparse rows the features that no row names: they are zero."""
    from scipy import sparse

    gap = len(wanted) - raw.X.shape[1]
    if gap <= 0:
        return raw
    shape = (raw.X.shape[0], gap)
    if sparse.issparse(raw.X):
        X: Any = sparse.hstack([raw.X, sparse.csr_matrix(shape)], format="csr")
    else:
        X = np.hstack([raw.X, np.zeros(shape)])
    return Raw(raw.title, None, X, [f"x{k + 1}" for k in range(X.shape[1])], raw.y, raw.target)


def _is_array(fields: Any) -> bool:
    return isinstance(fields, np.ndarray)


def _texts(fields: Any) -> list[str]:
    from supred.app.tables.sources import label_texts

    return label_texts(fields) if _is_array(fields) else list(fields)


def _numbers(count: int) -> list[str]:
    return [str(k + 1) for k in range(count)]


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _columns(names: list[str]) -> str:
    return f"the column{'s' if len(names) > 1 else ''} {_list([repr(name) for name in names])}"
