"""LowDimSVC and LowDimSVCCV on tables of 100 to 2700 rows, beside SVC and a grid search over it.

``python -m benchmarks small_tables [--quick]`` standardises each table, takes two thirds of its
rows to train (2700 at most) and the rest to test, three splits each, and measures CPU seconds of
the fits one after the other, on one core. Nothing is chosen by the test rows. With ``--keep FILE``
a run that was interrupted, or one of some tables only, goes on where it ended.
"""

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks._report import Row, print_rows
from benchmarks.defaults import LARGE, SMALL, load
from supred import LowDimSVC, LowDimSVCCV
from supred.common.threads import one_blas_thread
from supred.datasets import make_spirals
from supred.datasets.real import DataNotFoundError
from supred.numerics.kernels import scale_gamma

MOST_ROWS = 2700
# Rows, features, informative ones, classes, clusters per class, separation, share of wrong labels.
GENERATED = {
    "300 x 60, 2 classes": (300, 60, 10, 2, 3, 1.0, 0.1),
    "800 x 12, 11 classes": (800, 12, 10, 11, 2, 1.0, 0.0),
    "250 x 90, 15 classes": (250, 90, 15, 15, 1, 2.0, 0.0),
    "4000 x 16, 26 classes": (4000, 16, 12, 26, 1, 2.0, 0.0),
    "4000 x 20, 4 classes": (4000, 20, 10, 4, 2, 1.0, 0.02),
}
FACTORS = (0.25, 1.0, 4.0, 16.0)
CS = (0.1, 1.0, 10.0, 100.0)
LIMITS = {
    "LowDimSVC / grid search of SVC, 16 candidates": (0.5, 1.0),
    "LowDimSVC, width and ridge given / SVC": (6.0, 20.0),
    "LowDimSVCCV / grid search of SVC, as many candidates": (1.5, np.inf),
}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels."""
    if name == "two spirals":
        return make_spirals(600, random_state=0)
    if name not in GENERATED:
        return load(name)
    n_rows, n_features, informative, n_classes, clusters, sep, flip = GENERATED[name]
    return make_classification(
        n_rows,
        n_features,
        n_informative=informative,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=clusters,
        class_sep=sep,
        flip_y=flip,
        random_state=0,
    )


def timed(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Fit and return the CPU seconds."""
    began = process_time()
    model.fit(X, y)
    return process_time() - began


def measure(X: np.ndarray, y: np.ndarray, seed: int, search: bool) -> dict[str, float]:
    """Return seconds and test errors (in %) of each method on one split."""
    train_size = min(MOST_ROWS, int(len(y) * 2 / 3))
    test_size = min(5000, len(y) - train_size)
    splits = StratifiedShuffleSplit(
        1, train_size=train_size, test_size=test_size, random_state=seed
    )
    train, test = next(splits.split(X, y))
    scaler = StandardScaler().fit(X[train])
    A, a, B, b = scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
    gammas = [factor * scale_gamma(A, np.ones(len(a))) for factor in FACTORS]
    ours = LowDimSVC(random_state=seed)
    models: dict[str, Any] = {
        "SVC": SVC(),
        "grid": GridSearchCV(SVC(), {"C": CS, "gamma": gammas}, cv=5),
        "LowDimSVC": ours,
    }
    found = {f"{name}, s": timed(model, A, a) for name, model in models.items()}
    given = LowDimSVC(gamma=ours.gamma_, alpha=ours.alpha_, random_state=seed)
    found["given, s"] = timed(given, A, a)
    if search:
        models["LowDimSVCCV"] = LowDimSVCCV(random_state=seed)
        found["LowDimSVCCV, s"] = timed(models["LowDimSVCCV"], A, a)
        n_candidates = len(models["LowDimSVCCV"].cv_results_["params"])
        found["grid, as many, s"] = found["grid, s"] * n_candidates / (len(CS) * len(FACTORS))
    return found | {
        f"{name}, %": 100 * (1 - float(model.score(B, b))) for name, model in models.items()
    }


def summarise(found: dict[str, list[dict[str, float]]], search: bool) -> Iterator[Row]:
    """Yield the figures of each table and those that must be reached."""

    def mean(name: str, key: str) -> float:
        return float(np.mean([split[key] for split in found[name]]))

    shown = ["SVC", "grid", "LowDimSVC", *(["LowDimSVCCV"] if search else [])]
    for name in found:
        errors = ", ".join(f"{key} {mean(name, key + ', %'):.1f}" for key in shown)
        seconds = ", ".join(f"{mean(name, key + ', s'):.2f}" for key in (*shown, "given"))
        yield Row(f"{name}: test error %; CPU seconds (last: given)", f"{errors}; {seconds}")
    pairs = [("LowDimSVC", "grid"), ("given", "SVC")]
    pairs += [("LowDimSVCCV", "grid, as many")] if search else []
    for (above, below), (text, (most, worst)) in zip(pairs, LIMITS.items(), strict=False):
        ratios = [mean(name, f"{above}, s") / mean(name, f"{below}, s") for name in found]
        reached = bool(np.median(ratios) <= most and max(ratios) <= worst)
        yield Row(
            f"{text}: CPU time, median; worst",
            f"{np.median(ratios):.2f}; {max(ratios):.2f}",
            required=f"<= {most:g}; {worst:g}",
            reached=reached,
        )
    gains = [mean(name, "LowDimSVC, %") - mean(name, "SVC, %") for name in found]
    yield Row(
        "error of LowDimSVC minus SVC's, both by default, points: mean; worst",
        f"{np.mean(gains):+.2f}; {max(gains):+.2f}",
        required="<= -0.5; +2",
        reached=bool(np.mean(gains) <= -0.5 and max(gains) <= 2),
    )
    if search:
        gains = [mean(name, "LowDimSVCCV, %") - mean(name, "grid, %") for name in found]
        yield Row(
            "error of LowDimSVCCV minus the searched SVC's, points: mean; worst",
            f"{np.mean(gains):+.2f}; {max(gains):+.2f}",
            required="<= +0.2",
            reached=bool(np.mean(gains) <= 0.2),
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks small_tables", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one split, no LowDimSVCCV")
    parser.add_argument("--tables", help="names of tables, with semicolons between them")
    parser.add_argument("--keep", type=Path, help="JSON file of what was found, to go on from")
    options = parser.parse_args(arguments)
    names = [*SMALL, *LARGE, *GENERATED, "two spirals"]
    if options.tables:
        names = options.tables.split(";")
    found: dict[str, list[dict[str, float]]] = {}
    if options.keep and options.keep.exists():
        found = json.loads(options.keep.read_text())
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                X, y = table(name)
            except DataNotFoundError as error:
                print(error)
                continue
            done = found.setdefault(name, [])
            for seed in range(len(done), 1 if options.quick else 3):
                done.append(measure(X, y, seed, not options.quick))
                if options.keep:
                    options.keep.write_text(json.dumps(found))
            print(f"{name}: done", flush=True)
    title = "Small tables: LowDimSVC beside SVC, one core"
    return 0 if print_rows(title, summarise(found, not options.quick)) else 1
