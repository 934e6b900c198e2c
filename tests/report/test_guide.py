"""The examples of the page on pictures and the report run as they stand."""

import doctest
from pathlib import Path


def test_examples_of_the_page():
    page = Path(__file__).parents[2] / "docs" / "report.md"
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert result.attempted > 20
    assert result.failed == 0
