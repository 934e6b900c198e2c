"""A fit that was interrupted goes on from where it was: the file, and what it must agree with."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from supred._version import __version__
from supred.base.container import ModelFileError, open_container, shown, write_container
from supred.common.arguments import (
    check_integer,
    largest_magnitude,
    listed,
    one_line,
    random_generator,
)
from supred.common.arrays import on_host, type_name
from supred.common.files import check_output
from supred.rows.blocks import parts_of, rows_of

# Numbers of rows whose checksum is made at a time.
NUMBERS_AT_ONCE = 2**20
# No number of a state is larger: squares of the product of two such numbers are finite.
LARGEST_NUMBER = 1e60
LARGEST_SEED = 2**32 - 1


class Checkpoint:
    """The file that holds the state of a fit.

    Parameters
    ----------
    path : path
    estimator : str
        Name of the class.
    identity : dict of str
        What the fit depends on; a file with another identity is refused.

    Attributes
    ----------
    state : object or None
        What was saved last, if the file was there.
    """

    def __init__(
        self, path: str | os.PathLike[str], estimator: str, identity: dict[str, str]
    ) -> None:
        self.path = Path(path)
        self.estimator = estimator
        self.identity = {"supred version": __version__, **identity}
        self.state: Any = None
        self.seed: int | None = None
        try:
            check_output(self.path, overwrite=True)
        except ValueError as error:
            raise ValueError(f"checkpoint={error}") from None
        if self.path.exists():
            self._load()

    def random_state(self, random_state: Any) -> np.random.RandomState:
        """Return the fit's source of chance, the same one when the fit is resumed."""
        if isinstance(random_state, int | np.integer):
            return random_generator(random_state)
        if self.seed is None:
            if self.state is not None:
                with self.restoring():
                    raise ValueError("it has no seed")
            self.seed = int(random_generator(random_state).randint(2**31 - 1))
        return random_generator(self.seed)

    def save(self, state: Any) -> None:
        """Write the state; the file changes as a whole or not at all."""
        value = {"identity": self.identity, "seed": self.seed, "state": state}
        write_container(self.path, self._kind, value, overwrite=True, compress=False)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Turn whatever is wrong with the state into an error that names the file."""
        try:
            yield
        except Exception as error:
            raise ValueError(
                f"{self.path} is not a checkpoint of this fit: {one_line(error).rstrip('.')}; "
                "delete it to begin anew."
            ) from None

    def remove(self) -> None:
        """Remove the file: the fit has come to its end."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    @property
    def _kind(self) -> str:
        return f"checkpoint of {self.estimator}"

    def _load(self) -> None:
        try:
            # The identity is in the description: arrays of another fit are not unpacked.
            with open_container(self.path, self._kind, max_bytes=None) as (value, decode):
                parts = dict(value["dict"])
                differing = self._differing(dict(parts["identity"]["dict"]))
                if not differing:
                    self.seed, self.state = parts["seed"], decode(parts["state"])
        except ModelFileError as error:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is not a checkpoint that this version of "
                f"{self.estimator} can resume ({error}); name another file, or remove this one."
            ) from None
        if differing:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is of another fit; it differs in "
                f"{listed(differing)}. Use the same data and parameters to go on, or remove "
                "the file to begin anew."
            )
        with self.restoring():
            if self.seed is not None:
                check_integer("seed", self.seed, low=0, high=LARGEST_SEED)

    def _differing(self, found: dict[str, Any]) -> list[str]:
        """Say in what another identity differs."""
        return [
            f"{shown(name)} ({shown(found.get(name, 'none'))} there, "
            f"{shown(self.identity.get(name, 'none'))} here)"
            for name in {**self.identity, **found}
            if found.get(name) != self.identity.get(name)
        ]


def check_array(
    name: str, value: Any, shape: tuple[int, ...], dtype: Any = float, *, finite: bool = True
) -> None:
    """Raise a ValueError if a part of a state is not an array of that shape and type.

    Unless `finite` is False its numbers must be finite, and of a size to go on with.
    """
    expected = f"an array of {np.dtype(dtype)} of shape {shape}"
    found = type(value).__name__
    if type(value) is np.ndarray:
        found = f"an array of {value.dtype} of shape {value.shape}"
    if found != expected:
        raise ValueError(f"{name} is {found}, not {expected}")
    if finite and not is_kept(value):
        raise ValueError(f"{name} holds a number that is not finite or beyond {LARGEST_NUMBER:g}")


def is_kept(values: np.ndarray) -> bool:
    """Tell whether numbers are such that a fit goes on from them."""
    return largest_magnitude(values) <= LARGEST_NUMBER


def check_path(path: Any) -> None:
    """Raise a ValueError if `path` can be no checkpoint."""
    named = isinstance(path, str | os.PathLike) and isinstance(os.fspath(path), str)
    if path is not None and not named:
        raise ValueError(f"checkpoint={path!r}: give the path of a file, or None.")


def parameters_identity(parameters: dict[str, Any], free: Sequence[str]) -> dict[str, str]:
    """Describe parameters, those that do not change the model (`free`) left out."""
    return {name: _described(value, name) for name, value in parameters.items() if name not in free}


def data_identity(
    rows: str, labels: str, X: Any, class_index: np.ndarray, weights: np.ndarray
) -> dict[str, str]:
    """Describe rows, labels and weights, in one pass over the rows.

    Parameters
    ----------
    rows, labels : str
        What to call them, such as "X" and "y".
    X : ndarray, sparse matrix or RowSource
    class_index, weights : ndarrays of shape (n_rows,)
    """
    n_rows = X.shape[0]
    seen = rows_of(X).sum(_checksum, np.arange(n_rows))
    return {
        f"shape of {rows}": f"{n_rows} x {X.shape[1]}",
        f"precision of {rows}": str(type_name(X)),
        f"rows of {rows}": f"{int(seen[0]):016x}",
        labels: digest(class_index),
        f"weights of {labels}": digest(weights if weights.strides[0] else weights[:1]),
    }


def digest(array: np.ndarray) -> str:
    """Return a short hash of shape, type and content of an array."""
    array = np.ascontiguousarray(array)
    seen = hashlib.sha256(f"{array.shape} {array.dtype}".encode())
    seen.update(array.tobytes() if array.dtype == object else array.data)
    return seen.hexdigest()[:12]


def _checksum(block: Any, places: Any) -> np.ndarray:
    """Return a number that tells rows from others, the same in whatever form and blocks they are.

    It is a sum over the numbers that are not zero, modulo 2^64.
    """
    block, places = on_host(block), on_host(places).astype(np.uint64)
    if sparse.issparse(block):
        stored = block.tocsr()
        at = np.repeat(places, np.diff(stored.indptr)), stored.indices.astype(np.uint64)
        return _mixed(stored.data, *at)
    columns = np.arange(block.shape[1], dtype=np.uint64)
    total = np.zeros(1, dtype=np.uint64)
    for part in parts_of(len(block), max(1, NUMBERS_AT_ONCE // len(columns))):
        total += _mixed(block[part], places[part, None], columns)
    return total


def _mixed(values: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return the sum of what numbers and their places make: nothing of a zero."""
    bits = np.ascontiguousarray(values + 0.0)  # -0.0 is 0.0
    mixed = bits.view(f"u{bits.itemsize}").astype(np.uint64)
    mixed *= (column << np.uint64(1) | np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= (row << np.uint64(1) | np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return np.atleast_1d(mixed.sum(dtype=np.uint64))


def _described(value: Any, name: str) -> str:
    if name == "random_state" and not isinstance(value, int | np.integer):
        return "drawn"  # a generator moves on; what was drawn is in the file
    if hasattr(value, "shape") or isinstance(value, list | tuple):
        return digest(value.toarray() if sparse.issparse(value) else np.asarray(value))
    return repr(value)
