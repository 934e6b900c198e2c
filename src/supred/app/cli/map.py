"""The map of the classes alone: a page, or a picture for a paper."""

import argparse
import shlex
from pathlib import Path

import numpy as np

from supred.app.cli._input import check_outputs, read_training
from supred.app.cli._output import print_json, say
from supred.app.cli.compare import default_name
from supred.app.comparison import Comparison
from supred.app.comparison.class_map import map_of_table
from supred.app.report import write_report
from supred.app.tables.assemble import model_table
from supred.app.tables.reading import read_source
from supred.app.tables.table import Table
from supred.common.files import atomic_write
from supred.plotting import MapDisplay
from supred.plotting.style import shown_name

PICTURES = (".png", ".svg", ".pdf")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    out = Path(options.out or f"{default_name(options)}-map.html")
    ending = out.suffix.lower()
    if ending not in (".html", *PICTURES):
        raise ValueError(f"--out {out}: a map ends in .html, {', '.join(PICTURES)}.")
    check_outputs(options, [str(out)])
    if options.new == "-" and options.input == "-":
        raise ValueError("- is both the table and --new; give one of them as a file.")
    table, preparation = read_training(options)
    say(options, *preparation.sentences(table))
    new = None if options.new is None else _read_new(options, table)
    comparison = map_of_table(
        table,
        preparation=preparation,
        new=new,
        seed=options.seed,
        command=shlex.join(["supred", *options.argv]),
    )
    found = comparison.class_map
    assert found is not None
    if ending == ".html":
        write_report(comparison, out, with_model=not options.no_model, overwrite=options.force)
    else:
        _draw(comparison, out, overwrite=options.force)
    say(
        options,
        f"Error of the map on {int(found.held_out.sum()) - found.n_new} held-out rows: "
        f"{100 * found.error:.1f} % (5 nearest neighbours on it: "
        f"{100 * found.neighbor_error:.1f} %).",
        f"Map: {out}",
    )
    if options.json:
        print_json({"map": str(out), "error": found.error, "neighbor_error": found.neighbor_error})
    return 0


def _read_new(options: argparse.Namespace, table: Table) -> Table:
    """Read the rows to draw into the map: the table's columns, whatever else there is."""
    source = read_source(options.new, kind=options.format, header=not options.no_header)
    return model_table(source, table.columns, target=table.target, ignored=table.ignored)


def _draw(comparison: Comparison, out: Path, *, overwrite: bool) -> None:
    """Write the map as a picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a picture needs matplotlib; install 'supred[plot]'.") from None
    found = comparison.class_map
    assert found is not None
    n_known = len(comparison.y) - found.n_new
    names = np.array(comparison.classes, dtype=object)
    figure = Figure(figsize=(7.0, 5.8), layout="constrained")
    MapDisplay(
        Z=found.latent[:n_known],
        y=names[comparison.y[:n_known]],
        classes=comparison.classes[:-1] if found.n_new else comparison.classes,
        regions=found.regions,
        held_out=found.held_out[:n_known],
        error=found.error,
        Z_new=found.latent[n_known:] if found.n_new else None,
        title=shown_name(comparison.title),
    ).plot(ax=figure.add_subplot())
    with atomic_write(out, overwrite=overwrite) as file:
        figure.savefig(file, format=out.suffix[1:].lower(), dpi=160)
