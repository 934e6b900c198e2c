"""Finished draws on disk, so that an interrupted run goes on where it stopped."""

import ast
import hashlib
import inspect
import json
import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from reproduction import protocols
from reproduction.base import Experiment, Part
from supred._version import __version__


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {"supred": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


class Store:
    """One JSON file per finished draw of a part.

    The name of the file holds a digest of experiment, part, draw, options, versions and the
    code of the measurement: where one of them differs, the draw is measured anew.

    Parameters
    ----------
    folder : Path
    quick : bool
    """

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder, self.quick = folder, quick

    def path(self, experiment: Experiment, part: Part, draw: int) -> Path:
        """Return where a draw is kept."""
        key = {
            "experiment": experiment.name,
            "part": part.name,
            "draw": draw,
            "quick": self.quick,
            "versions": versions(),
            "source": [_source(part.measure), _source(protocols)],
        }
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]
        words = "".join(c if c.isalnum() else "-" for c in part.name)
        return self.folder / experiment.name / f"{words}-{draw}-{digest}.json"

    def get(self, experiment: Experiment, part: Part, draw: int) -> dict[str, Any] | None:
        """Return a finished draw, or None."""
        path = self.path(experiment, part, draw)
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def put(self, experiment: Experiment, part: Part, draw: int, record: dict[str, Any]) -> None:
        """Keep a finished draw; the file is there completely or not at all."""
        path = self.path(experiment, part, draw)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(record, indent=1), encoding="utf-8")
        os.replace(unfinished, path)


def _source(thing: Any) -> str:
    """Return the code that a measurement depends on: its module without texts and figure.

    Comments and line breaks do not count, so that a result outlives a change of wording.
    """
    bound = ""
    while hasattr(thing, "func"):  # functools.partial
        bound += repr(sorted(thing.keywords))
        thing = thing.func
    return bound + _code(inspect.getmodule(thing))


@cache
def _code(module: Any) -> str:
    """Return a module's statements as they were at the first call, but for texts and figure."""
    try:
        tree = ast.parse(inspect.getsource(module)) if module is not None else ast.parse("")
    except OSError:  # no source at hand, as in a frozen program
        return ""
    tree.body = [node for node in tree.body if not _is_text(node)]
    return ast.unparse(tree)


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement declares the experiment or draws its figure."""
    if isinstance(node, ast.FunctionDef):
        return node.name == "figure"
    names = [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
    return "EXPERIMENT" in names
