"""What a fit on a cluster costs, from constants that are measured here."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from supred.low_dim_svm.losses import HingeLoss
from supred.low_dim_svm.mappings.basis import combine, moments, products
from supred.low_dim_svm.mappings.rbf import GaussianBasis
from supred.low_dim_svm.visit import BlockRows
from supred.numerics.compiled import worthwhile
from supred.numerics.kernels import GaussianCenters
from supred.rows.blocks import rows_of

PAGE = Path(__file__).parent.parent / "docs" / "cluster.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
# The billion rows of the page: features, centres, dimensions, classes, iterations.
ROWS, FEATURES, CENTERS, DIMENSIONS, CLASSES, ITERATIONS = 10**9, 50, 1000, 9, 10, 20
THREADS = (100, 1000, 10_000)
# How often the g step of an iteration asks the blocks.
ROUNDS = 3
# Merged rows of an SVM that come with them (measured: 120 to 1000).
MERGED = 500


@dataclass(frozen=True)
class Constants:
    """What was measured, of one thread of a worker and of the client."""

    basis: float  # seconds per row: Phi
    gram: float  # seconds per row: Phi^T Phi
    step: float  # seconds per row: Phi^T Z and Phi W
    empty_pass: float  # seconds of a pass with one task per worker
    task: float  # seconds that each further task adds
    sending: float  # bytes per second, client to workers
    receiving: float  # bytes per second, workers to client
    g_step: float  # seconds per row: the rows near the margins, one thread
    z_step: float  # seconds per row, one thread


def best_of(function: Callable[[], Any], times: int = 5) -> float:
    """Return the seconds of the quickest of several calls."""
    seconds = []
    for _ in range(times):
        began = perf_counter()
        function()
        seconds.append(perf_counter() - began)
    return min(seconds)


def measure(client: Any, quick: bool) -> Constants:
    """Measure the constants on two workers and on this process."""
    rng = np.random.default_rng(0)
    block = rng.normal(size=(2000, FEATURES)).astype(np.float32)
    basis = GaussianBasis(GaussianCenters.of(block[:CENTERS]), 1 / (2 * FEATURES))
    phi, gram, step = client.submit(_worker_seconds, basis, block, pure=False).result()
    empty, per_task, sending, receiving = _travel(client, quick)
    g_step, z_step = _client_seconds(10_000 if quick else 50_000)
    return Constants(phi, gram, step, empty, per_task, sending, receiving, g_step, z_step)


def _worker_seconds(basis: Any, block: np.ndarray) -> tuple[float, float, float]:
    phi = basis(block)
    target = np.ones((len(block), DIMENSIONS))
    W, w0 = np.ones((CENTERS, DIMENSIONS)), np.zeros(DIMENSIONS)

    def step() -> None:
        products(phi, target)
        combine(phi, W, w0)

    work = (lambda: basis(block), lambda: moments(phi), step)
    first, second, third = (best_of(function) / len(block) for function in work)
    return first, second, third


def _travel(client: Any, quick: bool) -> tuple[float, float, float, float]:
    """Return the seconds of an empty pass and of one more task, and bytes per second both ways."""
    import dask.array as da

    from benchmarks.dask_overhead import nothing
    from supred.rows.cluster.rows import DaskSource

    n_rows = 20_000 if quick else 200_000
    rows = DaskSource(da.zeros((n_rows, 1), chunks=(n_rows // 20, 1))).rows()
    numbers = np.zeros((n_rows, 25))
    empty = best_of(lambda: rows.sum(nothing))
    many = best_of(lambda: client.gather(client.map(nothing, range(100), pure=False)))
    sent = best_of(lambda: rows.sum(_nothing_of, numbers), 3)
    received = best_of(lambda: rows.map(_wide), 3)
    moved = float(numbers.nbytes)
    return (
        empty,
        max(many - empty, 0.0) / 98,
        moved / max(sent - empty, 1e-3),
        moved / max(received - empty, 1e-3),
    )


def _nothing_of(block: np.ndarray, numbers: np.ndarray) -> float:
    return 0.0


def _wide(block: np.ndarray) -> np.ndarray:
    return np.zeros((len(block), 25))


def _client_seconds(n_rows: int) -> tuple[float, float]:
    """Return the seconds per row of a g step and of a Z step, in the middle of a fit."""
    rng = np.random.default_rng(0)
    codes = np.arange(n_rows) % CLASSES
    corners = np.eye(CLASSES)[:, :DIMENSIONS] - 1 / CLASSES
    F = corners[codes] + 0.15 * rng.normal(size=(n_rows, DIMENSIONS))
    loss = HingeLoss(CLASSES, fast=worthwhile(n_rows))

    def blocks(Z: np.ndarray) -> Any:
        return rows_of(Z, CENTERS).attach(BlockRows, codes, np.ones(n_rows), Z)

    first = loss.g_step(blocks(F), DIMENSIONS, None).parameters
    Z = blocks(loss.z_step(F, codes, first, 5.0))
    return best_of(lambda: loss.g_step(Z, DIMENSIONS, first), 2) / n_rows, best_of(
        lambda: loss.z_step(F, codes, first, 7.5), 2
    ) / n_rows


def tables(c: Constants) -> str:
    """Return the tables of the page in Markdown."""
    D, M, L, K, N = FEATURES, CENTERS, DIMENSIONS, CLASSES, ROWS
    lines = [
        "| measured | value |",
        "|---|---|",
        f"| Φ, {D} features, {M} centres, one thread | {1e6 * c.basis:.1f} µs a row "
        f"({(2 * D * M) / c.basis / 1e9:.1f} Gflop/s without the exponentials) |",
        f"| ΦᵀΦ in double precision, one thread | {1e6 * c.gram:.1f} µs a row "
        f"({M * M / c.gram / 1e9:.1f} Gflop/s) |",
        f"| ΦᵀZ and ΦW, one thread | {1e6 * c.step:.2f} µs a row |",
        f"| a pass that computes nothing, one task per worker | {1e3 * c.empty_pass:.0f} ms |",
        f"| each task more | {1e3 * c.task:.1f} ms |",
        f"| client to workers | {c.sending / 1e6:.0f} MB/s |",
        f"| workers to client | {c.receiving / 1e6:.0f} MB/s |",
        f"| sums of a g step, {K} classes, one thread | {1e6 * c.g_step:.1f} µs a row |",
        f"| z step, one thread | {1e6 * c.z_step:.1f} µs a row |",
        "",
        f"A billion rows, {D} features, M = {M}, L = {L}, {K} classes, {ITERATIONS} iterations:",
        "",
        "| | operations | "
        + " | ".join(f"seconds, {threads} threads" for threads in THREADS)
        + " |",
        "|---|---|" + "---|" * len(THREADS),
        _line("Φ and ΦᵀΦ, once", N * (2 * D * M + M * M), N * (c.basis + c.gram)),
        _line(
            "an iteration: Φ made again, ΦW, z step, ΦᵀZ, sums of the g step",
            N * (2 * D * M + 4 * M * L),
            N * (c.basis + c.step + c.z_step + c.g_step),
        ),
        _line(
            "the same with Φ kept (4 TB over all workers)",
            N * 4 * M * L,
            N * (c.step + c.z_step + c.g_step),
        ),
        "",
        "| what travels in an iteration | bytes | seconds |",
        "|---|---|---|",
        _travels(
            "W and the SVMs, to each of 1000 workers", 8 * (M * L + K * (L + 1)) * 1000, c.sending
        ),
        _travels("ΦᵀZ and sums, from 1000 workers in a tree of eights", 8 * 8 * M * L, c.receiving),
        _travels(
            f"rows near the margins, {ROUNDS} times",
            ROUNDS * 8 * K * (500 * (L + 5) + MERGED * (L + 2)),
            c.receiving,
        ),
        "",
        f"The client keeps ΦᵀΦ, its factor, and a byte of each row's class: "
        f"{(16 * M * M + N) / 1e9:.1f} GB.",
    ]
    return "\n".join(lines)


def _line(what: str, operations: float | None, seconds: float) -> str:
    count = "" if operations is None else f"{operations:.1e}"
    times = " | ".join(f"{seconds / threads:,.0f}" for threads in THREADS)
    return f"| {what} | {count} | {times} |"


def _travels(what: str, count: float, rate: float) -> str:
    return f"| {what} | {count / 1e6:,.1f} MB | {count / rate:.2f} |"


def print_model(client: Any, *, quick: bool) -> None:
    """Measure, print the tables and write them into the page."""
    text = tables(measure(client, quick))
    print(text)
    if quick:
        return
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    print(f"\nwritten into docs/{PAGE.name}")
