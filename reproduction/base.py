"""What an experiment declares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supred.datasets import DataNotFoundError, load_mnist, load_newsgroups_pc_mac, load_uci

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
AS_PRINTED = "as printed"


class CannotMeasureError(Exception):
    """Something cannot be measured here and now; the message says why."""


class Data:
    """The real data sets, each loaded once; what is missing is looked for once."""

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder
        self._known: dict[str, Any] = {}

    def _get(self, name: str, load: Callable[[], Any]) -> Any:
        if name not in self._known:
            try:
                self._known[name] = load()
            except DataNotFoundError as error:
                self._known[name] = error
        found = self._known[name]
        if isinstance(found, DataNotFoundError):
            raise found
        return found

    def mnist(self) -> Split:
        """Return MNIST as `load_mnist` does."""
        return self._get("mnist", lambda: load_mnist(self.folder))

    def newsgroups(self) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
        """Return the PC/MAC newsgroups as `load_newsgroups_pc_mac` does."""
        return self._get("newsgroups", lambda: load_newsgroups_pc_mac(self.folder))

    def uci(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a UCI table as `load_uci` does."""
        return self._get(f"uci/{name}", lambda: load_uci(name, self.folder))


@dataclass(frozen=True)
class Draw:
    """One repetition: its seed, and whether the run is a quick one."""

    seed: int
    quick: bool
    data: Data = field(repr=False, compare=False)


@dataclass(frozen=True)
class Part:
    """A piece of work that is stored as soon as it is done: what it measures in one draw.

    Attributes
    ----------
    name : str
        Unique in its experiment.
    measure : callable
        Takes a Draw, returns numbers by name; arrays, for the figure, are not put in the record.
    draws : tuple of two ints, optional
        Repetitions in a quick and in a full run; those of the experiment if not given.
    """

    name: str
    measure: Callable[[Draw], Mapping[str, Any]]
    draws: tuple[int, int] | None = None


@dataclass(frozen=True)
class Row:
    """One line of the table: a measured number beside a published one.

    Attributes
    ----------
    label : str
    part : str
        The part that measures it.
    key : str
        Its name in what the part returns.
    published : float, optional
        None where the paper prints no such figure.
    spread : float, optional
        The published standard deviation.
    better : {"lower", "higher", ""}
        Which side of the published figure is the better one.
    tolerance : float
        A difference up to this, or up to twice the standard error of the mean, agrees.
    digits : int
        Decimals that are shown.
    """

    label: str
    part: str
    key: str = "error"
    published: float | None = None
    spread: float | None = None
    better: str = "lower"
    tolerance: float = 1.0
    digits: int = 2


# Mean values by (part, key); a part that could not be measured is not there.
Means = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, how to check it, and in plain words why it holds or does not.

    Attributes
    ----------
    text : str
    holds : callable
        Takes the mean values by (part, key); a KeyError means that it cannot be told.
    where : str
        File and lines of the text, as in "000:176, 003:430"; empty if it is not the paper's.
    why : str or callable
        The reason; a callable takes the mean values, to tell the figures that decide.
    difference : str
        How the check differs from the paper's protocol, if otherwise than its experiment.
    """

    text: str
    holds: Callable[[Means], bool | np.bool_]
    where: str = ""
    why: str | Callable[[Means], str] = ""
    difference: str = ""


@dataclass(frozen=True)
class Statement:
    """A statement of a paper that no measurement decides, and what covers it."""

    where: str
    text: str
    covered_by: str
    verdict: str
    difference: str = AS_PRINTED


Values = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        Its name on the command line.
    paper : str
        Key of `registry.PAPERS`.
    title : str
    unit : str
        What the numbers are.
    protocol : str
        How it is measured, in plain words.
    parts, rows, claims : sequences
    draws : tuple of two ints
        Repetitions in a quick and in a full run.
    covers : sequence of (where, what)
        The tables and figures of the texts that it covers.
    difference : str
        How the protocol differs from the paper's.
    figure : callable, optional
        Takes the values (by part, one mapping per draw) and the path of the PNG.
    quick_note : str
        What a quick run does smaller, beside the number of draws.
    quick_compares : bool
        Whether a quick run is on data like the paper's, so that its figures can be compared.
    """

    name: str
    paper: str
    title: str
    unit: str
    protocol: str
    parts: Sequence[Part]
    rows: Sequence[Row]
    draws: tuple[int, int]
    covers: Sequence[tuple[str, str]] = ()
    difference: str = AS_PRINTED
    claims: Sequence[Claim] = ()
    figure: Callable[[Values, Path], None] | None = None
    quick_note: str = ""
    quick_compares: bool = True

    def n_draws(self, part: Part, quick: bool) -> int:
        """Return the number of repetitions of a part."""
        return (part.draws or self.draws)[0 if quick else 1]
