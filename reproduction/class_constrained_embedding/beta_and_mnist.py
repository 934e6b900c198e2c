"""The paper's future work: the influence of beta, and MNIST."""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.class_constrained_embedding import NO_LABELS, as_printed, balanced_roll
from reproduction.protocols import draw_rows, percent_wrong

BETAS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3)
METHODS = {
    "Laplacian, 9 dimensions": NO_LABELS,
    "CCDR, beta 1": 1.0,
    "CCDR, beta 0.1": 0.1,
    "CCDR, beta 0.01": 0.01,
}


def roll(draw: Draw, beta: float) -> dict[str, float]:
    """Return the errors of new rows and how far the classes collapse; 400 labelled, 400 not."""
    X, y, _ = balanced_roll(800, draw.seed)
    some = np.where(np.arange(800) < 400, y, -1)
    model = as_printed(2, beta).fit(X, some)
    Z = model.embedding_
    means = np.array([Z[:400][y[:400] == k].mean(axis=0) for k in (0, 1)])
    within = np.sqrt(np.mean(np.square(Z[:400] - means[y[:400]]).sum(axis=1)))
    return {
        "error": percent_wrong(model.transduction_[400:], y[400:]),
        "collapse": float(within / np.linalg.norm(means[1] - means[0])),
    }


def mnist(draw: Draw) -> dict[str, float]:
    """Return the 3-NN errors on 1000 test rows embedded with 3000 labelled ones."""
    n_train = 1000 if draw.quick else 3000
    rows = draw_rows(draw.data.mnist(), n_train, 0, draw.seed)
    chosen = np.random.default_rng(draw.seed).choice(len(rows.y_test), 1000, replace=False)
    X_test, y_test = rows.X_test[chosen], rows.y_test[chosen]
    nearest = KNeighborsClassifier(3).fit(rows.X, rows.y)
    found = {"3-NN, pixels": percent_wrong(nearest.predict(X_test), y_test)}
    pca = PCA(50, random_state=0).fit(rows.X)
    X, new = pca.transform(rows.X), pca.transform(X_test)
    found["3-NN, PCA(50)"] = percent_wrong(
        KNeighborsClassifier(3).fit(X, rows.y).predict(new), y_test
    )
    both = np.vstack([X, new])
    some = np.append(rows.y.astype(int), np.full(len(new), -1))
    for name, beta in METHODS.items():
        model = as_printed(9, beta)
        found[name] = percent_wrong(model.fit(both, some).transduction_[len(X) :], y_test)
    return found


def figure(values: Values, path: Path) -> None:
    """Draw error and collapse over beta, and the errors on MNIST."""
    fig, axes = pictures.panels(1, 3, size=(4.2, 3.4))
    for ax, key, label in zip(
        axes[0],
        ("error", "collapse"),
        ("error %", "rms distance to the mean / between means"),
        strict=False,
    ):
        lines = {"CCDR": [[v[key] for v in values[f"beta {beta:g}"]] for beta in BETAS]}
        pictures.curves(ax, BETAS, lines, xlabel="beta", ylabel=label)
        ax.set(xscale="log")
    found = values["MNIST"]
    names = ["3-NN, pixels", "3-NN, PCA(50)", *METHODS]
    short = [name.replace(", ", "\n") for name in names]
    pictures.dots(axes[0, 2], {s: [v[n] for v in found] for s, n in zip(short, names, strict=True)})
    axes[0, 2].set_ylabel("MNIST, error %")
    axes[0, 2].tick_params(axis="x", labelsize=6)
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="beta-and-mnist",
    paper="class_constrained_embedding",
    title="The influence of beta, and MNIST (named as future work)",
    unit="error %",
    protocol="Swiss roll: 400 labelled and 400 unlabelled rows, two dimensions, 3-NN in the "
    "embedding. MNIST: 3000 labelled and 1000 test rows after PCA(50), embedded together in nine "
    "dimensions, 3-NN. 12 neighbours.",
    difference="the text announces both studies and describes neither",
    covers=(("001:136-138", "the influence of beta; MNIST"),),
    quick_note="1000 labelled MNIST rows.",
    parts=[
        *(Part(f"beta {beta:g}", partial(roll, beta=beta), (3, 20)) for beta in BETAS),
        Part("MNIST", mnist, (1, 5)),
    ],
    rows=[
        *(Row(f"swiss roll, beta {beta:g}", f"beta {beta:g}") for beta in BETAS),
        *(
            Row(
                f"swiss roll, beta {beta:g}: rms distance to the class mean / between means",
                f"beta {beta:g}",
                "collapse",
                digits=3,
            )
            for beta in BETAS
        ),
        *(
            Row(f"MNIST: {name}", "MNIST", name)
            for name in ("3-NN, pixels", "3-NN, PCA(50)", *METHODS)
        ),
    ],
    draws=(1, 5),
    claims=[
        Claim(
            "Small values of beta collapse the classes onto their centers.",
            lambda m: m["beta 0.001", "collapse"] < 0.2 * m["beta 10", "collapse"],
            "001:78",
        ),
        Claim(
            "A collapsed embedding is of little value for generalisation.",
            lambda m: m["beta 0.001", "error"] > m["beta 1", "error"] + 1,
            "001:78",
            lambda m: (
                f"{m['beta 0.001', 'error']:.1f} % at beta 0.001, {m['beta 0.1', 'error']:.1f} % "
                f"at 0.1, {m['beta 1', 'error']:.1f} % at 1. Unlabelled rows are still drawn by "
                "their neighbours to the right place."
            ),
        ),
        Claim(
            "Large values of beta ignore the class labels.",
            lambda m: m["beta 1000", "collapse"] > 2,
            "001:78",
        ),
        Claim(
            "On MNIST CCDR is better than the Laplacian embedding and than 3-NN on pixels.",
            lambda m: (
                m["MNIST", "CCDR, beta 0.1"]
                < min(m["MNIST", "Laplacian, 9 dimensions"], m["MNIST", "3-NN, pixels"])
            ),
        ),
    ],
    figure=figure,
)
