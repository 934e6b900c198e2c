"""Calls of the command line in this process, and what they must answer."""

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

CODES = (0, 1, 2, 130)


class Answer(NamedTuple):
    """What a call of the command line gave."""

    code: int
    out: str
    err: str


def call(*arguments: str) -> Answer:
    """Run `supred` with the arguments; a traceback is the caller's."""
    from supred.app.cli.main import main

    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            code = main(list(arguments))
        except SystemExit as end:
            code = int(end.code or 0)
    return Answer(code, out.getvalue(), err.getvalue())


def check_call(*arguments: str) -> Answer:
    """Run a command: a known exit code, one line for an error, no half-written file."""
    before = set(Path().iterdir())
    answer = call(*arguments)
    assert answer.code in CODES, f"exit code {answer.code}"
    assert "Traceback" not in answer.err, answer.err
    if answer.code == 2:
        errors = [line for line in answer.err.splitlines() if "error:" in line]
        assert len(errors) == 1, f"not one line of error: {answer.err!r}"
        made = set(Path().iterdir()) - before
        assert not made, f"an error, and yet there is {made}"
    return answer


def check_table(text: str, encoding: str) -> None:
    """Fit on a table read at once and as a stream: both refuse it, or the models agree."""
    Path("table.csv").write_bytes(text.encode(encoding, errors="replace"))
    fit = ("fit", "table.csv", "--target", "y", "--method", "LowDimSVC", "--seed", "0")
    whole = call(*fit, "--out", "whole.supred")
    stream = call(*fit, "--stream", "--out", "stream.supred")
    for answer in (whole, stream):
        assert answer.code in (0, 2), f"exit code {answer.code}: {answer.err}"
    assert whole.code == stream.code, f"at once: {whole.err!r}; as a stream: {stream.err!r}"
    if whole.code == 0:
        answers = [call("predict", f"{m}.supred", "table.csv") for m in ("whole", "stream")]
        assert answers[0].code == answers[1].code, f"predict: {answers}"
        assert answers[0].out == answers[1].out, "at once and as a stream predict differently"


def check_kill(share: float) -> None:
    """Kill a fit with a checkpoint after a part of its time; going on ends at the same model."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = np.arange(4000) % 3
    X = rng.normal(size=(4000, 6)) + 0.7 * y[:, None]
    lines = [",".join([*(f"{v:.4f}" for v in row), str(k)]) for row, k in zip(X, y, strict=True)]
    Path("table.csv").write_text("a,b,c,d,e,f,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    fit = [sys.executable, "-m", "supred.app.cli", "fit", "table.csv", "--target", "y"]
    fit += ["--method", "LowDimSVC", "--folds", "0", "--checkpoint", "state", "--quiet", "--force"]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    began = time.perf_counter()
    subprocess.run([*fit, "--out", "alone.supred"], check=True, **quiet)
    seconds = time.perf_counter() - began
    process = subprocess.Popen([*fit, "--out", "killed.supred"], **quiet)
    time.sleep(share * seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run([*fit, "--out", "killed.supred"], check=True, **quiet)
    left = [name for name in os.listdir() if name.startswith(".supred")]
    assert not left, f"left behind: {left}"
    alone, killed = _without_times("alone.supred"), _without_times("killed.supred")
    assert alone == killed, "a fit that was killed ends at another model"


def _without_times(path: str) -> bytes:
    """Return the bytes of a model file whose history has no seconds: no two fits share these."""
    from supred.app.export.model_file import load_table_model
    from supred.export import save_model

    model = load_table_model(path)
    del model.estimator.history_["seconds"]
    save_model(model, path, overwrite=True)
    return Path(path).read_bytes()
