"""The list of what the texts say."""

import re
from pathlib import Path

import pytest

from reproduction import command
from reproduction.base import Statement
from reproduction.coverage import entries
from reproduction.registry import all_experiments, all_statements
from tests.reproduction.test_runner import make_experiment, run

ROOT = Path(__file__).parent.parent.parent
PLACE = re.compile(r"00[0-4]:\d+(-\d+)?")


def test_every_entry_names_its_place_and_what_covers_it():
    found = entries(list(all_experiments().values()), all_statements(), {})
    assert len(found) > 150
    known = set(all_experiments())
    for entry in found:
        assert all(PLACE.fullmatch(place) for place in entry.where.split(", ")), entry.where
        assert entry.text
        assert entry.protocol
        assert entry.verdict
        if entry.covered_by.startswith("reproduction "):
            assert entry.covered_by.split()[1] in known
        elif entry.covered_by not in known and entry.covered_by != "-":
            assert (ROOT / entry.covered_by).exists(), entry.covered_by


def test_the_list_goes_by_the_texts_and_takes_verdicts_from_the_records(tmp_path):
    experiment = make_experiment([])
    from reproduction.page import write_record

    record = write_record(run(experiment, tmp_path, quick=False), tmp_path)
    told = Statement("000:0", "First.", "-", "agreed")
    found = entries([experiment], [told], {"small": record})
    assert [entry.where for entry in found] == ["000:0", "000:1", "000:2"]
    assert [entry.verdict for entry in found] == ["agreed", "1 agrees; 1 better", "holds"]
    unmeasured = entries([experiment], [], {})
    assert {entry.verdict for entry in unmeasured} == {"not measured"}


def test_a_place_must_be_a_file_and_a_line():
    with pytest.raises(ValueError, match="does not begin with a file and a line"):
        entries([], [Statement("line 3", "x", "-", "y")], {})


def test_the_command_prints_the_list(capsys):
    assert command.main(["--coverage"]) == 0
    printed = capsys.readouterr().out
    assert "| where | what | covered by | protocol | verdict |" in printed
    assert "Algorithm 1" in printed
