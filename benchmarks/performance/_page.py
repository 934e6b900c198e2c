"""docs/performance.md, made of the records and of what is written by hand in page.md."""

import json
from pathlib import Path
from typing import Any

from benchmarks.performance._record import RECORDS, Record, read

TEMPLATE = Path(__file__).parent / "page.md"
PAGE = Path(__file__).parent.parent.parent / "docs" / "performance.md"
# Benchmarks that stand outside this package and leave records of their own.
OTHERS = {
    "scaling": "Scaling in the number of rows",
    "out_of_memory": "Files beyond memory",
    "dask_overhead": "Dask",
}


def write_page(
    path: Path, records: Path = RECORDS, template: Path = TEMPLATE, order: tuple[str, ...] = ()
) -> None:
    """Write the page from the records in a folder."""
    path.write_text(page(records, template, order or _known()), encoding="utf-8")


def page(records: Path, template: Path, order: tuple[str, ...]) -> str:
    """Return the page: the template with its marks ``<!-- NAME -->`` replaced.

    "figures" is the table of all that is asked, "machine" the conditions, "benchmarks" one
    section each, "others" the records of the benchmarks outside this package.
    """
    found = [record for name in order for record in read(records / f"{name}.json")]
    parts = {
        "figures": _asked_table(found),
        "machine": _machine(found),
        "benchmarks": "\n\n".join(_section(record) for record in found),
        "others": "\n\n".join(
            _other(title, records / f"{name}.json")
            for name, title in OTHERS.items()
            if (records / f"{name}.json").exists()
        ),
    }
    text = template.read_text(encoding="utf-8")
    for name, content in parts.items():
        mark = f"<!-- {name} -->"
        if mark not in text:
            raise ValueError(f"{template.name} has no mark {mark}; put it where the part belongs.")
        text = text.replace(mark, content or "Not measured yet.")
    return text


def _known() -> tuple[str, ...]:
    from benchmarks.performance._registry import BENCHMARKS

    return tuple(BENCHMARKS)


def _asked_table(records: list[Record]) -> str:
    lines = [
        [record.name, figure.name, figure.asked, figure.measured, figure.verdict]
        for record in records
        for figure in record.figures
        if figure.asked
    ]
    return markdown(["benchmark", "figure", "asked", "measured", "verdict"], lines)


def _machine(records: list[Record]) -> str:
    """Return the conditions in words, each different machine once."""
    told = []
    for record in records:
        c = record.conditions
        versions = ", ".join(f"{name} {value}" for name, value in c["versions"].items())
        text = (
            f"{c['cpu']}, {c['cores']} cores, {c['memory_gib']} GiB, {c['threads']} threads; "
            f"Python {c['python']}, {versions}; BLAS: {c['blas']}."
        )
        if text not in told:
            told.append(text)
    return "\n\n".join(told)


def _section(record: Record) -> str:
    loads = [run["load_before"] for run in record.runs.values() if run.get("load_before")]
    parts = [f"### {record.title}"]
    lines = [[f.name, f.measured, f.asked, f.verdict, f.note] for f in record.figures]
    parts.append(markdown(["figure", "measured", "asked", "verdict", "beside it"], lines))
    for title, table in record.tables.items():
        parts += [f"{title}:", markdown(table["columns"], table["rows"])]
    load = f", load average before {min(loads):g} to {max(loads):g}" if loads else ""
    seeds = ", ".join(map(str, record.conditions["seeds"]))
    parts.append(
        f"Data: {record.conditions['data']}; seeds {seeds}{load}. "
        f"Again: `{record.conditions['command']}`."
    )
    return "\n\n".join(parts)


def _other(title: str, path: Path) -> str:
    """Return the section of a record that another benchmark wrote.

    Shown are its rows (a list of objects with the same keys under "rows" or "figures") and its
    plain values.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    parts = [f"### {title}"]
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} must hold a JSON object with the rows under 'rows'.")
    records = [item for item in content.values() if _is_record(item)]
    if records:
        return "\n\n".join([parts[0], *(_section(Record.from_dict(item)) for item in records)])
    for rows in (content.get("rows"), content.get("figures")):
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            columns = list(rows[0])
            lines = [[_text(row.get(column)) for column in columns] for row in rows]
            parts.append(markdown(columns, lines))
    plain = [
        f"{key}: {_text(value)}"
        for key, value in content.items()
        if isinstance(value, str | int | float | bool)
    ]
    if plain:
        parts.append("; ".join(plain) + ".")
    return "\n\n".join(parts)


def _is_record(item: Any) -> bool:
    return isinstance(item, dict) and {"figures", "conditions", "title"} <= set(item)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    """Return a table; bars inside of cells are escaped."""
    if not rows:
        return ""
    lines = [columns, ["---"] * len(columns), *rows]
    cells = [[str(cell).replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)
