"""Labels of tables: how long they may be, and how those of other rows match those of a model."""

import json

import numpy as np
import pytest

from supred.rows.files.label_texts import labels_of
from tests.app.cli.conftest import write_csv

LONG = "b" * 100_000


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet"])
@pytest.mark.parametrize("way", [(), ("--stream",)])
def test_a_label_that_is_long_is_an_error(supred, tmp_path, kind, way):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), ["a", "c"] * 149 + ["a", LONG]
    path = tmp_path / f"t.{kind}"
    if kind == "npz":
        if way:
            pytest.skip("NPZ is not streamed")
        X, y = X[-6:], y[-6:]
        np.savez(path, X=X, y=y)
    elif kind == "csv":
        write_csv(path, ["u", "v", "y"], [[*row, label] for row, label in zip(X, y, strict=True)])
    else:
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame(X, columns=["u", "v"]).assign(y=y).to_parquet(path)
    out = tmp_path / "m"
    error = supred("fit", path, "--target", "y", "--out", out, "--method", "LowDimSVC", *way)
    line = next(line for line in error.err.splitlines() if "error: " in line)
    assert error.code == 2
    assert "'bbbbbbbbbbbbbbbbbbbb' has 100000 characters, where at most 1000" in line
    assert len(line) < 400
    assert not out.exists()


def test_many_labels_may_be_less_long():
    import pyarrow

    texts = pyarrow.array(["a", "b" * 51])
    assert labels_of(texts).dtype == "<U51"
    rows = texts.take(pyarrow.array(np.arange(2_000_000) % 2))
    with pytest.raises(ValueError, match="at most 50 can be used for 2000000 rows"):
        labels_of(rows)


@pytest.fixture
def decimals(supred, tmp_path):
    """A model of the labels 0.0, 0.5 and 1.0, and its rows."""
    rng = np.random.default_rng(0)
    rows = [[*(rng.normal(size=2) + 4 * (k % 3)).round(3), k % 3 / 2] for k in range(60)]
    whole = write_csv(tmp_path / "whole.csv", ["u", "v", "y"], rows)
    model = tmp_path / "m.supred"
    result = supred(
        "fit", whole, "--target", "y", "--out", model, "--set", "n_centers=5", "--quiet"
    )
    assert result.code == 0, result.err
    return model, rows


@pytest.mark.parametrize("written", [float, int])
def test_a_part_of_the_labels_is_known(supred, tmp_path, decimals, written):
    model, rows = decimals
    part = [[u, v, written(y)] for u, v, y in rows if y != 0.5]
    path = write_csv(tmp_path / "part.csv", ["u", "v", "y"], part)
    result = supred("evaluate", model, path, "--json")
    assert result.code == 0, result.err
    said = json.loads(result.out)
    assert (said["rows"], said["classes"]) == (40, ["0.0", "0.5", "1.0"])
    assert said["error"] < 0.1
    result = supred(
        "export", model, path, "--to", "c", "--quantise", "--out", tmp_path / "m.h", "--json"
    )
    assert json.loads(result.out)["error"] < 0.1


def test_an_unknown_label_of_validation_rows_is_an_error(supred, tmp_path, decimals):
    model, rows = decimals
    path = write_csv(tmp_path / "t.csv", ["u", "v", "y"], [*rows, [0, 0, 2.0]])
    out = tmp_path / "m.h"
    result = supred("export", model, path, "--to", "c", "--quantise", "--out", out)
    assert "the label '2.0' was not seen in training" in result.error_line
    assert not out.exists()


def test_a_row_without_a_label_is_an_error_that_evaluate_can_be_told_to_avoid(
    supred, tmp_path, decimals
):
    model, rows = decimals
    path = write_csv(tmp_path / "t.csv", ["u", "v", "y"], [*rows, [0, 0, ""]])
    line = supred("evaluate", model, path).error_line
    assert "the first is row 61; fill them in or leave these rows out of the table" in line
