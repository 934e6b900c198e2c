"""Tables of all formats, with odd columns and labels, whole or damaged, and models of them."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz._draws import PARAMETERS, pick
from benchmarks.fuzz.commands import check_call
from benchmarks.fuzz.damage import cut, edited, flipped

FORMATS = ("csv", "csv", "tsv", "parquet", "parquet", "npz", "npy", "svm")
TEXTS = ("red", "green", "1,5", 'a"b', "a\nb", "<script>", "日本", "1", "NA", "2.50 ", " ", "")
OPTIONS = (
    ("--impute", "zero"), ("--impute", "none"), ("--encode", "drop"), ("--encode", "none"),
    ("--scale", "none"), ("--drop-unlabelled",), ("--exclude", "c0"), ("--exclude", "zz"),
    ("--keep", "c1"), ("--no-header",), ("--seed", "x"), ("--stream",), ("--components", "0"),
    ("--components", "1"), ("--folds", "2"), ("--folds", "1"), ("--set", "zz=1"),
    ("--format", "csv"), ("--format", "npz"),
)  # fmt: skip


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case."""
    seed = int(rng.integers(10**9))
    return f"from benchmarks.fuzz import table_files\ntable_files.check_files({seed})\n"


def _column(rng: np.random.Generator, y: np.ndarray) -> Any:
    """Return a column of a kind that is drawn."""
    values = rng.normal(size=len(y)) + y
    kinds = (
        lambda: values,
        lambda: np.round(3 * values).astype(int),
        lambda: values > 0,
        lambda: np.full(len(y), 7),
        lambda: np.where(rng.random(len(y)) < 0.4, np.nan, values),
        lambda: np.where(rng.random(len(y)) < 0.1, np.inf, values),
        lambda: values * 10.0 ** rng.uniform(-320, 120),
        lambda: np.datetime64("2020-01-01") + np.arange(len(y)),
        lambda: np.array([pick(rng, TEXTS) for _ in y], dtype=object),
        lambda: np.arange(len(y)).astype(str).astype(object),
        lambda: np.array([f"{value:e}" for value in values], dtype=object),
    )
    return kinds[0 if rng.random() < 0.4 else int(rng.integers(len(kinds)))]()


def _table(rng: np.random.Generator) -> Any:
    """Return a data frame with the labels ``y``."""
    import pandas

    y = np.arange(pick(rng, (0, 1, 2, 6, 30, 60))) % int(pick(rng, (1, 2, 2, 3, 5)))
    columns = {f"c{k}": _column(rng, y) for k in range(int(rng.integers(1, 6)))}
    if rng.random() < 0.1:
        columns[pick(rng, (" c0", "ü", 'q"', "c,d", "1", ""))] = _column(rng, y)
    texts = np.array([f"k{k}" for k in y], dtype=object)
    labels = pick(rng, (texts, texts, y, y + 0.5, y > 0, y * 10**17))
    if rng.random() < 0.1:
        labels = np.array([None if rng.random() < 0.2 else text for text in texts], dtype=object)
    return pandas.DataFrame({**columns, "y": labels})


def _write(frame: Any, kind: str, rng: np.random.Generator) -> str:
    """Write a table in a format, now and then damaged, and return the name of the file."""
    name = f"table.{kind}"
    X = frame.drop(columns="y").select_dtypes("number").to_numpy(float)
    y = np.unique([str(label) for label in frame["y"]], return_inverse=True)[1]
    if kind == "csv":
        frame.to_csv(name, index=False)
    elif kind == "tsv":
        frame.to_csv(name, index=False, sep="\t")
    elif kind == "parquet":
        frame.to_parquet(name)
    elif kind == "npz":
        held = ({"X": X, "y": y}, {"a": X}, {"X": X, "y": y[:-1]}, {"X": X.astype(object)})
        np.savez(name, **pick(rng, held))
    elif kind == "npy":
        np.save(name, pick(rng, (np.column_stack([X, y]), X[:, :0], np.array(5), X + 0j)))
    else:
        lines = [
            " ".join([str(label), *(f"{k + 1}:{value}" for k, value in enumerate(row))])
            for label, row in zip(y, X, strict=True)
        ]
        odd = ("", "1 0:1", "a 1:2", "1 2:1 1:1", "1 5", "# c", "1 1:nan", "1 -1:3", "1,2 1:3")
        Path(name).write_text("\n".join([*lines, pick(rng, odd)]) + "\n", encoding="utf-8")
    if rng.random() < 0.2 and Path(name).stat().st_size:
        damage = pick(rng, (flipped, cut))
        Path(name).write_bytes(damage(Path(name).read_bytes(), rng))
    return name


def check_files(seed: int) -> None:
    """Fit a table of any format and use the model: known exit codes, one line for an error."""
    rng = np.random.default_rng(seed)
    table = _write(_table(rng), pick(rng, FORMATS), rng)
    method = pick(rng, list(PARAMETERS))
    words = ["fit", table, "--target", "y", "--method", method, "--out", "model.supred", "--quiet"]
    if method == "RBFNetClassifier":
        words += ["--set", "max_iter=10"]
    for _ in range(int(rng.integers(0, 3))):
        words += pick(rng, OPTIONS)
    if rng.random() < 0.1:
        check_call("map", table, "--target", "y", "--out", pick(rng, ("map.svg", "no/map.png")))
    if check_call(*words).code != 0:
        return
    for command in ("predict", "transform", "evaluate"):
        check_call(command, "model.supred", table, *pick(rng, ((), (), ("--json",), ("--stream",))))
    check_call(pick(rng, ("predict", "evaluate")), "model.supred", _write(_table(rng), "csv", rng))
    kind = pick(rng, ("onnx", "c", "js"))
    check_call("export", "model.supred", "--to", kind, "--out", f"model.{kind}")
    changed = pick(rng, (flipped, edited))(Path("model.supred").read_bytes(), rng)
    Path("changed.supred").write_bytes(changed)
    check_call(pick(rng, ("predict", "transform")), "changed.supred", table)
    check_call("info", "changed.supred")
