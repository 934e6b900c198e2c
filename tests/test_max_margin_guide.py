"""The page and the example of the max-margin projection run as they stand."""

import doctest
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_examples_of_the_page():
    page = ROOT / "docs" / "max-margin-projection.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0


def test_transfer_example(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["transfer.py", "--draws", "1"])
    runpy.run_path(str(ROOT / "examples" / "transfer.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("shared projection") == 2
    assert "new pair (44 tasks)" in printed
