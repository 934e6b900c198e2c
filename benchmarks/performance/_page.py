"""docs/performance.md, made of the records and of what is written by hand in page.md."""

import json
from pathlib import Path
from typing import Any

from benchmarks._report import markdown
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
    others = {name: records / f"{name}.json" for name in OTHERS}
    told = {name: _other_records(path) for name, path in others.items() if path.exists()}
    parts = {
        "figures": _asked_table(found + [record for items in told.values() for record in items]),
        "machine": _machine(found),
        "benchmarks": "\n\n".join(_section(record) for record in found),
        "others": "\n\n".join(
            "\n\n".join(map(_section, items)) or _plain_section(OTHERS[name], others[name])
            for name, items in told.items()
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
        if "cpu" not in c:
            continue
        versions = ", ".join(f"{name} {value}" for name, value in c["versions"].items())
        text = (
            f"{c['cpu']}, {c['cores']} cores, {c['memory_gib']} GiB, {c['threads']} threads; "
            f"Python {c['python']}, {versions}; BLAS: {c['blas']}."
        )
        if text not in told:
            told.append(text)
    return "\n\n".join(told)


def _section(record: Record) -> str:
    parts = [f"### {record.title}"]
    lines = [[f.name, f.measured, f.asked, f.verdict, f.note] for f in record.figures]
    parts.append(markdown(["figure", "measured", "asked", "verdict", "beside it"], lines))
    for title, table in record.tables.items():
        parts += [f"{title}:", markdown(table["columns"], table["rows"])]
    c = record.conditions
    told = [f"Data: {c['data']}" if c.get("data") else "", f"{c.get('threads', '?')} threads"]
    if c.get("seeds"):
        told.append(f"seeds {', '.join(map(str, c['seeds']))}")
    runs = [run for run in record.runs.values() if isinstance(run, dict)]
    loads = [run["load_before"] for run in runs if run.get("load_before") is not None]
    if loads:
        told.append(f"load average before {min(loads):g} to {max(loads):g}")
    again = c.get("command", f"python -m benchmarks {record.name}")
    parts.append(f"{'; '.join(part for part in told if part)}. Again: `{again}`.")
    return "\n\n".join(parts)


def _other_records(path: Path) -> list[Record]:
    """Return the records of a benchmark outside this package; none if it writes plain rows."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} must hold a JSON object with the rows under 'rows'.")
    return [Record.from_dict(item) for item in content.values() if _is_record(item)]


def _plain_section(title: str, path: Path) -> str:
    """Return the section of rows (objects with the same keys) and of plain values."""
    content = json.loads(path.read_text(encoding="utf-8"))
    parts = [f"### {content.get('title', title)}"]
    rows = content.get("rows")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        columns = list(rows[0])
        lines = [[_text(row.get(column)) for column in columns] for row in rows]
        parts.append(markdown(columns, lines))
    plain = [
        f"{key}: {_text(value)}"
        for key, value in content.items()
        if key != "title" and isinstance(value, str | int | float | bool)
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
