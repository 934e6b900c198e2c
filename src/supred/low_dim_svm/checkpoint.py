"""A fit that was interrupted goes on from its last iteration."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from supred._version import __version__
from supred.base.container import ModelFileError, read_container, write_container
from supred.common.files import check_output
from supred.low_dim_svm.alternation import State
from supred.low_dim_svm.problem import Problem
from supred.rows.blocks import rows_of

KIND = "checkpoint of LowDimSVC"
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
        value = {"identity": self.identity, "seed": self.seed, "state": state}
        write_container(self.path, KIND, value, overwrite=True, compress=False)

    def remove(self) -> None:
        """Remove the file: the fit has come to its end."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def _load(self) -> None:
        try:
            value = read_container(self.path, KIND)
            found, seed, state = value["identity"], value["seed"], value["state"]
        except (ModelFileError, KeyError, TypeError) as error:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is not a checkpoint that this version of LowDimSVC "
                f"can resume ({error}); name another file, or remove this one."
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


def make_checkpoint(path: Any, parameters: dict[str, Any], problem: Problem) -> Checkpoint | None:
    """Return the checkpoint of a fit, or None without a path.

    Parameters
    ----------
    path : path or None
    parameters : dict
        Those of the estimator.
    problem : Problem
        Before a part of its rows is split off by chance.
    """
    if path is None:
        return None
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"checkpoint={path!r}: give the path of a file, or None.")
    if not isinstance(parameters["mapping"], str):
        raise ValueError(
            f"checkpoint={str(path)!r} cannot be combined with mapping={parameters['mapping']!r}; "
            "use mapping='rbf' or 'linear', or leave checkpoint at None."
        )
    identity = {
        name: _described(value, name) for name, value in parameters.items() if name not in FREE
    }
    identity |= _data_identity("X", "y", problem.X, problem.class_index, problem.weights)
    identity["classes"] = _digest(np.asarray(problem.classes, dtype=str))
    held_out = problem.held_out
    if held_out is not None:
        identity |= _data_identity(
            "X_val", "y_val", held_out.X, held_out.class_index, held_out.weights
        )
    return Checkpoint(path, identity)


def _data_identity(
    rows: str, labels: str, X: Any, class_index: np.ndarray, weights: np.ndarray
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
        labels: _digest(class_index),
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
