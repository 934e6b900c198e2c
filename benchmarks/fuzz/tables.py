"""Awkward tables: a table gives the same model, or is refused, whichever way it comes in."""

import numpy as np

from benchmarks.fuzz._draws import pick

FIELDS = (
    "1", "2.5", "-3", "0", "-0", "", "?", "NA", "nan", "NAN", "inf", "-inf", "1e400", "1_000",
    "１２", "٣", "True", "False", "2024-01-31", "x", "a b", "é", "99999999999999999999999", " 7 ",
    "1e5", "+4",
)  # fmt: skip
LABELS = ("a", "b", "c", "0", "-0", "1", "1.0", "?", "", "True", "inf", "nan", "ü", " a")


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case: a CSV file, read at once and as a stream."""
    n_rows, n_columns = int(rng.integers(6, 30)), int(rng.integers(1, 5))
    labels = [pick(rng, LABELS) if rng.random() < 0.05 else "ab"[k % 2] for k in range(n_rows)]
    rows = []
    for k in range(n_rows):
        fields = [
            pick(rng, FIELDS) if rng.random() < 0.04 else f"{rng.normal() + (k % 2):.3f}"
            for _ in range(n_columns)
        ]
        if rng.random() < 0.01:
            fields = fields[:-1] if rng.random() < 0.5 else [*fields, "1"]
        rows.append(",".join([*fields, labels[k]]))
    names = [f"x{k}" for k in range(n_columns)]
    if rng.random() < 0.05:
        names[0] = pick(rng, ("", "x1", "y", "1.5"))
    text = "\n".join([",".join([*names, "y"]), *rows]) + "\n"
    encoding = pick(rng, ("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1"))
    return (
        "from benchmarks.fuzz import commands\n"
        f"commands.check_table({text!r}, {encoding!r})\n"
    )  # fmt: skip
