"""Coordinates of new rows: LowDimSVC beside kernel PCA and supervised UMAP."""

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from benchmarks.performance._data import Split, mixture, mnist
from benchmarks.performance._harness import Benchmark, Contender, Run, median, seconds
from benchmarks.performance._record import Figure
from supred import LowDimSVC

SEED = 0
GAMMA = 1 / 32
OURS = "LowDimSVC, L = 9"


def load(quick: bool) -> Split:
    return mixture(800, 40, n_test=500) if quick else mnist(5000)


def judged(model: Any, classifier: Any, rows: Split, took: float) -> Run:
    """Time the transform of the test rows; the classifier sees the coordinates only."""
    if classifier is not None:
        known = getattr(model, "embedding_", None)  # UMAP has the training rows' coordinates
        classifier.fit(model.transform(rows.X) if known is None else known, rows.y)
    transform_seconds, Z = seconds(model.transform, rows.X_test)
    labels = model.predict(rows.X_test) if classifier is None else classifier.predict(Z)
    return {
        "seconds": {"fit": took, "transform": transform_seconds},
        "error": rows.error(labels),
        "dimensions": int(np.shape(Z)[1]),
    }


def ours(rows: Split, threads: int) -> Run:
    n_centers = min(1000, len(rows.X) // 2)
    model = LowDimSVC(9, n_centers=n_centers, gamma=GAMMA, random_state=SEED, n_jobs=threads)
    took, _ = seconds(model.fit, rows.X, rows.y)
    return judged(model, None, rows, took)


def kernel_pca(rows: Split, n_components: int, threads: int) -> Run:
    model = KernelPCA(n_components, kernel="rbf", gamma=GAMMA, random_state=SEED, n_jobs=threads)
    took, _ = seconds(model.fit, rows.X)
    return judged(model, LinearSVC(random_state=SEED), rows, took)


def umap(rows: Split, threads: int) -> Run:
    from umap import UMAP

    codes = np.unique(rows.y, return_inverse=True)[1]
    # Its functions are compiled on first use: that is no part of the time.
    UMAP(9).fit(rows.X[:300], codes[:300]).transform(rows.X[:5])
    model = UMAP(9)  # without a seed it uses all threads
    took, _ = seconds(model.fit, rows.X, codes)
    return judged(model, KNeighborsClassifier(3), rows, took)


def figures(runs: dict[str, Run], quick: bool) -> list[Figure]:
    mine = runs[OURS]
    found = []
    for name, run in runs.items():
        if name == OURS:
            continue
        if "skipped" in run:
            found.append(Figure(f"{name}: time / ours", None, note=run["skipped"]))
            continue
        errors = f"error {run['error']:.2f} %, ours {mine['error']:.2f} %"
        for part in ("fit", "transform"):
            value = median(run, part) / median(mine, part)
            note = f"{median(run, part):.3g} s to {median(mine, part):.3g} s; {errors}"
            found.append(Figure(f"{part}: {name}'s time / ours", value, note=note, better="more"))
    return found


BENCHMARK = Benchmark(
    name="transforms",
    title="Coordinates of new rows, MNIST 5000 to train and 10 000 to transform",
    load=load,
    contenders={
        OURS: Contender(ours),
        "KernelPCA(9) + LinearSVC": Contender(lambda rows, t: kernel_pca(rows, 9, t)),
        "KernelPCA(100) + LinearSVC": Contender(lambda rows, t: kernel_pca(rows, 100, t)),
        "supervised UMAP(9) + 3-NN": Contender(umap, repeats=1, package="umap-learn"),
    },
    figures=figures,
    in_quick=False,
)
