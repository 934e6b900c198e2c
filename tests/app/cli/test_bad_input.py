"""Every bad input is one line on stderr, exit code 2, and nothing written."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

HEADER = "a,b,kind\n"
ROWS = "1,2,x\n2,1,y\n3,1,x\n1,3,y\n"

BAD_TABLES = {
    "missing target": (HEADER + ROWS, "has no column 'species'", "species"),
    "no target given": (HEADER + ROWS, "--target is needed", None),
    "one value": (HEADER + "1,2,x\n2,1,x\n", "one value only ('x')", "kind"),
    "empty": ("", "is empty", "kind"),
    "empty line": ("\n\n", "begins with an empty line", "kind"),
    "header only": (HEADER, "no rows", "kind"),
    "short row": (HEADER + "1,2,x\n1,y\n", "line 3: 2 fields where the first line has 3", "kind"),
    "long row": (HEADER + "1,2,x\n1,2,3,y\n", "line 3: 4 fields", "kind"),
    "no header": ("1,2,3\n1,2,4\n", "pass --no-header", "3"),
    "nameless column": ("a,,kind\n" + ROWS, "column 2 has no name", "kind"),
    "name twice": ("a,a,kind\n" + ROWS, "two columns are called 'a'", "kind"),
    "unlabelled row": (HEADER + ROWS + "1,1,\n", "the first is row 5", "kind"),
    "quantity": (
        "a,kind\n" + "".join(f"{k},{k / 7}\n" for k in range(20)),
        "looks like a quantity",
        "kind",
    ),
    "infinite": (HEADER + ROWS + "inf,1,x\n", "'a' holds an infinite number (row 5)", "kind"),
    "nothing to learn from": ("kind\nx\ny\nx\n", "no column is left", "kind"),
    "open quote": (HEADER + '"1,2,x\n', "cannot be read as a table", "kind"),
    "binary": (HEADER.encode() + b"\xff\xfe\x00,1,x\n", "is not a text file", "kind"),
}


@pytest.mark.parametrize(
    ("command", "case"),
    [
        (command, case)
        for command in ("fit", "compare")
        for case in BAD_TABLES
        if (command, case) != ("compare", "unlabelled row")  # compare uses such rows
    ],
)
def test_bad_tables(supred, tmp_path, command, case):
    text, message, target = BAD_TABLES[case]
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    out = tmp_path / "out"
    arguments = [command, path, "--out", out]
    if target is not None:
        arguments += ["--target", target]
    assert message in supred(*arguments).error_line
    assert sorted(os.listdir(tmp_path)) == ["t.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--exclude", "size"], "has no column 'size' (given as --exclude)"),
        (["--exclude", "species"], "cannot be excluded"),
        (["--target", "9"], "has no column '9'"),
        (["--set", "Z=1"], "has no parameter 'Z'"),
        (["--method", "LowDimSVC", "--set", "C=-1"], "C=-1 is out of range"),
        (["--set", "n_jobs=foo"], "n_jobs='foo' is out of range"),
        (["--set", "n_centers=0"], "n_centers=0 is out of range"),
        (["--method", "CategorySpace", "--components", "2"], "one dimension per class"),
        (["--method", "Nothing"], "invalid choice"),
        (["--components", "0"], "not a whole number of at least 1"),
        (["--dataset", "digits"], "both given"),
    ],
)
def test_bad_options_of_fit(supred, table, tmp_path, arguments, message):
    out = tmp_path / "out"
    result = supred("fit", table, "--target", "species", "--out", out, *arguments)
    assert message in result.error_line
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "SVC,magic"], "'magic' is not known"),
        (["--folds", "1"], "1 folds cannot be made"),
        (["--folds", "500"], "500 folds cannot be made"),
        (["--budget", "soon"], "not a time"),
        (["--budget", "-3s"], "budget"),
    ],
)
def test_bad_options_of_compare(supred, table, arguments, message):
    result = supred("compare", table, "--target", "species", "--quiet", *arguments)
    assert message in result.error_line


def test_a_table_is_needed(supred, tmp_path):
    assert "no table was given" in supred("compare").error_line
    assert "does not exist" in supred("compare", tmp_path / "no.csv").error_line
    assert "is a folder" in supred("compare", tmp_path).error_line
    assert "invalid choice: 'mars'" in supred("compare", "--dataset", "mars").error_line
    (tmp_path / "table.xyz").write_text("a")
    assert "pass --format" in supred("compare", tmp_path / "table.xyz").error_line
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        assert "pass - and give it as" in supred("compare", tmp_path / "pipe.csv").error_line


def test_switched_off_steps_are_errors(supred, rough_table, tmp_path):
    fit = ("fit", rough_table, "--target", "species", "--out", tmp_path / "out")
    assert (
        "9 number(s) are missing in the column 'width'"
        in supred(*fit, "--impute", "none").error_line
    )
    assert "the column 'colour' holds text" in supred(*fit, "--encode", "none").error_line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("width,length\n1,2\n", "lacks the column 'height'"),
        ("width,length,height,age\n1,2,3,4\n", "has the column 'age' that the model does not"),
        (
            "width,length,height\n1,tall,3\n",
            "the column 'length' holds 'tall' in row 1, where a number is expected",
        ),
        ("width,length,height\n1,2\n", "line 2: 2 fields"),
        ("width,length,height\n", "no rows"),
        ("", "is empty"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "transform"])
def test_bad_rows_at_predict_time(supred, model, tmp_path, command, text, message):
    out = tmp_path / "out.csv"
    assert message in supred(command, model, "-", "--out", out, stdin=text).error_line
    assert message in supred(command, model, "-", stdin=text).error_line
    assert not out.exists()


def test_an_extra_column_can_be_excluded(supred, model):
    text = "width,length,height,age\n3,0,1,4\n"
    assert supred("predict", model, "--exclude", "age", stdin=text).out == "species\nlily\n"


def test_a_label_not_seen_in_training_is_an_error(supred, model):
    text = "width,length,height,species\n1,2,3,orchid\n"
    assert "the label 'orchid' was not seen" in supred("evaluate", model, stdin=text).error_line
    text = "width,length,height\n1,2,3\n"
    assert "no column 'species'" in supred("evaluate", model, stdin=text).error_line


def test_outputs_that_are_one_file(supred, table, tmp_path):
    same = ("--save", tmp_path / "same", "--out", tmp_path / "." / "same")
    line = supred("compare", table, "--target", "species", *same).error_line
    assert "is named by two of --out, --save and --save-model" in line


def test_gaps_of_a_model_without_imputation(supred, table, tmp_path):
    path = tmp_path / "m"
    arguments = ("--target", "species", "--impute", "none", "--out", path, "--quiet")
    assert supred("fit", table, *arguments).code == 0
    line = supred("predict", path, stdin="width,length,height\n1,,2\n").error_line
    assert "'length'; fill them in, or train with --impute median." in line


def test_an_output_that_exists_is_kept(supred, model, table, tmp_path):
    out = tmp_path / "precious"
    out.write_text("precious")
    for arguments in (
        ("fit", table, "--target", "species", "--out", out),
        ("predict", model, table, "--out", out),
        ("transform", model, table, "--out", out),
        ("compare", table, "--target", "species", "--no-report", "--save", out),
    ):
        assert "exists" in supred(*arguments).error_line
        assert out.read_text() == "precious"
    assert supred("predict", model, table, "--out", out, "--force").code == 0
    assert out.read_text().startswith("species\n")
    assert sorted(os.listdir(tmp_path)) == ["flowers.csv", "flowers.supred", "precious"]


def test_a_folder_that_is_not_there_is_an_error(supred, table, tmp_path):
    out = tmp_path / "no" / "m.supred"
    fit = supred("fit", table, "--target", "species", "--out", out)
    assert "does not exist" in fit.error_line


def test_a_folder_that_cannot_be_written_to_is_found_before_training(
    supred, table, tmp_path, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr("supred.app.cli.fit.make_estimator", None)  # it would be called
    fit = supred("fit", table, "--target", "species", "--out", tmp_path / "m.supred")
    assert "cannot be written to" in fit.error_line


def test_a_full_disk_leaves_nothing(table, tmp_path):
    resource = pytest.importorskip("resource")
    # A limit on the size of files is what a full disk is to the writer.
    arguments = ["fit", str(table), "--target", "species", "--out", str(tmp_path / "m.supred")]
    done = subprocess.run(
        [sys.executable, "-m", "supred.app.cli", *arguments, "--quiet"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "too large" in done.stderr
    assert os.listdir(tmp_path) == ["flowers.csv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_standard_output_is_an_error(model, table):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "supred.app.cli", "predict", str(model), str(table)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert len(done.stderr.splitlines()) == 1


SLOW_WRITER = """
import sys, time
from supred.common.files import atomic_write
with atomic_write(sys.argv[1], overwrite=False) as file:
    file.write(b"half" * 5000)
    file.flush()
    print("half", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="needs files without a name")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_a_kill_half_way_leaves_nothing(tmp_path, how):
    out = tmp_path / "m.supred"
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, str(out)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"half\n"
        writer.send_signal(getattr(signal, how))
        assert writer.wait() != 0
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_while_fitting_writes_nothing(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "large.npz"
    np.savez(path, X=rng.normal(size=(20_000, 60)), y=rng.integers(0, 4, size=20_000))
    with subprocess.Popen(
        [sys.executable, "-m", "supred.app.cli", "fit", str(path), "--out", str(tmp_path / "m")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a suite that runs in the background ignores SIGINT, and its children would too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as fit:
        time.sleep(2.5)
        fit.send_signal(signal.SIGINT)
        out, err = fit.communicate()
    assert out == ""
    assert os.listdir(tmp_path) == ["large.npz"]
    assert fit.returncode in (130, -signal.SIGINT), err
