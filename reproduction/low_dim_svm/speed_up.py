"""How much faster two processors are than one."""

from pathlib import Path
from time import perf_counter, sleep

import numpy as np
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from reproduction.base import CannotMeasureError, Claim, Draw, Experiment, Part, Row
from supred.low_dim_svm.classifier import LowDimSVC

# Share of the processors that others may use while times are believed.
MOST_BUSY = 0.1
# Counters of the processors' time, where the system has them.
COUNTERS = Path("/proc/stat")


def busy_share(seconds: float = 1.0) -> float:
    """Return the share of the processors that others use, watched while this process sleeps.

    The load average would not do: it still counts the experiment before this one. 0 where the
    system does not tell.
    """
    if not COUNTERS.is_file():
        return 0.0
    before = _processor_times()
    sleep(seconds)
    passed = _processor_times() - before
    if not passed.sum() > 0:
        return 0.0
    return float(1 - passed[3:5].sum() / passed.sum())  # idle, and waiting for disks


def _processor_times() -> np.ndarray:
    first_line = COUNTERS.read_text(encoding="ascii").partition("\n")[0]
    return np.array(first_line.split()[1:9], dtype=float)


def measure(draw: Draw) -> dict[str, float]:
    """Return the seconds of a fit with one and with two threads, measured in turn."""
    busy = busy_share()
    if busy > MOST_BUSY:
        raise CannotMeasureError(
            f"the machine is busy (others use {busy:.0%} of its processors), so times would say "
            "nothing; run speed-up again when it is idle."
        )
    n_rows, n_centers, turns = (10_000, 800, 3) if draw.quick else (60_000, 2500, 5)
    X, y = make_classification(
        n_rows,
        100,
        n_informative=20,
        n_classes=10,
        n_clusters_per_class=1,
        random_state=draw.seed,
    )
    X = X.astype(np.float32)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(turns):
        for n_threads in seconds:
            model = LowDimSVC(
                n_centers=n_centers, max_iter=10, random_state=draw.seed, n_jobs=n_threads
            )
            with threadpool_limits(n_threads):
                began = perf_counter()
                model.fit(X, y)
                seconds[n_threads].append(perf_counter() - began)
    one, two = (float(np.min(seconds[n])) for n in (1, 2))
    return {"one": one, "two": two, "ratio": one / two}


EXPERIMENT = Experiment(
    name="speed-up",
    paper="low_dim_svm",
    title="Speed-up over one and two processors",
    unit="seconds of a fit",
    protocol="60 000 generated rows of 100 features, 10 classes, M = 2500, 10 iterations; "
    "threads of the linear "
    "algebra and of the SVMs; the least of five fits each, one and two threads in turn. It says "
    "something "
    "only on a machine that is otherwise idle. The paper shows a curve near the ideal one.",
    quick_note="10 000 rows, M = 800, three fits.",
    parts=[Part("threads", measure)],
    rows=[
        Row("one thread", "threads", "one"),
        Row("two threads", "threads", "two"),
        Row("ratio", "threads", "ratio", better="higher"),
    ],
    draws=(1, 1),
    claims=[
        Claim(
            "The training speeds up nearly linearly (by more than 1.6 with two).",
            lambda m: m["threads", "ratio"] > 1.6,
            "The papers' steps are independent over rows and machines; here large matrix products "
            "share the work, small ones do not.",
        )
    ],
)
