"""Letters of texts that come from strangers."""

import re

# Control characters but tabs and ends of lines, and those of the direction of writing.
STEERING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Return a text with escapes for letters that steer a terminal, or turn what follows around.

    Names of columns and classes come from strangers; a sentence with one must stay what it is.

    Examples
    --------
    >>> from supred.common.letters import visible
    >>> print(visible("colour \x1b[31m"))
    colour \x1b[31m
    """
    return STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
