"""Every example in the README and the guides is run."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page):
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
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
