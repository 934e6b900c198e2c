"""How a benchmark or a reproduction tells what it found: measured beside published or required."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes
    ----------
    check : str
        What was measured.
    measured : str
        Mean and spread.
    published : str
        What the paper or the peer has.
    required : str
        What must be reached.
    reached : bool or None
        None where nothing is required.
    compared : str
        How it stands to what is published, where that was asked (`compared_with`).
    """

    check: str
    measured: str
    published: str = "-"
    required: str = "-"
    reached: bool | None = None
    compared: str = ""

    @property
    def verdict(self) -> str:
        """What the last column says."""
        return self.compared or {None: "", True: "reached", False: "NOT REACHED"}[self.reached]


# The tables that were printed, for those who want to keep them.
PRINTED: list[tuple[str, list[Row]]] = []


def print_rows(title: str, rows: Iterable[Row]) -> bool:
    """Print a table with a verdict on each line; return whether all that is required is reached."""
    rows = list(rows)
    PRINTED.append((title, rows))
    table = [("check", "measured", "published", "required", "verdict")]
    table += [(row.check, row.measured, row.published, row.required, row.verdict) for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(5)]
    print(f"\n{title}")
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  " + "  ".join(cells).rstrip())
    sys.stdout.flush()
    return all(row.reached is not False for row in rows)


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, or nothing where there are no rows; bars in cells are escaped."""
    rows = list(rows)
    if not rows:
        return ""
    lines = [columns, ["---"] * len(columns), *rows]
    cells = [[str(cell).replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def spread(values: Sequence[float] | np.ndarray, digits: int = 2) -> str:
    """Return the mean and the standard deviation of several draws as text."""
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{np.mean(values):.{digits}f} +- {np.std(values, ddof=1):.{digits}f} (n={len(values)})"


def at_most(check: str, values: Sequence[float], limit: float, published: str = "-") -> Row:
    """Return the row of a figure whose mean must not exceed a limit."""
    return Row(check, spread(values), published, f"<= {limit:g}", bool(np.mean(values) <= limit))


def compared_with(
    published: float, values: Sequence[float], *, tolerance: float, better: str = "lower"
) -> str:
    """Say how a measured mean stands to a published figure.

    Parameters
    ----------
    published : float
    values : sequence of float
        One per draw.
    tolerance : float
        A difference up to this, or up to twice the standard error of the mean, agrees.
    better : {"lower", "higher", ""}
        Which side of the published figure is the better one.
    """
    difference = float(np.mean(values)) - published
    error = float(np.std(values, ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    if abs(difference) <= max(tolerance, 2 * error):
        return "agrees"
    if better not in ("lower", "higher"):
        return "differs"
    return "better" if (difference < 0) == (better == "lower") else "worse"
