"""A progress bar on stderr, by tqdm where it is installed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


@contextmanager
def progress_bar(total: int, title: str, *, shown: bool) -> Iterator[Callable[[str], None]]:
    """Show the progress of `total` steps on stderr.

    Parameters
    ----------
    total : int
    title : str
    shown : bool
        False shows nothing.

    Yields
    ------
    step : callable
        Advances by one and shows a few words.
    """
    if not shown:
        yield lambda text: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        number = count(1)
        yield lambda text: print(f"{title}: {next(number)}/{total} {text}", file=sys.stderr)
        return
    with tqdm(total=total, desc=title, file=sys.stderr) as bar:

        def step(text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update()

        yield step
