"""Every example in the README and the guides is run."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import supred

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHER_PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs" / "api").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write files
    text = page.read_text(encoding="utf-8")
    if ">>>" not in text:
        pytest.skip("the page has no example")
    # the fence that ends a code block is no part of the expected output
    text = text.replace("\n```\n", "\n\n")
    runner = doctest.DocTestRunner(
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False
    )
    example = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert runner.run(example).failed == 0


def test_links_between_pages_lead_somewhere():
    for page in PAGES + OTHER_PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_links_to_headings_lead_somewhere():
    for page in PAGES + OTHER_PAGES:
        text = page.read_text(encoding="utf-8")
        for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", text):
            other = (page.parent / target) if target else page
            assert heading in headings(other), f"{page.name} links to {target}#{heading}"


def headings(page: Path) -> set[str]:
    """Return the names of a page's headings as links have them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_the_guide_explains_what_a_report_says():
    guide = (ROOT / "docs" / "reading-a-report.md").read_text(encoding="utf-8")
    said = (ROOT / "src/supred/app/comparison/verdict.py").read_text(encoding="utf-8")
    quoted = [
        words
        for row in re.findall(r'^\| (".*?) \|', guide, re.MULTILINE)
        for words in re.findall(r'"([^"]+)"', row)
    ]
    assert len(quoted) == 8
    assert [words for words in quoted if words not in said] == []


def test_every_public_name_is_in_the_reference():
    listed = {}
    module = None
    for line in (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif line.startswith("   ") and ":" not in line and line.strip():
            listed.setdefault(module, set()).add(line.strip())
    modules = ("supred", "supred.plotting", "supred.export", "supred.datasets", "supred.app.report")
    for name in modules:
        public = set(importlib.import_module(name).__all__) - {"__version__", "export"}
        assert listed[name] == public, f"docs/api/index.md differs from {name}.__all__"


def test_papers_of_the_docstrings_are_in_the_bibliography():
    bibliography = (ROOT / "docs" / "references.md").read_text(encoding="utf-8").lower()
    n_titles = 0
    for name in supred.__all__:
        text = inspect.getdoc(getattr(supred, name)) or ""
        if "\nReferences\n" not in text:
            continue
        section = text.split("\nReferences\n")[1].split("\nExamples\n")[0]
        for title in re.findall(r'"([^"]+?),?"', " ".join(section.split())):
            n_titles += 1
            assert title.lower() in bibliography, f"{name} refers to {title}"
    assert n_titles >= 4
