"""The linear table: projections followed by a linear SVM on eight UCI sets."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.category_space import LARGE, STANDARDISED, TABLES
from reproduction.protocols import LeastSquaresLDA
from supred.category_space.classifier import CategorySpace

METHODS: dict[str, Callable[[int], Any]] = {
    "CQS": lambda K: CategorySpace(random_state=0),
    "CAS": lambda K: CategorySpace("absolute", random_state=0),
    "LS-LDA": lambda K: LeastSquaresLDA(),
    "PCA": lambda K: PCA(K, random_state=0),
    "FLD": lambda K: LinearDiscriminantAnalysis(),
    "CQS, origin of the class": lambda K: CategorySpace(origin="class", random_state=0),
    "CQS, whitened": lambda K: CategorySpace(whiten=True, random_state=0),
}
# Accuracies in % in the order of the methods, as far as the paper has them.
PUBLISHED = {
    "vehicle": (53.9, 53.1, 76.6, 55.4, 76.8),
    "wine": (96.1, 96.8, 95.5, 77.2, 97.3),
    "iris": (97.6, 96.9, 96.1, 96.8, 96.8),
    "seeds": (90.4, 90.8, 95.2, 92.5, 95.8),
    "ann-thyroid": (94.0, 94.1, 94.0, 92.6, 93.9),
    "satellite": (85.3, 85.2, 86.4, 85.5, 86.5),
    "segmentation": (93.1, 93.4, 94.6, 94.4, 94.4),
    "vertebral-3c": (84.1, 82.8, 81.5, 80.1, 81.2),
}


def measure(draw: Draw, table: str) -> dict[str, float]:
    """Return the test accuracy of each method in one stratified split, 2/3 to train."""
    X, y = draw.data.uci(table)
    splitter = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=draw.seed)
    train, test = next(splitter.split(X, y))
    if draw.quick and len(train) > 1500:
        train = train[:1500]  # in random order already
    accuracies = {}
    for name, make in METHODS.items():
        # The ridge of the whitening wants features of a common scale.
        standardise = table in STANDARDISED or name == "CQS, whitened"
        accuracies[name] = 100 * with_svm(make(len(np.unique(y))), standardise, draw.quick).fit(
            X[train], y[train]
        ).score(X[test], y[test])
    if table == "wine":
        raw = with_svm(PCA(3, random_state=0), False, draw.quick).fit(X[train], y[train])
        accuracies["PCA, raw"] = 100 * raw.score(X[test], y[test])
    return accuracies


def with_svm(projection: Any, standardise: bool, quick: bool) -> Pipeline:
    """Return scaler, projection, scaler, linear one-vs-one SVM; C by cross-validation.

    The folds share the projection of the whole training part.
    """
    Cs = [0.1, 1.0, 10.0] if quick else [0.01, 0.1, 1.0, 10.0, 100.0]
    svm = GridSearchCV(SVC(kernel="linear", cache_size=500), {"C": Cs}, cv=3)
    first = StandardScaler() if standardise else "passthrough"
    return make_pipeline(first, projection, StandardScaler(), svm)


def rows() -> list[Row]:
    """Return a line per table and method."""
    lines = []
    for table, published in PUBLISHED.items():
        for i, name in enumerate(METHODS):
            figure = published[i] if i < len(published) else None
            lines.append(
                Row(f"{table}: {name}", table, name, figure, "higher", tolerance=1.5, digits=1)
            )
        if table == "wine":
            lines.append(
                Row("wine: PCA, raw", table, "PCA, raw", 77.2, "higher", tolerance=1.5, digits=1)
            )
    return lines


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw published against measured accuracies."""
    fig, axes = pictures.panels(1, 1, size=(5.2, 4.6))
    ax = axes[0, 0]
    for k, name in enumerate(list(METHODS)[:5]):
        x = [PUBLISHED[table][k] for table in values]
        y = [np.mean([v[name] for v in found]) for found in values.values()]
        ax.scatter(x, y, color=pictures.COLORS[k], marker=pictures.MARKERS[k], s=25, label=name)
    ax.plot([50, 100], [50, 100], color="0.6", linewidth=0.8)
    ax.set(xlabel="published accuracy %", ylabel="measured accuracy %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="category-linear",
    paper="category_space",
    title="Linear projections and a linear SVM (table 1)",
    unit="accuracy %",
    protocol="Stratified splits, 2/3 to train; a scaler and a linear one-vs-one SVM after the "
    "projection, C by 3-fold "
    "cross-validation inside the training part. Raw features but for wine, ann-thyroid and the "
    "whitened form. PCA has as many "
    "dimensions as classes. CQS and CAS with the origin at the mean of all rows. Differences up "
    "to 1.5 points count as agreement.",
    quick_note="at most 1500 training rows, three values of C.",
    parts=[
        Part(table, partial(measure, table=table), (1, 5) if table in LARGE else None)
        for table in TABLES
    ],
    rows=rows(),
    draws=(2, 20),
    claims=[
        Claim(
            "CQS is as good as Fisher's discriminant.",
            lambda m: all(m[t, "CQS"] > m[t, "FLD"] - 2 for t in PUBLISHED),
            "Not on vehicle, by some 20 points, in the paper as here: the criterion knows "
            "nothing of the spread "
            "within classes. Whitening by it, which is not in the paper, closes the gap.",
        ),
        Claim(
            "Whitened CQS is as good as Fisher's discriminant (not a claim of the paper).",
            lambda m: all(m[t, "CQS, whitened"] > m[t, "FLD"] - 2 for t in PUBLISHED),
            "Counted as met if it is at most 2 points behind on every table; a split of iris has "
            "50 test rows, so two or three rows decide in a quick run.",
        ),
        Claim(
            "The published figures are those of the constraint about each class's own mean (eq. "
            "5).",
            lambda m: m["wine", "CQS, origin of the class"] > 90,
            "They match the origin at the mean of all rows (eq. 1) and one-vs-one SVMs; about "
            "its own mean a class's "
            "scatter holds no class mean at all, and wine falls far below the published figure. "
            "The paper's wine row "
            "also mixes scalings: CQS needs standardised features, its PCA figure raw ones.",
        ),
    ],
    figure=figure,
)
