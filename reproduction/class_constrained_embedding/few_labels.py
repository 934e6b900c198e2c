"""Figure 3: the error over the number of labelled rows."""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.protocols import percent_wrong
from supred.class_embedding.classifier import ClassConstrainedEmbedding
from supred.datasets import make_classes_on_swiss_roll

N_ROWS = 1000
LABELLED = (50, 100, 200, 300, 500)
FORMS: dict[str, float | str] = {
    "Laplacian": 1e6,
    "beta 1": 1.0,
    "beta 0.1": 0.1,
    "beta chosen": "auto",
}


def measure(draw: Draw, n_labelled: int) -> dict[str, float]:
    """Return errors on the unlabelled rows."""
    X, y = make_classes_on_swiss_roll(N_ROWS, random_state=draw.seed)
    some = np.where(np.arange(N_ROWS) < n_labelled, y, -1)
    rest = slice(n_labelled, None)
    nearest = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, cv=5)
    nearest.fit(X[:n_labelled], y[:n_labelled])
    found = {"k-NN": percent_wrong(nearest.predict(X[rest]), y[rest])}
    for name, beta in FORMS.items():
        model = ClassConstrainedEmbedding(2, beta=beta, classifier="linear", random_state=0)
        found[name] = percent_wrong(model.fit(X, some).transduction_[rest], y[rest])
    return found


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw the curves."""
    fig, axes = pictures.panels(1, 1, size=(5.5, 4.0))
    lines = {
        name: [[v[name] for v in values[f"{n} labels"]] for n in LABELLED]
        for name in ("k-NN", *FORMS)
    }
    pictures.curves(
        axes[0, 0], LABELLED, lines, xlabel="labelled rows of 1000", ylabel="error % of the others"
    )
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="few-labels",
    paper="class_constrained_embedding",
    title="Few labels (figure 3)",
    unit="error % on unlabelled rows",
    protocol="1000 rows of the swiss roll, some labelled; 12 neighbours, two dimensions, the "
    "paper's linear least squares classifier. k-NN on the "
    "rows with k by cross-validation over the labelled rows; 'beta chosen' leaves labelled rows "
    "out to choose beta. The paper shows curves.",
    parts=[Part(f"{n} labels", partial(measure, n_labelled=n)) for n in LABELLED],
    rows=[
        Row(f"{n} labels: {name}", f"{n} labels", name, digits=1)
        for n in LABELLED
        for name in ("k-NN", *FORMS)
    ],
    draws=(3, 20),
    claims=[
        Claim(
            "The error falls steeply once there are more than about 100 labels (beta 1).",
            lambda m: m["100 labels", "beta 1"] > 2 * m["300 labels", "beta 1"],
        ),
        Claim(
            "Laplacian eigenmaps, which do not see labels, stay near chance with a linear "
            "classifier.",
            lambda m: m["500 labels", "Laplacian"] > 30,
        ),
        Claim(
            "The embedding is better than nearest neighbours.",
            lambda m: all(m[f"{n} labels", "beta 1"] < m[f"{n} labels", "k-NN"] for n in LABELLED),
            "With beta 1 it is behind up to several hundred labels. A beta of 0.1, or one that "
            "is chosen on the labelled rows, puts it level or "
            "ahead from 100 labels on.",
        ),
    ],
    figure=figure,
)
