"""What may follow what on the command line, and names that no file should have."""

import json
import os

import pytest


def test_a_table_may_follow_the_options(supred, model, table, tmp_path):
    wanted = supred("evaluate", model, table, "--json").out
    for words in (
        (model, "--json", table),
        ("--json", model, table),
        ("--json", "--", model, table),
    ):
        assert supred("evaluate", *words).out == wanted
    line = supred("predict", model, table, "--json", table).error_line
    assert "unrecognized arguments" in line
    again = ("--target", "species", "--out", tmp_path / "m", "--json", "--quiet", "--stream")
    said = supred("fit", table, *again, "--method", "LowDimSVC", table)
    assert json.loads(said.out)["rows"] == 120


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fit", "t", "--out", ""), "--out: the name is empty"),
        (("fit", "t", "--out", "-"), "write ./- if it is meant"),
        (("fit", "t", "--out", "m", "--checkpoint", "-"), "write ./- if it is meant"),
        (("fit", "t", "--out", "m", "--set", "C"), "write NAME=VALUE"),
        (("fit", "t", "--out", "m", "--seed", "-1"), "--seed: '-1' is not a whole number"),
        (("map", "t", "--seed", "4294967296"), "is more than 2^32 - 1"),
        (("predict", "", "t"), "MODEL: the name is empty"),
        (("predict", "m", ""), "TABLE: the name is empty"),
        (("predict", "m", "t", "--two\nlines"), "--two lines"),
        (("map", "-", "--new", "-"), "give one of them as a file"),
    ],
)
def test_words_that_are_refused(supred, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in supred(*words).error_line
    assert os.listdir(tmp_path) == []


def test_what_is_read_is_not_replaced(supred, model, table, tmp_path):
    same = tmp_path / ".." / tmp_path.name / table.name
    results = tmp_path / "results"
    compare = ("compare", table, "--target", "species", "--methods", "LDA", "--no-report")
    assert supred(*compare, "--save", results).code == 0
    before = {path: path.read_bytes() for path in (table, model, results)}
    for words in (
        ("fit", table, "--target", "species", "--out", same),
        ("fit", same, table, "--stream", "--target", "species", "--out", table),
        ("predict", model, table, "--out", table),
        ("transform", model, table, "--out", model),
        ("export", model, "--to", "c", "--out", model),
        (*compare, "--save", table),
        ("report", results, "--out", results),
        ("fit", tmp_path, "--stream", "--target", "species", "--out", table),
        ("fit", tmp_path / "*.csv", "--scheduler", "local", "--target", "species", "--out", same),
        ("predict", model, tmp_path / "f*.csv", "--stream", "--out", table),
    ):
        assert "is read by this command" in supred(*words, "--force", "--quiet").error_line
    assert {path: path.read_bytes() for path in before} == before


def test_a_budget_of_ages(supred, table, tmp_path):
    words = ("--target", "species", "--methods", "LDA", "--no-report", "--budget", "1e300")
    assert supred("compare", table, *words).code == 0


def test_letters_that_standard_output_does_not_have(supred, tmp_path, monkeypatch):
    path, model = tmp_path / "t.csv", tmp_path / "m"
    path.write_text("a,kind\n" + "1,日\n2,本\n" * 10, encoding="utf-8")
    fit = ("fit", path, "--target", "kind", "--method", "LowDimSVC", "--folds", "0", "--quiet")
    assert supred(*fit, "--out", model).code == 0
    with open(tmp_path / "out", "w", encoding="ascii") as out:
        monkeypatch.setattr("sys.stdout", out)
        assert supred("evaluate", model, path).code == 0
        assert "ascii has no '日'; pass --out" in supred("predict", model, path).err
    assert "as \\u65e5" in (tmp_path / "out").read_text(encoding="ascii")
