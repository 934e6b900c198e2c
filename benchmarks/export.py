"""Exported models beside Python: the same answers, their time per row and their size.

The parts: agreement (every model in every format, on random rows and on real ones), single_row
(time for one row of MNIST), digits (bytes of constants in C) and model_file (bytes on disk, and
damaged files). ``--quick`` uses fewer rows, fewer models and no MNIST. Needs gcc and node.
"""

import argparse
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks._report import Row, at_most, print_rows, spread
from supred import (
    CategorySpace,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    MaxMarginProjection,
    RBFNetClassifier,
)
from supred.datasets import load_mnist
from supred.export import quantisation_errors, to_c, to_javascript, to_onnx

# Two best scores closer than this may change places; scores may differ by this, relatively.
TOLERANCE = 1e-5
SETTINGS: dict[str, Any] = {"max_iter": 300, "early_stopping": False, "random_state": 0}

MODELS = {
    "RBFNetClassifier": RBFNetClassifier(metric=20, n_centers=100, **SETTINGS),
    "RBFNetClassifier, diagonal": RBFNetClassifier(metric="diagonal", n_centers=50, **SETTINGS),
    "RBFNetClassifier, full": RBFNetClassifier(metric="full", n_centers=50, **SETTINGS),
    "RBFNetClassifier, map": RBFNetClassifier(n_components=2, metric=20, n_centers=80, **SETTINGS),
    "LowDimSVC": LowDimSVC(n_centers=100, random_state=0),
    "LowDimSVC, log": LowDimSVC(n_centers=100, loss="log", random_state=0),
    "LowDimSVC, one-vs-one": LowDimSVC(n_centers=60, multi_class="ovo", random_state=0),
    "LowDimSVC, linear": LowDimSVC(mapping="linear"),
    "CategorySpace": CategorySpace(n_init=0, random_state=0),
    "CategorySpace, rbf": CategorySpace(kernel="rbf", n_landmarks=100, n_init=0, random_state=0),
    "MaxMarginProjection": MaxMarginProjection(),
    "MaxMarginProjection, rbf": MaxMarginProjection(
        n_components=40, kernel="rbf-diagonal", max_iter=10
    ),
    "KernelDiscriminantAnalysis": KernelDiscriminantAnalysis(n_landmarks=150, random_state=0),
    "KernelDiscriminantAnalysis, poly": KernelDiscriminantAnalysis(
        kernel="poly", n_landmarks=150, random_state=0
    ),
    "StandardScaler, PCA, RBFNetClassifier": make_pipeline(
        StandardScaler(), PCA(30, random_state=0), RBFNetClassifier(n_centers=80, **SETTINGS)
    ),
    "MinMaxScaler, KernelDiscriminantAnalysis": make_pipeline(
        MinMaxScaler(), KernelDiscriminantAnalysis(n_landmarks=100, random_state=0)
    ),
}
QUICK_MODELS = ("RBFNetClassifier", "RBFNetClassifier, map", "LowDimSVC", "CategorySpace, rbf")

MAIN_C = """
#include <stdio.h>
#include "model.h"
static float row[MODEL_N_NUMBERS];
int main(void)
{
    float answer[1 + MODEL_N_SCORES];
    while (fread(row, sizeof row, 1, stdin) == 1) {
        answer[0] = (float)model_predict(row, NULL, answer + 1);
        fwrite(answer, sizeof answer, 1, stdout);
    }
    return 0;
}
"""

TIMED_C = """
#include <stdio.h>
#include <time.h>
#include "model.h"
static float row[MODEL_N_NUMBERS];
int main(void)
{
    long sum = 0;
    double seconds = 0;
    while (fread(row, sizeof row, 1, stdin) == 1) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int k = 0; k < 20; k++) sum += model_predict(row, NULL, NULL);
        clock_gettime(CLOCK_MONOTONIC, &b);
        seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        printf("%.9g\\n", seconds / 20);
    }
    return sum < 0;
}
"""

MAIN_JS = """
import { predict, columns } from "./model.mjs";
import fs from "node:fs";
const bytes = fs.readFileSync("rows.bin");
const rows = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const timed = process.argv[2] === "timed";
const out = fs.openSync(timed ? "times.bin" : "answers.bin", "w");
for (let start = 0; start < rows.length; start += columns.length) {
  const row = rows.subarray(start, start + columns.length);
  const began = performance.now();
  const answer = predict(row);
  const seconds = (performance.now() - began) / 1000;
  const kept = timed ? [seconds] : [answer.index, ...answer.scores];
  fs.writeSync(out, new Uint8Array(Float64Array.from(kept).buffer));
}
"""

Answer = tuple[np.ndarray, np.ndarray]


def onnx_answers(model: Any, X: np.ndarray, folder: Path) -> Answer:
    session = onnx_session(model)
    index, scores = session.run(["label", "scores"], {"rows": X})
    return index, scores


def onnx_session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), options)


def compiled(model: Any, folder: Path, main: str, **options: Any) -> Path:
    """Return the program made of a model and a main function, by gcc -O2."""
    to_c(model, folder / "model.h", overwrite=True, **options)
    (folder / "main.c").write_text(main)
    flags = ["-O2", "-std=gnu99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "main.c", "-lm", "-o", "main"], check=True, cwd=folder)
    return folder / "main"


def c_answers(model: Any, X: np.ndarray, folder: Path) -> Answer:
    program = compiled(model, folder, MAIN_C)
    done = subprocess.run([program], input=X.tobytes(), capture_output=True, check=True)
    found = np.frombuffer(done.stdout, dtype=np.float32).reshape(len(X), -1)
    return found[:, 0].astype(int), found[:, 1:]


def run_node(model: Any, X: np.ndarray, folder: Path, *arguments: str) -> None:
    to_javascript(model, folder / "model.mjs", overwrite=True)
    (folder / "main.mjs").write_text(MAIN_JS)
    (folder / "rows.bin").write_bytes(X.tobytes())
    subprocess.run(["node", "main.mjs", *arguments], check=True, cwd=folder)


def javascript_answers(model: Any, X: np.ndarray, folder: Path) -> Answer:
    run_node(model, X, folder)
    found = np.fromfile(folder / "answers.bin").reshape(len(X), -1)
    return found[:, 0].astype(int), found[:, 1:]


FORMATS: dict[str, Callable[[Any, np.ndarray, Path], Answer]] = {
    "ONNX": onnx_answers,
    "C": c_answers,
    "JavaScript": javascript_answers,
}


def python_answers(model: Any, X: np.ndarray) -> Answer:
    rows = X.astype(float)
    return model.predict(rows), model.decision_function(rows)


def compare(expected: Answer, answers: Answer) -> tuple[int, float]:
    """Return how many labels differ without a tie, and the largest error of the scores.

    The error is relative to the largest score of the row, or to the typical size of a score
    where all of a row are smaller.
    """
    labels, scores = expected
    ordered = np.sort(scores, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > TOLERANCE
    size = np.maximum(np.abs(scores).max(axis=1), np.sqrt(np.mean(scores**2)))
    errors = np.abs(answers[1] - scores).max(axis=1) / size
    return int(np.sum((answers[0] != labels) & clear)), float(errors.max())


def images(quick: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows to train on, their labels, and other real rows: 14 x 14 pixels, or digits."""
    if quick:
        X, y = load_digits(return_X_y=True)
        X = (X / 16).astype(np.float32)
        return X[:600], y[:600], X[600:]
    X, y, X_test, _ = load_mnist()
    halves = [
        np.asarray(rows, dtype=np.float32).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
        for rows in (X[:1500], X_test)
    ]
    scale = np.float32(halves[0].max())
    train, real = (rows.reshape(len(rows), -1) / scale for rows in halves)
    return train, y[:1500], real


def agreement(quick: bool, wanted: str) -> Iterator[Row]:
    X, y, real = images(quick)
    rng = np.random.default_rng(0)
    random = rng.random((2000 if quick else 100_000, X.shape[1]), dtype=np.float32)
    for name in QUICK_MODELS if quick else MODELS:
        if wanted not in name:
            continue
        model = clone(MODELS[name]).fit(X.astype(float), y)
        expected = [(rows, python_answers(model, rows)) for rows in (random, real)]
        for kind, answers in FORMATS.items():
            with tempfile.TemporaryDirectory() as folder:
                found = [
                    compare(python, answers(model, rows, Path(folder))) for rows, python in expected
                ]
            wrong, error = sum(f[0] for f in found), max(f[1] for f in found)
            yield Row(
                f"{name}: {kind}, {len(random)} random and {len(real)} real rows",
                f"{wrong} labels differ, scores by {error:.1e}",
                required=f"0, <= {TOLERANCE:g}",
                reached=wrong == 0 and error <= TOLERANCE,
            )


def digits(quick: bool) -> Iterator[Row]:
    X, y = load_digits(return_X_y=True)
    errors, packed_errors, sizes, packed_sizes = [], [], [], []
    for seed in range(2 if quick else 5):
        train, test, y_train, y_test = train_test_split(
            X, y, train_size=1200, stratify=y, random_state=seed
        )
        model = RBFNetClassifier(metric=20, n_centers=100, random_state=seed).fit(train, y_train)
        before, after = quantisation_errors(model, test, y_test)
        errors.append(100 * before)
        packed_errors.append(100 * after)
        sizes.append(to_c(model).constant_bytes / 1000)
        packed_sizes.append(to_c(model, quantise=True).constant_bytes / 1000)
    yield at_most("digits in C, float: kB of constants", sizes, 40)
    yield at_most("digits in C, float: error % of 597 held-out rows", errors, 2.5)
    yield at_most("digits in C, int8: kB of constants", packed_sizes, 12)
    yield at_most("digits in C, int8: error %", packed_errors, 3.0)


def mnist_model() -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a network of 500 Gaussians in 40 dimensions, and test rows with labels."""
    X, y, X_test, y_test = load_mnist()
    scale = np.float32(X.max())
    train, test = (np.asarray(rows, dtype=np.float32) / scale for rows in (X, X_test))
    model = RBFNetClassifier(
        metric=40, n_centers=500, noise=1.0, gamma="scale", max_iter=4000, early_stopping=False,
        random_state=0,
    )  # fmt: skip
    return model.fit(train, y), test, y_test


def times(call: Callable[[np.ndarray], Any], rows: np.ndarray) -> float:
    """Return the median microseconds of a call with one row."""
    found = []
    for row in rows:
        began = perf_counter()
        call(row[None])
        found.append(perf_counter() - began)
    return 1e6 * float(np.median(found))


def single_row(model: Any, test: np.ndarray, y_test: np.ndarray) -> Iterator[Row]:
    rows = test[:500]
    error = 100 * np.mean(model.predict(test) != y_test)
    session = onnx_session(model)
    ratios: dict[str, list[float]] = {"C": [], "C, int8": [], "ONNX Runtime": [], "JavaScript": []}
    python = []
    for _ in range(5):  # by turns, so that all see the same machine
        python.append(times(model.predict, rows))
        found = {"ONNX Runtime": times(lambda row: session.run(["label"], {"rows": row}), rows)}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for kind, options in (("C", {}), ("C, int8", {"quantise": True})):
                program = compiled(model, folder, TIMED_C, **options)
                done = subprocess.run(
                    [program], input=rows.tobytes(), capture_output=True, check=True
                )
                found[kind] = 1e6 * float(np.median([float(t) for t in done.stdout.split()]))
            run_node(model, rows, folder, "timed")
            found["JavaScript"] = 1e6 * float(np.median(np.fromfile(folder / "times.bin")[100:]))
        for kind, value in found.items():
            ratios[kind].append(value / python[-1])
    yield Row("predict of one row in Python, microseconds", spread(python, 1))
    yield Row("its test error %", f"{error:.2f}")
    for kind, limit in (
        ("C", 1 / 3),
        ("C, int8", None),
        ("ONNX Runtime", 1 / 2),
        ("JavaScript", None),
    ):
        measured = f"{spread(ratios[kind], 3)} = {np.mean(ratios[kind]) * np.mean(python):.1f} us"
        required = "-" if limit is None else f"<= {limit:.3g}"
        reached = None if limit is None else bool(np.mean(ratios[kind]) <= limit)
        yield Row(f"{kind} over Python", measured, required=required, reached=reached)


def sizes(model: Any) -> Iterator[Row]:
    """Yield the bytes of each format of the model of MNIST."""
    from supred.export import save_model

    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "m.supred")
        save_model(model, path)
        yield at_most("model file, kB (SVC pickled: 105 000)", [path.stat().st_size / 1000], 240)
    yield Row("ONNX, kB", f"{len(to_onnx(model).SerializeToString()) / 1000:.0f}")
    for kind, quantise in (("float", False), ("int8", True)):
        source = to_c(model, quantise=quantise)
        yield Row(
            f"C, {kind}: kB of constants, bytes on the stack",
            f"{source.constant_bytes / 1000:.1f}, {source.stack_bytes}",
        )
    yield Row("JavaScript, kB", f"{len(to_javascript(model)) / 1000:.0f}")


def damaged(quick: bool) -> Iterator[Row]:
    """Yield what became of damaged, edited and hostile model files."""
    from benchmarks._memory import peak_bytes
    from benchmarks.fuzz.damage import WAYS, check_damaged

    names = ("RBFNetClassifier", "LowDimSVC", "CategorySpace", "KernelDiscriminantAnalysis")
    n_files = 200 if quick else 5000
    failures: list[str] = []
    slowest = 0.0
    for k in range(n_files):
        way = list(WAYS)[k % len(WAYS)]
        began = perf_counter()
        try:
            check_damaged(names[k % len(names)], way, k)
        except Exception as error:  # every kind counts as a failure here
            failures.append(f"{way} {k}: {type(error).__name__} {error}")
        slowest = max(slowest, perf_counter() - began)
    for failure in failures[:5]:
        print("  ", failure)
    yield Row(
        f"{n_files} damaged, edited and hostile files: neither one line nor a model that works",
        str(len(failures)),
        required="0",
        reached=not failures,
    )
    yield at_most("the slowest of them, seconds", [slowest], 1.0)
    yield at_most("the most memory of the process, MB", [peak_bytes() / 2**20], 1000.0)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks export", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parts = ("agreement", "digits", "mnist", "damaged")
    parser.add_argument("--part", choices=parts, action="append")
    parser.add_argument("--model", default="", help="agreement of models with this in their name")
    options = parser.parse_args(arguments)
    chosen = options.part or [part for part in parts if not (options.quick and part == "mnist")]
    reached = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "agreement" in chosen:
            reached &= print_rows(
                "Exported models beside Python", agreement(options.quick, options.model)
            )
        if "digits" in chosen:
            reached &= print_rows("Digits on a device", digits(options.quick))
        if "mnist" in chosen:
            model, test, y_test = mnist_model()
            reached &= print_rows("One row of MNIST", single_row(model, test, y_test))
            reached &= print_rows("Sizes, MNIST, M = 500", sizes(model))
        if "damaged" in chosen:
            reached &= print_rows("Model files", damaged(options.quick))
    return 0 if reached else 1
