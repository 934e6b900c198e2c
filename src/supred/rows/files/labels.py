"""Labels and weights that are columns of files: read part by part, and kept in little memory."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from supred.common.arguments import one_line
from supred.rows.files.columns import (
    Column,
    converted,
    encoded,
    import_pyarrow,
    is_string,
    texts_of,
)
from supred.rows.files.label_texts import labels_from
from supred.rows.files.parquet import ParquetReader
from supred.rows.files.readers import FileReader, NpyReader, most_unpacked

WHOLE, REAL = "whole numbers", "numbers"
# What a text takes in a set beside its letters.
ENTRY_BYTES = 100


def labels_in(readers: Sequence[FileReader], name: str) -> np.ndarray:
    """Return the labels of all rows, None where one is missing.

    Each text is kept once: in a packed file long ones may take next to nothing.

    Parameters
    ----------
    readers : sequence of FileReader
    name : str
        The column.

    Raises
    ------
    ValueError
        If files hold labels of different kinds, or these take far more memory than the files.
    """
    kinds = check_kinds(readers, name)
    if isinstance(readers[0], NpyReader):
        return np.concatenate([reader.values(_place(reader, name)) for reader in readers])
    most = most_unpacked(sum(reader.path.stat().st_size for reader in readers))
    places: dict[str, int] = {}
    codes, n_bytes = [np.empty(0, np.int32)], 0
    for reader in readers:
        # Long texts that are not spelt out in each row take little memory.
        parts = reader.coded_parts if isinstance(reader, ParquetReader) else reader.parts
        for part in parts([_place(reader, name)]):
            for coded in _coded(reader, name, part.column(0), most, as_real=REAL in kinds):
                words = coded.dictionary.to_pylist()
                for word in words:
                    if word is not None and word not in places:
                        places[word] = len(places)
                        n_bytes += sys.getsizeof(word) + ENTRY_BYTES
                _check_bytes(n_bytes, most, reader, name)
                found = [-1 if word is None else places[word] for word in words]
                index = coded.indices.fill_null(len(words)).to_numpy()
                codes.append(np.array([*found, -1], np.int32)[index])
    result = np.concatenate(codes)
    longest = max(map(len, places), default=0)
    _check_bytes(4 * longest * len(result), most, readers[0], name)
    return labels_from(list(places), result)


def weights_in(readers: Sequence[FileReader], name: str) -> np.ndarray:
    """Return the weights of all rows, NaN where one is missing."""
    if isinstance(readers[0], NpyReader):
        found = [reader.values(_place(reader, name)) for reader in readers]
        return converted(np.concatenate(found), float)
    found, column = [], Column(name, "number")
    for reader in readers:
        n_rows = 0
        for part in reader.parts([_place(reader, name)]):
            try:
                found.append(encoded(part.column(0), column, n_rows))
            except ValueError as error:
                raise ValueError(f"{reader.title}: {error}") from None
            n_rows += part.num_rows
    return np.concatenate(found)


def _place(reader: FileReader, name: str) -> int:
    return reader.column_names.index(name)


def _coded(reader: FileReader, name: str, values: Any, most: int, *, as_real: bool) -> list[Any]:
    """Return the texts of a part of a column as Arrow arrays that hold each text once."""
    pa = import_pyarrow()
    is_text = _kind(reader, name) == "text"
    try:
        if not is_text and pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if as_real:
            values = real(values)
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        chunks = [_without_unused(chunk) for chunk in values.chunks]
        n_bytes = sum(chunk.dictionary.nbytes for chunk in chunks)
        if n_bytes <= most:
            return [
                pa.DictionaryArray.from_arrays(chunk.indices, texts_of(chunk.dictionary))
                for chunk in chunks
            ]
        raise ValueError(_too_many(n_bytes))
    except pa.ArrowNotImplementedError:
        problem = f"holds {values.type}, neither numbers nor text; leave it out."
    except ValueError as error:
        problem = one_line(error)
    raise ValueError(f"{reader.title}: the column {name!r} {problem}")


def _without_unused(chunk: Any) -> Any:
    """Return a dictionary array without texts that no row has: a file may give all in each part."""
    if len(chunk.dictionary) <= len(chunk):
        return chunk
    pa = import_pyarrow()
    used = chunk.indices.unique().drop_null()
    indices = pa.compute.index_in(chunk.indices, value_set=used)
    return pa.DictionaryArray.from_arrays(indices, chunk.dictionary.take(used))


def real(values: Any) -> Any:
    """Return whole numbers of an Arrow array as real ones: 1 is the label 1.0 of another file."""
    pa = import_pyarrow()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.cast(pa.float64()) if pa.types.is_integer(values.type) else values


def check_kinds(readers: Sequence[FileReader], name: str) -> set[str]:
    """Return what the labels are; raise a ValueError if they differ from file to file."""
    first: dict[str, FileReader] = {}
    for reader in readers:
        first.setdefault(_kind(reader, name), reader)
    first.pop("nothing", None)
    if len(first) > 1 and set(first) != {WHOLE, REAL}:
        (one, here), (other, there) = list(first.items())[:2]
        raise ValueError(
            f"target={name!r} holds {one} in {here.title}, but {other} in {there.title}; write "
            "the labels of all files in one way."
        )
    return set(first)


def _kind(reader: FileReader, name: str) -> str:
    if isinstance(reader, NpyReader):
        return {"f": REAL, "b": "booleans"}.get(reader.file_dtype.kind, WHOLE)
    if not isinstance(reader, ParquetReader):
        return "text"
    kinds, kind = import_pyarrow().types, reader.schema.field(name).type
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    named = {
        "nothing": kinds.is_null,
        "booleans": kinds.is_boolean,
        WHOLE: kinds.is_integer,
        REAL: kinds.is_floating,
        "dates": kinds.is_temporal,
    }
    if kinds.is_decimal(kind):
        return f"numbers with {kind.scale} decimals"
    if is_string(kind):
        return "text"
    return next((word for word, test in named.items() if test(kind)), str(kind))


def _check_bytes(n_bytes: int, most: int, reader: FileReader, name: str) -> None:
    if n_bytes > most:
        raise ValueError(f"{reader.title}: the column {name!r} {_too_many(n_bytes)}")


def _too_many(n_bytes: int) -> str:
    return (
        f"holds labels that take {n_bytes} bytes, too many for files of this size; shorten them, "
        "or give y as an array."
    )
