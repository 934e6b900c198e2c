"""The benchmarks of memory measure what they say."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import _child
from benchmarks.out_of_memory import changed_labels, difference

TASK = {"parameters": {"n_centers": 20, "max_iter": 4, "tol": 0.0, "random_state": 0}}


@pytest.fixture
def folder(tmp_path):
    _child.write_rows(tmp_path, 900)
    return tmp_path


def test_the_fits_that_are_compared(folder):
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    assert (X.shape, X.dtype, set(y)) == ((900, 50), np.float64, set(range(10)))
    for source in ("file", "map", "memory"):
        out = str(folder / f"{source}.npz")
        found = _child.fit({**TASK, "folder": str(folder), "source": source, "out": out})
        assert found["n_iter"] == 4
        assert found["seconds"] > 0
        assert found["peak"] >= found["before"] > 10_000_000
        assert difference(folder / f"{source}.npz", folder / "file.npz") < 1e-9
    assert changed_labels(folder / "memory.npz", folder / "file.npz") == 0
    other = {**TASK["parameters"], "C": 3.0}
    task = {"parameters": other, "folder": str(folder), "source": "file"}
    _child.fit({**task, "out": str(folder / "other.npz")})
    assert difference(folder / "other.npz", folder / "file.npz") > 1e-3


def test_an_interrupted_fit_in_a_process_of_its_own(folder):
    parameters = {**TASK["parameters"], "checkpoint": str(folder / "checkpoint")}
    task = {"parameters": parameters, "folder": str(folder), "source": "file", "stop_after": 2}
    found = _child.run(task)
    assert found["interrupted"]
    assert (folder / "checkpoint").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_peak_memory_is_that_of_the_process_alone():
    ballast = np.ones(40_000_000)  # 320 MB in this process
    code = (
        "import json, numpy as np; from benchmarks._memory import peak_bytes;"
        "a = peak_bytes(); x = np.ones(10_000_000); print(json.dumps([a, peak_bytes()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    before, after = json.loads(done.stdout)
    assert before < ballast.nbytes
    assert 0.9 * 80e6 < after - before < 1.5 * 80e6
