"""What a fit has done so far, so that one that was interrupted goes on to the same model.

A fit is a sequence of descents, each a known function of the ones before. The journal keeps the
end of each; when the fit is run again, those are handed out instead of being computed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from supred.base.checkpoint import Checkpoint, data_identity, digest, parameters_identity
from supred.common.arguments import random_generator
from supred.common.arrays import on_host
from supred.rbf_net.descent import State
from supred.rbf_net.network import Networks, Shape

# Parameters that do not change the model.
FREE = ("checkpoint", "verbose", "n_jobs")


class Journal:
    """The ends of the descents of a fit, in a file if there is one.

    Parameters
    ----------
    file : Checkpoint, optional
        None keeps nothing.
    """

    def __init__(self, file: Checkpoint | None = None) -> None:
        self.file = file
        self.entries: list[dict[str, np.ndarray]] = []
        if file is not None and file.state is not None:
            self.entries = list(file.state)
        self._next = 0

    def record(
        self, compute: Callable[[], tuple[State, np.ndarray]], shape: Shape
    ) -> tuple[State, np.ndarray]:
        """Return the end of the next descent: from the file, or computed and written."""
        if self.file is None:
            return compute()
        if self._next < len(self.entries):
            entry = self.entries[self._next]
            self._next += 1
            state = State(
                Networks(shape, entry["flat"].copy()),
                entry["first"].copy(),
                entry["second"].copy(),
                int(entry["step"]),
            )
            return state, entry["losses"]
        state, losses = compute()
        self.entries.append(
            {
                "flat": np.array(on_host(state.nets.flat)),
                "first": np.array(on_host(state.first)),
                "second": np.array(on_host(state.second)),
                "step": np.array(state.step),
                "losses": losses,
            }
        )
        self._next += 1
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


def make_journal(
    parameters: dict[str, Any],
    classes: np.ndarray,
    rows: tuple[Any, np.ndarray, np.ndarray],
    held_out: tuple[Any, np.ndarray, np.ndarray] | None = None,
) -> Journal:
    """Return the journal of a fit, one that keeps nothing unless `checkpoint` is set.

    Parameters
    ----------
    parameters : dict
        Those of the estimator.
    classes : ndarray
    rows, held_out : tuples (rows, class indices, weights)
    """
    if parameters["checkpoint"] is None:
        return Journal()
    identity = parameters_identity(parameters, FREE) | data_identity("X", "y", *rows)
    identity["classes"] = digest(np.asarray(classes, dtype=str))
    if held_out is not None:
        identity |= data_identity("X_val", "y_val", *held_out)
    return Journal(Checkpoint(parameters["checkpoint"], "RBFNetClassifier", identity))
