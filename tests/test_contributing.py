"""The walks of CONTRIBUTING.md lead through the code as it is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_HOPS = 12
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \|", re.MULTILINE)


def walks():
    """Lists of hops: files, and the functions or classes named there."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = []
    for number, files, names in ROW.findall(text):
        if number == "1":
            found.append([])
        found[-1].append((re.findall(r"`(.+?)`", files), re.findall(r"`(.+?)`", names)))
    return found


def source_of(name, beside):
    """The text of a file, named from src/supred or beside another."""
    for place in (ROOT / "src" / "supred" / name, beside.parent / name):
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise AssertionError(f"there is no {name}")


@pytest.mark.parametrize("walk", walks(), ids=lambda walk: walk[0][0][0])
def test_every_hop_is_there(walk):
    assert 5 <= len(walk) <= MOST_HOPS
    for files, names in walk:
        first = ROOT / "src" / "supred" / files[0]
        text = "\n".join(source_of(name, first) for name in files)
        for name in names:
            if name.endswith(".py"):
                text += source_of(name, first)
                continue
            for part in name.split("."):
                made = rf"^\s*(def|class) {part}\b|^{part} ="
                assert re.search(made, text, re.MULTILINE), (files, name)


def test_there_are_four_walks():
    assert len(walks()) == 4
