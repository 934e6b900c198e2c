"""ClassConstrainedEmbedding beside SpectralEmbedding, CategorySpace beside pymanopt.

The comparisons are those of ``python -m benchmarks class_constrained_embedding`` and
``category_space``, which print them with their other figures.
"""

import re
from typing import Any

from benchmarks._report import Row
from benchmarks.performance._harness import Benchmark, Contender, Run
from benchmarks.performance._record import Figure


def load(quick: bool) -> None:
    return None


def embedding(data: None, threads: int) -> Run:
    from benchmarks.class_constrained_embedding import speed

    return as_run(list(speed(quick=False)))


def category_space(data: None, threads: int) -> Run:
    from benchmarks.category_space import pymanopt_rows

    rows = pymanopt_rows(9)
    if "skipped" in rows[0].measured:
        raise ImportError(rows[0].measured)
    return as_run(rows)


def as_run(rows: list[Row]) -> Run:
    """Return what another benchmark printed, with the first row's ratio as a number."""
    found = re.match(r"[0-9.]+", rows[0].measured)
    if found is None:
        raise ValueError(f"{rows[0].check}: {rows[0].measured!r} does not start with a ratio.")
    told = [f"{row.check}: {row.measured}" for row in rows]
    return {"seconds": {}, "ratio": float(found[0]), "told": told}


def figures(runs: dict[str, Run], quick: bool) -> list[Figure]:
    asked: dict[str, dict[str, Any]] = {
        "ClassConstrainedEmbedding": {
            "name": "ClassConstrainedEmbedding, 20 000 rows: time / SpectralEmbedding's",
            "at_most": 1.2,
        },
        "CategorySpace": {
            "name": "CategorySpace, satellite: time / pymanopt's trust regions",
            "at_most": 1.0,
        },
    }
    found = []
    for name, run in runs.items():
        if "skipped" in run:
            found.append(Figure(value=None, note=run["skipped"], **asked[name]))
        else:
            found.append(Figure(value=run["ratio"], note="; ".join(run["told"]), **asked[name]))
    return found


BENCHMARK = Benchmark(
    name="other_estimators",
    title="ClassConstrainedEmbedding and CategorySpace beside their peers",
    load=load,
    contenders={
        "ClassConstrainedEmbedding": Contender(embedding, repeats=1),
        "CategorySpace": Contender(category_space, repeats=1, package="pymanopt"),
    },
    figures=figures,
    data="generated; satellite (UCI)",
    in_quick=False,
)
