"""What runs on the workers: module-level functions of a block, or of the blocks of one worker.

A block travels as a future. Its value is the block itself, or the recipe that makes it, a bytes
object of a small graph: then only one block at a time is in the worker's memory.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from supred.common.arguments import check_unmasked, largest_magnitude
from supred.rows.blocks import (
    LARGEST_NUMBER,
    ArrayRows,
    LocalRows,
    parts_of,
    rows_per_block,
)
from supred.rows.values import LocalValues, add


def checked_block(
    chunk: Any, *, n_features: int, number_type: Any, block_id: tuple[int, ...] | None = None
) -> np.ndarray:
    """Return a chunk as a block of finite numbers, or raise an error that names the block.

    Parameters
    ----------
    chunk : ndarray or DataFrame
    n_features : int
        Columns that it must have.
    number_type : dtype
        float64 or float32.
    block_id : tuple of int
        Its place among the blocks.
    """
    where = f"block {block_id[0]} of X" if block_id else "a block of X"
    kind = "sparse" if hasattr(chunk, "toarray") else "complex"
    if kind == "sparse" or (isinstance(chunk, np.ndarray) and np.iscomplexobj(chunk)):
        raise ValueError(
            f"{where} is {kind}; give arrays of real numbers, such as by X.map_blocks."
        )
    check_unmasked(where, chunk)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what becomes infinite is named below
            block = np.asarray(chunk, dtype=number_type)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{where} cannot be read as numbers ({error}); encode text columns first."
        ) from error
    if block.ndim != 2 or block.shape[1] != n_features:
        raise ValueError(
            f"{where} has shape {block.shape}, but the other blocks have {n_features} columns; "
            "give every block the same columns."
        )
    most = LARGEST_NUMBER[block.dtype]
    if not largest_magnitude(block) <= most:  # NaN is not, either
        row, column = np.argwhere(~(np.abs(block) <= most))[0]
        value = block[row, column]
        problem, remedy = "is not finite", "drop or fill in such values first"
        if np.isfinite(value):
            problem, remedy = f"exceeds {most:.3g}", "divide the column by a constant first"
        raise ValueError(
            f"{where} holds a value that {problem} ({value} in row {row} of the block, "
            f"column {column}); {remedy}."
        )
    return block


def same(value: Any) -> Any:
    """Return the value: a task of it can be computed again, which scattered data cannot."""
    return value


def load(block: Any) -> np.ndarray:
    """Return a block, made by its recipe if it is one."""
    if not isinstance(block, bytes):
        return block
    import dask

    graph, key = pickle.loads(block)
    return dask.get(graph, key)


def measure(block: Any) -> int:
    """Return the number of rows of a block."""
    return len(load(block))


def make_block(block: Any, maker: Callable[[Any], np.ndarray], width: int) -> np.ndarray:
    """Return the block ``maker(block)``, made in parts that stay near the cache."""
    return ArrayRows(load(block), width).map(maker)


def visit(
    kind: str,
    function: bytes,
    blocks: Sequence[Any],
    along: Sequence[Sequence[np.ndarray]],
    lengths: Sequence[int],
    ids: Sequence[int],
    maker: Callable[[Any], np.ndarray] | None,
    made: Sequence[bool],
    width: int,
) -> Any:
    """Visit blocks one after another: one task of one worker.

    Parameters
    ----------
    kind : {"sum", "map", "take"}
        Add up the results, stack them, or stack the rows that ``along`` names.
    function : bytes
        The pickled function of a block and the values along it.
    blocks : sequence of ndarray or bytes
    along : sequence of sequences of ndarray
        For each block the values that go with its rows.
    lengths : sequence of int
        Rows that each block must have.
    ids : sequence of int
        Places of the blocks, for errors.
    maker : callable, optional
        Makes the rows that the function wants of the block's.
    made : sequence of bool
        Whether the block is already what `maker` makes.
    width : int
        Numbers of a row or made of it, whichever are more.
    """
    apply = pickle.loads(function)
    total: Any = None
    pieces: list[np.ndarray] = []
    opened_blocks = opened(blocks, lengths, ids, maker, made, width)
    for rows, sent in zip(opened_blocks, along, strict=True):
        values = sent if kind == "take" else spread(sent, rows.n_rows)
        if kind == "take":
            pieces.append(rows.take(*values))
        elif kind == "map":
            pieces.append(rows.map(apply, *values))
        else:
            term = rows.sum(apply, *values)
            total = term if total is None else add(total, term)
    return np.concatenate(pieces) if pieces else total


def spread(values: Sequence[np.ndarray], length: int) -> tuple[np.ndarray, ...]:
    """Return values of `length` rows; of a constant one was sent."""
    return tuple(np.broadcast_to(v, (length, *v.shape[1:])) for v in values)


def opened(
    blocks: Sequence[Any],
    lengths: Sequence[int],
    ids: Sequence[int],
    maker: Callable[[Any], np.ndarray] | None,
    made: Sequence[bool],
    width: int,
) -> Iterator[LocalRows]:
    """Yield the rows of each block, as those of an array; parameters are those of `visit`."""
    for block, length, place, ready in zip(blocks, lengths, ids, made, strict=True):
        rows = ArrayRows(load(block), width)
        check_length(place, length, rows.n_rows)
        yield rows if maker is None or ready else rows.derive(maker, width)


def check_length(place: int, length: int, found: int) -> None:
    """Raise a ValueError if a block has not the rows that it must have."""
    if found != length:
        raise ValueError(
            f"block {place} of X has {found} rows, but its chunk size says {length}; "
            "call X.compute_chunk_sizes(), and leave files that are read alone during a fit."
        )


# What lives with a group of blocks: for each block the values of its parts, and a term.
Kept = tuple[list[list[Any]], Any]


def attach(
    make: bytes,
    firsts: Sequence[int],
    lengths: Sequence[int],
    along: Sequence[Sequence[np.ndarray]],
    width: int,
) -> Kept:
    """Make the values of a group of blocks."""
    apply = pickle.loads(make)
    values = []
    for first, length, slices in zip(firsts, lengths, along, strict=True):
        parts = parts_of(length, rows_per_block(length, width, width))
        whole = spread(slices, length)
        values.append([apply(first + part.start, *(v[part] for v in whole)) for part in parts])
    return values, None


def visit_values(call: bytes, kept: Kept, *visited: Any) -> Kept:
    """Visit a group of blocks with their values; `visited` is what `opened` takes."""
    function, arguments = pickle.loads(call)
    values, total = [], None
    for rows, own in zip(opened(*visited), kept[0], strict=True):
        made, term = LocalValues(rows, list(rows.parts()), own).visit(function, *arguments)
        values.append(made.values)
        total = term if total is None else add(total, term)
    return values, total


def sum_values(call: bytes, kept: Kept) -> Any:
    """Add up a function of the values of a group of blocks."""
    function, arguments = pickle.loads(call)
    return total_of([function(value, *arguments) for own in kept[0] for value in own])


def collect_values(call: bytes, kept: Kept) -> list[np.ndarray]:
    """Return a function of the values of each block, stacked."""
    function, _ = pickle.loads(call)
    return [np.concatenate([function(value) for value in own]) for own in kept[0]]


def term_of(kept: Kept) -> Any:
    """Return the term that values came with."""
    return kept[1]


def total_of(terms: Sequence[Any]) -> Any:
    """Add up partial sums in their order; what has travelled may not be written to."""
    total = deepcopy(terms[0])
    for term in terms[1:]:
        total = add(total, term)
    return total
