"""Comparisons of random numbers, and pages taken apart."""

import base64
import json
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np

from supred.app.comparison.result import (
    ClassMap,
    Comparison,
    MethodResult,
)
from supred.app.report import write_report
from supred.plotting.latent_model import Regions

EVIL = "</script><script>alert(1)</script>"


def made_up(n_rows=200, n_classes=4, n_methods=2, n_components=3, **changes):
    """A comparison of random numbers, for what does not depend on the data."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    methods = [
        MethodResult(
            f"method {k}",
            "done",
            fold_errors=[0.1 + 0.01 * k, 0.2],
            fold_balanced_errors=[0.1, 0.2],
            n_components=n_components,
            model_bytes=1000 * (k + 1),
            predicted=np.where(rng.random(n_rows) < 0.2, rng.integers(n_classes, size=n_rows), y),
            latent=rng.normal(size=(n_rows, n_components)) + 4 * (y[:, None] == k),
            history={"objective": [3.0, 2.0, 1.5], "seconds": [0.0, 0.1, 0.2]},
        )
        for k in range(n_methods)
    ]
    grid = np.linspace(-3, 7, 20)
    class_map = ClassMap(
        rng.normal(size=(n_rows, 2)) + 4 * np.c_[y == 1, y == 2],
        np.arange(n_rows) % 5 == 0,
        y,
        0.125,
        0.25,
        Regions(grid, grid, np.arange(400).reshape(20, 20) % n_classes),
    )
    values = {
        "title": "Made up",
        "target": "kind",
        "classes": [f"class {k}" for k in range(n_classes)],
        "features": ["a", "b"],
        "y": y,
        "row_names": [str(k) for k in range(n_rows)],
        "preprocessing": ["Nothing was scaled."],
        "methods": methods,
        "seed": 7,
        "versions": {"supred": "1"},
        "command": "supred compare made-up.csv --target kind",
        "held_out": class_map.held_out,
        "class_map": class_map,
        **changes,
    }
    return Comparison(**values)


def changed(comparison, position, **changes):
    """The comparison with one method changed."""
    methods = list(comparison.methods)
    methods[position] = replace(methods[position], **changes)
    return replace(comparison, methods=methods)


class Page(HTMLParser):
    """What a browser makes of the file: elements, attributes, text of scripts."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.scripts, self.texts, self._in = [], [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")
        if tag not in ("meta", "input", "br", "line", "path", "polyline"):
            self._in.append(tag)

    def handle_endtag(self, tag):
        if self._in and tag in self._in:
            while self._in.pop() != tag:
                pass

    def handle_data(self, data):
        if self._in and self._in[-1] == "script":
            self.scripts[-1] += data
        elif self._in and self._in[-1] != "style":
            self.texts.append(data)


def unpack(page):
    """Read the packed numbers as the script does."""
    data = json.loads(page.scripts[0])
    content = zlib.decompress(base64.b64decode(page.scripts[1]))

    def array(place):
        width, length = place["bytes"], place["length"]
        planes = content[place["at"] : place["at"] + width * length]
        planes = np.frombuffer(planes, dtype=np.uint8).reshape(width, length).astype(np.int64)
        return sum(plane << (8 * k) for k, plane in enumerate(planes))

    return data, array


def written(comparison, tmp_path, **options):
    return write_report(comparison, tmp_path / "report.html", **options).read_text("utf-8")


def restored(axis, array, bits):
    """Coordinates as the script reads them."""
    steps = array(axis["steps"])
    values = axis["low"] + steps / (2**bits - 2) * (axis["high"] - axis["low"])
    rows, exact = axis["outside"]
    values[rows] = exact
    return values
