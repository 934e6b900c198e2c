"""What a fit has done so far, so that one that was interrupted goes on to the same model.

A fit is a sequence of descents, each a known function of the ones before. The journal keeps the
end of each; when the fit is run again, those are handed out instead of being computed.
"""

import json
import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from supred._version import __version__
from supred.common.arrays import on_host
from supred.common.files import atomic_write, check_output
from supred.rbf_net.descent import State
from supred.rbf_net.network import Networks, Shape


class Journal:
    """The ends of the descents of a fit, in a file if there is one.

    Parameters
    ----------
    path : path, optional
        None keeps nothing.
    identity : dict of str, optional
        What the fit depends on; a file with another identity is refused.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, identity: dict[str, str] | None = None
    ) -> None:
        self.path = None if path is None else Path(path)
        self.identity = {"supred version": __version__, **(identity or {})}
        self.entries: list[dict[str, np.ndarray]] = []
        self.seed: int | None = None
        self._next = 0
        if self.path is not None:
            check_output(self.path, overwrite=True)
            if self.path.exists():
                self._load()

    def record(
        self, compute: Callable[[], tuple[State, np.ndarray]], shape: Shape
    ) -> tuple[State, np.ndarray]:
        """Return the end of the next descent: from the file, or computed and written."""
        if self.path is None:
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
        self.save()
        return state, losses

    def save(self) -> None:
        """Write the file; it changes as a whole or not at all."""
        if self.path is None:
            return
        document = {"identity": self.identity, "seed": self.seed, "kind": "RBFNetClassifier"}
        text = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {
            f"{number}.{name}": values
            for number, entry in enumerate(self.entries)
            for name, values in entry.items()
        }
        with atomic_write(self.path, overwrite=True) as file:
            np.savez(file, document=text, **arrays)

    def remove(self) -> None:
        """Remove the file: the fit has come to its end."""
        if self.path is not None:
            with suppress(FileNotFoundError):
                self.path.unlink()

    def _load(self) -> None:
        assert self.path is not None
        try:
            with np.load(self.path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            document = json.loads(arrays.pop("document").tobytes())
            found, seed = document["identity"], document["seed"]
            if document["kind"] != "RBFNetClassifier":
                raise ValueError("another estimator")
            entries: dict[int, dict[str, np.ndarray]] = {}
            for name, values in arrays.items():
                number, part = name.split(".")
                entries.setdefault(int(number), {})[part] = values
        except (ValueError, OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile):
            raise ValueError(
                f"checkpoint={str(self.path)!r} is not a checkpoint of RBFNetClassifier; name "
                "another file, or remove this one."
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
        self.entries, self.seed = [entries[number] for number in range(len(entries))], seed
