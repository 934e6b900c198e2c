"""Figure 1a: one pair of digits, ways to project."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy import linalg
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.max_margin_projection import draw_digits
from reproduction.protocols import Rows
from supred.max_margin.classifier import MaxMarginProjection

CS = [0.01, 0.1, 1.0, 10.0]


def rows_of(draw: Draw) -> Rows:
    """Return 200 rows of 5 and of 6 each, and their official test rows; nothing to validate."""
    X, y, X_test, y_test = draw.data.mnist()
    train = draw_digits(y, (5, 6), 200, draw.seed)
    test = np.isin(y_test, (5, 6))
    X_train, y_train = X[train].astype(float), y[train] == 6
    return Rows(
        X_train, y_train, X_train[:0], y_train[:0], X_test[test].astype(float), y_test[test] == 6
    )


def best_svm() -> GridSearchCV:
    """Return a linear SVM, C by 5-fold cross-validation."""
    return GridSearchCV(SVC(kernel="linear"), {"C": CS}, cv=5)


def ours(rows: Rows) -> np.ndarray:
    """MMDR with one dimension."""
    search = GridSearchCV(MaxMarginProjection(1), {"C": CS}, cv=5)
    return search.fit(rows.X, rows.y).decision_function(rows.X_test)


def svm(rows: Rows) -> np.ndarray:
    """Linear SVM."""
    return best_svm().fit(rows.X, rows.y).decision_function(rows.X_test)


def pca(rows: Rows) -> np.ndarray:
    """PCA(10) + linear SVM."""
    model = make_pipeline(PCA(10, random_state=0), best_svm())
    return model.fit(rows.X, rows.y).decision_function(rows.X_test)


def shrunk_lda(rows: Rows) -> np.ndarray:
    """LDA, shrinkage after Ledoit and Wolf."""
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return model.fit(rows.X, rows.y).decision_function(rows.X_test)


def plain_lda(rows: Rows) -> np.ndarray:
    """LDA without shrinkage; pixels are collinear."""
    return LinearDiscriminantAnalysis().fit(rows.X, rows.y).decision_function(rows.X_test)


def rca(rows: Rows) -> np.ndarray:
    """RCA, the classes as chunklets, on 100 principal components, + linear SVM."""
    reduce = PCA(100, random_state=0).fit(rows.X)
    Z = reduce.transform(rows.X)
    centred = Z - np.array([Z[rows.y == label].mean(axis=0) for label in rows.y])
    values, vectors = linalg.eigh(centred.T @ centred / len(Z))
    whiten = vectors / np.sqrt(np.maximum(values, 1e-10 * values[-1]))
    model = best_svm().fit(Z @ whiten, rows.y)
    return model.decision_function(reduce.transform(rows.X_test) @ whiten)


METHODS: dict[str, Callable[[Rows], np.ndarray]] = {
    "MMDR, d = 1": ours,
    "linear SVM": svm,
    "PCA(10) + SVM": pca,
    "LDA with shrinkage": shrunk_lda,
    "RCA + SVM": rca,
    "plain LDA": plain_lda,
}


def measure(draw: Draw, method: str) -> dict[str, float]:
    """Return the area under the ROC curve on the test rows."""
    rows = rows_of(draw)
    return {"area": float(roc_auc_score(rows.y_test, METHODS[method](rows)))}


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw the area of each draw as a dot, and their mean as a line."""
    fig, axes = pictures.panels(1, 1, size=(6.5, 3.4))
    pictures.dots(axes[0, 0], {name: [v["area"] for v in found] for name, found in values.items()})
    axes[0, 0].set_ylabel("area under the ROC curve")
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="one-pair",
    paper="max_margin_projection",
    title="One pair of digits (figure 1a)",
    unit="area under the ROC curve",
    protocol="MNIST 5 against 6, 200 training rows a class, the official test rows of both; C by "
    "5-fold cross-validation. The paper shows curves; its "
    "numbers are not at hand.",
    parts=[Part(name, partial(measure, method=name)) for name in METHODS],
    rows=[Row(name, name, "area", better="higher", digits=4) for name in METHODS],
    draws=(2, 10),
    claims=[
        Claim(
            "MMDR is ahead of PCA, LDA and RCA.",
            lambda m: (
                m["MMDR, d = 1", "area"] >= max(m[name, "area"] for name in list(METHODS)[2:])
            ),
        ),
        Claim(
            "It is ahead of a linear SVM (not a claim of the paper).",
            lambda m: m["MMDR, d = 1", "area"] > m["linear SVM", "area"] + 1e-4,
            "For one task the projection is the SVM's own direction, and the two are the same.",
        ),
    ],
    figure=figure,
)
