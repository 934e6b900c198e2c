"""The command that writes a saved model as ONNX, C or JavaScript."""

import json

import pytest


@pytest.mark.parametrize(
    ("kind", "name", "beginning"),
    [("onnx", "m.onnx", b"\x08\x08"), ("c", "m.h", b"/* RBFNet"), ("js", "m.mjs", b"// RBFNet")],
)
def test_formats(kind, name, beginning, supred, model, tmp_path):
    if kind == "onnx":
        pytest.importorskip("onnx")
    out = tmp_path / name
    result = supred("export", model, "--to", kind, "--out", out)
    assert result.code == 0, result.err
    assert out.read_bytes().startswith(beginning)
    assert f"Wrote {out}: {out.stat().st_size} bytes." in result.err
    assert "exists" in supred("export", model, "--to", kind, "--out", out).error_line


def test_quantised_with_validation_rows(supred, model, table, tmp_path):
    out = tmp_path / "flowers.h"
    result = supred(
        "export", model, table, "--to", "c", "--quantise", "--out", out, "--name", "f", "--json"
    )
    facts = json.loads(result.out)
    assert 0 <= facts["error"] <= 0.05
    assert 0 <= facts["error_quantised"] <= 0.05
    assert facts["constant_bytes"] > 0
    assert "int f_predict(" in out.read_text()


def test_quantised_without_rows_says_how_to_measure(supred, model, tmp_path):
    result = supred("export", model, "--to", "c", "--quantise", "--out", tmp_path / "m.h")
    assert "Name a table with labels" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "js", "--quantise"], "--quantise is for --to c only"),
        (["--to", "onnx", "--name", "a"], "--name is for --to c only"),
        (["TABLE", "--to", "c"], "a table is used with --quantise only"),
        (["--to", "c", "--name", "7"], "name='7' cannot begin"),
    ],
)
def test_bad_input(arguments, message, supred, model, table, tmp_path):
    out = tmp_path / "out"
    given = [table if argument == "TABLE" else argument for argument in arguments]
    assert message in supred("export", model, *given, "--out", out).error_line
    assert not out.exists()


def test_what_cannot_be_exported(supred, table, tmp_path):
    path = tmp_path / "m.supred"
    method = ("--method", "ClassConstrainedEmbedding", "--quiet")
    supred("fit", table, "--target", "species", "--out", path, *method)
    line = supred("export", path, "--to", "c", "--out", tmp_path / "m.h").error_line
    assert "has no small finite form; train a RBFNetClassifier" in line
