"""MNIST, ten classes: the latent space at L = 10 by PCA and t-SNE, and the time to predict."""

from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values
from reproduction.protocols import draw_rows, low_dim_svm, percent_wrong

GAMMA = 1 / 32  # sigma = 4
STARTS: dict[str, dict[str, Any]] = {
    "random, one-vs-one": {"init": "random", "multi_class": "ovo", "alphas": (1.0,), "Cs": (10.0,)},
    "class codes": {"init": "auto", "Cs": (10.0,)},
}
N_SHOWN = 500


def measure(draw: Draw, start: str) -> dict[str, Any]:
    """Return pictures of training and test rows at L = 10, the shape, and times of prediction."""
    size = 2000 if draw.quick else 10_000
    rows = draw_rows(draw.data.mnist(), size, size, draw.seed)
    M = 500 if draw.quick else 2500
    model = low_dim_svm(rows, 10, gammas=(GAMMA,), n_centers=M, seed=draw.seed, **STARTS[start])
    Z = model.transform(rows.X)
    means = np.array([Z[rows.y == k].mean(axis=0) for k in range(10)])
    between = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(10, 1)]
    within = np.sqrt(np.mean(np.square(Z - means[rows.y]).sum(axis=1)))
    found: dict[str, Any] = {
        "within": float(within / between.min()),
        "uneven": float(between.max() / between.min()),
    }
    for kind, X, y in (("training", rows.X, rows.y), ("test", rows.X_test, rows.y_test)):
        shown, labels = model.transform(X[:N_SHOWN]), y[:N_SHOWN]
        flat = TSNE(2, random_state=0).fit_transform(shown)
        half = N_SHOWN // 2
        judge = KNeighborsClassifier(5).fit(flat[:half], labels[:half])
        found[f"{kind}: t-SNE"] = percent_wrong(judge.predict(flat[half:]), labels[half:])
        found[f"{kind}: PCA picture"] = PCA(2).fit_transform(shown).round(4)
        found[f"{kind}: t-SNE picture"] = flat.round(3)
        found[f"{kind}: labels"] = labels
    svm = SVC(C=10.0, gamma=GAMMA).fit(rows.X, rows.y)
    times = []
    for one in (model, svm):
        began = process_time()
        one.predict(rows.X_test[:1000])
        times.append(process_time() - began)
    return found | {"ratio": times[1] / max(times[0], 1e-9)}


def figure(values: Values, path: Path) -> None:
    """Draw training rows by PCA and t-SNE, and test rows by t-SNE, for each start."""
    fig, axes = pictures.panels(len(STARTS), 3, size=(4.0, 3.6))
    for row, start in zip(axes, STARTS, strict=True):
        found = values[start][0]
        views = (("training", "PCA"), ("training", "t-SNE"), ("test", "t-SNE"))
        for ax, (kind, view) in zip(row, views, strict=True):
            Z, labels = (
                np.array(found[f"{kind}: {view} picture"]),
                np.array(found[f"{kind}: labels"]),
            )
            pictures.scatter(ax, Z, labels, f"{start}: 500 {kind} rows by {view}", 10)
    axes[0, 2].legend(fontsize=6, frameon=False)
    pictures.save(fig, path)


RANDOM, CODES = STARTS


def why_each(m: Means, key: str) -> str:
    """Tell a figure for each start."""
    return ", ".join(f"{m[start, key]:.2f} from {start}" for start in STARTS)


EXPERIMENT = Experiment(
    name="mnist-latent",
    paper="low_dim_svm",
    title="MNIST, ten classes: the latent space (figure 6, top right)",
    unit="L = 10, M = 2500, sigma = 4",
    protocol="10 000 training and 10 000 validation rows. From random coordinates with one-vs-one "
    "SVMs (lambda = 1, C = 10) and from class codes (lambda = 1e-3, C = 10). 500 rows by PCA and "
    "by t-SNE; 5 nearest neighbours on half of them judge the other half.",
    difference="one-vs-one SVMs from random coordinates: one-vs-all ones do not leave such a start",
    covers=(
        (
            "000:244, 003:537-539",
            "figure 6 top right (figure 5 of 003, middle): latent space by PCA",
        ),
    ),
    quick_note="2000 + 2000 rows, M = 500.",
    parts=[Part(start, partial(measure, start=start)) for start in STARTS],
    rows=[
        Row(f"{start}: {label}", start, key, better=better, digits=digits)
        for start in STARTS
        for label, key, better, digits in (
            ("rms distance to the class mean / least between means", "within", "lower", 3),
            ("largest / least distance between means", "uneven", "lower", 3),
            ("error % of 5-NN in the t-SNE of training rows", "training: t-SNE", "lower", 2),
            ("error % of 5-NN in the t-SNE of test rows", "test: t-SNE", "lower", 2),
            ("time to predict, Gaussian SVM / ours", "ratio", "higher", 1),
        )
    ],
    draws=(1, 2),
    claims=[
        Claim(
            "A large speedup in testing time over the kernel SVM.",
            lambda m: min(m[start, "ratio"] for start in STARTS) > 2,
            "000:217, 003:541, 000:14, 003:19-23",
            lambda m: (
                f"scikit-learn's SVC takes {m[CODES, 'ratio']:.0f} times as long for 1000 rows."
            ),
        ),
        Claim(
            "At L = 10 the classes lie on the vertices of a regular simplex, from a random start "
            "(largest / least distance of the means under 1.5).",
            lambda m: m[RANDOM, "uneven"] < 1.5,
            "000:219, 003:553-557",
            lambda m: (
                f"Largest over least distance {why_each(m, 'uneven')}; rms distance to the class "
                f"mean over the least between means {why_each(m, 'within')}."
            ),
        ),
        Claim(
            "t-SNE completely separates all classes in two dimensions (training rows).",
            lambda m: m[RANDOM, "training: t-SNE"] < 1,
            "003:558-560, 000:219, 000:244",
            lambda m: (
                f"5-NN errs on {why_each(m, 'training: t-SNE')} % of the training rows and "
                f"{why_each(m, 'test: t-SNE')} % of the test rows."
            ),
        ),
    ],
    figure=figure,
)
