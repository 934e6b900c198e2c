"""The kernel tables: linear SVMs on kernel projections, and the angle rule."""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values
from reproduction.category_space import LARGE, PLAIN_KERNEL, TABLES
from reproduction.protocols import median_distance
from supred import CategorySpace, KernelDiscriminantAnalysis

BALANCED = "thyroid, balanced"
# Accuracies in %: table 2 (linear SVM), then table 3 (angles).
PUBLISHED = {
    "Vehicle": (40.27, 40.92, 44.81, 74.35, 67.96, 68.24),
    "Wine": (92.95, 95.63, 95.95, 96.88, 95.32, 95.32),
    "Iris": (95.55, 93.33, 95.55, 94.44, 95.55, 95.18),
    "Seeds": (90.21, 90.47, 91.53, 93.65, 91.79, 91.79),
    "thyroid": (41.97, 40.24, 43.08, 72.34, 67.90, 66.79),
    "Satellite": (81.54, 86.23, 89.69, 90.61, 83.33, 76.29),
    "Segmentation": (72.96, 77.24, 83.01, 92.43, 50.21, 48.94),
    "Vertebral": (70.96, 69.53, 70.96, 82.25, 77.59, 77.77),
}
METHODS = ("K-CQS", "K-CAS", "K-PCA", "K-MC-FLD", "K-CQS-A", "K-CAS-A")
FACTORS = {True: (0.05, 0.3, 1.0), False: (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)}
CS = {True: (1.0, 100.0), False: (0.1, 1.0, 10.0, 100.0)}
Predict = Callable[[np.ndarray], np.ndarray]
MOST_TO_CHOOSE = 800


def makers(K: int) -> dict[str, Callable[[float], Any]]:
    """Return, by method, what makes the projection for a gamma."""
    options = {**PLAIN_KERNEL, "origin": "class", "n_init": 0, "random_state": 0}
    return {
        "K-CQS": lambda g: CategorySpace(gamma=g, **options),
        "K-CAS": lambda g: CategorySpace("absolute", gamma=g, max_iter=300, **options),
        "K-PCA": lambda g: KernelPCA(
            K, kernel="rbf", gamma=g, eigen_solver="randomized", random_state=0
        ),
        "K-MC-FLD": lambda g: KernelDiscriminantAnalysis(gamma=g, alpha=1e-3, random_state=0),
        "K-CQS, zero origin": lambda g: CategorySpace(gamma=g, **{**options, "origin": "zero"}),
    }


def measure(draw: Draw, table: str) -> dict[str, float]:
    """Return the test accuracies in one split: 2/3 to train.

    A quarter of the training part chooses width and C; the chosen model is then fitted to all.
    """
    X, y = rows_of(draw, table)
    outer = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=draw.seed)
    train, test = next(outer.split(X, y))
    if draw.quick:
        train = train[:600]
    X = StandardScaler().fit(X[train]).transform(X)
    inner = StratifiedShuffleSplit(1, test_size=1 / 4, random_state=draw.seed)
    first, second = next(inner.split(X[train], y[train]))
    first, second = train[first][:MOST_TO_CHOOSE], train[second][:MOST_TO_CHOOSE]
    distance = median_distance(X[train])
    gammas = [0.5 / (factor * distance) ** 2 for factor in FACTORS[draw.quick]]
    found = {"majority": 100 * float(np.unique(y[test], return_counts=True)[1].max() / len(test))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LIBLINEAR at large C
        for name, make in makers(len(np.unique(y))).items():
            fitted = {gamma: make(gamma).fit(X[first], y[first]) for gamma in gammas}
            tried = {
                (gamma, C): np.mean(svm_after(model, C, X[first], y[first])(X[second]) == y[second])
                for gamma, model in fitted.items()
                for C in CS[draw.quick]
            }
            gamma, C = max(tried, key=lambda key: tried[key])
            best = make(gamma).fit(X[train], y[train])
            svms = svm_after(best, C, X[train], y[train])
            found[name] = 100 * float(np.mean(svms(X[test]) == y[test]))
            if name in ("K-CQS", "K-CAS"):
                gamma = max(gammas, key=lambda g: fitted[g].score(X[second], y[second]))
                best = make(gamma).fit(X[train], y[train])
                found[f"{name}-A"] = 100 * float(best.score(X[test], y[test]))
    return found


def rows_of(draw: Draw, table: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a set; "balanced" has as many rows of each class as the smallest class has."""
    X, y = draw.data.uci(TABLES[table.split(",")[0]])
    if table != BALANCED:
        return X, y
    rng = np.random.default_rng(draw.seed)
    labels, counts = np.unique(y, return_counts=True)
    kept = [rng.choice(np.flatnonzero(y == k), counts.min(), replace=False) for k in labels]
    chosen = rng.permutation(np.concatenate(kept))
    return X[chosen], y[chosen]


def svm_after(projection: Any, C: float, X: np.ndarray, y: np.ndarray) -> Predict:
    """Train one-vs-all linear SVMs on the standardised projections; return their prediction."""
    scaler = StandardScaler().fit(projection.transform(X))
    svm = LinearSVC(C=C, loss="hinge", intercept_scaling=10.0, max_iter=2000, random_state=0)
    svm.fit(scaler.transform(projection.transform(X)), y)
    return lambda new: svm.predict(scaler.transform(projection.transform(new)))


def row_lines(table: str) -> list[Row]:
    """Return the lines of a set: its six published cells, then ours."""
    common: dict[str, Any] = {"better": "higher", "tolerance": 3.0}
    published = PUBLISHED.get(table, (None,) * 6)
    lines = [
        Row(f"{table}: {name}", table, name, figure, **common)
        for name, figure in zip(METHODS, published, strict=True)
    ]
    lines.append(Row(f"{table}: K-CQS, zero origin (ours)", table, "K-CQS, zero origin", **common))
    lines.append(Row(f"{table}: share of the largest class", table, "majority", **common))
    return lines


def figure(values: Values, path: Path) -> None:
    """Draw published against measured accuracies."""
    fig, axes = pictures.panels(1, 1, size=(6.0, 5.0))
    for k, name in enumerate(METHODS):
        tables = [table for table in values if table in PUBLISHED]
        x = [PUBLISHED[table][k] for table in tables]
        y = [np.mean([v[name] for v in values[table]]) for table in tables]
        axes[0, 0].scatter(
            x, y, color=pictures.COLORS[k], marker=pictures.MARKERS[k], s=28, label=name
        )
    axes[0, 0].plot([35, 100], [35, 100], color="0.6", linewidth=0.8)
    axes[0, 0].set(xlabel="published accuracy %", ylabel="measured accuracy %")
    axes[0, 0].spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=8)
    pictures.save(fig, path)


def claim_similar(m: Means, name: str) -> int:
    """Count the sets where a method is at most 5 points behind K-PCA."""
    return sum(m[t, name] > m[t, "K-PCA"] - 5 for t in PUBLISHED)


def why_thyroid(m: Means) -> str:
    """Tell the figures of the balanced set."""
    own = ", ".join(f"{name} {m[BALANCED, name]:.1f}" for name in METHODS)
    return (
        f"The largest class has {m['thyroid', 'majority']:.1f} % of the rows, so 40 to 43 % lie "
        f"far below guessing. On as many rows of each class (166) we measure {own}: the printed "
        "row is of the size that a balanced part would give, which the text does not mention."
    )


SETS = (*PUBLISHED, BALANCED)
EXPERIMENT = Experiment(
    name="category-kernel",
    paper="category_space",
    title="Kernel projections, linear SVM and angle rule (tables 2 and 3)",
    unit="accuracy %",
    protocol="Gaussian kernel on standardised features; 2/3 to train, of which a quarter chooses "
    "the width (multiples of the median distance) and C, then fitted to all of it; origin of each "
    "class, as in (35) and (36); one-vs-all linear SVMs. Differences up to 3 points count as "
    "agreement: the text does not say how the width is chosen.",
    difference="width and C by a held-out quarter of the training part; up to 800 rows choose",
    covers=(
        ("002:369-379", "table 2: all 32 cells"),
        ("002:381-391", "table 3: all 16 cells"),
    ),
    quick_note="at most 600 training rows, three widths, two values of C.",
    parts=[
        Part(t, partial(measure, table=t), (1, 3) if t in (*LARGE, "Segmentation") else None)
        for t in SETS
    ],
    rows=[row for table in SETS for row in row_lines(table)],
    draws=(1, 10),
    claims=[
        Claim(
            "The kernel formulations achieve accuracies similar to their kernel counterparts (at "
            "most 5 points below K-PCA on most sets).",
            lambda m: min(claim_similar(m, "K-CQS"), claim_similar(m, "K-CAS")) > 4,
            "002:367",
            lambda m: (
                f"K-CQS on {claim_similar(m, 'K-CQS')}, K-CAS on {claim_similar(m, 'K-CAS')} of 8 "
                "sets; in the printed table on 6 and 6. K-MC-FLD is ahead nearly everywhere, "
                "printed and measured. About a class's own mean the signs of the projections are "
                "arbitrary, so no hyperplane can use them well; about zero it can."
            ),
        ),
        Claim(
            "The angle rule shows reasonable performance.",
            lambda m: all(m[t, "K-CQS-A"] > PUBLISHED[t][4] - 4 for t in PUBLISHED),
            "002:417, 002:399",
            "Counted as met if nowhere more than 4 points below the printed figure. The chosen "
            "width is narrow, and the rule is then close to nearest neighbours; on Segmentation it "
            "is far above the printed 50.21.",
        ),
        Claim(
            "thyroid has 40 to 43 % with an SVM and 67 to 68 % by angles.",
            lambda m: m["thyroid", "K-CQS"] < 60,
            "002:376, 002:388",
            why_thyroid,
        ),
    ],
    figure=figure,
)
