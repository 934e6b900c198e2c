"""How mu grows and where the coordinates start, the paper's way beside ours.

The paper starts from random coordinates and raises mu when the alternation has converged at a fixed
mu (`init="random"`, `inner_tol`). By default LowDimSVC starts from one code per class and raises mu
in every iteration. Both run on the same rows; validation rows choose the iterate and, for each
combination, alpha. Test rows are looked at once, by the model that was chosen. Objectives are
compared at the largest alpha: those of different alphas cannot be.
"""

import argparse
import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks._report import Row, print_rows, spread
from supred import LowDimSVC
from supred.datasets import load_mnist, make_spirals

INNER_TOL = 1e-2
ALPHAS = (1e-3, 1.0)
# name: init, inner_tol
COMBINATIONS: dict[str, tuple[str, float | None]] = {
    "codes, mu grows each time": ("auto", None),
    "codes, inner loop": ("auto", INNER_TOL),
    "random, mu grows each time": ("random", None),
    "random, inner loop": ("random", INNER_TOL),
}
Arrays = tuple[np.ndarray, ...]


def spirals(seed: int) -> Arrays:
    """Return training, validation and test rows of two spirals."""
    X, y = make_spirals(3000, random_state=seed)
    return X[::3], y[::3], X[1::3], y[1::3], X[2::3], y[2::3]


def digits(data: Arrays, n_rows: int, seed: int, *, parity: bool) -> Arrays:
    """Draw as many training as validation rows of MNIST; the official test rows."""
    X, y, X_test, y_test = data
    order = np.random.RandomState(seed).permutation(len(y))[: 2 * n_rows]
    train, validation = order[:n_rows], order[n_rows:]
    rows = (X[train], y[train], X[validation], y[validation], X_test, y_test)
    return tuple(part % 2 if parity and part.ndim == 1 else part for part in rows)


def fit(
    rows: Arrays, name: str, seed: int, options: dict[str, Any]
) -> tuple[LowDimSVC, float, float]:
    """Return the best model on the validation rows, its CPU seconds, and an objective.

    The objective is the least at the largest alpha.
    """
    init, inner_tol = COMBINATIONS[name]
    found = []
    for alpha in ALPHAS:
        model = LowDimSVC(
            init=init, inner_tol=inner_tol, alpha=alpha, max_iter=300, random_state=seed, **options
        )
        began = process_time()
        model.fit(*rows[:2], X_val=rows[2], y_val=rows[3])
        found.append((model, process_time() - began))
    model, seconds = min(found, key=lambda pair: pair[0].history_["validation_error"].min())
    return model, seconds, float(found[-1][0].history_["nested_objective"].min())


def compare(title: str, draws: list[Arrays], options: dict[str, Any]) -> Iterator[Row]:
    """Yield test error, objective, iterations and time of each combination."""
    found = {
        name: [fit(rows, name, seed, options) for seed, rows in enumerate(draws)]
        for name in COMBINATIONS
    }
    ours = found["codes, mu grows each time"]
    for name, models in found.items():
        errors = [
            100 * (1 - model.score(rows[4], rows[5]))
            for (model, _, _), rows in zip(models, draws, strict=True)
        ]
        objective = np.median([m[2] / own[2] for m, own in zip(models, ours, strict=True)])
        seconds = sum(s for _, s, _ in models) / sum(s for _, s, _ in ours)
        iterations = np.median([model.n_iter_ for model, _, _ in models])
        yield Row(
            f"{title}; {name}",
            f"{spread(errors)} %, objective x {objective:.2f}, {iterations:.0f} iterations, "
            f"time x {seconds:.1f}",
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks low_dim_schedules", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two spirals only, one draw")
    quick = parser.parse_args(arguments).quick
    seeds = range(1 if quick else 3)
    warnings.simplefilter("ignore", ConvergenceWarning)
    options: dict[str, Any] = {"n_components": 2, "n_centers": 100, "gamma": 30.0}
    rows = [*compare("two spirals, L = 2", [spirals(seed) for seed in seeds], options)]
    if not quick:
        data = load_mnist()
        options = {"n_components": 2, "n_centers": 500, "gamma": 1 / 32}
        draws = [digits(data, 2000, seed, parity=True) for seed in seeds]
        rows += compare("odd against even, 2000 rows, L = 2", draws, options)
        draws = [digits(data, 2000, seed, parity=False) for seed in seeds]
        for L in (5, 10, 20):
            options = {"n_components": L, "n_centers": 500, "gamma": 1 / 32}
            rows += compare(f"ten digits, 2000 rows, L = {L}, one-vs-rest", draws, options)
        options = {"n_components": 10, "n_centers": 500, "gamma": 1 / 32, "multi_class": "ovo"}
        rows += compare("ten digits, 2000 rows, L = 10, one-vs-one", draws, options)
    return 0 if print_rows("Schedules and starts of LowDimSVC: test error", rows) else 1
