"""Searches by cross-validation: grids of any values, rows of any form."""

import numpy as np

from benchmarks.fuzz._draws import HEAD, PARAMETERS, pick
from benchmarks.fuzz.forms import MORE, rows_and_labels

# What a search has and a single fit has not; what else it has is as for LowDimSVC.
GRIDS = {
    "Cs": ("1.0", "[1e-4, 1e4]", "(1e-30, 1e30)", "np.array([0.1, 10.0])", "[1, 1]"),
    "gammas": ("None", "[1e-6, 1e5]", "np.array([1.0])", "1.0"),
    "alphas": ("None", "[1e-9, 1e30]", "(1e-3,)"),
    "cv": ("None", "2", "5"),
    "search": ("'race'", "'exhaustive'"),
}
SHARED = (
    "n_components", "mapping", "centers", "n_centers", "mu", "tol", "multi_class", "loss",
    "init", "max_iter", "early_stopping", "class_weight",
)  # fmt: skip


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    drawn = GRIDS | {name: PARAMETERS["LowDimSVC"][name] for name in SHARED}
    chosen = {name: pick(rng, values) for name, values in drawn.items() if rng.random() < 0.3}
    given = ", ".join(f"{name}={value}" for name, value in chosen.items())
    model = f"supred.LowDimSVCCV({given}, random_state=0)".replace("(, ", "(")
    rest = f"{model}, X, y, weights"
    call = f"checks.check_form({rest})"
    if rng.random() < 0.3:
        call = f"methods.check_methods({rest}, scale={pick(rng, (1e-9, 1e9)):g}, number=2)"
    head = "from benchmarks.fuzz import methods"
    return HEAD + MORE + "\n".join([head, *rows_and_labels(rng), call]) + "\n"
