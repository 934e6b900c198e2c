"""Damaged and hostile models and comparisons: they are refused with one line, or they work."""

import io
import json
import zipfile
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._memory import peak_bytes
from benchmarks.fuzz.commands import call, check_call

MOST_MEGABYTES = 500
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, 1e308, "", "x", "../../etc/passwd", [], {}, [[]], {"a": 1},
    "os.system", float("nan"), float("inf"),
)  # fmt: skip


@lru_cache(maxsize=8)
def model_bytes(name: str) -> bytes:
    """Return the file of a small model."""
    import tempfile

    import supred
    from supred.export import save_model

    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 4)) + y[:, None]
    fitted = getattr(supred, name)().fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.supred"
        save_model(fitted, path)
        return path.read_bytes()


@lru_cache(maxsize=1)
def comparison_bytes() -> bytes:
    """Return the file of a small comparison."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results"
        options = ("--budget", "10s", "--methods", "LDA,LowDimSVC", "--no-report", "--no-tune")
        answer = call("compare", "--dataset", "iris", *options, "--save", str(path))
        assert answer.code == 0, answer.err
        return path.read_bytes()


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a few bytes."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed)


def cut(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut a piece off the end, or out of the middle."""
    first, last = sorted(int(k) for k in rng.integers(len(content), size=2))
    return content[:first] + (content[last:] if rng.random() < 0.5 else b"")


def parts_of(content: bytes) -> dict[str, bytes]:
    """Return what is in a ZIP file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(entries: dict[str, bytes], *, compress: bool = True) -> bytes:
    """Return a ZIP file."""
    out, method = io.BytesIO(), zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method, compresslevel=1) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def _places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    found = [path] if path else []
    for key, value in inner:
        found += _places(value, (*path, key))
    return found


def edited(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace, remove or double values of a JSON document in the file."""
    entries = parts_of(content)
    name = next(name for name in entries if name.endswith(".json"))
    document = json.loads(entries[name])
    for _ in range(int(rng.integers(1, 4))):
        places = _places(document)
        path = places[int(rng.integers(len(places)))]
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        if rng.random() < 0.3:
            del holder[path[-1]]
        else:
            # a copy: the next edit may be one of this value
            holder[path[-1]] = deepcopy(VALUES[int(rng.integers(len(VALUES)))])
    entries[name] = json.dumps(document).encode()
    return packed(entries)


def other_arrays(content: bytes, rng: np.random.Generator) -> bytes:
    """Give an array another shape, type or content."""
    entries = parts_of(content)
    names = [name for name in entries if name.endswith(".npy")]
    if not names:
        return flipped(content, rng)
    name = names[int(rng.integers(len(names)))]
    array = np.load(io.BytesIO(entries[name]), allow_pickle=False)
    kinds: tuple[Callable[[], np.ndarray], ...] = (
        lambda: array[:0],
        lambda: array.ravel(),
        lambda: np.concatenate([array, array]) if array.ndim else array[None],
        lambda: np.full(array.shape, np.nan),
        lambda: np.full(array.shape, np.inf),
        lambda: np.full(array.shape, 1e300),
        lambda: array.astype(complex) if array.dtype.kind in "fiu" else array,
        lambda: array.astype(str),
        lambda: np.zeros(array.shape, dtype=bool),
        lambda: -np.abs(array) if array.dtype.kind == "f" else array,
    )
    out = io.BytesIO()
    np.save(out, kinds[int(rng.integers(len(kinds)))](), allow_pickle=False)
    entries[name] = out.getvalue()
    return packed(entries)


def bomb(content: bytes, rng: np.random.Generator) -> bytes:
    """Declare, or really hold, far more numbers than any model has."""
    entries = parts_of(content)
    names = [name for name in entries if name.endswith(".npy")] or ["a.npy"]
    name = names[int(rng.integers(len(names)))]
    header = io.BytesIO()
    shape = (int(rng.integers(10**8, 10**10)),)
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    entries[name] = header.getvalue() + bytes(int(rng.integers(0, 2)) * 50_000_000)
    return packed(entries)


WAYS = {f.__name__: f for f in (flipped, cut, edited, other_arrays, bomb)}


def check_damaged(name: str, way: str, seed: int) -> None:
    """Damage the file of a model and load it: one clear line, or a model that works."""
    from supred.export import load_model

    content = WAYS[way](model_bytes(name), np.random.default_rng(seed))
    Path("model.supred").write_bytes(content)
    before, refusal = peak_bytes(), None
    try:
        found = load_model("model.supred")
        answers = found.predict(np.zeros((2, 4)))
        coordinates = found.transform(np.zeros((2, 4)))
        assert len(answers) == 2, "an edited model gives other than one answer per row"
        assert np.isfinite(coordinates).all(), "an edited model gives answers that are not finite"
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        assert "\n" not in refusal, f"the error has several lines: {refusal}"
        assert len(refusal) > 10, f"the error says too little: {refusal!r}"
    check_growth(before)


def check_damaged_comparison(way: str, seed: int) -> None:
    """Damage the file of a comparison and make its page: one clear line, or a page."""
    content = WAYS[way](comparison_bytes(), np.random.default_rng(seed))
    Path("results").write_bytes(content)
    before = peak_bytes()
    check_call("report", "results", "--out", "page.html")
    check_growth(before)


def check_growth(before: int) -> None:
    """Check how much memory was taken since there were so many bytes at most."""
    grown = (peak_bytes() - before) / 2**20
    assert grown < MOST_MEGABYTES, f"loading took {grown:.0f} MB"
