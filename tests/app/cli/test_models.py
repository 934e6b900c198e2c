"""fit, predict, transform, evaluate and info: a model goes through a file and stays the same."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas
import pytest

from supred.app.export.model_file import load_model, save_model
from supred.app.tables.reading import read_source
from tests.app.cli.conftest import flowers, write_csv

METHODS = [
    ("LowDimSVC", "n_centers=20"),
    ("LowDimSVC", "mapping=linear"),
    ("CategorySpace", "kernel=rbf"),
    ("CategorySpace", "whiten=true"),
    ("MaxMarginProjection", "C=10"),
    ("ClassConstrainedEmbedding", "n_neighbors=8"),
    ("ClassConstrainedEmbedding", "classifier=linear"),
    ("KernelDiscriminantAnalysis", "alpha=0.01"),
]


@pytest.mark.parametrize(("method", "setting"), METHODS)
def test_predictions_of_a_saved_model_equal_those_in_memory(
    supred, rough_table, tmp_path, method, setting, monkeypatch
):
    kept = []

    def save_and_keep(model, *args, **kwargs):
        kept.append(model)
        save_model(model, *args, **kwargs)

    monkeypatch.setattr("supred.app.cli.fit.save_model", save_and_keep)
    path = tmp_path / "m.supred"
    with np.errstate(all="ignore"):
        result = supred(
            "fit", rough_table, "--target", "species", "--method", method, "--set", setting,
            "--out", path, "--json",
        )  # fmt: skip
    assert result.code == 0, result.err
    report = json.loads(result.out)
    assert report["columns"] == ["width", "length", "height", "colour"]
    assert any("'width' (9)" in sentence for sentence in report["preprocessing"])
    assert any("'id'" in sentence for sentence in report["preprocessing"])
    assert report["training_error"] < 0.25

    from supred.app.tables.assemble import model_table
    from supred.app.tables.reading import read_source

    table = model_table(
        read_source(str(rough_table)), kept[0].columns, target="species", ignored=["id"]
    )
    loaded = load_model(path)
    expected = kept[0].predict(table.X)
    np.testing.assert_array_equal(loaded.predict(table.X), expected)
    np.testing.assert_array_equal(loaded.transform(table.X), kept[0].transform(table.X))
    assert supred("predict", path, rough_table).out.split() == ["species", *expected.tolist()]
    coordinates = supred("transform", path, rough_table).out.splitlines()[1:]
    numbers = np.array([[float(cell) for cell in line.split(",")] for line in coordinates])
    np.testing.assert_array_equal(numbers, kept[0].transform(table.X))


def test_predict_in_a_pipe_is_byte_clean(model, table):
    with open(table, "rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "supred.app.cli", "predict", str(model)],
            stdin=file,
            capture_output=True,
            check=True,
        )
    assert done.stderr == b""
    _, y = flowers()
    lines = done.stdout.decode().split("\n")
    assert lines[0] == "species"
    assert lines[-1] == ""
    assert np.mean(np.array(lines[1:-1]) == y) > 0.9
    assert set(done.stdout) <= set(b"species\nroselilyiris")


def test_whole_number_labels_come_out_as_they_went_in(supred, tmp_path):
    X, y = flowers()
    number = {"rose": "2", "lily": "10", "iris": "-1"}
    path = tmp_path / "n.csv"
    lines = [f"{a},{b},{number[label]}" for (a, b, _), label in zip(X, y, strict=True)]
    path.write_text("\n".join(lines))
    out = tmp_path / "m"
    arguments = ("--no-header", "--set", "n_centers=20", "--quiet", "--out", out)
    assert supred("fit", path, "--target", "-1", *arguments).code == 0
    assert load_model(out).classes.tolist() == [-1, 2, 10]
    features = "\n".join(line.rsplit(",", 1)[0] for line in lines)
    result = supred("predict", out, "-", "--no-header", stdin=features)
    assert result.out.split()[0] == "column3"
    assert np.mean([a == number[b] for a, b in zip(result.out.split()[1:], y, strict=True)]) > 0.9


def test_minus_one_is_a_class_like_any_other(supred, tmp_path):
    X, y = flowers()
    path, out = tmp_path / "n.csv", tmp_path / "m"
    sign = np.where(y == "rose", -1, 1)
    path.write_text(
        "a,b,k\n" + "".join(f"{a},{b},{k}\n" for (a, b, _), k in zip(X, sign, strict=True))
    )
    arguments = ("--method", "ClassConstrainedEmbedding", "--quiet", "--out", out)
    assert supred("fit", path, "--target", "k", *arguments).code == 0
    predicted = supred("predict", out, path).out.split()[1:]
    assert np.mean(np.array(predicted, dtype=int) == sign) > 0.9


def test_evaluate_counts_errors(supred, model, table):
    lines = table.read_text().splitlines()
    # Two lilies called roses are two errors of the class rose.
    lily = [k for k, line in enumerate(lines) if line.endswith("lily")][:2]
    for k in lily:
        lines[k] = lines[k].replace("lily", "rose")
    predicted = supred("predict", model, table).out.split()[1:]
    truth = [line.rsplit(",", 1)[1] for line in lines[1:]]
    result = supred("evaluate", model, "-", "--json", stdin="\n".join(lines))
    report = json.loads(result.out)
    wrong = [a != b for a, b in zip(predicted, truth, strict=True)]
    assert report["error"] == pytest.approx(np.mean(wrong))
    assert np.sum(report["confusion"]) == 60
    assert report["confusion"][2][1] >= 2
    shown = supred("evaluate", model, "-", stdin="\n".join(lines)).out
    assert shown.splitlines()[-1].split()[:2] == ["all", "60"]


def test_info_describes_a_model_and_the_installation(supred, model):
    about = json.loads(supred("info", model, "--json").out)
    assert about["method"] == "RBFNetClassifier"
    assert about["classes"] == ["iris", "lily", "rose"]
    assert about["columns"] == {"width": "number", "length": "number", "height": "number"}
    here = json.loads(supred("info", "--json").out)
    assert here["methods"]["LowDimSVC"] == "ready"
    assert "digits" in here["data sets"]
    assert "species" in supred("info", model).out


def test_names_do_not_steer_the_terminal(supred, tmp_path):
    path, model = tmp_path / "\x1b[2J.csv", tmp_path / "m"
    rows = [f"{k % 2 + k / 99},{('a', chr(27) + '[31mb')[k % 2]}" for k in range(40)]
    path.write_text("\n".join(["a,y", *rows]) + "\n")
    fit = supred("fit", path, "--target", "y", "--method", "CategorySpace", "--out", model)
    assert fit.code == 0
    for result in (
        supred("evaluate", model, path),
        supred("info", model),
        supred("fit", path, "--target", "z", "--out", model, "--force"),
    ):
        assert "\x1b" not in result.out + result.err
        assert "\\x1b[" in result.out + result.err
    assert "\x1b[31mb" in supred("predict", model, path).out


def test_columns_may_come_in_another_order(supred, model, table):
    rows = [line.split(",") for line in table.read_text().splitlines()]
    turned = "\n".join(",".join(row[:3][::-1]) for row in rows)
    assert supred("predict", model, "-", stdin=turned).out == supred("predict", model, table).out


def test_output_goes_to_a_file_when_asked(supred, model, table, tmp_path):
    out = tmp_path / "p.csv"
    result = supred("predict", model, table, "--out", out)
    assert (result.code, result.out) == (0, "")
    assert out.read_text() == supred("predict", model, table).out
    document = json.loads(supred("predict", model, table, "--json").out)
    assert document["predicted"] == out.read_text().split()[1:]


def test_equal_models_are_equal_files(supred, model, table, tmp_path):
    again = tmp_path / "again.supred"
    arguments = ("--target", "species", "--set", "n_centers=20", "--quiet")
    supred("fit", table, *arguments, "--out", again)
    a, b = load_model(model), load_model(again)
    np.testing.assert_array_equal(a.estimator.coef_, b.estimator.coef_)


def test_predict_adds_what_is_asked_for(supred, table, tmp_path):
    path, out = tmp_path / "log.supred", tmp_path / "p.parquet"
    settings = ("--set", "n_centers=20", "--set", "loss=log", "--quiet")
    assert supred("fit", table, "--target", "species", *settings, "--out", path).code == 0
    model = load_model(path)
    ask = ("predict", path, table, "--proba", "--scores", "--coordinates")
    lines = supred(*ask).out.splitlines()
    names = ["species"]
    names += [f"{kind} of {c}" for kind in ("probability", "score") for c in model.classes]
    names += model.estimator.get_feature_names_out().tolist()
    assert lines[0].split(",") == names
    assert supred(*ask, "--stream").out.splitlines()[0] == lines[0]
    assert supred(*ask, "--out", out).code == 0
    frame = pandas.read_parquet(out)
    assert frame.columns.tolist() == names
    assert [line.split(",")[0] for line in lines[1:]] == frame["species"].tolist()
    numbers = np.array([line.split(",")[1:] for line in lines[1:]], dtype=float)
    np.testing.assert_array_equal(frame[names[1:]], numbers)
    from supred.app.tables.reading import read_source

    X = model.transformer.transform(read_source(str(table)).matrix(model.columns))
    estimator = model.estimator
    expected = [estimator.predict_proba(X), estimator.decision_function(X), estimator.transform(X)]
    np.testing.assert_array_equal(numbers, np.hstack(expected))
    told = json.loads(supred(*ask, "--json").out)
    assert told["predicted"] == frame["species"].tolist()
    np.testing.assert_array_equal(np.array(told["probabilities"]), expected[0])


def test_a_target_that_is_called_as_a_coordinate(supred, table, tmp_path):
    table.write_text(table.read_text().replace("species", "lowdimsvc0"))
    path = tmp_path / "m"
    arguments = ("--target", "lowdimsvc0", "--method", "LowDimSVC", "--out", path, "--quiet")
    assert supred("fit", table, *arguments).code == 0
    head, *lines = supred("predict", path, table, "--coordinates").out.splitlines()
    assert head == "predicted lowdimsvc0,lowdimsvc0,lowdimsvc1"
    predicted = supred("predict", path, table).out.split()[1:]
    assert [line.split(",")[0] for line in lines] == predicted


def test_classes_with_a_carriage_return(supred, table, tmp_path):
    table.write_text(table.read_text().replace("rose", '"ro\rse"'), newline="")
    path = tmp_path / "m"
    arguments = ("--target", "species", "--method", "LowDimSVC", "--out", path, "--quiet")
    assert supred("fit", table, *arguments).code == 0
    result = supred("predict", path, table)
    rows = list(csv.reader(io.StringIO(result.out, newline="")))
    assert len(rows) == 61
    assert {len(row) for row in rows} == {1}
    assert ["ro\rse"] in rows


@pytest.mark.parametrize("letters", ["\t", ";;;"])
def test_names_that_another_reader_would_cut_are_quoted(supred, table, tmp_path, letters):
    text = (
        table.read_text()
        .replace("species", '"spe,cies"')
        .replace("rose", f'"{letters}r{letters}e"')
    )
    table.write_text(text)
    path, out = tmp_path / "m", tmp_path / "p.csv"
    arguments = ("--target", "-1", "--method", "LowDimSVC", "--out", path, "--quiet")
    assert supred("fit", table, *arguments).code == 0
    assert supred("predict", path, table, "--scores", "--out", out).code == 0
    names = [f"score of {label}" for label in load_model(path).classes]
    assert read_source(str(out)).names == ["spe,cies", *names]


def test_a_model_without_probabilities_says_so(supred, table, tmp_path):
    model = tmp_path / "hinge.supred"
    fit = ("fit", table, "--target", "species", "--set", "loss=hinge", "--set", "n_centers=20")
    supred(*fit, "--quiet", "--out", model)
    line = supred("predict", model, table, "--proba").error_line
    assert "the model gives no probabilities: " in line
    two = supred("predict", model, table, "--scores").out.splitlines()[0]
    assert two == "species,score of iris,score of lily,score of rose"


def test_fit_reports_the_error_of_rows_that_were_held_out(supred, rough_table, tmp_path):
    path = tmp_path / "m"
    fit = ("fit", rough_table, "--target", "species", "--method", "CategorySpace", "--out", path)
    told = json.loads(supred(*fit, "--json").out)
    assert told["held_out"] == "5-fold cross-validation"
    # The same by hand: preparation and estimator see the training rows of a fold only.
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    from supred.app.tables.assemble import training_table
    from supred.app.tables.preparation import Preparation
    from supred.app.tables.reading import read_source

    table = training_table(read_source(str(rough_table)), target="species")
    wrong = 0
    estimator = load_model(path).estimator
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(table.X, table.y):
        steps = Preparation().pipeline(table.columns).fit(table.X[train])
        fold = clone(estimator).fit(steps.transform(table.X[train]), table.y[train])
        wrong += np.sum(fold.predict(steps.transform(table.X[test])) != table.y[test])
    assert told["held_out_error"] == pytest.approx(wrong / table.n_rows)
    assert f"Held-out error: {100 * wrong / table.n_rows:.2f} %" in supred(*fit, "--force").err


def test_the_validation_part_tells_the_error_without_cross_validation(supred, table, tmp_path):
    fit = ("fit", table, "--target", "species", "--set", "n_centers=20", "--out", tmp_path / "m")
    held_out = ("--set", "early_stopping=true", "--folds", "0", "--json", "--force")
    for way in ((), ("--stream",)):
        told = json.loads(supred(*fit, *held_out, *way).out)
        errors = load_model(tmp_path / "m").estimator.history_["validation_error"]
        assert told["held_out_error"] == pytest.approx(min(errors))
        assert told["held_out"].startswith("the validation part")
    told = json.loads(
        supred(*fit, "--folds", "0", "--set", "early_stopping=false", "--json", "--force").out
    )
    assert told["held_out_error"] is None
    line = supred(*fit, "--force", "--stream", "--folds", "3").error_line
    assert "--folds cannot be combined with --stream" in line


def test_rows_without_a_label_are_learnt_from(supred, tmp_path):
    """One label per class: the others are found over the neighbours."""
    X, truth = flowers()
    few = np.where(np.arange(60) < 3, truth, "")  # the classes take turns
    path, model = tmp_path / "few.csv", tmp_path / "m.supred"
    rows = [[*row, label] for row, label in zip(X.tolist(), few, strict=True)]
    write_csv(path, ["a", "b", "c", "kind"], rows)
    fit = ["fit", path, "--target", "kind", "--out", model]
    result = supred(*fit)
    assert result.code != 0
    assert "--drop-unlabelled" in result.err
    result = supred(*fit, "--method", "ClassConstrainedEmbedding")
    assert result.code == 0, result.err
    assert "57 row(s) without a label are used without it." in result.err
    assert np.mean(load_model(model).predict(X) == truth) > 0.9
    assert "Held-out error: not known: no class has two labelled rows" in result.err


def few_labels(path, n_labelled):
    X, truth = flowers()
    few = np.where(np.arange(60) < n_labelled, truth, "")
    rows = [[*row, label] for row, label in zip(X.tolist(), few, strict=True)]
    write_csv(path, ["a", "b", "c", "kind"], rows)
    return path, X, truth


def test_hidden_labels_tell_the_error(supred, tmp_path):
    path, _, _ = few_labels(tmp_path / "few.csv", 15)
    fit = ["fit", path, "--target", "kind", "--method", "ClassConstrainedEmbedding"]
    result = supred(*fit, "--out", tmp_path / "m.supred", "--json")
    told = json.loads(result.out)
    assert 0 <= told["held_out_error"] <= 0.2
    assert "labels hidden in 5 parts in turn" in told["held_out"]
    assert "±" in told["held_out"]


def test_a_comparison_uses_rows_without_a_label(supred, tmp_path):
    path, X, truth = few_labels(tmp_path / "few.csv", 12)
    model = tmp_path / "best.supred"
    compare = ["compare", path, "--target", "kind", "--no-tune", "--no-report", "--json"]
    result = supred(
        *compare, "--methods", "MajorityClass,ClassConstrainedEmbedding", "--save-model", model
    )
    assert result.code == 0, result.err
    told = json.loads(result.out)
    said = " ".join(told["preprocessing"])
    assert "48 row(s) without a label are used by ClassConstrainedEmbedding; the others" in said
    assert (told["rows"], told["folds"]) == (12, 4)
    sizes = {method["name"]: method["n_basis"] for method in told["methods"]}
    assert sizes["ClassConstrainedEmbedding"] == 9 + 48
    assert np.mean(load_model(model).predict(X) == truth) > 0.9
    dropped = json.loads(
        supred(*compare, "--methods", "LDA", "--folds", "4", "--drop-unlabelled").out
    )
    assert "48 row(s) without a label were left out." in dropped["preprocessing"][0]


def test_a_model_that_was_saved_without_a_table(supred, table, tmp_path):
    """Its table is one of numbers, named as in `fit`, and nothing is done to them."""
    import pandas
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from supred import LowDimSVC
    from supred.export import save_model

    frame = pandas.read_csv(table)
    X, y = frame.drop(columns="species"), frame["species"]
    fitted = make_pipeline(StandardScaler(), LowDimSVC(n_centers=9, random_state=0)).fit(X, y)
    path = tmp_path / "pipeline.supred"
    save_model(fitted, path)
    result = supred("predict", path, table, "--exclude", "species")
    assert result.out.splitlines()[1:] == fitted.predict(X).tolist(), result.err
    assert "method: LowDimSVC" in supred("info", path).out
    assert supred("export", path, "--to", "js", "--out", tmp_path / "m.mjs").code == 0
