"""A fit that was interrupted goes on from its last iteration."""

import hashlib
import json
import os
import zipfile
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from supred._version import __version__
from supred.common.files import atomic_write, check_output
from supred.low_dim_svm.alternation import State
from supred.rows.blocks import rows_of

# Parameters that do not change the model.
FREE = ("checkpoint", "verbose", "n_jobs", "cache_size")
# Rows that tell one data set from another.
ROWS_LOOKED_AT = 64


class Checkpoint:
    """The file that holds the state of a fit after its last iteration.

    Parameters
    ----------
    path : path
    identity : dict of str
        What the fit depends on; a file with another identity is refused.

    Attributes
    ----------
    state : State or None
        Where to go on, if the file was there.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, str]) -> None:
        self.path = Path(path)
        self.identity = {"supred version": __version__, **identity}
        self.state: State | None = None
        self.seed: int | None = None
        check_output(self.path, overwrite=True)
        if self.path.exists():
            self._load()

    def random_state(self, random_state: Any) -> np.random.RandomState:
        """Return the fit's source of chance, the same one when the fit is resumed."""
        if isinstance(random_state, int | np.integer):
            return check_random_state(random_state)
        if self.seed is None:
            self.seed = int(check_random_state(random_state).randint(2**31 - 1))
        return check_random_state(self.seed)

    def save(self, state: State) -> None:
        """Write the state; the file changes as a whole or not at all."""
        arrays: dict[str, Any] = {}
        document = {
            "identity": self.identity,
            "seed": self.seed,
            "state": {f.name: _pack(getattr(state, f.name), arrays) for f in fields(state)},
        }
        text = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
        with atomic_write(self.path, overwrite=True) as file:
            np.savez(file, document=text, **arrays)

    def remove(self) -> None:
        """Remove the file: the fit has come to its end."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def _load(self) -> None:
        try:
            with np.load(self.path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            document = json.loads(arrays.pop("document").tobytes())
            found, seed = document["identity"], document["seed"]
            state = State(**{k: _unpack(v, arrays) for k, v in document["state"].items()})
        except (ValueError, OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile):
            raise ValueError(
                f"checkpoint={str(self.path)!r} is no checkpoint of LowDimSVC; name another "
                "file, or remove this one."
            ) from None
        differing = [
            f"{name} ({found.get(name, 'none')} there, {self.identity.get(name, 'none')} here)"
            for name in {**self.identity, **found}
            if found.get(name) != self.identity.get(name)
        ]
        if differing:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is of another fit; it differs in "
                f"{', '.join(differing)}. Use the same data and parameters to go on, or remove "
                "the file to begin anew."
            )
        self.state, self.seed = state, seed


def checkpoint_of(
    model: Any, X: Any, codes: np.ndarray, weights: np.ndarray, held_out: Any
) -> Checkpoint | None:
    """Return the checkpoint that the parameters ask for, or None."""
    if model.checkpoint is None:
        return None
    if not isinstance(model.checkpoint, str | os.PathLike):
        raise ValueError(f"checkpoint={model.checkpoint!r}: give the path of a file, or None.")
    if not isinstance(model.mapping, str):
        raise ValueError(
            f"checkpoint={str(model.checkpoint)!r} does not go with mapping={model.mapping!r}; "
            "use mapping='rbf' or 'linear', or leave checkpoint at None."
        )
    identity = {
        name: _described(value, name)
        for name, value in model.get_params(deep=False).items()
        if name not in FREE
    }
    identity |= _data_identity("X", "y", X, codes, weights)
    identity["classes"] = _digest(np.asarray(model.classes_, dtype=str))
    if held_out is not None:
        identity |= _data_identity("X_val", "y_val", held_out.X, held_out.codes, held_out.weights)
    return Checkpoint(model.checkpoint, identity)


def _data_identity(
    rows: str, labels: str, X: Any, codes: np.ndarray, weights: np.ndarray
) -> dict[str, str]:
    """Describe rows, labels and weights; of the rows a few are looked at."""
    n_rows = X.shape[0]
    some = np.unique(np.linspace(0, n_rows - 1, ROWS_LOOKED_AT).astype(int))
    taken = rows_of(X).take(some)
    taken = taken.toarray() if sparse.issparse(taken) else taken
    return {
        f"shape of {rows}": f"{n_rows} x {X.shape[1]}",
        f"precision of {rows}": str(X.dtype),
        f"rows of {rows}": _digest(taken),
        labels: _digest(codes),
        f"weights of {labels}": _digest(weights),
    }


def _described(value: Any, name: str) -> str:
    if name == "random_state" and not isinstance(value, int | np.integer):
        return "drawn"  # a generator moves on; what was drawn is in the file
    if hasattr(value, "shape") or isinstance(value, list | tuple):
        return _digest(value.toarray() if sparse.issparse(value) else np.asarray(value))
    return repr(value)


def _digest(array: np.ndarray) -> str:
    array = np.ascontiguousarray(array)
    seen = hashlib.sha256(f"{array.shape} {array.dtype}".encode())
    seen.update(array.tobytes() if array.dtype == object else array.data)
    return seen.hexdigest()[:12]


def _pack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what JSON can hold; arrays go into `arrays` under the name left in their place."""
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, dict):
        return {"dict": {key: _pack(item, arrays) for key, item in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_pack(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_pack(item, arrays) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Undo `_pack`."""
    if isinstance(value, list):
        return [_unpack(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "tuple" in value:
        return tuple(_unpack(item, arrays) for item in value["tuple"])
    return {key: _unpack(item, arrays) for key, item in value["dict"].items()}
