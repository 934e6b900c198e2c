"""Finished draws on disk, so that an interrupted run goes on where it stopped."""

import ast
import hashlib
import inspect
import json
import platform
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.performance._record import plain, versions
from reproduction.base import Experiment, Part
from supred.common.files import atomic_write

# Statements of a module that do not change what it measures.
WORDS = ("EXPERIMENT", "ROWS", "CLAIMS", "PUBLISHED")
# Modules that declare and draw, and measure nothing.
DECLARATIONS = ("reproduction.base", "reproduction.pictures")


class Store:
    """One JSON file per finished draw of a part.

    The name of the file holds a digest of experiment, part, draw, size, versions and the code of
    the measurement: where one of them differs, the draw is measured again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, experiment: Experiment, part: Part, draw: int, quick: bool) -> Path:
        """Return where a draw is kept."""
        key = {
            "experiment": experiment.name,
            "part": part.name,
            "draw": draw,
            "quick": quick,
            "versions": {**versions(), "python": platform.python_version()},
            "source": _source(part.measure),
        }
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]
        words = "".join(c if c.isalnum() else "-" for c in part.name)
        return self.folder / experiment.name / f"{words}-{draw}-{digest}.json"

    def get(
        self, experiment: Experiment, part: Part, draw: int, quick: bool
    ) -> dict[str, Any] | None:
        """Return a finished draw, or None."""
        try:
            text = self.path(experiment, part, draw, quick).read_text(encoding="utf-8")
            return json.loads(text)
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def put(
        self, experiment: Experiment, part: Part, draw: int, quick: bool, record: dict[str, Any]
    ) -> None:
        """Keep a finished draw; the file is there completely or not at all."""
        path = self.path(experiment, part, draw, quick)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, overwrite=True) as file:
            file.write(json.dumps(record, default=plain).encode())


def _source(thing: Any) -> list[str]:
    """Return the code that a measurement depends on.

    That is its module without words and figure, and what it uses of the other modules of this
    package, however indirectly.
    """
    bound = []
    while hasattr(thing, "func"):  # functools.partial
        bound.append(repr(sorted(thing.keywords)))
        thing = thing.func
    module = inspect.getmodule(thing)
    used: dict[str, str] = {}
    for value in vars(module).values() if module is not None else ():
        _add_used(value, getattr(module, "__name__", ""), used)
    return [*bound, _code(module), *(used[name] for name in sorted(used))]


def _add_used(value: Any, own: str, used: dict[str, str]) -> None:
    """Add the source of a function or class of another module of this package, and what it uses."""
    home = getattr(value, "__module__", None) or ""
    if not inspect.isfunction(value) and not inspect.isclass(value):
        return
    name = f"{home}.{value.__qualname__}"
    if not home.startswith("reproduction.") or home in (own, *DECLARATIONS) or name in used:
        return
    used[name] = inspect.getsource(value)
    for needed in getattr(getattr(value, "__code__", None), "co_names", ()):
        _add_used(getattr(value, "__globals__", {}).get(needed), own, used)


@cache
def _code(module: Any) -> str:
    """Return a module's statements as they were at the first call, but for words and figure.

    Comments and line breaks do not count, so that a result outlives a change of wording.
    """
    try:
        tree = ast.parse(inspect.getsource(module)) if module is not None else ast.parse("")
    except OSError:  # no source at hand, as in a frozen program
        return ""
    tree.body = [node for node in tree.body if not _is_wording(node)]
    return ast.unparse(tree)


def _is_wording(node: ast.stmt) -> bool:
    """Whether a statement declares rows and claims, draws a figure or is a docstring."""
    if isinstance(node, ast.FunctionDef):
        return node.name.startswith(("figure", "claim_", "why", "row_"))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    return any(isinstance(t, ast.Name) and t.id in WORDS for t in targets)
