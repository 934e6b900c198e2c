"""What a benchmark leaves behind: figures, runs and conditions, as a JSON file."""

import json
import math
import os
import platform
import re
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).parent.parent / "records"
QUICK = RECORDS / "quick.json"
# A ratio of the quick set may be worse than the recorded one by this factor.
SLACK = 2.0
PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "umap-learn", "pymanopt")


@dataclass(frozen=True)
class Figure:
    """One number that was measured, and what was asked of it.

    Attributes
    ----------
    name : str
    value : float or None
        None if it could not be measured; `note` says why.
    unit : str
        "x" for a ratio of times or sizes, "%" or a word.
    at_most, at_least : float, optional
        What is asked.
    note : str
        What stands beside it: the accuracy of both, seconds.
    better : {"less", "more"}
        Which way is an improvement, where nothing is asked.
    """

    name: str
    value: float | None
    unit: str = "x"
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""
    better: str = "less"

    @property
    def reached(self) -> bool | None:
        """Whether what is asked was reached; None where nothing is asked or measured."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return low <= self.value <= high

    @property
    def asked(self) -> str:
        """What is asked, as text."""
        parts = []
        if self.at_most is not None:
            parts.append(f"at most {self.at_most:g}")
        if self.at_least is not None:
            parts.append(f"at least {self.at_least:g}")
        return " and ".join(parts)

    @property
    def measured(self) -> str:
        """The value, as text."""
        if self.value is None:
            return "not measured"
        text = f"{self.value:.4g}" if abs(self.value) < 1e4 else f"{self.value:,.0f}"
        return f"{text} {self.unit}".strip()

    @property
    def verdict(self) -> str:
        """The word of the last column."""
        return {None: "", True: "reached", False: "NOT REACHED"}[self.reached]

    @property
    def less_is_better(self) -> bool:
        """Whether a smaller value is an improvement."""
        if self.at_least is not None:
            return False
        return self.at_most is not None or self.better == "less"


@dataclass
class Record:
    """One benchmark's result with the conditions it was taken under.

    Attributes
    ----------
    name, title : str
    figures : list of Figure
    runs : dict
        Per contender: raw seconds, error, size, load average before it started.
    tables : dict
        Title -> {"columns": [...], "rows": [[...], ...]}.
    conditions : dict
        Machine, versions, threads, seeds, data, command.
    """

    name: str
    title: str
    figures: list[Figure] = field(default_factory=list)
    runs: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    conditions: dict[str, Any] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        """Whether no figure falls short."""
        return all(figure.reached is not False for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """Return what goes into the file."""
        figures = [asdict(figure) | {"reached": figure.reached} for figure in self.figures]
        return asdict(self) | {"figures": figures}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Record":
        """Read back what `as_dict` returned."""
        known = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        known["figures"] = [
            Figure(**{k: v for k, v in figure.items() if k != "reached"})
            for figure in values.get("figures", [])
        ]
        return cls(**known)


def write(records: list[Record], path: Path) -> None:
    """Write records to a file, one benchmark under its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {record.name: record.as_dict() for record in records}
    text = json.dumps(_finite(content), indent=1, allow_nan=False)
    # A list of numbers reads better on one line.
    text = re.sub(r"\[\n\s+([^\[\]{}]*?)\n\s+\]", lambda m: f"[{_on_one_line(m[1])}]", text)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> list[Record]:
    """Read the records of a file; a missing file has none.

    Raises
    ------
    ValueError
        If the file is not made of records.
    """
    if not path.exists():
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return [Record.from_dict(values) for values in content.values()]
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise ValueError(
            f"{path.name} holds no benchmark record ({error}); make it anew with "
            "`python -m benchmarks performance`."
        ) from error


def compare(new: list[Record], last: list[Record], slack: float = SLACK) -> list[str]:
    """Return a line for each figure that is worse than last time by more than `slack`.

    Only ratios and counts are compared, never seconds or errors in percent. A figure that the
    last record does not know is no fault; one that is no longer measured is.
    """
    faults = []
    before = {(record.name, figure.name): figure for record in last for figure in record.figures}
    measured = {(record.name, figure.name): figure for record in new for figure in record.figures}
    ran = {record.name for record in new}
    for key, old in before.items():
        if old.value is None or old.unit in ("%", "s") or key[0] not in ran:
            continue
        figure = measured.get(key)
        if figure is None or figure.value is None:
            faults.append(f"{key[0]}: {key[1]}: not measured any more (was {old.measured})")
            continue
        worse = figure.value / old.value if old.less_is_better else old.value / figure.value
        if not worse <= slack:
            faults.append(
                f"{key[0]}: {key[1]}: {figure.measured}, was {old.measured} "
                f"(worse by {worse:.1f} x, allowed {slack:g} x)"
            )
    return faults


def conditions(threads: int, **others: Any) -> dict[str, Any]:
    """Return what the figures depend on: machine, versions, threads."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions(),
        "blas": _blas(),
        "threads": threads,
        **others,
    }


def versions() -> dict[str, str]:
    """Return the versions of supred and of the peers that are installed."""
    from supred import __version__

    found = {"supred": __version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def load_average() -> float | None:
    """Return the load of the last minute, where the system knows one."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, AttributeError, OSError):
        return None


def _blas() -> str:
    import numpy as np  # noqa: F401  (loads the library that is asked about)
    from threadpoolctl import threadpool_info

    found = {
        f"{item['internal_api']} {item['version']}"
        for item in threadpool_info()
        if item["user_api"] == "blas"
    }
    return ", ".join(sorted(found))


def _on_one_line(text: str) -> str:
    return ", ".join(part.strip() for part in text.split(",\n"))


def _finite(value: Any) -> Any:
    """Return the same with plain numbers, and with None for what is not finite."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return _finite(plain(value)) if hasattr(value, "tolist") else value


def plain(value: Any) -> Any:
    """Turn NumPy's scalars and arrays into what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot go into a record")
