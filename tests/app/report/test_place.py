"""A row of the reader's own on the map: pasted, or set by sliders."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from supred.app.comparison.class_map import map_of_table
from supred.app.comparison.map_model import MOST_NUMBERS, model_of_map
from supred.app.report import write_report
from supred.app.tables.table import Column, Table
from tests.app.report.browsing import By, assert_quiet, canvas, frame, open_page, told

TEXTS = ("red", 'a "?", b', "")


def mixed_table():
    """Four numbers, some of them missing, and a text column."""
    X, y = load_iris(return_X_y=True)
    X = X.astype(float)
    X[::9, 1] = np.nan
    texts = (y + (np.arange(150) % 5 == 0)) % 3
    columns = [
        Column("sepal length", "number"),
        Column("sepal, width", "number"),
        Column("colour", "text", list(TEXTS)),
        Column("petal length", "number"),
        Column("petal width", "number"),
    ]
    names = np.array(["setosa", "versicolor", "virginica"])
    rows = np.column_stack([X[:, :2], texts, X[:, 2:]])
    return Table("iris", columns, rows, "species", names[y], [str(k) for k in range(150)])


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module")
def comparison(table):
    return map_of_table(table)


@pytest.fixture(scope="module")
def path(comparison, tmp_path_factory):
    return write_report(comparison, tmp_path_factory.mktemp("place") / "iris.html")


@pytest.fixture
def page(browser, path):
    """The panel, opened; afterwards nothing may have gone wrong or out."""
    open_page(browser, path)
    browser.find_element(By.CSS_SELECTOR, "#place summary").click()
    frame(browser)
    yield browser
    assert_quiet(browser, path)


def paste(page, text):
    """Paste text and return what the page says of it."""
    page.execute_script(
        "const box = document.getElementById('paste'); box.value = arguments[0];"
        "box.dispatchEvent(new Event('input'))",
        text,
    )
    frame(page)
    return page.find_element(By.ID, "placed").text


def as_line(row):
    """A row of the table as it would stand in a file of CSV."""
    values = ["" if np.isnan(value) else repr(float(value)) for value in row]
    values[2] = TEXTS[int(row[2])]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def test_a_pasted_row_falls_where_the_network_places_it(page, table, comparison):
    found = comparison.class_map
    for row in range(0, 150, 13):
        text = paste(page, as_line(table.X[row]))
        placed = json.loads(told(page, "placed"))
        np.testing.assert_allclose(placed["latent"], found.latent[row], rtol=1e-4, atol=1e-5)
        assert placed["index"] == found.predicted[row]
        assert f"falls to {comparison.classes[found.predicted[row]]}" in text


def test_a_line_of_names_may_come_first_in_any_order(page, table, comparison):
    row = table.X[3]
    lines = f"petal width\tspecies\tcolour\tpetal length\tsepal length\tsepal, width\n{row[4]}\t?"
    text = paste(page, f"{lines}\t{TEXTS[int(row[2])]}\t{row[3]}\t{row[0]}\t{row[1]}")
    assert "falls to" in text
    latent = json.loads(told(page, "placed"))["latent"]
    np.testing.assert_allclose(latent, comparison.class_map.latent[3], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3", "3 values for 5 columns (sepal length, sepal, width, colour, petal length, …)"),
        ("1,wide,red,3,4", '"wide" is not a number (sepal, width)'),
        ("a,b\n1,2", "names no column of the table"),
    ],
)
def test_what_is_no_row_is_said_to_be_none(page, text, message):
    assert message in paste(page, text)
    assert told(page, "placed") is None


def test_sliders_and_typical_rows_move_the_star(page, table):
    typical = page.find_element(By.ID, "typical")
    for option, name in zip(
        typical.find_elements(By.TAG_NAME, "option"), np.unique(table.y), strict=True
    ):
        option.click()
        frame(page)
        assert f"falls to {name}" in page.find_element(By.ID, "placed").text
    before = told(page, "placed")
    slider = page.find_element(By.CSS_SELECTOR, "input[data-column='petal length']")
    page.execute_script(
        "arguments[0].value = arguments[0].min; arguments[0].dispatchEvent(new Event('input'))",
        slider,
    )
    frame(page)
    assert told(page, "placed") != before
    page.find_element(By.CSS_SELECTOR, "#place summary").click()
    frame(page)
    assert told(page, "placed") is None  # a closed panel leaves the map as it was


def test_the_size_is_stated_and_the_network_can_be_left_out(browser, comparison, path, tmp_path):
    assert "is part of this page (" in path.read_text("utf-8")
    without = write_report(comparison, tmp_path / "without.html", with_model=False)
    model = len(json.dumps(comparison.class_map.model))
    assert path.stat().st_size - without.stat().st_size == pytest.approx(model, rel=0.1)
    open_page(browser, without)
    assert not browser.find_element(By.ID, "place").is_displayed()
    assert canvas(browser).is_displayed()
    assert_quiet(browser, without)


def test_a_large_network_and_sparse_rows_are_left_out(table, monkeypatch):
    from scipy.sparse import csr_matrix

    assert model_of_map(None, [], None, csr_matrix((3, 2)), np.zeros(3, int), {}) is None
    monkeypatch.setattr("supred.app.comparison.map_model.MOST_NUMBERS", 10)
    assert MOST_NUMBERS > 10
    assert map_of_table(table).class_map.model is None
