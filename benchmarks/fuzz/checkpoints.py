"""Damaged and edited checkpoints: they are refused with one line, or the fit goes on."""

import io
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks._memory import peak_bytes
from benchmarks.fuzz._draws import pick
from benchmarks.fuzz.damage import WAYS, check_growth, packed, parts_of

MODELS = (
    "LowDimSVC(n_centers=6, max_iter=5, tol=0)",
    "LowDimSVC(mapping='linear', max_iter=5, tol=0, mu_factor=1, random_state=0)",
    "LowDimSVC(n_centers=6, max_iter=5, early_stopping=True, loss='log')",
    "LowDimSVC(1, n_centers=6, max_iter=5, inner_tol=0.1, multi_class='ovr', random_state=0)",
    "RBFNetClassifier(n_centers=3, max_iter=8)",
    "RBFNetClassifier(2, n_centers=3, max_iter=8, metric=2, early_stopping=False, random_state=0)",
    "RBFNetClassifier(n_centers=3, max_iter=8, noise=1e30, learning_rate=10.0, loss='hinge')",
)
# Of these nothing but the same model may come; others may change numbers that no one can tell.
ACCIDENTS = ("flipped", "cut")
SAVED = 3


def scaled(content: bytes, rng: np.random.Generator) -> bytes:
    """Multiply an array by a number, so that no one can tell that it was another."""
    entries = parts_of(content)
    names = [name for name in entries if name.endswith(".npy")]
    if not names:
        return content
    name = pick(rng, names)
    array = np.load(io.BytesIO(entries[name]), allow_pickle=False)
    limit = 1e38 if array.dtype == np.float32 else 1e100
    factor = pick(rng, (0.0, -1.0, 1e-30, 1e10, 1e30, limit)) * rng.choice([-1.0, 1.0], array.shape)
    out = io.BytesIO()
    np.save(out, np.clip(array * factor, -limit, limit).astype(array.dtype), allow_pickle=False)
    return packed({**entries, name: out.getvalue()})


DAMAGES = {**WAYS, "scaled": scaled}


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    model, way, seed = pick(rng, MODELS), pick(rng, list(DAMAGES)), int(rng.integers(10**9))
    head = "from benchmarks.fuzz import checkpoints\n"
    return f'{head}checkpoints.check_damaged("{model}", {way!r}, {seed})\n'


class StoppedError(Exception):
    """The fit is interrupted."""


def fit(model: str) -> Any:
    """Fit with a checkpoint."""
    import supred

    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 4)) + y[:, None]
    estimator = eval(f"supred.{model}", {"supred": supred})
    fitted = estimator.set_params(checkpoint="state").fit(X, y)
    return fitted.transform(X)


@lru_cache(maxsize=len(MODELS))
def interrupted(model: str) -> tuple[bytes, np.ndarray]:
    """Return the checkpoint of a fit that was interrupted, and what the fit ends at."""
    from supred.base.checkpoint import Checkpoint

    save, saved = Checkpoint.save, []

    def save_and_stop(checkpoint: Any, state: Any) -> None:
        save(checkpoint, state)
        saved.append(Path("state").read_bytes())
        if len(saved) == SAVED:
            raise StoppedError

    with patch.object(Checkpoint, "save", save_and_stop):
        try:
            fit(model)
        except StoppedError:
            return saved[-1], fit(model)
    raise AssertionError("the fit is too short to be interrupted")


def check_damaged(model: str, way: str, seed: int) -> None:
    """Damage a checkpoint and go on from it: one clear line, or a finite model."""
    content, expected = interrupted(model)
    rng = np.random.default_rng(seed)
    damaged = DAMAGES[way](content, rng)
    if way not in ACCIDENTS and rng.random() < 0.9:
        with suppress(Exception):  # without an array to change bytes are, and it is no ZIP file
            damaged = packed(parts_of(damaged), compress=False)  # others are refused at once
    Path("state").write_bytes(damaged)
    before = peak_bytes()
    try:
        found = fit(model)
    except ValueError as error:
        told = str(error)
        assert "\n" not in told, f"the error has several lines: {told}"
        # numbers that cannot be told may lead to a model that is refused as any other
        assert "state" in told or way == "scaled", f"the error does not name the file: {told}"
    else:
        assert np.isfinite(found).all(), "an edited checkpoint gives a model that is not finite"
        if way in ACCIDENTS:
            assert np.array_equal(found, expected), "a damaged checkpoint gives another model"
    check_growth(before)
