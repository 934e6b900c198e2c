"""Rows and labels of any type, shape and spread: a model whose numbers are finite, or a refusal."""

import numpy as np

from benchmarks.fuzz._draws import HEAD, SPARSE, estimator, pick, weights

MORE = "import pandas\n"
SIZES, WIDTHS, CLASSES = (8, 20, 60, 150), (1, 2, 5, 40, 120), (2, 2, 3, 7)
# What becomes of normal rows X, n of them with d columns, in classes y.
DRAWS = (
    "X = X + 2.0 * means[y]",
    "X = rng.standard_cauchy(size=(n, d)) + y[:, None]",
    "X = np.exp(5.0 * X)",
    "X = np.round(3.0 * X + means[y])",
    "X = (X + means[y] > 0).astype(float)",
    "X = np.full((n, d), -3.3)",
    "X = np.eye(d)[rng.integers(d, size=n)]",
    "X = X[:, :1] @ means[:1]",
    "X = X[rng.integers(n // 4, size=n)]",
    "X = X * np.finfo(float).tiny",
)
SPREADS = (
    "X = X * 10.0 ** rng.uniform(-100, 100)",
    "X = X * 10.0 ** rng.uniform(-30, 30, size=d)",
    "X = X * 10.0 ** rng.uniform(-10, 10, size=(n, 1))",
    "X = X * 10.0 ** rng.uniform(-100, 100, size=(n, d))",
    "X = X + 10.0 ** rng.uniform(0, 15)",
    "X.flat[rng.integers(X.size)] = 10.0 ** rng.uniform(50, 308)",
)
ROWS = (
    "X = np.asfortranarray(X)",
    "X = np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2]",
    "X.flags.writeable = False",
    "X = np.clip(X, -1e38, 1e38).astype(np.float32)",
    "X = X.astype(np.longdouble)",
    "X = np.clip(X, -1e9, 1e9).astype(np.int64)",
    "X = np.clip(X, -9, 9).astype(np.float16)",
    "X = X > 0",
    "X = X.astype(object)",
    "X = X.tolist()",
    "X = pandas.DataFrame(X, columns=[f'c{k}' for k in range(d)], index=rng.permutation(n))",
    *(f"X = sparse.{form}(X)" for form in SPARSE),
)
LABELS = (
    "y = np.array([f'ü{k}' for k in y])",
    "y = y.astype(float)",
    "y = y > 0",
    "y = y.tolist()",
    "y = pandas.Series(y, index=np.arange(n)[::-1])",
    "y = pandas.Series([f'k{k}' for k in y]).astype('category')",
    "y = -5 - y",
    "y = y * 10**15",
    "y = y[:, None]",
)


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    lines = rows_and_labels(rng)
    lines.append(f"checks.check_form({estimator(rng)}, X, y, weights)")
    return HEAD + MORE + "\n".join(lines) + "\n"


def rows_and_labels(rng: np.random.Generator) -> list[str]:
    """Return lines that make X, n rows of d columns, y and weights."""
    n, d, n_classes = pick(rng, SIZES), pick(rng, WIDTHS), pick(rng, CLASSES)
    lines = [
        f"rng = np.random.default_rng({int(rng.integers(10**6))})",
        f"n, d = {n}, {d}",
        f"y = np.arange(n) % {n_classes}",
        f"means = rng.normal(size=({n_classes}, d))",
        "X = rng.normal(size=(n, d))",
    ]
    if rng.random() < 0.2:
        lines.append(f"y[{n_classes} : n // 2 + {n_classes}] = 0  # classes of very unequal size")
    lines.append(pick(rng, DRAWS))
    if rng.random() < 0.5:
        lines.append(pick(rng, SPREADS))
    weight = weights(rng).replace("X.shape[0]", "n").replace("len(y)", "n")
    lines.append(f"weights = {weight}")
    for more in (ROWS, LABELS):
        if rng.random() < 0.6:
            lines.append(pick(rng, more))
    return lines
