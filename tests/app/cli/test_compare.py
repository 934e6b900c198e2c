"""compare: same folds, one table, failures and interrupts that stop nothing else."""

import dataclasses
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred.app.comparison import run
from supred.app.comparison.file import load_comparison
from supred.app.comparison.methods import METHODS
from supred.app.comparison.result import Comparison
from supred.datasets.real import UCI_NAMES

QUICK = ("--no-report", "--folds", "3", "--quiet")


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
    late = {name for name, state in status.items() if state != "done"}
    assert late <= {"UMAP"}
    assert report["classes"] == ["aster", "iris", "lily", "orchid", "rose", "tulip"]
    assert report["features"] == ["width", "length", "height", "colour"]
    said = " ".join(report["preprocessing"])
    assert "'width' (9), 'height' (6)" in said
    assert "'colour' (4 values)" in said
    assert "'id' differs in most rows" in said
    assert said.split(". ")[0] in result.err
    assert "Most accurate: " in result.err
    for method in report["methods"]:
        if method["status"] == "done" and method["name"] != "MajorityClass":
            assert method["error"] < 0.5
            assert method["model_bytes"] > 0
    assert page.stat().st_size > 1000
    assert f"Report: {page}" in result.err


def test_the_table_has_a_line_per_method_and_the_verdict_goes_to_stderr(supred, table):
    result = supred(
        "compare", table, "--target", "species", "--methods", "LDA,svc,UMAP", "--no-report"
    )
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split()[:3] == ["method", "error", "%"]
    assert sorted(line.split()[0] for line in lines[1:]) == ["LDA", "SVC", "UMAP"]
    skipped = lines[3].endswith("skipped: umap is not installed")
    assert skipped == bool(METHODS["UMAP"].missing)
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


def test_an_interrupt_keeps_what_is_finished(supred, table, monkeypatch, tmp_path):
    def interrupt(setting, facts):
        raise KeyboardInterrupt

    method = dataclasses.replace(METHODS["SVC"], make=interrupt)
    monkeypatch.setitem(run.METHODS, "SVC", method)
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


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
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
            if line.startswith("SVC"):  # LDA, one of the first, is done
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
    assert lda.regions is None  # LDA decides outside its coordinates
    assert (low.name, low.n_components, low.n_basis) == ("LowDimSVC", 2, 40)
    assert low.latent.shape == (60, 2)
    assert low.history["nested_objective"]
    assert svc.latent is None
    assert comparison.row_names[:2] == ["1", "2"]
    across, up, regions = low.regions.x, low.regions.y, low.regions.class_index
    assert regions.shape == (len(up), len(across))
    # The class of the region in which a row lies is what the model says of the row.
    column = np.abs(across[None] - low.latent[:, :1]).argmin(axis=1)
    row = np.abs(up[None] - low.latent[:, 1:2]).argmin(axis=1)
    assert np.mean(regions[row, column] == comparison.y) > 0.9
    assert comparison.class_map.error < 0.2
    assert {item.column for item in comparison.importances[:2]} == {"length", "width"}
    assert comparison.structure.p_value == 0.002
    assert comparison.verdict[0].startswith("Most accurate: ")
    wrong = supred("report", table, "--out", tmp_path / "x.html")
    assert "not a file of supred" in wrong.error_line
    assert supred("report", kept, "--out", tmp_path / "x.html").code == 0
    assert "holds a comparison, not a model" in supred("info", kept).error_line


@pytest.mark.skipif("SUPRED_DATA" not in os.environ, reason="needs the UCI tables of SUPRED_DATA")
@pytest.mark.parametrize("name", UCI_NAMES)
def test_uci_tables_end_with_a_report(supred, tmp_path, name):
    path = os.path.join(os.environ["SUPRED_DATA"], "uci", f"{name}.csv")
    page = tmp_path / "page.html"
    result = supred("compare", path, "--target", "label", "--budget", "3s", "--out", page, "--json")
    assert result.code == 0
    done = [m["name"] for m in json.loads(result.out)["methods"] if m["status"] == "done"]
    assert "LDA" in done
    assert page.exists()


def test_without_time_for_any_method_the_report_is_written_all_the_same(supred, table, tmp_path):
    page, kept, model = (tmp_path / name for name in ("page.html", "kept", "model"))
    files = ("--out", page, "--save", kept, "--save-model", model)
    result = supred("compare", table, "--target", "species", "--budget", "1e-9", *files)
    assert result.code == 1
    assert "No method finished, so there is no model to save." in result.err
    assert "error: " not in result.err
    assert page.exists()
    assert kept.exists()
    assert not model.exists()
