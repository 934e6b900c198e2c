"""Rows of files, memory maps and clusters: the model of an array, or a clear refusal."""

import logging
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.fuzz._draws import HEAD, estimator, pick, rows_and_labels
from benchmarks.fuzz.checks import fit, usable

TAKES_SOURCES = ("LowDimSVC", "RBFNetClassifier")
WAYS = ("memory map", "npy", "csv", "parquet", "dask", "dask")


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    lines = [line for line in rows_and_labels(rng) if "sparse" not in line]
    way = pick(rng, WAYS)
    call = f"sources.check_source({estimator(rng, among=TAKES_SOURCES)}, X, y, {way!r})"
    return HEAD + "\n".join(["from benchmarks.fuzz import sources", *lines, call]) + "\n"


@lru_cache(maxsize=1)
def client() -> Any:
    """Return the client of a small cluster inside this process."""
    from distributed import Client

    return Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


def source_of(X: np.ndarray, way: str) -> Any:
    """Write rows to a file, or chunk them, and return what stands for them."""
    import pandas

    from supred import RowBlocks

    if way == "dask":
        import dask.array

        client()
        return dask.array.from_array(X, chunks=(max(1, len(X) // 3), X.shape[1]))
    if way in ("memory map", "npy"):
        np.save("rows.npy", X)
        return np.load("rows.npy", mmap_mode="r") if way == "memory map" else RowBlocks("rows.npy")
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    if way == "csv":
        frame.to_csv("rows.csv", index=False)
        return RowBlocks("rows.csv")
    frame.to_parquet("rows.parquet")
    return RowBlocks("rows.parquet")


def check_source(estimator: Any, X: np.ndarray, y: np.ndarray, way: str) -> None:
    """Fit on rows out of memory; the model is usable, and beside one of the array as good."""
    source = source_of(X, way)
    fitted = fit(clone(estimator), source, y)
    whole = fit(clone(estimator), X, y)
    if fitted is None or whole is None:
        # Rows of a file keep their own unit: some are refused that an array may have.
        assert fitted is None, f"{way}: taken, where the array is refused"
        return
    usable(fitted, np.asarray(X, dtype=source.dtype))
    errors = [np.mean(model.predict(np.asarray(X)) != y) for model in (fitted, whole)]
    if whole.row_unit_ == 1.0:  # else a gamma that was given is another one
        assert errors[0] <= errors[1] + 0.5, f"{way}: {errors[0]:.0%} wrong, not {errors[1]:.0%}"
