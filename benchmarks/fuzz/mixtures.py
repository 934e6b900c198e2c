"""Several strange things at once: rows of mixed make, and any of an estimator's parameters."""

import numpy as np

from benchmarks.fuzz._draws import HEAD, pick, weights
from benchmarks.fuzz.forms import DRAWS, LABELS, MORE, ROWS, SPREADS
from benchmarks.fuzz.methods import SCALES

# Values of a parameter: one of these expressions, or a number in a range.
Values = tuple[str, ...] | tuple[float, float]
FLAG = ("False", "True")
CLASS_WEIGHT = ("'balanced'", "{0: 1e4, 1: 1e-4}", "{1: 0.0}")
REAL = (1e-100, 1e30)
ALTERNATION: dict[str, Values] = {
    "n_components": ("1", "2", "3", "9", "40"),
    "mapping": ("'linear'", "'rbf'"),
    "centers": ("'random'", "'all'", "'kmeans'"),
    "n_centers": ("1", "2", "5", "30", "10**6"),
    "mu": (1e-15, 1e30),
    "mu_factor": (1.0, 1e3),
    "inner_tol": ("0.0", "1e-9", "0.5", "1e30"),
    "max_iter": ("1", "2", "7", "30", "'auto'"),
    "tol": ("0.0", "1e-12", "0.3", "1e30"),
    "multi_class": ("'ovr'", "'ovo'", "'auto'"),
    "loss": ("'hinge'", "'log'"),
    "init": ("'simplex'", "'sphere'", "'random'", "'random-codes'"),
    "early_stopping": FLAG,
    "validation_fraction": ("1e-3", "0.3", "0.7", "0.99"),
    "n_iter_no_change": ("1", "2"),
    "class_weight": CLASS_WEIGHT,
    "cache_size": ("0", "1e-3", "10"),
    "n_jobs": ("1", "2", "-1"),
    "random_state": ("7",),
}
KERNEL: dict[str, Values] = {
    "gamma": REAL,
    "alpha": REAL,
    "degree": ("1", "2", "3", "7", "0.5"),
    "coef0": ("0.0", "-1.0", "1e-9", "1e6"),
    "n_landmarks": ("1", "2", "10", "10**6", "None"),
    "class_weight": CLASS_WEIGHT,
    "random_state": ("7",),
}
PARAMETERS: dict[str, dict[str, Values]] = {
    "LowDimSVC": ALTERNATION | {"gamma": REAL, "alpha": (1e-60, 1e30), "C": (1e-30, 1e30)},
    "RBFNetClassifier": {
        "n_components": ("1", "2", "5", "40"),
        "n_centers": ("1", "2", "30", "'auto'", "10**6"),
        "metric": ("'diagonal'", "'full'", "1", "3", "100"),
        "noise": (1e-9, 1e9),
        "gamma": (1e-12, 1e12),
        "loss": ("'log'", "'hinge'"),
        "alpha": (1e-12, 1e12),
        "learning_rate": (1e-9, 10.0),
        "label_smoothing": ("0.0", "0.5", "0.99"),
        "early_stopping": FLAG,
        "validation_fraction": ("1e-3", "0.3", "0.7", "0.99"),
        "refit": FLAG,
        "class_weight": CLASS_WEIGHT,
        "n_jobs": ("1", "2", "-1"),
        "random_state": ("7",),
    },
    "CategorySpace": KERNEL
    | {
        "criterion": ("'squared'", "'absolute'"),
        "kernel": ("'linear'", "'rbf'", "'poly'"),
        "origin": ("'global'", "'class'", "'zero'"),
        "whiten": FLAG,
        "classifier": ("'angle'", "'linear'"),
        "margin": ("1e-9", "0.5", "1e3", "1e30"),
        "overlap_penalty": ("0.0", "1e-9", "1.0", "1e9", "1e30"),
        "auxiliary_step": ("'exact'", "'heuristic'"),
        "n_init": ("0", "1", "3"),
        "max_iter": ("1", "10"),
        "tol": ("0.0", "1e-15", "1.0"),
        "certify": FLAG,
        "n_jobs": ("1", "2", "-1"),
    },
    "ClassConstrainedEmbedding": {
        "n_components": ("1", "2", "5", "40"),
        "coordinates": ("'flow'", "'spectral'"),
        "n_neighbors": ("1", "2", "7", "50"),
        "epsilon": REAL,
        "beta": REAL,
        "classifier": ("'flow'", "'knn'", "'linear'", "'center'"),
        "class_prior": ("'uniform'",),
        "alpha": REAL,
        "eigen_solver": ("'dense'", "'lanczos'", "'shift-invert'"),
        "tol": ("1e-12", "0.1", "1.0"),
        "max_iter": ("1", "5", "500"),
        "random_state": ("7",),
    },
    "MaxMarginProjection": {
        "n_components": ("1", "2", "5", "40"),
        "C": (1e-30, 1e30),
        "tasks": ("'ovr'", "'ovo'"),
        "solver": ("'lbfgs'", "'alternating'"),
        "kernel": ("'linear'", "'rbf-diagonal'"),
        "gamma": REAL,
        "cv": ("2", "5"),
        "class_weight": CLASS_WEIGHT,
        "max_iter": ("1", "3", "50"),
        "tol": ("0.0", "1e-15", "1.0"),
        "certify": FLAG,
        "n_jobs": ("1", "2", "-1"),
    },
    "KernelDiscriminantAnalysis": KERNEL
    | {"n_components": ("1", "2", "40"), "kernel": ("'linear'", "'rbf'", "'poly'")},
}
# Numbers are drawn near one more often than from their whole range.
NEAR = 1e3


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    lines, given = rows_and_labels(rng), f"{estimator(rng)}, X, y, weights"
    if rng.random() < 0.6:
        call = f"checks.check_form({given})"
    else:
        scale, number = pick(rng, SCALES), int(rng.integers(1, 6))
        call = f"methods.check_methods({given}, scale={scale:g}, number={number})"
    return HEAD + MORE + "\n".join(["from benchmarks.fuzz import methods", *lines, call]) + "\n"


def rows_and_labels(rng: np.random.Generator) -> list[str]:
    """Return lines that make X, y and weights: one to three draws, up to two spreads and forms."""
    n, d = int(np.exp(rng.uniform(1.4, 5.5))), int(np.exp(rng.uniform(0, 4.5)))
    n_classes = int(rng.integers(2, max(3, min(n // 2, 30))))
    lines = [
        f"rng = np.random.default_rng({int(rng.integers(10**6))})",
        f"n, d = {n}, {d}",
        f"y = rng.choice({n_classes}, size=n, p=rng.dirichlet(np.ones({n_classes})))",
        "y[:2] = 0, 1",
        f"means = rng.normal(size=({n_classes}, d))",
        "X = rng.normal(size=(n, d))",
        # what the draws make of each other may be too large for a number
        "with np.errstate(all='ignore'):",
        *(f"    {pick(rng, DRAWS)}" for _ in range(rng.integers(1, 4))),
        *(f"    {pick(rng, SPREADS)}" for _ in range(rng.integers(0, 3))),
        "X = np.nan_to_num(X)",
        f"weights = {weights(rng).replace('X.shape[0]', 'n').replace('len(y)', 'n')}",
    ]
    for more in (ROWS, LABELS):
        if rng.random() < 0.4:
            lines.append(pick(rng, more))
    return lines


def estimator(rng: np.random.Generator) -> str:
    """Return an expression that makes an estimator, any of its parameters changed."""
    name = pick(rng, list(PARAMETERS))
    share = rng.uniform(0, 0.6)
    chosen = {
        parameter: _value(rng, values)
        for parameter, values in PARAMETERS[name].items()
        if rng.random() < share
    }
    if name == "RBFNetClassifier":
        chosen["max_iter"] = pick(rng, ("1", "5", "20"))  # the quicker, the more cases
    return f"supred.{name}({', '.join(f'{key}={value}' for key, value in chosen.items())})"


def _value(rng: np.random.Generator, values: Values) -> str:
    if isinstance(values[0], str):
        return str(pick(rng, values))
    low, high = values if rng.random() < 0.4 else np.clip(values, 1 / NEAR, NEAR)
    return f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}"
