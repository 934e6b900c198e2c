"""A progress bar on stderr, by tqdm where it is installed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """What a caller does with a progress bar."""

    def step(self, text: str) -> None:
        """Advance by one and show a few words."""


class _Silent:
    def step(self, text: str) -> None:
        pass


class _Lines:
    """One line per step, for want of tqdm."""

    def __init__(self, total: int, title: str) -> None:
        self.total, self.title, self.done = total, title, 0

    def step(self, text: str) -> None:
        self.done += 1
        print(f"{self.title}: {self.done}/{self.total} {text}", file=sys.stderr)


class _Tqdm:
    def __init__(self, bar: object) -> None:
        self.bar = bar

    def step(self, text: str) -> None:
        self.bar.set_postfix_str(text, refresh=False)  # type: ignore[attr-defined]
        self.bar.update()  # type: ignore[attr-defined]


@contextmanager
def progress_bar(total: int, title: str, *, shown: bool) -> Iterator[Bar]:
    """Show the progress of `total` steps on stderr.

    Parameters
    ----------
    total : int
    title : str
    shown : bool
        False shows nothing.
    """
    if not shown:
        yield _Silent()
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield _Lines(total, title)
        return
    with tqdm(total=total, desc=title, file=sys.stderr) as bar:
        yield _Tqdm(bar)
