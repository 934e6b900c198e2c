"""What a fit on a cluster costs, from constants that are measured here."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from supred.low_dim_svm.losses import HingeLoss
from supred.low_dim_svm.mappings.basis import GaussianBasis, Moments, combine, products
from supred.numerics.kernels import GaussianCenters

PAGE = Path(__file__).parent.parent / "docs" / "cluster.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
# The billion rows of the page: features, centres, dimensions, classes, iterations.
ROWS, FEATURES, CENTERS, DIMENSIONS, CLASSES, ITERATIONS = 10**9, 50, 1000, 9, 10, 20
THREADS = (100, 1000, 10_000)


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
    g_step: float  # seconds per row, on the client
    z_step: float  # seconds per row, on the client


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

    work = (lambda: basis(block), lambda: Moments()(phi), step)
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
    loss = HingeLoss(codes, CLASSES, np.ones(n_rows), C=1.0, tol=1e-8)
    loss.g_step(F)
    Z = loss.z_step(F, F, 5.0)
    return best_of(lambda: loss.g_step(Z), 2) / n_rows, best_of(
        lambda: loss.z_step(F, Z, 7.5), 2
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
        f"| g step, {K} classes, on the client | {1e6 * c.g_step:.1f} µs a row |",
        f"| Z step, on the client | {1e6 * c.z_step:.1f} µs a row |",
        "",
        f"A billion rows, {D} features, M = {M}, L = {L}, {K} classes, {ITERATIONS} iterations:",
        "",
        "| | operations | "
        + " | ".join(f"seconds, {threads} threads" for threads in THREADS)
        + " |",
        "|---|---|" + "---|" * len(THREADS),
        _line("Φ and ΦᵀΦ, once", N * (2 * D * M + M * M), N * (c.basis + c.gram)),
        _line(
            "ΦᵀZ and ΦW, an iteration, Φ made again in both passes",
            N * (4 * D * M + 4 * M * L),
            N * (2 * c.basis + c.step),
        ),
        _line("the same with Φ kept (4 TB over all workers)", N * 4 * M * L, N * c.step),
        _line(
            "g and Z step, an iteration, if they ran on the workers",
            None,
            N * (c.g_step + c.z_step),
        ),
        "",
        "| an iteration as it is built now | bytes | seconds |",
        "|---|---|---|",
        f"| Z to the workers | {8 * N * L / 1e9:.0f} GB | {8 * N * L / c.sending:,.0f} |",
        f"| F(X) to the client | {4 * N * L / 1e9:.0f} GB | {4 * N * L / c.receiving:,.0f} |",
        f"| g and Z step on the client | | {N * (c.g_step + c.z_step):,.0f} |",
        f"| client's memory, 8 N (5 L + 4 K) bytes | {8 * N * (5 * L + 4 * K) / 1e9:.0f} GB | |",
    ]
    return "\n".join(lines)


def _line(what: str, operations: float | None, seconds: float) -> str:
    count = "" if operations is None else f"{operations:.1e}"
    times = " | ".join(f"{seconds / threads:,.0f}" for threads in THREADS)
    return f"| {what} | {count} | {times} |"


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
