"""supred map: a page or a picture, with new rows."""

import json
from xml.etree import ElementTree

import numpy as np

from supred.app.comparison.class_map import make_map
from supred.app.comparison.prepared import make_folds
from supred.app.tables.preparation import Preparation
from tests.app.comparison.test_engine import made_table


def test_the_network_does_not_see_the_held_out_rows():
    table = made_table()
    class_index = np.unique(table.y, return_inverse=True)[1]
    train, test = make_folds(class_index, 5, 0)[0]
    transformer = Preparation().pipeline(table.columns).fit(table.X[train])
    rows = (table.X, table.columns, transformer)
    first = make_map(*rows, class_index, train, test, seed=0)
    other = class_index.copy()
    other[test] = (other[test] + 1) % 3
    second = make_map(*rows, other, train, test, seed=0)
    np.testing.assert_array_equal(first.latent, second.latent)
    assert first.error < 0.3 < second.error
    np.testing.assert_array_equal(np.flatnonzero(first.held_out), test)


def test_a_page_with_new_rows(supred, table, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("width,length,height,species\n0,0,0,rose\n3,0,1,\n")
    page = tmp_path / "map.html"
    result = supred("map", table, "--target", "species", "--new", new, "--out", page, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["error"] <= 0.2
    assert "Error of the map on 12 held-out rows" in result.err
    text = page.read_text("utf-8")
    assert '"new rows"' in text
    assert '"n_new":2' in text
    assert "supred map" in text


def test_pictures(supred, table, tmp_path):
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        path = tmp_path / f"map.{ending}"
        result = supred("map", table, "--target", "species", "--out", path, "--quiet")
        assert (result.code, result.err) == (0, "")
        assert path.read_bytes().startswith(start)


def test_names_that_are_no_markup(supred, table, tmp_path):
    odd = tmp_path / "f$a_{$.csv"
    odd.write_text(table.read_text().replace("rose", "ro\x02se$"))
    path = tmp_path / "map.svg"
    result = supred("map", odd, "--target", "species", "--out", path, "--quiet")
    assert (result.code, result.err) == (0, "")
    ElementTree.parse(path)


def test_other_endings_are_refused(supred, table, tmp_path):
    result = supred("map", table, "--target", "species", "--out", tmp_path / "map.jpeg")
    assert "a map ends in .html, .png, .svg, .pdf" in result.error_line
    assert list(tmp_path.glob("map*")) == []
