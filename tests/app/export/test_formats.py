"""Exported models answer as Python does."""

import json
import shutil
import subprocess
import tracemalloc

import numpy as np
import pyarrow
import pytest
from sklearn.datasets import make_blobs

import supred
from supred import CategorySpace, KernelDiscriminantAnalysis, LowDimSVC, MaxMarginProjection
from supred.app.export.conversion import finite_form_of
from supred.app.export.model_file import TableModel
from supred.app.tables.preparation import Preparation
from supred.app.tables.sources import MemorySource
from supred.app.tables.table import Column, Table
from supred.export import ExportError, to_c, to_javascript, to_onnx
from supred.numerics.gaussian_classes import GaussianClasses
from tests.app.export.models import MODELS, fitted, rows_and_labels
from tests.app.export.running import FLAGS, run_c, run_javascript, run_onnx

FORMATS = ("onnx", "c", "javascript")
# Labels must agree unless the best two scores are as close as this.
TIE = 1e-5


@pytest.fixture(scope="module")
def X():
    return rows_and_labels()[0]


def exported(kind, model, folder, numbers, texts=None):
    if kind == "onnx":
        pytest.importorskip("onnx")
        return run_onnx(to_onnx(model), numbers, texts)
    program = "gcc" if kind == "c" else "node"
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    if kind == "c":
        return run_c(to_c(model), folder, numbers, texts)
    return run_javascript(to_javascript(model), folder, numbers, texts)


def assert_same_answers(found, labels, scores, latent):
    scores = scores[:, None] if scores.ndim == 1 else scores
    # relative to the row's largest score, or to a typical one where all are small
    size = np.maximum(np.abs(scores).max(axis=1), np.sqrt(np.mean(scores**2)))[:, None]
    assert np.abs((found.scores - scores) / size).max() < 1e-5
    size = np.sqrt(np.mean(latent**2))
    assert np.abs(found.latent - latent).max() < 3e-5 * size
    ordered = np.sort(np.hstack([0 * scores, scores]) if scores.shape[1] == 1 else scores, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > TIE
    same = np.array(found.labels) == np.array([str(label) for label in labels.tolist()])
    assert same[clear].all()
    assert clear.mean() > 0.9


def random_rows(X, n_rows=150):
    """Rows as far from each other as the given ones, and rows far outside."""
    rng = np.random.default_rng(0)
    inside = rng.uniform(X.min(), X.max(), size=(n_rows, X.shape[1]))
    outside = 3 * rng.normal(size=(n_rows, X.shape[1]))
    return np.vstack([inside, outside]).astype(np.float32).astype(float)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", MODELS)
def test_ten_classes(name, kind, X, tmp_path):
    model = fitted(name)
    rows = np.vstack([X, random_rows(X)])
    found = exported(kind, model, tmp_path, rows)
    assert_same_answers(
        found, model.predict(rows), model.decision_function(rows), model.transform(rows)
    )


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["LowDimSVC", "CategorySpace poly", "MaxMarginProjection rbf"])
def test_two_classes_with_names(name, kind, X, tmp_path):
    model = fitted(name, 2)
    found = exported(kind, model, tmp_path, X)
    assert_same_answers(found, model.predict(X), model.decision_function(X), model.transform(X))


@pytest.mark.parametrize("kind", ["onnx", "javascript"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities(kind, n_classes, X, tmp_path):
    model = fitted("LowDimSVC log", n_classes)
    found = exported(kind, model, tmp_path, X)
    np.testing.assert_allclose(found.probabilities, model.predict_proba(X), atol=1e-5)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_in_c(n_classes, X, tmp_path):
    model = fitted("LowDimSVC log", n_classes)
    to_c(model, tmp_path / "probs.h")
    row = ", ".join(f"{value:.9g}f" if value % 1 else f"{value}f" for value in X[0])
    (tmp_path / "main.c").write_text(f"""
#include <stdio.h>
#include "probs.h"
int main(void) {{
    const float row[] = {{{row}}};
    float scores[PROBS_N_SCORES], p[PROBS_N_CLASSES];
    probs_predict(row, NULL, scores);
    probs_probabilities(scores, p);
    for (int k = 0; k < PROBS_N_CLASSES; k++) printf("%.9g ", (double)p[k]);
    return 0;
}}""")
    program = tmp_path / "main"
    subprocess.run(["gcc", *FLAGS, str(tmp_path / "main.c"), "-lm", "-o", str(program)], check=True)
    found = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    np.testing.assert_allclose(
        np.array(found, dtype=float), model.predict_proba(X[:1])[0], atol=1e-5
    )


@pytest.mark.parametrize("kind", ["onnx", "javascript"])
def test_tasks(kind, X, tmp_path):
    y = rows_and_labels()[1]
    Y = np.where(np.column_stack([y % 2 == 0, y > 4, y == 3]), 1, -1)
    model = MaxMarginProjection(n_components=2).fit(X, Y)
    found = exported(kind, model, tmp_path, X)
    clear = np.abs(model.decision_function(X)) > TIE
    assert (np.array(found.labels) == model.predict(X))[clear].all()


def rows_of(frame, columns):
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    return MemorySource(table, "t").matrix(columns)


def table_model(estimator=None, impute="median"):
    """Two numbers with gaps and two text columns, in mixed order."""
    pandas = pytest.importorskip("pandas")
    X, y = make_blobs(120, 2, centers=3, random_state=0)
    rng = np.random.default_rng(0)
    X[::7, 0] = np.nan
    colour = np.array(["red", 'a "?" \\ é', ""])[(y + (rng.uniform(size=120) < 0.3)) % 3]
    frame = pandas.DataFrame(
        {
            "width": X[:, 0] * 1000 + 7e4,
            "colour": colour,
            "length": X[:, 1],
            "size": rng.choice(["s", "m"], 120),
        }
    ).astype({"colour": object, "size": object})
    columns = [
        Column("width", "number"),
        Column("colour", "text", tuple(sorted(set(colour)))),
        Column("length", "number"),
        Column("size", "text", ("m", "s")),
    ]
    estimator = estimator or LowDimSVC(n_centers=15, random_state=0)
    rows = rows_of(frame, columns)
    table = Table("table", columns, rows, y=y)
    model = TableModel.fit(estimator, table, Preparation(impute, "onehot", "standard"))
    return model, frame


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_with_text_and_gaps(kind, tmp_path):
    model, frame = table_model()
    frame = frame.astype({"width": np.float32}).astype({"width": float})
    frame.loc[3, "colour"] = "never seen"
    texts = frame[["colour", "size"]].to_numpy()
    numbers = frame[["width", "length"]].to_numpy().astype(np.float32).astype(float)
    found = exported(kind, model, tmp_path, numbers, texts)
    frame[["width", "length"]] = numbers
    rows = rows_of(frame, model.columns)
    prepared = model.transformer.transform(rows)
    assert_same_answers(
        found,
        model.predict(rows),
        model.estimator.decision_function(prepared),
        model.transform(rows),
    )


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_javascript_takes_rows_with_names(tmp_path):
    model, frame = table_model()
    (tmp_path / "model.mjs").write_text(to_javascript(model), encoding="utf-8")
    row = json.loads(frame.iloc[:1].to_json(orient="records"))[0]
    (tmp_path / "main.mjs").write_text(
        f'import {{ predict, columns }} from "./model.mjs";\n'
        f"console.log(JSON.stringify([predict({json.dumps(row)}).label, columns]));\n"
        "const bad = [Infinity, 'abc', []].map((width) => [width, 1, 'red', 's']);\n"
        "for (const row of [[1], ...bad, { width: 1 }]) {\n"
        "  try { predict(row); } catch (error) { console.log(error.message); }\n"
        "}\n"
    )
    done = subprocess.run(
        ["node", "main.mjs"], capture_output=True, encoding="utf-8", check=True, cwd=tmp_path
    ).stdout.splitlines()
    assert json.loads(done[0]) == [
        model.predict(rows_of(frame[:1], model.columns)).tolist()[0],
        ["width", "length", "colour", "size"],
    ]
    assert done[1:] == [
        "a row has 4 values, got 1",
        'width = "Infinity" is not a finite number',
        'width = "abc" is not a finite number',
        'width = "" is not a finite number',
        'the row has no "length"; null is a gap',
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__"])
def test_what_every_object_has_is_no_value_of_a_row_in_javascript(name, tmp_path):
    """A text column of that name would hold a text that is not known."""
    columns = [Column("a", "number"), Column(name, "text", ("blue", "red"))]
    X = np.column_stack([np.arange(20.0), np.arange(20) % 2])
    table = Table("t", columns, X, y=np.arange(20) % 2)
    model = TableModel.fit(CategorySpace(random_state=0), table)
    (tmp_path / "model.mjs").write_text(to_javascript(model), encoding="utf-8")
    row = json.dumps({"a": 1, name: "red"})
    (tmp_path / "main.mjs").write_text(
        'import { predict } from "./model.mjs";\n'
        f"const row = JSON.parse('{row}');\n"
        "console.log(predict(row).label === predict([1, row[Object.keys(row)[1]]]).label);\n"
        "try { predict({ a: 1 }); } catch (error) { console.log(error.message); }\n"
    )
    done = subprocess.run(
        ["node", "main.mjs"], capture_output=True, encoding="utf-8", check=True, cwd=tmp_path
    ).stdout.splitlines()
    assert done == ["true", f'the row has no "{name}"; null is a gap']


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_number_is_an_error_in_c(value, X, tmp_path):
    """All Gaussians are zero there, so the scores are finite."""
    rows = X[:1].copy()
    rows[0, 3] = value
    with pytest.raises(subprocess.CalledProcessError) as raised:
        exported("c", fitted("LowDimSVC"), tmp_path, rows)
    assert "not finite" in raised.value.stderr


def test_large_integers_stay_apart_in_javascript(X):
    labels = np.where(np.arange(len(X)) % 2, 2**53 + 1, 2**53)
    model = CategorySpace().fit(X, labels)
    assert f'"{2**53}","{2**53 + 1}"' in to_javascript(model)


def test_integers_beyond_the_signed_ones_keep_their_sign_in_onnx(X):
    labels = np.where(np.arange(len(X)) % 2, 2**63 + 1, 2**64 - 1).astype(np.uint64)
    model = LowDimSVC(n_centers=5, random_state=0).fit(X, labels)
    expected = [str(label) for label in model.predict(X).tolist()]
    assert run_onnx(to_onnx(model), X).labels == expected


@pytest.mark.parametrize("kind", ["c", "javascript"])
def test_a_gap_that_nothing_fills_is_an_error(kind, X, tmp_path):
    rows = X[:1].copy()
    rows[0, 3] = np.nan
    with pytest.raises(subprocess.CalledProcessError) as raised:
        exported(kind, fitted("LowDimSVC"), tmp_path, rows)
    assert "missing" in raised.value.stderr


@pytest.mark.parametrize("kind", ["c", "javascript"])
def test_a_gap_in_a_column_that_is_not_used_is_an_error(kind, X, tmp_path):
    rows = X[:, :3] * [1.0, 0.0, 1.0]
    model = MaxMarginProjection(kernel="rbf-diagonal", max_iter=10)
    model.fit(rows, np.arange(len(rows)) % 3)
    assert model.feature_scales_[1] == 0
    row = rows[:1].copy()
    row[0, 1] = np.nan
    with pytest.raises(subprocess.CalledProcessError) as raised:
        exported(kind, model, tmp_path, row)
    assert "missing" in raised.value.stderr


def test_features_far_from_zero_keep_their_X(tmp_path, X):
    """The pixels are multiples of 1/16, which single precision has at 4096 too."""
    shifted = X + 4096.0
    model = fitted("LowDimSVC", shift=4096.0)
    found = exported("onnx", model, tmp_path, shifted)
    assert_same_answers(
        found, model.predict(shifted), model.decision_function(shifted), model.transform(shifted)
    )


@pytest.mark.parametrize("kind", ["onnx", "javascript"])
def test_narrow_gaussians_about_far_centers(kind, tmp_path):
    """The expansion of a distance has no digit of them left, not in double precision either."""
    rows, y = make_blobs(60, 4, centers=3, random_state=0)
    rows[:6] *= 1e12
    rows = rows.astype(np.float32).astype(float)
    model = CategorySpace(kernel="rbf", gamma=1.0, random_state=0).fit(rows, y)
    found = exported(kind, model, tmp_path, rows)
    assert list(found.labels) == [str(label) for label in model.predict(rows)]


def test_standard_operators_only():
    pytest.importorskip("onnx")
    for name in MODELS:
        model = to_onnx(fitted(name))
        assert {entry.domain for entry in model.opset_import} == {""}
        assert {node.domain for node in model.graph.node} == {""}


def test_exports_are_the_same_each_time(tmp_path):
    pytest.importorskip("onnx")
    model = fitted("LowDimSVC")
    for name, export in (("m.onnx", to_onnx), ("m.h", to_c), ("m.mjs", to_javascript)):
        export(model, tmp_path / name)
        first = (tmp_path / name).read_bytes()
        with pytest.raises(OSError, match="exists"):
            export(model, tmp_path / name)
        export(model, tmp_path / name, overwrite=True)
        assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("label", ["\ud800", "a\0b"])
def test_letters_that_a_format_cannot_hold(label, X):
    """In C a NUL would end the text, and two labels may become one."""
    pytest.importorskip("onnx")
    rows = X[:, :3]
    model = KernelDiscriminantAnalysis(kernel="linear")
    model.fit(rows, np.array(["a", label])[np.arange(len(rows)) % 2])
    with pytest.raises(ExportError, match=r"the label .* that C cannot hold"):
        to_c(model)
    if "\0" not in label:
        with pytest.raises(ExportError, match=r"the label .* that ONNX cannot hold"):
            to_onnx(model)
    assert "export const" in to_javascript(model)
    model.feature_names_in_ = np.array(["x", label, "z"], dtype=object)
    model.classes_ = np.arange(2)
    with pytest.raises(ExportError, match=r"the column .* that C cannot hold"):
        to_c(model)


def many_classes(n):
    """Return a model of n classes; to fit so many takes hours."""
    rng = np.random.default_rng(0)
    model = KernelDiscriminantAnalysis(kernel="linear")
    model.fit(rng.normal(size=(30, 2)), np.arange(30) % 3)
    model.gaussians_ = GaussianClasses(rng.normal(size=(n, 2)), np.eye(2), np.full(n, 1 / n))
    model.classes_ = np.arange(n)
    return model


def test_very_many_classes_take_no_square_of_their_number():
    pytest.importorskip("onnx")
    model = many_classes(20_000)
    tracemalloc.start()
    for export in (to_c, to_javascript, to_onnx):
        export(model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6  # a matrix of 20 000 x 20 000 takes 3.2 GB


def test_very_many_probabilities_in_javascript(tmp_path):
    """More arguments of a function than the stack holds."""
    model, row = many_classes(200_000), np.ones((1, 2))
    found = exported("javascript", model, tmp_path, row)
    assert found.labels == [str(label) for label in model.predict(row)]
    np.testing.assert_allclose(found.probabilities, model.predict_proba(row), rtol=1e-3)


def test_names_of_c(tmp_path):
    model = fitted("LowDimSVC linear")
    assert "my_model_predict(" in to_c(model, tmp_path / "my-model.h").text
    with pytest.raises(ExportError, match="name='3d' cannot begin"):
        to_c(model, name="3d")


def test_bytes_and_stack_are_those_of_the_arrays():
    model = fitted("standardised, PCA")
    form = finite_form_of(model)
    source = to_c(model, arithmetic="single")
    assert [type(step).__name__ for step in form.to_latent] == ["Affine", "Gaussians", "Affine"]
    assert source.constant_bytes == 4 * form.numbers()
    # 8 coordinates, 9 latent ones and their sum over a block of 20 centres, 10 scores
    assert source.stack_bytes == 4 * (8 + 9 + 9 + 20 + 10)


def test_single_or_double():
    model = fitted("LowDimSVC")
    assert "exp(-" in to_c(model, arithmetic="double").text
    assert "expf(-" in to_c(model, arithmetic="single").text
    with pytest.raises(ValueError, match="arithmetic='half' is not known"):
        to_c(model, arithmetic="half")


def test_public_names():
    assert supred.export.to_onnx is to_onnx
    assert set(supred.export.__all__) >= {"to_onnx", "to_c", "to_javascript", "save_model"}
