"""Figure 3: the error over the number of labelled rows."""

from functools import partial
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values
from reproduction.class_constrained_embedding import NO_LABELS, as_printed, balanced_roll
from reproduction.protocols import percent_wrong
from supred import ClassConstrainedEmbedding

N_ROWS = 1000
LABELLED = (10, 20, 50, 100, 150, 200, 300, 400, 500)
FORMS = {"CCDR": 1.0, "Laplacian": NO_LABELS, "CCDR, beta 0.1": 0.1}
NEIGHBOURS = ("1-NN", "2-NN", "3-NN")
DEFAULT = "supred's default (flow)"


def measure(draw: Draw, n_labelled: int) -> dict[str, float]:
    """Return errors on the unlabelled rows; as many labels of each class."""
    X, y, _ = balanced_roll(N_ROWS, draw.seed)
    some = np.where(np.arange(N_ROWS) < n_labelled, y, -1)
    rest = slice(n_labelled, None)
    found = {}
    for k in (1, 2, 3):
        nearest = KNeighborsClassifier(k).fit(X[:n_labelled], y[:n_labelled])
        found[f"{k}-NN"] = percent_wrong(nearest.predict(X[rest]), y[rest])
    sign = np.where(y == 1, 1.0, -1.0)
    for name, beta in FORMS.items():
        Z = as_printed(2, beta).fit(X, some).embedding_
        # The printed loss: least squares without an intercept.
        a = np.linalg.lstsq(Z[:n_labelled], sign[:n_labelled], rcond=None)[0]
        found[name] = percent_wrong(Z[rest] @ a >= 0, sign[rest] > 0)
        found[f"{name}: line"] = _training_error(Z, sign)
    model = ClassConstrainedEmbedding(random_state=0)
    found[DEFAULT] = percent_wrong(model.fit(X, some).transduction_[rest], y[rest])
    return found


def _training_error(Z: np.ndarray, sign: np.ndarray) -> float:
    """Return the error of the least squares line of all rows, with an intercept."""
    design = np.column_stack([Z, np.ones(len(Z))])
    return percent_wrong(design @ np.linalg.lstsq(design, sign, rcond=None)[0] > 0, sign > 0)


def figure(values: Values, path: Path) -> None:
    """Draw the curves."""
    fig, axes = pictures.panels(1, 1, size=(6.0, 4.2))
    lines = {
        name: [[v[name] for v in values[f"{n} labels"]] for n in LABELLED]
        for name in (*FORMS, *NEIGHBOURS, DEFAULT)
    }
    pictures.curves(
        axes[0, 0], LABELLED, lines, xlabel="labelled rows of 1000", ylabel="error % of the others"
    )
    pictures.save(fig, path)


def claim_best_neighbours(m: Means, n: int) -> float:
    """Return the error of the best k of 1, 2, 3."""
    return min(m[f"{n} labels", name] for name in NEIGHBOURS)


MANY = [n for n in LABELLED if n > 100]


def why_neighbours(m: Means) -> str:
    """Tell the errors beyond 100 labels."""
    told = "; ".join(
        f"{n} labels: CCDR {m[f'{n} labels', 'CCDR']:.1f}, beta 0.1 "
        f"{m[f'{n} labels', 'CCDR, beta 0.1']:.1f}, best k-NN {claim_best_neighbours(m, n):.1f}"
        for n in MANY
    )
    return f"{told}. A beta of 0.1 does what the text says of beta 1."


EXPERIMENT = Experiment(
    name="few-labels",
    paper="class_constrained_embedding",
    title="Few labels (figure 3)",
    unit="error % on unlabelled rows",
    protocol="1000 rows of the swiss roll, as many labels of each class; beta 1, 12 neighbours, "
    "two dimensions; the printed least squares without intercept on the labelled rows; k-NN on the "
    "rows with the best of k = 1, 2, 3 (each is shown); 20 data sets. Beside it beta 0.1, and "
    "supred's default, the flow from the class nodes.",
    difference="as printed; the numbers of labels are read off as 10 to 500",
    covers=(("001:124-130", "figure 3: error over the number of labelled points, of 1000"),),
    parts=[Part(f"{n} labels", partial(measure, n_labelled=n)) for n in LABELLED],
    rows=[
        Row(f"{n} labels: {name}", f"{n} labels", name, digits=1)
        for n in LABELLED
        for name in (*FORMS, *NEIGHBOURS, DEFAULT)
    ],
    draws=(3, 20),
    claims=[
        Claim(
            "With few labels CCDR is almost as bad as the Laplacian.",
            lambda m: all(
                m[f"{n} labels", "CCDR"] > 0.8 * m[f"{n} labels", "Laplacian"] for n in (10, 20, 50)
            ),
            "001:132",
        ),
        Claim(
            "Beyond 100 labels the class constraints take effect: the error falls.",
            lambda m: m["100 labels", "CCDR"] > 2 * m["300 labels", "CCDR"],
            "001:132",
            lambda m: (
                f"{m['100 labels', 'CCDR']:.1f} % with 100, {m['200 labels', 'CCDR']:.1f} % with "
                f"200, {m['300 labels', 'CCDR']:.1f} % with 300 labels."
            ),
        ),
        Claim(
            "Beyond 100 labels CCDR outperforms all other methods.",
            lambda m: all(m[f"{n} labels", "CCDR"] < claim_best_neighbours(m, n) for n in MANY),
            "001:132",
            why_neighbours,
        ),
        Claim(
            "The embedding then achieves almost linear separation of the classes.",
            lambda m: m["500 labels", "CCDR: line"] < 5,
            "001:132",
            lambda m: (
                f"A line through all rows errs on {m['500 labels', 'CCDR: line']:.1f} % at 500 "
                f"labels and on {m['100 labels', 'CCDR: line']:.1f} % at 100."
            ),
        ),
        Claim(
            "In the Laplacian embedding the classes are highly mixed.",
            lambda m: m["500 labels", "Laplacian"] > 30,
            "001:132",
        ),
        Claim(
            "The method greatly improves semi-supervised learning.",
            lambda m: m["300 labels", "CCDR"] < 0.5 * m["300 labels", "Laplacian"],
            "001:13, 001:116",
            "Over the Laplacian form, greatly; over nearest neighbours, see the other claim.",
        ),
    ],
    figure=figure,
)
