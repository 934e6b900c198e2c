"""What runs on the workers: module-level functions of a block, or of the blocks of one worker.

A block travels as a future. Its value is the block itself, or the recipe that makes it, a bytes
object of a small graph: then only one block at a time is in the worker's memory.
"""

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from supred.common.arguments import largest_magnitude
from supred.rows.blocks import LARGEST_NUMBER, ArrayRows, add


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
    try:
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
    kind : {"sum", "sum where", "map", "take"}
        Add up the results, also over chosen rows only, stack them, or stack the rows that
        ``along`` names.
    function : bytes
        The pickled function of a block and the values along it.
    blocks : sequence of ndarray or bytes
    along : sequence of sequences of ndarray
        For each block the values that go with its rows; for "sum where" first which rows are
        chosen (their bits), then the values of the chosen rows.
    lengths : sequence of int
        Rows that each block must have.
    ids : sequence of int
        Places of the blocks, for errors.
    maker : callable, optional
        Makes the rows that the function wants of the block's.
    made : sequence of bool
        Whether the block is already what `maker` makes.
    width : int
        Numbers that are made of each row.
    """
    apply = pickle.loads(function)
    total: Any = None
    pieces: list[np.ndarray] = []
    for block, values, length, place, ready in zip(blocks, along, lengths, ids, made, strict=True):
        rows: Any = ArrayRows(load(block), width)
        if rows.n_rows != length:
            raise ValueError(
                f"block {place} of X has {rows.n_rows} rows, but its chunk size says {length}; "
                "call X.compute_chunk_sizes(), and leave files that are read alone during a fit."
            )
        if maker is not None and not ready:
            rows = rows.derive(maker, width)
        if kind == "take":
            pieces.append(rows.take(*values))
        elif kind == "map":
            pieces.append(rows.map(apply, *values))
        else:
            if kind == "sum":
                term = rows.sum(apply, *values)
            else:
                chosen = np.unpackbits(values[0], count=length).astype(bool)
                term = rows.sum_where(chosen, apply, *(_among(chosen, v) for v in values[1:]))
            total = term if total is None else add(total, term)
    return np.concatenate(pieces) if pieces else total


def _among(chosen: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return values of all rows: those given for the chosen ones, zero for the others."""
    result = np.zeros((len(chosen), *values.shape[1:]), dtype=values.dtype)
    result[chosen] = values
    return result


def total_of(terms: Sequence[Any]) -> Any:
    """Add up partial sums in their order."""
    total = copied(terms[0])
    for term in terms[1:]:
        total = add(total, term)
    return total


def copied(term: Any) -> Any:
    """Return a copy that may be written to: what has travelled may not be."""
    if isinstance(term, tuple):
        return tuple(copied(part) for part in term)
    return term.copy() if isinstance(term, np.ndarray) else term
