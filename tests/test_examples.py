"""The examples run as they stand."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_transfer_example(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["transfer.py", "--draws", "1"])
    runpy.run_path(str(ROOT / "examples" / "transfer.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("shared projection") == 2
    assert "new pair (44 tasks)" in printed


def test_active_learning_example(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["active_learning.py", "--draws", "1"])
    runpy.run_path(str(ROOT / "examples" / "active_learning.py"), run_name="__main__")
    counts = [int(line.split("[")[1].strip("]")) for line in capsys.readouterr().out.splitlines()]
    assert counts[0] < counts[1]  # suggested rows before random ones


def test_demo(monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(sys, "argv", ["demo.py", "--out", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    printed = capsys.readouterr().out
    table = {line.split("  ")[0]: line.split()[-6:] for line in printed.splitlines() if line}
    # as accurate as SVC within half a point, and smaller
    for ours in ("RBFNetClassifier", "LowDimSVC"):
        assert float(table[ours][0]) <= float(table["SVC"][0]) + 0.5
        assert int(table[ours][3].replace(",", "")) < int(table["SVC"][3].replace(",", ""))
    assert float(table["RBFNetClassifier, the map"][0]) <= 4.0
    assert (tmp_path / "map.png").stat().st_size > 10_000
