"""Learn a projection on some tasks and use it on another one with few rows.

The tasks are pairs of the ten digits of scikit-learn's small digit images. The new task is 8
against 9. The projection is learned on other tasks, which are more than its dimensions, so that
they have to share:

- "new digits": all 28 pairs of the digits 0 to 7;
- "new pair": all 44 pairs but 8 against 9 itself, so that 8 and 9 occur in other pairs.

A linear SVM is then trained for the new task on a few rows: on all 64 pixels, on the projection,
on as many principal components of the same rows, and on random directions.

    python examples/transfer.py [--draws N]

The outcome, over 20 draws: a projection learned with other digits does not help. All pixels are
better by 5 to 8 points, and principal components, which need no labels, are as good as the
projection. Where the digits occur in other pairs, the projection is ahead of all pixels by 3
points with 1 or 2 rows a class (two standard errors of the paired difference), level with 5 and
10, behind by 2 points with 30, and ahead of principal components at every size. Look at
your own tasks in this way before you rely on transfer.
"""

import argparse
import warnings
from itertools import combinations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import SVC

from supred import MaxMarginProjection, stack_tasks

NEW = (8, 9)
SETTINGS = {
    "new digits": list(combinations(range(8), 2)),
    "new pair": [pair for pair in combinations(range(10), 2) if pair != NEW],
}
N_COMPONENTS = 7
ROWS_A_CLASS = (1, 2, 5, 10, 30)
SOURCE_ROWS = 30  # of each class, in each of the known tasks


def rows_of(y, digits, count, rng):
    """Draw `count` rows of each digit."""
    return np.concatenate(
        [rng.choice(np.flatnonzero(y == digit), count, replace=False) for digit in digits]
    )


def learn_projections(X, y, pairs, rng, seed):
    """Return what to do with the rows of the new task, by name."""
    tasks = [(X[rows], y[rows]) for rows in (rows_of(y, pair, SOURCE_ROWS, rng) for pair in pairs)]
    X_source, Y_source = stack_tasks(tasks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        shared = MaxMarginProjection(N_COMPONENTS, C=0.1, max_iter=200).fit(X_source, Y_source)
    random = GaussianRandomProjection(N_COMPONENTS, random_state=seed).fit(X_source)
    return {
        "all pixels": lambda rows: rows,
        "shared projection": shared.transform,
        "principal components": PCA(N_COMPONENTS).fit(X_source).transform,
        "random directions": random.transform,
    }


def compare(pairs, draws):
    """Return the accuracy on the new task, by name: an array (draws, sizes)."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    accuracies = {}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        # Rows of the new digits: half may serve other tasks and training, half are for testing.
        order = rng.permutation(len(y))
        held_out = order[: len(y) // 2]
        test = held_out[np.isin(y[held_out], NEW)]
        X_known, y_known = X[order[len(y) // 2 :]], y[order[len(y) // 2 :]]
        projections = learn_projections(X_known, y_known, pairs, rng, seed)
        for column, count in enumerate(ROWS_A_CLASS):
            train = rows_of(y_known, NEW, count, rng)
            for name, project in projections.items():
                table = accuracies.setdefault(name, np.zeros((draws, len(ROWS_A_CLASS))))
                svm = SVC(kernel="linear").fit(project(X_known[train]), y_known[train])
                table[seed, column] = svm.score(project(X[test]), y[test])
    return accuracies


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args().draws
    print(f"8 against 9, accuracy (standard error) over {draws} draws, by rows a class")
    for setting, pairs in SETTINGS.items():
        print(f"\n{setting} ({len(pairs)} tasks)".ljust(23) + _cells(map(str, ROWS_A_CLASS)))
        for name, table in compare(pairs, draws).items():
            means, errors = table.mean(axis=0), table.std(axis=0) / np.sqrt(draws)
            values = (f"{m:.3f} ({e:.3f})" for m, e in zip(means, errors, strict=True))
            print(f"{name:22s}" + _cells(values))


def _cells(values):
    return "".join(f"{value:>16s}" for value in values)


if __name__ == "__main__":
    main()
