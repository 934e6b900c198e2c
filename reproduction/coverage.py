"""Every table, figure and claim of the texts, what covers it, and the verdict."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.performance._record import Record
from reproduction.base import AS_PRINTED, Experiment, Statement
from reproduction.page import CLAIMS, WORDS, counts


@dataclass(frozen=True)
class Entry:
    """One line of the list."""

    where: str
    text: str
    covered_by: str
    protocol: str
    verdict: str

    @property
    def place(self) -> tuple[str, int]:
        """The first file and line, to sort by."""
        found = re.match(r"(\d{3}):(\d+)", self.where)
        if found is None:
            raise ValueError(f"{self.where!r} does not begin with a file and a line, as 000:176.")
        return found[1], int(found[2])


def entries(
    experiments: Sequence[Experiment],
    statements: Sequence[Statement],
    records: dict[str, Record],
) -> list[Entry]:
    """Return the list in the order of the texts; a line for each place that is named.

    Parameters
    ----------
    experiments : sequence of Experiment
    statements : sequence of Statement
    records : dict of Record
        The verdicts; an experiment without a record is not measured.
    """
    found = [Entry(s.where, s.text, s.covered_by, s.difference, s.verdict) for s in statements]
    for experiment in experiments:
        found += _of_experiment(experiment, records.get(experiment.name))
    return sorted(found, key=lambda entry: entry.place)


def _of_experiment(experiment: Experiment, record: Record | None) -> Iterator[Entry]:
    for where, what in experiment.covers:
        verdict = _table_verdict(record) if record is not None else "not measured"
        yield Entry(where, what, experiment.name, experiment.difference, verdict)
    verdicts = {}
    if record is not None:
        verdicts = {row[0]: row[2] for row in record.tables[CLAIMS]["rows"]}
    for claim in experiment.claims:
        if claim.where:
            protocol = claim.difference or experiment.difference or AS_PRINTED
            verdict = verdicts.get(claim.text, "not measured")
            yield Entry(claim.where, claim.text, experiment.name, protocol, verdict)


def _table_verdict(record: Record) -> str:
    """Say how many rows agree and whether the figure is drawn."""
    told = [f"{n} {word}" for word, n in counts(record).items() if n and word in WORDS]
    figure = record.conditions["figure"]
    told += [f"drawn: {figure}"] if figure else []
    quick = ", some of it by a quick run" if record.conditions["quick"] else ""
    return "; ".join(told or ["measured"]) + quick
