"""How far a long command has come: on stderr, a bar on a terminal, else a line now and then."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from supred.app.cli._output import to_stderr

# Seconds until the first line, and between two lines, where stderr is not a terminal.
FIRST, BETWEEN = 1.0, 10.0
PASSES = "{desc}: pass {n:.1f} of about {total} |{bar:30}| [{elapsed}, {remaining} left]"
METHODS = "{desc} |{bar:30}| {percentage:3.0f} % [{elapsed}]"


class _Progress:
    """A bar of tqdm on a terminal, while the block lasts; None elsewhere, or without tqdm."""

    def __init__(self, total: int | None, bar_format: str, title: str = "", *, shown: bool) -> None:
        self.bar = None
        if shown and sys.stderr.isatty():
            with suppress(ImportError):
                from tqdm import tqdm

                self.bar = tqdm(
                    total=total, desc=title, bar_format=bar_format, file=sys.stderr, leave=False
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()


class MethodProgress(_Progress):
    """The method of a comparison that is at work: a bar on a terminal, else a line per method."""

    def __init__(self, n_steps: int, *, shown: bool) -> None:
        super().__init__(n_steps, METHODS, shown=shown)
        self.shown, self.done = shown, 0
        self.seen: set[str] = set()

    def tell(self, name: str, fold: int, n_folds: int) -> None:
        """Show that a method begins a fold, or has ended."""
        done = fold == n_folds
        if self.bar is not None:
            self.bar.set_description_str(name if done else f"{name}, fold {fold + 1} of {n_folds}")
            # The bar counts rounds of methods, its fraction the folds of the one at work.
            self.done += done
            self.bar.n = self.done + (0 if done else fold / n_folds)
            self.bar.refresh()
        elif self.shown and fold == 0:
            verb = "tuning " if name in self.seen else ""
            to_stderr(f"{verb}{name} ...")
            self.seen.add(name)


class RowProgress(_Progress):
    """Passes over rows, in one of the stages of a command.

    Parameters
    ----------
    what : str
        Name of the stage.
    n_rows : int
        Rows of the table; 1 if shares of them are counted.
    passes : tuple of int
        How often they are usually read and how often at most.
    shown : bool
    """

    def __init__(self, what: str, n_rows: int, passes: tuple[int, int], *, shown: bool) -> None:
        super().__init__(passes[0], PASSES, what, shown=shown)
        self.what, self.n_rows, self.passes = what, max(n_rows, 1), passes
        self.done = 0.0
        self.begun = time.monotonic()
        self.next = self.begun + FIRST if shown and self.bar is None else float("inf")

    def add(self, n_rows: float) -> None:
        """Count rows that were read."""
        self.done += n_rows
        if self.bar is not None:
            if self.done > self.passes[0] * self.n_rows:
                self.bar.total = self.passes[1]
            self.bar.update(n_rows / self.n_rows)
        now = time.monotonic()
        if now >= self.next:
            to_stderr(f"{self.what}: {self.sentence(now - self.begun)}")
            self.next = now + BETWEEN

    def sentence(self, seconds: float) -> str:
        """Say what was done in these seconds, and what is left.

        Examples
        --------
        >>> from supred.app.cli._progress import RowProgress
        >>> progress = RowProgress("training", 1000, (20, 100), shown=False)
        >>> progress.add(2500)
        >>> progress.sentence(5.0)
        'pass 3 of about 20 over the rows, 5 s so far, about 35 s left'
        """
        done = self.done / self.n_rows
        word, passes = (
            ("about", self.passes[0]) if done < self.passes[0] else ("at most", self.passes[1])
        )
        left = seconds * max(passes / done - 1, 0.0)
        return (
            f"pass {int(done) + 1} of {word} {passes} over the rows, {seconds:.0f} s so far, "
            f"{word} {left:.0f} s left"
        )

    def counting(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the function of a block of rows that counts them too."""

        def counted(block: Any) -> Any:
            self.add(block.shape[0])
            return function(block)

        return counted
