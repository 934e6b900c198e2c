"""K spirals: error and shape of the latent space over the number of dimensions."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values
from reproduction.protocols import percent_wrong
from supred import LowDimSVC
from supred.datasets import make_spirals

CLASSES = range(2, 7)
DIMENSIONS = range(1, 11)
# By name: start, SVMs.
FORMS = {
    "random, one-vs-all": ("random", "ovr"),
    "random, one-vs-one": ("random", "ovo"),
    "class codes, one-vs-all": ("auto", "ovr"),
}
GRID = 60
FIXED = {"centers": "all", "gamma": 100.0, "alpha": 1.0, "C": 10.0, "tol": 5e-3}


def measure(draw: Draw, K: int, form: str) -> dict[str, Any]:
    """Return errors over L, and the shape of the latent space at L = K - 1."""
    n_rows = (60 if draw.quick else 500) * K
    X, y = make_spirals(n_rows, n_classes=K, random_state=draw.seed)
    new, truth = make_spirals(n_rows, n_classes=K, random_state=1000 + draw.seed)
    init, multi_class = FORMS[form]
    found: dict[str, Any] = {"y": y[:: max(1, n_rows // 300)]}
    errors, tests, shapes = [], [], []
    for L in DIMENSIONS:
        model = LowDimSVC(
            L, init=init, multi_class=multi_class, max_iter=30, random_state=draw.seed, **FIXED
        ).fit(X, y)
        Z = model.transform(X)
        errors.append(percent_wrong(model.predict(X), y))
        tests.append(percent_wrong(model.predict(new), truth))
        shapes.append(_shape(Z, y, K))
        flat = PCA(2).fit_transform(Z) if L > 1 else np.column_stack([Z, np.zeros(len(Z))])
        found[f"Z, {L}"] = flat[:: max(1, n_rows // 300)].round(4)
        if L == K - 1:
            history = model.history_
            axis = np.linspace(-1.1, 1.1, GRID)
            grid = np.array(np.meshgrid(axis, axis)).reshape(2, -1).T
            nested, wrong = history["nested_objective"], history["train_error"]
            found |= {
                "objective": float(nested[model.best_iter_]),
                "iterations": float(np.argmax(wrong <= wrong.min() + 0.002)),
                "settled": float(np.argmax(nested <= 1.05 * nested.min())),
                "after two": 100 * float(wrong[min(2, model.n_iter_)]),
                "X": X[:: max(1, n_rows // 300)].round(3),
                "sides": model.predict(grid),
            }
    critical = [L for L, error in zip(DIMENSIONS, errors, strict=True) if error < 0.5]
    return found | {
        "training": errors,
        "error, L = 1": errors[0],
        "error, L = 2": errors[1],
        "error": errors[K - 2],
        "test": tests[K - 2],
        "critical": float(critical[0] if critical else 11),
        "after": max(errors[critical[0] - 1 :]) if critical else 100.0,
        "within": shapes[K - 2][0],
        "uneven": shapes[K - 2][1],
    }


def _shape(Z: np.ndarray, y: np.ndarray, K: int) -> tuple[float, float]:
    """Return how far classes collapse, and how uneven the distances of their means are."""
    means = np.array([Z[y == k].mean(axis=0) for k in range(K)])
    between = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)]
    within = np.sqrt(np.mean(np.square(Z - means[y]).sum(axis=1)))
    least = max(float(between.min()), 1e-12)
    return float(min(within / least, 100.0)), float(min(between.max() / least, 100.0))


def figure(values: Values, path: Path) -> None:
    """Draw data with boundaries at L = K - 1, errors over L, and the latent spaces for all L."""
    form = "random, one-vs-one"
    fig, axes = pictures.panels(len(CLASSES), len(DIMENSIONS) + 2, size=(1.35, 1.35))
    axis = np.linspace(-1.1, 1.1, GRID)
    for row, K in zip(axes, CLASSES, strict=True):
        for k, name in enumerate(FORMS):
            errors = values[f"K = {K}, {name}"][0]["training"]
            row[1].plot(DIMENSIONS, errors, color=pictures.COLORS[k], lw=1, label=name)
        row[1].set(ylim=(-3, 85), xticks=[1, 5, 10], yticks=[0, 50])
        row[1].tick_params(labelsize=6)
        row[1].set_title("error % over L", fontsize=6)
        found = values[f"K = {K}, {form}"][0]
        y = np.array(found["y"])
        pictures.scatter(row[0], np.array(found["X"]), y, size=2)
        sides = np.array(found["sides"]).reshape(GRID, GRID)
        levels = np.arange(K - 1) + 0.5
        row[0].contour(axis, axis, sides, levels=levels, colors="k", linewidths=0.5)
        row[0].set_title(f"K = {K}, L = {K - 1}", fontsize=6)
        for ax, L in zip(row[2:], DIMENSIONS, strict=True):
            pictures.scatter(ax, np.array(found[f"Z, {L}"]), y, size=3)
            ax.set_title(f"L = {L}: {found['training'][L - 1]:.0f} %", fontsize=6)
    axes[0, 1].legend(frameon=False, fontsize=4)
    pictures.save(fig, path)


def claim_all(m: Means, form: str, test: Any, classes: Any = CLASSES) -> bool:
    """Whether a test holds for every K."""
    return all(test(K, lambda key, K=K: m[f"K = {K}, {form}", key]) for K in classes)


def why_each(m: Means, form: str, key: str, digits: int = 1) -> str:
    """Tell a figure for each K."""
    return ", ".join(f"K = {K}: {m[f'K = {K}, {form}', key]:.{digits}f}" for K in CLASSES)


ALL, ONE, CODES = FORMS
EXPERIMENT = Experiment(
    name="many-spirals",
    paper="low_dim_svm",
    title="K spirals: how many dimensions the classes need (figure 3)",
    unit="K classes in L dimensions",
    protocol="K = 2 to 6 spirals, 500 training rows each, all rows as centres, L = 1 to 10, other "
    "hyperparameters fixed (sigma = 0.07, lambda = 1, C = 10, at most 30 iterations). From random "
    "coordinates with one-vs-all SVMs as printed and with one-vs-one SVMs, and from the class "
    "codes (a simplex from L = K - 1 on). Iterations: until the training error is at its least "
    "value. The figure has the latent spaces from random starts, one-vs-one.",
    difference="the fixed hyperparameters are not printed; one-vs-one beside one-vs-all",
    covers=(
        ("000:176, 003:413-419", "protocol of the K spirals"),
        ("000:185, 003:467-468", "figure 3 (figure 2 of 003): the K x L grid"),
    ),
    quick_note="60 rows of each spiral.",
    parts=[
        Part(f"K = {K}, {form}", partial(measure, K=K, form=form))
        for form in FORMS
        for K in CLASSES
    ],
    rows=[
        Row(
            f"K = {K}, {form}: {label}",
            f"K = {K}, {form}",
            key,
            published,
            tolerance=0.5,
            digits=digits,
        )
        for form in FORMS
        for K in CLASSES
        for label, key, published, digits in (
            ("training error %, L = 1", "error, L = 1", None, 1),
            ("training error %, L = 2", "error, L = 2", None, 1),
            ("training error %, L = K - 1", "error", 0.0, 1),
            ("test error %, L = K - 1", "test", None, 1),
            ("least L with no training error (11: none)", "critical", None, 1),
            ("rms distance to the class mean / least between means", "within", None, 3),
            ("largest / least distance between means", "uneven", None, 3),
            ("iterations, L = K - 1", "iterations", None, 1),
            ("iterations to within 5 % of the least objective", "settled", None, 1),
            ("least nested objective, L = K - 1", "objective", None, 1),
        )
    ],
    draws=(1, 1),
    claims=[
        Claim(
            "With L = 1 only two classes may be linearly separable (one-vs-all).",
            lambda m: (
                m[f"K = 2, {CODES}", "error, L = 1"] < 0.5
                and min(m[f"K = {K}, {CODES}", "error, L = 1"] for K in CLASSES if K > 2) > 5
            ),
            "000:165, 003:381-382",
            lambda m: (
                f"Training error at L = 1, one-vs-all: {why_each(m, CODES, 'error, L = 1')} %. "
                "One-vs-one SVMs only ask for an order on the line: from random starts "
                f"{why_each(m, ONE, 'error, L = 1')} %."
            ),
        ),
        Claim(
            "Not always a perfect classification with only L = 2 dimensions (one-vs-all).",
            lambda m: max(m[f"K = {K}, {CODES}", "error, L = 2"] for K in CLASSES) > 1,
            "000:176, 003:419-421",
            lambda m: (
                f"From class codes, one-vs-all: {why_each(m, CODES, 'error, L = 2')} %; from "
                f"random starts, one-vs-one: {why_each(m, ONE, 'error, L = 2')} %."
            ),
        ),
        Claim(
            "The performance improves drastically with L at first and then stabilises after a "
            "critical L.",
            lambda m: claim_all(m, CODES, lambda K, of: of("critical") < 11 and of("after") < 1),
            "000:176, 003:422-430",
            lambda m: (
                f"Critical L from class codes: {why_each(m, CODES, 'critical', 0)}; from random "
                f"starts, one-vs-one: {why_each(m, ONE, 'critical', 0)}; one-vs-all: "
                f"{why_each(m, ALL, 'critical', 0)}."
            ),
        ),
        Claim(
            "With L = K - 1 each class is a point-like cluster on a regular simplex, with no error "
            "(from random starts, one-vs-all as printed).",
            lambda m: claim_all(
                m,
                ALL,
                lambda K, of: of("within") < 0.3 and of("uneven") < 1.3 and of("error") < 0.5,
            ),
            "000:176, 000:14, 000:256, 003:26-31, 003:430-434",
            lambda m: (
                f"Training errors {why_each(m, ALL, 'error', 0)} %. From noise each one-vs-all SVM "
                "of three or more classes has its optimum at w = 0, unless there are many "
                "dimensions and few rows, and nothing moves."
            ),
        ),
        Claim(
            "The same from random starts with one-vs-one SVMs: point-like clusters on a simplex "
            "emerge.",
            lambda m: claim_all(
                m,
                ONE,
                lambda K, of: of("within") < 0.3 and of("uneven") < 1.3 and of("error") < 0.5,
            ),
            "000:176, 000:14, 000:256, 003:430-434",
            lambda m: (
                f"Errors {why_each(m, ONE, 'error')} %; rms distance to the mean over the least "
                f"between means {why_each(m, ONE, 'within', 2)}; largest over least distance of "
                f"the means {why_each(m, ONE, 'uneven', 2)}."
            ),
            "one-vs-one SVMs",
        ),
        Claim(
            "A simplex start converges much faster (usually in 1 iteration).",
            lambda m: (
                claim_all(m, CODES, lambda K, of: of("iterations") <= 1)
                and claim_all(m, ONE, lambda K, of: of("iterations") >= 2)
            ),
            "000:176",
            lambda m: (
                f"Iterations to the least training error: {why_each(m, CODES, 'iterations')} from "
                f"the simplex, {why_each(m, ONE, 'iterations')} from random coordinates "
                "(one-vs-one); to within 5 % of the least objective "
                f"{why_each(m, CODES, 'settled', 0)} and {why_each(m, ONE, 'settled', 0)}, as mu "
                "has to grow for either."
            ),
        ),
        Claim(
            "The minimum from a simplex start has a quality similar to that from a random one.",
            lambda m: all(
                abs(m[f"K = {K}, {CODES}", "test"] - m[f"K = {K}, {ONE}", "test"]) < 1.5
                for K in CLASSES
            ),
            "000:176",
            lambda m: (
                f"Test errors {why_each(m, CODES, 'test')} % and {why_each(m, ONE, 'test')} %."
            ),
        ),
        Claim(
            "The recipe: start from L = K - 1 and increase L until the error does not improve.",
            lambda m: claim_all(m, CODES, lambda K, of: of("error") < 0.5 and of("after") < 1),
            "000:176, 003:434-436",
            "At L = K - 1 nothing is left to improve.",
        ),
        Claim(
            "In the first 1-2 iterations the coordinates reorganise, and are only refined "
            "afterwards.",
            lambda m: claim_all(m, ONE, lambda K, of: of("after two") < 10),
            "000:153, 003:318-321",
            lambda m: (
                "Training error after two iterations from random starts (one-vs-one): "
                f"{why_each(m, ONE, 'after two')} %."
            ),
        ),
        Claim(
            "L = 2 is theoretically sufficient, but with a limited F up to L = K - 1 helps.",
            lambda m: all(
                m[f"K = {K}, {CODES}", "error, L = 2"] >= m[f"K = {K}, {CODES}", "error"]
                for K in CLASSES
            ),
            "000:256",
        ),
    ],
    figure=figure,
)
