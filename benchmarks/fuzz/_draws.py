"""Draw lines of Python that make awkward rows, labels, weights and estimators."""

from collections.abc import Sequence
from typing import Any

import numpy as np

# Lines that every case of an estimator begins with.
HEAD = """\
import numpy as np
from scipy import sparse
import supred
from benchmarks.fuzz import checks
"""

EXPONENTS = (0, 0, 0, 3, 8, 18, 30, 100, 200)
SCALES = tuple(10.0 ** (sign * k) for k in EXPONENTS for sign in (1, -1))
SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "coo_array")
SHIFTS = (0.0, 0.0, 0.0, 1.0, -1e3, 1e6)

# Parameters and the expressions that they may take.
PARAMETERS: dict[str, dict[str, tuple[str, ...]]] = {
    "LowDimSVC": {
        "n_components": ("None", "1", "2", "3"),
        "mapping": ("'rbf'", "'rbf'", "'linear'"),
        "centers": ("'kmeans'", "'random'", "'all'"),
        "n_centers": ("None", "2", "7"),
        "gamma": ("'scale'", "1.0", "1e-6", "1e5"),
        "alpha": ("1e-3", "1e-9", "100.0", "1e30"),
        "C": ("1.0", "1e-4", "1e4", "1e-30", "1e30"),
        "mu": ("1.0", "1e-6", "1e6"),
        "tol": ("0.0", "1.0"),
        "multi_class": ("'ovr'", "'ovo'"),
        "loss": ("'hinge'", "'log'"),
        "init": ("'auto'", "'simplex'", "'sphere'", "'random'"),
        "max_iter": ("3", "10"),
        "early_stopping": ("False", "True"),
        "class_weight": ("None", "'balanced'"),
    },
    "RBFNetClassifier": {
        "n_components": ("None", "1", "2"),
        "n_centers": ("None", "3", "'auto'"),
        "metric": ("'auto'", "'diagonal'", "'full'", "2"),
        "noise": ("'auto'", "0.0", "1.0"),
        "loss": ("'log'", "'log'", "'hinge'"),
        "gamma": ("'auto'", "'scale'", "1e-9", "1e9"),
        "alpha": ("0.0", "1e-3", "1e3", "1e12"),
        "learning_rate": ("0.05", "1e-6", "10.0"),
        "early_stopping": ("False", "True"),
        "class_weight": ("None", "'balanced'"),
    },
    "CategorySpace": {
        "kernel": ("'linear'", "'rbf'", "'poly'"),
        "criterion": ("'squared'", "'squared'", "'absolute'"),
        "gamma": ("'auto'", "'scale'", "1e-9", "1e9"),
        "alpha": ("'auto'", "0.0", "1e-9", "1e9"),
        "margin": ("0.0", "0.1", "10.0"),
        "classifier": ("'auto'", "'angle'", "'linear'"),
        "certify": ("False", "True"),
        "whiten": ("False", "True"),
        "class_weight": ("None", "'balanced'"),
    },
    "ClassConstrainedEmbedding": {
        "n_components": ("None", "1", "2"),
        "n_neighbors": ("2", "5", "12"),
        "beta": ("'auto'", "0.1", "10.0", "1e-9", "1e9"),
        "epsilon": ("'auto'", "'local'", "1e-9", "1e9"),
        "coordinates": ("'auto'", "'flow'", "'spectral'"),
        "classifier": ("'auto'", "'flow'", "'knn'", "'center'", "'linear'"),
        "class_prior": ("None", "'uniform'"),
        "class_weight": ("None", "'balanced'"),
    },
    "MaxMarginProjection": {
        "n_components": ("None", "1", "2"),
        "kernel": ("'linear'", "'linear'", "'rbf-diagonal'"),
        "C": ("1.0", "'auto'", "1e-4", "1e4", "1e8", "1e-30"),
        "tasks": ("'auto'", "'ovr'"),
        "solver": ("'lbfgs'", "'alternating'"),
        "gamma": ("'scale'", "'cv'", "1e-9", "1e9"),
        "certify": ("False", "True"),
        "max_iter": ("5", "20"),
        "class_weight": ("None", "'balanced'"),
    },
    "KernelDiscriminantAnalysis": {
        "n_components": ("None", "1", "2"),
        "kernel": ("'rbf'", "'linear'", "'poly'", "'sigmoid'"),
        "gamma": ("'auto'", "'scale'", "1e-9", "1e9"),
        "alpha": ("'auto'", "1e-9", "1e9"),
        "degree": ("2", "5"),
        "n_landmarks": ("'auto'", "5"),
        "class_weight": ("None", "'balanced'"),
    },
}


# Drawn at values at which rounding decides: two ways to a model need not agree there.
EXTREME = {"C", "alpha", "beta", "epsilon", "gamma", "learning_rate", "mu"}


def pick(rng: np.random.Generator, options: Any) -> Any:
    """Return one of the options."""
    return options[int(rng.integers(len(options)))]


def known_parameters(name: str) -> set[str]:
    """Return the parameters that an estimator has."""
    import supred

    return set(getattr(supred, name)().get_params())


def estimator(
    rng: np.random.Generator, *, plain: bool = False, among: Sequence[str] = tuple(PARAMETERS)
) -> str:
    """Return an expression that makes an estimator with a few parameters changed."""
    name = pick(rng, among)
    known = known_parameters(name)
    chosen = {}
    for parameter, values in PARAMETERS[name].items():
        if plain and parameter in EXTREME:
            continue
        if parameter in known and rng.random() < (0.15 if plain else 0.35):
            chosen[parameter] = pick(rng, values)
    if name == "RBFNetClassifier" and rng.random() < 0.8:
        chosen["max_iter"] = "20"  # the quicker, the more cases
    if "random_state" in known:
        chosen["random_state"] = "0"
    arguments = ", ".join(f"{key}={value}" for key, value in chosen.items())
    return f"supred.{name}({arguments})"


def rows_and_labels(rng: np.random.Generator, *, tame: bool = False) -> list[str]:
    """Return lines that make X and y; tame ones have an ordinary scale."""
    n_classes = int(rng.integers(2, 5))
    n_rows = int(rng.integers(2 * n_classes, 60))
    if rng.random() < 0.03:
        n_rows = n_classes  # one of each
    n_features = int(rng.integers(1, 8))
    lines = [
        f"rng = np.random.default_rng({int(rng.integers(10**6))})",
        f"y = np.arange({n_rows}) % {n_classes}",
        f"X = rng.normal(size=({n_rows}, {n_features}))",
        f"X = X + {pick(rng, (0.0, 1.0, 3.0))} * y[:, None]",
    ]
    if rng.random() < 0.15:
        lines.append("X[:, 0] = X[0, 0]  # a constant column")
    if rng.random() < 0.15:
        lines.append("X[len(X) // 2 :] = X[: len(X) - len(X) // 2]  # rows twice")
    if rng.random() < 0.1:
        lines.append("X = np.round(X)")
    if rng.random() < 0.1:
        lines.append("y = np.where(np.arange(len(y)) == 3, y.max() + 1, y)  # a class of one row")
    single = tame
    if not tame:
        shift, scale = pick(rng, SHIFTS), pick(rng, SCALES)
        lines.append(f"X = (X + {shift:g}) * {scale:g}")
        single = scale in (1.0, 1e-3, 1e3, 1e-8, 1e8)
        spread = pick(rng, ("X[0, -1] = 1e300", "X = X * np.geomspace(1e-90, 1e90, X.shape[1])"))
        if rng.random() < 0.1:
            lines.append(f"{spread}  # hides all others")
            single = False
    if rng.random() < 0.05:
        lines.append("X = np.asfortranarray(X)")
    if rng.random() < 0.2 and single:
        lines.append("X = X.astype(np.float32)")
    if rng.random() < 0.1:
        lines.append(f"X = sparse.{pick(rng, SPARSE)}(X)")
    if rng.random() < 0.15:
        lines.append(
            f"y = np.array(['a', 'b', 'c', 'd', 'e']{pick(rng, ('', ', dtype=object'))})[y]"
        )
    return lines


def weights(rng: np.random.Generator) -> str:
    """Return an expression for sample weights, or None."""
    kind = int(rng.integers(6))
    if kind > 2:
        return "None"
    if rng.random() < 0.2:
        return pick(
            rng,
            (
                "np.where(np.arange(len(y)) % 3 == 1, 0.0, 1.0)",
                "np.where(np.arange(len(y)) < len(y) / 2, 0.0, 1.0)",
                "np.geomspace(1e-12, 1e12, len(y))",
                "np.geomspace(1e-150, 1e150, len(y))",
            ),
        )
    scale = 10.0 ** pick(rng, (0, 0, -3, 6, -10, 11, -40, 50, -200, 200))
    return f"{scale:g} * rng.uniform(0.1, 2.0, size=X.shape[0])"
