"""The progress bar: on stderr, or silent."""

import sys

from supred.base.progress import progress_bar


def run(shown):
    with progress_bar(2, "work", shown=shown) as step:
        step("one")
        step("two")


def test_silent(capsys):
    run(shown=False)
    assert capsys.readouterr() == ("", "")


def test_shown_on_stderr(capsys):
    run(shown=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "work" in captured.err
    assert "2/2" in captured.err


def test_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    run(shown=True)
    assert capsys.readouterr().err == "work: 1/2 one\nwork: 2/2 two\n"
