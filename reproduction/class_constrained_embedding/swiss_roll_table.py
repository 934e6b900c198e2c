"""Table 1: a swiss roll with two classes, all training rows labelled."""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values
from reproduction.class_constrained_embedding import NO_LABELS, as_printed, balanced_roll
from reproduction.protocols import percent_wrong

SIZES = (300, 400, 500)
N_TEST = 50
# By method: beta, dimensions.
FORMS = {
    "CCDR": (1.0, 2),
    "Laplacian": (NO_LABELS, 2),
    "CCDR, 3 dimensions": (1.0, 3),
    "Laplacian, 3 dimensions": (NO_LABELS, 3),
    "CCDR, beta 0.1": (0.1, 2),
}
PUBLISHED = {
    "CCDR": (4.4, 3.6, 2.6),
    "Laplacian": (6.4, 5.0, 3.6),
    "3-NN": (5.0, 4.4, 3.4),
}


def measure(draw: Draw, n_train: int) -> dict[str, float]:
    """Return the errors on 50 test rows, each added to the training rows by itself."""
    X, y, _ = balanced_roll(n_train + N_TEST, draw.seed)
    train, labels = X[:n_train], y[:n_train]
    nearest = KNeighborsClassifier(3).fit(train, labels)
    found = {"3-NN": percent_wrong(nearest.predict(X[n_train:]), y[n_train:])}
    for beta in dict.fromkeys(beta for beta, _ in FORMS.values()):
        wrong = {name: 0 for name, (own, _) in FORMS.items() if own == beta}
        for row, truth in zip(X[n_train:], y[n_train:], strict=True):
            both, some = np.vstack([train, row]), np.append(labels, -1)
            Z = as_printed(3, beta).fit(both, some).embedding_
            for name in wrong:
                Z_used = Z[:, : FORMS[name][1]]
                judge = KNeighborsClassifier(3).fit(Z_used[:-1], labels)
                wrong[name] += int(judge.predict(Z_used[-1:])[0] != truth)
        found.update({name: 100 * count / N_TEST for name, count in wrong.items()})
    return found


def figure(values: Values, path: Path) -> None:
    """Draw errors over the number of training rows, with the published ones."""
    fig, axes = pictures.panels(1, 1, size=(5.8, 4.2))
    names = ["3-NN", *FORMS]
    lines = {name: [[v[name] for v in values[f"{n} rows"]] for n in SIZES] for name in names}
    pictures.curves(
        axes[0, 0], SIZES, lines, xlabel="training rows", ylabel="test error %", bars="error"
    )
    for k, (name, published) in enumerate(PUBLISHED.items()):
        axes[0, 0].plot(
            SIZES, published, "--", color=f"{0.2 + 0.25 * k}", label=f"published: {name}"
        )
    axes[0, 0].set_xticks(SIZES)
    axes[0, 0].set_title("bars: standard error", fontsize=9)
    axes[0, 0].legend(frameon=False, fontsize=7)
    pictures.save(fig, path)


def row_of(n: int, name: str) -> Row:
    """Return a line; each published cell stands once."""
    published = PUBLISHED.get(name)
    return Row(
        f"{n} rows: {name}",
        f"{n} rows",
        name,
        published[SIZES.index(n)] if published else None,
        tolerance=1.2,
        digits=1,
    )


def why(m: Means, first: str, second: str) -> str:
    """Tell the differences."""
    told = ", ".join(f"{m[f'{n} rows', second] - m[f'{n} rows', first]:+.1f}" for n in SIZES)
    return f"{second} less {first}: {told} points at 300, 400, 500 rows; "


NOISE = "two standard errors of the paper's 20 x 50 test rows are 1.2 points."

EXPERIMENT = Experiment(
    name="swiss-roll",
    paper="class_constrained_embedding",
    title="Swiss roll, all training rows labelled (table 1)",
    unit="test error %",
    protocol="Swiss roll with two classes in six bands, as many rows of each class; beta 1, 12 "
    "neighbours. Each of 50 test rows is added by itself to the labelled rows, the graph is "
    "embedded, and 3 nearest neighbours in the embedding decide; 20 training sets. The text does "
    "not say to how many dimensions: two as in its figure 2, three beside it. Differences up to "
    "1.2 points (two standard errors of 20 x 50 rows) count as agreement.",
    difference="as printed; the number of dimensions and the layout of the classes are not in the "
    "text",
    covers=(
        ("001:105-110", "table 1: CCDR, Laplacian and 3-NN at 300, 400, 500 training samples"),
    ),
    parts=[Part(f"{n} rows", partial(measure, n_train=n)) for n in SIZES],
    rows=[
        row_of(n, name) for n in SIZES for name in ("CCDR", "Laplacian", "3-NN", *list(FORMS)[2:])
    ],
    draws=(2, 20),
    claims=[
        Claim(
            "CCDR outperforms the Laplacian embedding.",
            lambda m: all(m[f"{n} rows", "CCDR"] < m[f"{n} rows", "Laplacian"] for n in SIZES),
            "001:114",
            lambda m: why(m, "CCDR", "Laplacian") + NOISE,
        ),
        Claim(
            "CCDR outperforms 3-NN on the full dimensional data: supervised learning is greatly "
            "improved.",
            lambda m: all(m[f"{n} rows", "CCDR"] < m[f"{n} rows", "3-NN"] for n in SIZES),
            "001:114, 001:13",
            lambda m: why(m, "CCDR", "3-NN") + NOISE,
        ),
        Claim(
            "Reduction without guidance can harm: 3-NN does better than the Laplacian embedding.",
            lambda m: all(m[f"{n} rows", "3-NN"] < m[f"{n} rows", "Laplacian"] for n in SIZES),
            "001:114, 001:19",
            lambda m: why(m, "3-NN", "Laplacian") + NOISE,
        ),
    ],
    figure=figure,
)
