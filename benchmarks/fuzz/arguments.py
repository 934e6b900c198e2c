"""Arguments that are not what they should be: a clear refusal, or a model that works."""

import numpy as np

from benchmarks.fuzz._draws import HEAD, PARAMETERS, known_parameters, pick

MORE = "import pandas\n"
VALUES = (
    "None", "-1", "0", "1", "2.5", "float('nan')", "float('inf')", "'x'", "''", "b'x'", "True",
    "[]", "()", "{}", "[1, 2]", "{'a': 1}", "np.array([1.0, 2.0])", "np.array(1.0)",
    "np.float32(2)", "np.int64(3)", "10**30", "1e300", "5e-324", "object()", "1j", "'auto'",
    "'1'", "pandas.NA",
)  # fmt: skip
ROWS = (
    "None", "X[:0]", "X[:, :0]", "X[:-1]", "X[0]", "X[None]", "'abc'", "5", "X.astype(complex)",
    "X.astype(str)", "np.full(X.shape, 'x')", "X.astype('datetime64[s]')",
    "np.array([[{}]] * len(X), dtype=object)", "pandas.DataFrame({'a': ['x'] * len(X)})",
    "pandas.DataFrame(X).astype('Float64')", "np.ma.masked_array(X, X > 0)",
    "[[1], [2, 3]] * (len(X) // 2)", "{'a': X}", "np.where(X > 1, np.nan, X)",
    "np.where(X > 1, np.inf, X)", "X * 0", "np.asmatrix(X)", "pandas.Series(X[:, 0])", "iter(X)",
    "sparse.csr_matrix(X) * np.nan", "sparse.dok_matrix(X)", "sparse.csr_matrix(X > 0)",
    "pandas.DataFrame(X, columns=['a'] * X.shape[1])",
)  # fmt: skip
LABELS = (
    "None", "y[:-1]", "np.zeros(len(y))", "np.full(len(y), np.nan)", "np.append(y, 0)", "[]",
    "'abc'", "np.array([None] * len(y))", "rng.normal(size=len(y))", "np.eye(3)[y % 3]",
    "np.arange(len(y))", "y.astype(complex)", "y - 1", "[set()] * len(y)", "5", "{'a': 1}",
    "np.where(y == 0, np.inf, y)", "np.where(y == 0, np.nan, y)", "sparse.csr_matrix(y)",
    "np.array(['a' if k == 0 else k for k in y], dtype=object)", "[[1, 2]] * len(y)",
    "np.array([None if k == 0 else k for k in y], dtype=object)", "y.astype('timedelta64[D]')",
    "pandas.DataFrame({'a': y, 'b': y})", "np.array([str(k) * 300 for k in y])",
    "['1' if k == 0 else k for k in y.tolist()]", "pandas.Series(2**60 + y, dtype='Int64')",
    "pandas.Series(y > 0, dtype='boolean')", "y.astype(np.uint64) + np.uint64(2**63)",
)  # fmt: skip
WEIGHTS = (
    "np.zeros(len(y))", "-np.ones(len(y))", "np.full(len(y), np.nan)", "np.ones(len(y) - 1)",
    "np.ones((len(y), 2))", "'x'", "5.0", "0", "['a'] * len(y)", "np.ones(len(y), dtype=complex)",
    "np.where(y == 0, 0.0, 1.0)", "np.where(y == 0, np.inf, 1.0)", "np.ones(len(y), dtype=bool)",
    "np.full(len(y), 5e-324)", "np.full(len(y), 1.7e308)", "{}", "np.geomspace(1, 1e25, len(y))",
)  # fmt: skip
# What they have no say in, or may be an object of the caller's own.
LEFT_OUT = {"checkpoint", "verbose", "callback"}


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case: one argument of a fit is another one."""
    name = pick(rng, list(PARAMETERS))
    n_classes, n_features = int(rng.integers(2, 5)), int(rng.integers(1, 12))
    lines = [
        f"rng = np.random.default_rng({int(rng.integers(10**6))})",
        f"y = np.arange({int(rng.integers(2 * n_classes, 50))}) % {n_classes}",
        f"X = rng.normal(size=(len(y), {n_features})) + y[:, None]",
    ]
    parameters = {"max_iter": "5"} if name == "RBFNetClassifier" else {}
    X, y, weights = "X", "y", "None"
    which = int(rng.integers(4))
    if which == 0:
        known = sorted(known_parameters(name) - LEFT_OUT)
        parameters |= {pick(rng, known): pick(rng, VALUES)}
    elif which == 1:
        X = pick(rng, ROWS)
    elif which == 2:
        y = pick(rng, LABELS)
    else:
        weights = pick(rng, WEIGHTS)
    given = ", ".join(f"{key}={value}" for key, value in parameters.items())
    lines.append(f"checks.check_form(supred.{name}({given}), {X}, {y}, {weights})")
    return HEAD + MORE + "\n".join(lines) + "\n"
