"""What the estimators reach at their defaults, beside what a user would take instead.

``python -m benchmarks defaults [--quick] [--tables NAME,..]`` fits every estimator without any
argument on standardised tables (scikit-learn's and those of SUPRED_DATA), three splits each, and
ends with exit code 1 if a figure is not reached. Time is CPU time of fit and predict together on
one core, as a ratio to SVC's on the same table.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_multilabel_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks._report import Row, print_rows, spread
from benchmarks.category_space import load as load_table
from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    MaxMarginProjection,
)
from supred.common.threads import one_blas_thread
from supred.datasets.real import DataNotFoundError, load_mnist

SMALL = ("iris", "wine", "breast cancer", "seeds", "new-thyroid", "vertebral-3c", "vehicle")
LARGE = ("digits", "segmentation", "satellite", "ann-thyroid", "mnist, 1500 rows")
MOST_ROWS = 2000
# Beside the estimators: what their figures are measured against.
PEERS: dict[str, Callable[[], Any]] = {
    "SVC": SVC,
    "SVC(kernel='linear')": lambda: SVC(kernel="linear"),
    "LDA": LinearDiscriminantAnalysis,
    "3-NN": lambda: KNeighborsClassifier(3),
}
OURS: dict[str, Callable[[], Any]] = {
    "CategorySpace": CategorySpace,
    "KernelDiscriminantAnalysis": KernelDiscriminantAnalysis,
    "MaxMarginProjection": MaxMarginProjection,
    "ClassConstrainedEmbedding": ClassConstrainedEmbedding,
}
# Whose mean error each may have, and how much more.
LIMITS = {
    "CategorySpace": ("SVC", 0.0),
    "KernelDiscriminantAnalysis": ("SVC", -0.5),
    "MaxMarginProjection": ("SVC(kernel='linear')", 0.5),
    "ClassConstrainedEmbedding": ("3-NN", 0.0),
}
MOST_TIME = 10.0


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and labels of a table."""
    bundled = {"breast cancer": load_breast_cancer, "digits": load_digits}
    if name in bundled:
        return bundled[name](return_X_y=True)
    if name.startswith("mnist"):
        X, y = load_mnist()[:2]
        rows = np.random.default_rng(0).choice(len(y), 1500, replace=False)
        return X[rows].astype(float), y[rows]
    return load_table(name)


def splits(X: np.ndarray, y: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield standardised training rows (two thirds, 2000 at most) and test rows."""
    for train, test in StratifiedShuffleSplit(count, test_size=1 / 3, random_state=0).split(X, y):
        chosen = np.random.default_rng(0).permutation(train)[:MOST_ROWS]
        scaler = StandardScaler().fit(X[chosen])
        yield scaler.transform(X[chosen]), y[chosen], scaler.transform(X[test]), y[test]


def measure(make: Callable[[], Any], data: tuple[np.ndarray, ...]) -> tuple[float, float]:
    """Return the test error in % and the seconds of fit and predict."""
    X, y, X_test, y_test = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = process_time()
        predicted = make().fit(X, y).predict(X_test)
    return 100.0 * float(np.mean(predicted != y_test)), process_time() - began


def run_tables(
    names: list[str], chosen: list[str], n_splits: int
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Return the mean errors and the median seconds of each estimator on each table."""
    makers = {**PEERS, **{name: OURS[name] for name in chosen}}
    errors: dict[str, dict[str, float]] = {}
    seconds: dict[str, dict[str, float]] = {}
    for name in names:
        try:
            X, y = load(name)
        except DataNotFoundError as error:
            print(f"{name} is skipped: {error}")
            continue
        found = [
            {label: measure(make, data) for label, make in makers.items()}
            for data in splits(X, y, n_splits)
        ]
        errors[name] = {m: float(np.mean([f[m][0] for f in found])) for m in makers}
        seconds[name] = {m: float(np.median([f[m][1] for f in found])) for m in makers}
        row = "  ".join(f"{m} {errors[name][m]:.1f} ({seconds[name][m]:.2g} s)" for m in makers)
        print(f"{name} ({len(y)} x {X.shape[1]}, {len(np.unique(y))} classes): {row}", flush=True)
    return errors, seconds


def rows_of_estimator(
    name: str, errors: dict[str, dict[str, float]], seconds: dict[str, dict[str, float]]
) -> list[Row]:
    """Return the figures of one estimator and what each must reach."""
    peer, more = LIMITS[name]
    mean = float(np.mean([table[name] for table in errors.values()]))
    limit = float(np.mean([table[peer] for table in errors.values()])) + more
    ratios = {table: s[name] / s["SVC"] for table, s in seconds.items()}
    slowest = max(ratios, key=ratios.__getitem__)
    rows = [
        Row(
            f"{name}: mean test error %",
            f"{mean:.2f}",
            f"{peer} {limit - more:.2f}",
            f"<= {limit:.2f}",
            mean <= limit,
        ),
        Row(
            f"{name}: time / SVC's, all tables",
            spread(list(ratios.values()), 1),
            "-",
            f"<= {MOST_TIME:g} each",
            ratios[slowest] <= MOST_TIME,
        ),
        Row(f"{name}: time / SVC's, the worst table", f"{ratios[slowest]:.1f} ({slowest})"),
    ]
    if name == "CategorySpace":
        behind = {table: e[name] - e["LDA"] for table, e in errors.items()}
        worst = max(behind, key=behind.__getitem__)
        rows.append(
            Row(
                f"{name}: most points behind LDA",
                f"{behind[worst]:.1f} ({worst})",
                "-",
                "<= 2",
                behind[worst] <= 2.0,
            )
        )
    return rows


def label_tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield two generated tables with several labels per row, and pairs of MNIST's digits."""
    rng = np.random.default_rng(0)
    yield ("bag of words", *make_multilabel_classification(900, n_classes=5, random_state=0))
    Y = (rng.random((900, 6)) < 0.35).astype(int)
    yield "sums of parts", 1.5 * Y @ rng.normal(size=(6, 12)) + rng.normal(size=(900, 12)), Y
    try:
        X, y = load_mnist()[:2]
    except DataNotFoundError as error:
        print(f"pairs of digits are skipped: {error}")
        return
    first, second = rng.integers(len(y), size=(2, 2000))
    both = np.maximum(X[first], X[second]).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
    Y = ((y[first, None] == np.arange(10)) | (y[second, None] == np.arange(10))).astype(int)
    yield "pairs of digits", both.reshape(len(both), -1), Y


def label_rows() -> list[Row]:
    """Compare macro F1 with one-vs-rest linear SVMs on the same rows."""
    rows = []
    for name, X, Y in label_tables():
        found: dict[str, list[float]] = {"ours": [], "svm": []}
        for seed in range(3):
            parts = train_test_split(X, Y, test_size=1 / 3, random_state=seed)
            scaler = StandardScaler().fit(parts[0])
            train, test = scaler.transform(parts[0]), scaler.transform(parts[1])
            models = {"ours": CategorySpace(), "svm": OneVsRestClassifier(LinearSVC())}
            for label, model in models.items():
                predicted = model.fit(train, parts[2]).predict(test)
                found[label].append(float(f1_score(parts[3], predicted, average="macro")))
        least = float(np.mean(found["svm"]))
        rows.append(
            Row(
                f"{name} ({len(Y)} x {X.shape[1]}, {Y.shape[1]} labels): macro F1",
                spread(found["ours"], 3),
                f"linear SVMs {least:.3f}",
                f">= {least:.3f}",
                bool(np.mean(found["ours"]) >= least),
            )
        )
    return rows


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks defaults", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the small tables, two splits")
    parser.add_argument("--tables", help="names of tables, separated by semicolons")
    parser.add_argument("--estimators", help="names of estimators, separated by commas")
    options = parser.parse_args(arguments)
    names = list(SMALL) if options.quick else [*SMALL, *LARGE]
    if options.tables:
        names = options.tables.split(";")
    chosen = options.estimators.split(",") if options.estimators else list(OURS)
    with one_blas_thread():
        errors, seconds = run_tables(names, chosen, 2 if options.quick else 3)
    reached = True
    for name in chosen:
        reached &= print_rows(name, rows_of_estimator(name, errors, seconds))
    if "CategorySpace" in chosen:
        reached &= print_rows("CategorySpace, several labels per row", label_rows())
    return 0 if reached else 1
