"""HTML that is escaped by construction: what is not markup becomes text."""

from html import escape
from typing import Any

from supred.common.letters import visible


class Markup(str):
    """Text that is HTML already; only `tag` and `join` make it."""

    __slots__ = ()


def text(value: Any) -> Markup:
    """Escape anything but markup, for elements and attributes alike.

    Examples
    --------
    >>> from supred.app.report.html import tag, text
    >>> text("a < b")
    'a &lt; b'
    >>> tag("p", "a < b", tag("b", "c"), class_="note")
    '<p class="note">a &lt; b<b>c</b></p>'
    """
    if isinstance(value, Markup):
        return value
    found = visible(str(value)).encode("utf-8", "replace").decode("utf-8")
    return Markup(escape(found, quote=True))


def join(*parts: Any) -> Markup:
    """Put parts one after the other; None leaves one out."""
    return Markup("".join(text(part) for part in parts if part is not None))


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element; ``class_`` is class, ``data_k`` is data-k, None leaves one out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(*children)}</{name}>")
