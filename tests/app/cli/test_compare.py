"""compare: same folds, one table, failures and interrupts that stop nothing else."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred.app.comparison import engine
from supred.app.comparison.engine import compare
from supred.app.comparison.file import load_comparison
from supred.app.comparison.methods import METHODS
from supred.app.comparison.result import Comparison, MethodResult
from supred.datasets.real import UCI_NAMES
from tests.app.cli.conftest import flowers

QUICK = ("--no-report", "--folds", "3", "--quiet")


def has_report():
    import importlib.util

    return importlib.util.find_spec("supred.app.report") is not None


def test_a_rough_table_is_compared_to_the_end(supred, rough_table, tmp_path):
    page = tmp_path / "page.html"
    result = supred(
        "compare", rough_table, "--target", "species", "--folds", "3", "--no-tune",
        "--out", page, "--json", "--budget", "100s",
    )  # fmt: skip
    assert result.code == 0, result.err
    report = json.loads(result.out)
    status = {method["name"]: method["status"] for method in report["methods"]}
    assert set(status) == {name for name, method in METHODS.items() if method.usual}
    assert all(state == "done" for name, state in status.items() if name != "UMAP")
    assert report["classes"] == ["aster", "iris", "lily", "orchid", "rose", "tulip"]
    assert report["features"] == ["width", "length", "height", "colour"]
    said = " ".join(report["preprocessing"])
    assert "'width' (9), 'height' (6)" in said
    assert "'colour' (4 values)" in said
    assert "'id' differs in most rows" in said
    assert said.split(". ")[0] in result.err
    assert "Most accurate: " in result.err
    for method in report["methods"]:
        if method["status"] == "done":
            assert method["error"] < 0.5
            assert method["model_bytes"] > 0
    if has_report():
        assert page.stat().st_size > 1000
        assert f"Report: {page}" in result.err


def test_the_table_has_a_line_a_method_and_advice_goes_to_stderr(supred, table):
    result = supred(
        "compare", table, "--target", "species", "--methods", "LDA,svc,UMAP", "--no-report"
    )
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split()[:3] == ["method", "error", "%"]
    assert [line.split()[0] for line in lines[1:]] == ["LDA", "SVC", "UMAP"]
    if METHODS["UMAP"].missing:
        assert lines[3].endswith("skipped: umap is not installed")
    assert "Most accurate" in result.err
    assert "Most accurate" not in result.out


def test_a_part_of_the_rows(supred, table):
    arguments = ("--methods", "LDA", "--rows", "30", "--json", "--no-tune", *QUICK)
    report = json.loads(supred("compare", table, "--target", "species", *arguments).out)
    assert report["rows"] == 30
    assert "30 of 60 rows" in report["preprocessing"][0]


def test_errors_are_those_of_the_same_folds_by_hand(supred, table):
    result = supred(
        "compare", table, "--target", "species", "--methods", "LDA", "--json", "--no-tune", *QUICK
    )
    found = json.loads(result.out)["methods"][0]
    rows = [line.split(",") for line in table.read_text().splitlines()[1:]]
    X = np.array([[float(v) for v in row[:3]] for row in rows])
    y = np.array([row[3] for row in rows])
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    predicted = cross_val_predict(model, X, y, cv=folds)
    expected = [np.mean(predicted[test] != y[test]) for _, test in folds.split(X, y)]
    assert found["fold_errors"] == pytest.approx(expected)


def made_table(n_rows=90, seed=3):
    from supred.app.tables.table import Column, Table

    X, y = flowers(n_rows, seed)
    X[::5] += 1.5
    columns = [Column(name, "number") for name in "abc"]
    return Table("made", columns, X, "kind", y, [str(k) for k in range(n_rows)])


def test_tuning_never_sees_the_held_out_rows(monkeypatch):
    # Whatever is fitted before the predictions of a fold is fitted to its training rows.
    table = made_table()
    codes = np.unique(table.y, return_inverse=True)[1]
    folds = engine.make_folds(codes, 3, 0)
    seen = []
    rows = engine._Run._rows

    def spy(self, train, test):
        seen.append((frozenset(train.tolist()), frozenset(test.tolist())))
        return rows(self, train, test)

    monkeypatch.setattr(engine._Run, "_rows", spy)
    compare(table, methods=["SVC"], n_folds=3)
    held_out = [frozenset(test.tolist()) for _, test in folds]
    current = None
    counts = {"outer": 0, "inner": 0}
    for train, test in seen:
        if test in held_out:
            current = test
            counts["outer"] += 1
            assert not train & test
        elif len(train) < len(codes):
            counts["inner"] += 1
            assert not (train | test) & current
    assert counts["outer"] == 6  # three folds, two rounds
    assert counts["inner"] >= 9


def test_tuning_takes_the_setting_that_is_best_inside(monkeypatch):
    # Only one of the settings can learn anything: the kernel of the others is too narrow.
    settings = [{"C": 1.0, "gamma": 1e6}, {"C": 10.0, "gamma": 0.3}, {"C": 1.0, "gamma": 1e5}]
    method = dataclasses.replace(METHODS["SVC"], settings=lambda facts: settings)
    monkeypatch.setitem(engine.METHODS, "SVC", method)
    result = compare(made_table(), methods=["SVC"], n_folds=3).methods[0]
    assert result.parameters == settings[1]
    assert (result.n_settings, result.n_settings_all) == (3, 3)
    untuned = compare(made_table(), methods=["SVC"], n_folds=3, tune=False).methods[0]
    assert untuned.parameters == settings[0]
    assert np.mean(result.fold_errors) < 0.2 < np.mean(untuned.fold_errors)


def test_a_method_that_fails_stops_no_other(monkeypatch):
    def fail(setting, facts):
        raise RuntimeError("no luck\ntoday")

    method = dataclasses.replace(METHODS["LDA"], make=fail)
    monkeypatch.setitem(engine.METHODS, "LDA", method)
    result = compare(made_table(), methods=["LDA", "SVC"], n_folds=3, tune=False)
    lda, svc = result.methods
    assert (lda.status, lda.reason) == ("failed", "RuntimeError: no luck today")
    assert svc.status == "done"
    assert "SVC" in result.advice


def test_a_method_without_end_is_stopped_and_the_others_have_their_share(monkeypatch):
    def sleep(setting, facts):
        time.sleep(600)

    method = dataclasses.replace(METHODS["SVC"], make=sleep)
    monkeypatch.setitem(engine.METHODS, "SVC", method)
    result = compare(made_table(), methods=["SVC", "LDA"], n_folds=3, budget=5.0)
    lda, svc = result.methods
    assert svc.status == "skipped"
    assert "raise --budget" in svc.reason
    assert lda.status == "done"


def test_an_interrupt_keeps_what_is_finished(supred, table, monkeypatch, tmp_path):
    def interrupt(setting, facts):
        raise KeyboardInterrupt

    method = dataclasses.replace(METHODS["SVC"], make=interrupt)
    monkeypatch.setitem(engine.METHODS, "SVC", method)
    kept = tmp_path / "kept.supred"
    result = supred(
        "compare", table, "--target", "species", "--methods", "LDA,SVC,NCA", "--json",
        "--save", kept, *QUICK,
    )  # fmt: skip
    assert result.code == 130
    report = json.loads(result.out)
    assert [m["status"] for m in report["methods"]] == ["done", "skipped", "skipped"]
    assert report["interrupted"]
    assert load_comparison(kept).methods[0].status == "done"


def test_ctrl_c_in_a_real_terminal_session_keeps_what_is_finished(table):
    arguments = ["compare", str(table), "--target", "species", "--budget", "1h"]
    with subprocess.Popen(
        [sys.executable, "-m", "supred.app.cli", *arguments, "--no-report", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a suite that runs in the background ignores SIGINT, and its children would too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        for line in process.stderr:
            if line.startswith("SVC"):  # LDA, the first, is done
                break
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert process.returncode == 130
    status = {m["name"]: m["status"] for m in json.loads(out)["methods"]}
    assert status["LDA"] == "done"


def test_results_are_kept_and_read_back_the_same(supred, table, tmp_path):
    kept = tmp_path / "kept.supred"
    arguments = ("--methods", "LowDimSVC,LDA,SVC", "--no-tune", "--save", kept, *QUICK)
    assert supred("compare", table, "--target", "species", *arguments).code == 0
    comparison = load_comparison(kept)
    assert isinstance(comparison, Comparison)
    low, lda, svc = comparison.methods
    assert (low.name, low.n_components, low.n_basis) == ("LowDimSVC", 2, 60)
    assert low.latent.shape == (60, 2)
    assert low.history["nested_objective"]
    assert svc.latent is None
    assert comparison.row_names[:2] == ["1", "2"]
    for method in (low, lda):
        across, up, regions = method.regions
        assert regions.shape == (len(up), len(across))
        # The class of the region in which a row lies is what the model says of the row.
        column = np.abs(across[None] - method.latent[:, :1]).argmin(axis=1)
        row = np.abs(up[None] - method.latent[:, 1:2]).argmin(axis=1)
        assert np.mean(regions[row, column] == comparison.y) > 0.9
    wrong = supred("report", table, "--out", tmp_path / "x.html")
    if has_report():
        assert "not a file of supred" in wrong.error_line
        assert supred("report", kept, "--out", tmp_path / "x.html").code == 0
    assert "holds a comparison, not a model" in supred("info", kept).error_line


def test_the_same_seed_gives_the_same_result():
    options = {"methods": ["LowDimSVC", "NCA"], "n_folds": 3, "tune": False, "seed": 5}
    first, second = compare(made_table(), **options), compare(made_table(), **options)
    for a, b in zip(first.methods, second.methods, strict=True):
        np.testing.assert_array_equal(a.predicted, b.predicted)
        np.testing.assert_array_equal(a.latent, b.latent)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("SVC", "UMAP")])
def test_two_components_give_a_picture_with_regions(name):
    with np.errstate(all="ignore"):
        result = compare(made_table(), methods=[name], n_folds=3, tune=False, n_components=2)
    method = result.methods[0]
    assert method.status == "done", method.reason
    if name == "CategorySpace":  # one dimension per class
        assert method.latent.shape == (90, 3)
        return
    assert method.latent.shape == (90, 2)
    assert set(np.unique(method.regions[2])) <= {0, 1, 2}


def test_advice_counts_only_what_is_done():
    from supred.app.comparison.advice import advise

    best = MethodResult("A", "done", fold_errors=[0.1, 0.2], model_bytes=1000)
    near = MethodResult("B", "done", fold_errors=[0.15, 0.25], model_bytes=100)
    far = MethodResult("C", "done", fold_errors=[0.3, 0.3], model_bytes=10)
    assert "smallest within one standard error of it: B" in advise([best, near, far])
    assert "also the smallest" in advise([best, far])
    assert advise([MethodResult("A", "failed", "why")]).startswith("No method finished")


@pytest.mark.skipif("SUPRED_DATA" not in os.environ, reason="needs the UCI tables of SUPRED_DATA")
@pytest.mark.parametrize("name", UCI_NAMES)
def test_uci_tables_end_with_a_report(supred, tmp_path, name):
    path = os.path.join(os.environ["SUPRED_DATA"], "uci", f"{name}.csv")
    page = tmp_path / "page.html"
    result = supred("compare", path, "--target", "label", "--budget", "3s", "--out", page, "--json")
    assert result.code == 0
    done = [m["name"] for m in json.loads(result.out)["methods"] if m["status"] == "done"]
    assert "LDA" in done
    assert page.exists() == has_report()
