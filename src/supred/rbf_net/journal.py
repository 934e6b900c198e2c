"""What a fit has done so far, so that one that was interrupted goes on to the same model.

A fit is a sequence of descents, each a known function of the ones before. The journal keeps the
end of each; when the fit is run again, those are handed out instead of being computed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from supred.base.checkpoint import (
    Checkpoint,
    check_array,
    data_identity,
    digest,
    is_kept,
    parameters_identity,
)
from supred.common.arguments import random_generator
from supred.common.arrays import on_host, type_name
from supred.rbf_net.descent import State
from supred.rbf_net.network import Networks

# Parameters that do not change the model.
FREE = ("checkpoint", "verbose", "n_jobs")
# What is kept of the end of a descent.
ENTRY = {"flat", "first", "second", "step", "losses"}


class Journal:
    """The ends of the descents of a fit, in a file if there is one.

    Parameters
    ----------
    file : Checkpoint, optional
        None keeps nothing.
    """

    def __init__(self, file: Checkpoint | None = None) -> None:
        self.file = file
        self.entries: list[dict[str, Any] | None] = []
        if file is not None and file.state is not None:
            with file.restoring():
                self.entries = _checked_entries(file.state)
        self._next = 0

    def record(
        self, compute: Callable[[], tuple[State, np.ndarray]], before: State, step: int
    ) -> tuple[State, np.ndarray]:
        """Return the end of the next descent: from the file, or computed and written.

        Parameters
        ----------
        compute : callable
        before : State
            Where the descent begins.
        step : int
            The step at which it ends.
        """
        if self.file is None:
            return compute()
        number, self._next = self._next, self._next + 1
        known = self.entries[number] if number < len(self.entries) else None
        if known is not None:
            with self.file.restoring():
                return _restored(known, before, step)
        state, losses = compute()
        if number == len(self.entries):
            self.entries.append(_entry(state, losses))
            self.file.save(self.entries)
        return state, losses

    def random_state(self, random_state: Any) -> np.random.RandomState:
        """Return the fit's source of chance, the same one when the fit is resumed."""
        if self.file is None:
            return random_generator(random_state)
        return self.file.random_state(random_state)

    def remove(self) -> None:
        """Remove the file: the fit has come to its end."""
        if self.file is not None:
            self.file.remove()


def _entry(state: State, losses: np.ndarray) -> dict[str, Any] | None:
    """Return what is kept of a descent; None if a network diverged: it is done again then."""
    arrays = {
        "flat": np.array(on_host(state.nets.flat)),
        "first": np.array(on_host(state.first)),
        "second": np.array(on_host(state.second)),
        "losses": losses,
    }
    return {**arrays, "step": state.step} if all(map(is_kept, arrays.values())) else None


def _checked_entries(entries: Any) -> list[dict[str, Any] | None]:
    """Return what a file holds, if these are entries; their arrays are checked when used."""
    if not isinstance(entries, list):
        raise ValueError(f"its state is a {type(entries).__name__}")
    for entry in entries:
        if entry is not None and not (isinstance(entry, dict) and entry.keys() == ENTRY):
            raise ValueError(f"a descent is not made of {', '.join(sorted(ENTRY))}")
    return list(entries)


def _restored(entry: dict[str, Any], before: State, step: int) -> tuple[State, np.ndarray]:
    """Return the end of the descent of some networks that is known to end at a step."""
    shape, dtype = before.nets.flat.shape, type_name(before.nets.flat)
    for name in ("flat", "first", "second"):
        check_array(name, entry[name], tuple(shape), dtype)
    check_array("losses", entry["losses"], (len(before.nets),))
    if entry["second"].min() < 0:
        raise ValueError("second, of squares, holds a negative number")
    if type(entry["step"]) is not int or entry["step"] != step:
        raise ValueError(f"step is {entry['step']!r}, not {step}")
    flat, first, second = (entry[name].copy() for name in ("flat", "first", "second"))
    return State(Networks(before.nets.shape, flat), first, second, step), entry["losses"]


def make_journal(
    parameters: dict[str, Any],
    classes: np.ndarray,
    rows: tuple[Any, np.ndarray, np.ndarray],
    held_out: tuple[Any, np.ndarray, np.ndarray] | None = None,
    previous: Sequence[np.ndarray] = (),
) -> Journal:
    """Return the journal of a fit, one that keeps nothing unless `checkpoint` is set.

    Parameters
    ----------
    parameters : dict
        Those of the estimator.
    classes : ndarray
    rows, held_out : tuples (rows, class indices, weights)
    previous : sequence of ndarrays
        What the fit goes on from, if it is not a new one.
    """
    if parameters["checkpoint"] is None:
        return Journal()
    identity = parameters_identity(parameters, FREE) | data_identity("X", "y", *rows)
    identity["classes"] = digest(np.asarray(classes, dtype=str))
    if held_out is not None:
        identity |= data_identity("X_val", "y_val", *held_out)
    if previous:
        identity["the model that warm_start goes on from"] = digest(
            np.array([digest(array) for array in previous])
        )
    return Journal(Checkpoint(parameters["checkpoint"], "RBFNetClassifier", identity))
