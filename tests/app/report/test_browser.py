"""The page in headless Chromium: real methods on real data, used as a reader would."""

import csv
import io
import warnings

import numpy as np
import pytest

from supred.app.comparison.scores import best_method
from supred.app.report import write_report
from tests.app.report.browsing import (
    ActionChains,
    By,
    Keys,
    assert_quiet,
    canvas,
    colors_at,
    frame,
    open_page,
    palette,
    picture,
    point_at,
    press,
    show,
    switch,
    told,
    where,
)
from tests.app.report.pages import EVIL, changed, made_up


@pytest.fixture(scope="module")
def comparison():
    from sklearn.datasets import load_digits

    from supred.app.comparison.engine import compare
    from supred.app.tables.table import Column, Table

    X, y = load_digits(return_X_y=True)
    X, y = X[::2], y[::2]
    columns = [Column(f"pixel_{k}", "number") for k in range(64)]
    table = Table("digits", columns, X, "digit", y, [str(k) for k in range(len(y))])
    names = ["LDA", "SVC", "LowDimSVC", "CategorySpace", "PCA + SVC", "UMAP"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare(table, methods=names, n_folds=3, tune=False)


@pytest.fixture(scope="module")
def digits(comparison, tmp_path_factory):
    return write_report(comparison, tmp_path_factory.mktemp("report") / "digits.html")


@pytest.fixture
def page(browser, digits):
    """The digits, opened afresh; afterwards nothing may have gone wrong or out."""
    yield open_page(browser, digits)
    assert_quiet(browser, digits)


def test_the_map_is_shown_first_with_the_errors_of_the_best_method(page, comparison):
    assert told(page, "picture") == "map of the classes"
    assert told(page, "method") == best_method(comparison.methods).name
    assert told(page, "drawn") == "899"
    assert told(page, "labels") == "10"
    line = page.find_element(By.ID, "map-line").text
    assert (
        f"Error of the map on the held-out rows: {100 * comparison.class_map.error:.1f} %" in line
    )
    assert not page.find_element(By.ID, "deep").is_displayed()  # two dimensions


def test_switching_the_method_changes_every_part(page):
    press(page, "LDA")
    before = picture(page)
    press(page, "LowDimSVC")
    assert told(page, "method") == "LowDimSVC"
    assert picture(page) != before  # other errors are ringed
    headings = [e.text for e in page.find_elements(By.CSS_SELECTOR, "h2 small")]
    assert headings == ["of LowDimSVC"] * 2
    shown = [e for e in page.find_elements(By.CSS_SELECTOR, ".of-method") if e.is_displayed()]
    assert len(shown) == 1
    assert shown[0].find_elements(By.CSS_SELECTOR, ".traces svg")
    pressed = page.find_elements(By.CSS_SELECTOR, "#methods button[aria-pressed='true']")
    assert [b.text for b in pressed] == ["LowDimSVC"]


def test_the_directions_that_separate_best_of_many_dimensions(page):
    assert "directions are shown" not in page.find_element(By.ID, "keys").text
    show(page, "CategorySpace")
    assert told(page, "picture") == "latent space of CategorySpace"
    text = page.find_element(By.ID, "keys").text
    assert "Of 10 latent dimensions the 3 directions are shown that separate" in text
    assert not page.find_element(By.ID, "map-line").is_displayed()
    options = [o.text for o in page.find_elements(By.CSS_SELECTOR, "#picture option")]
    assert "latent space of SVC" not in options


def test_a_cell_of_the_confusion_matrix_shows_its_rows(page, comparison):
    method = best_method(comparison.methods)
    wrong = np.flatnonzero(method.predicted != comparison.y)
    i, j = int(comparison.y[wrong[0]]), int(method.predicted[wrong[0]])
    rows = np.flatnonzero((comparison.y == i) & (method.predicted == j))
    before = picture(page)
    page.find_element(By.CSS_SELECTOR, f"[data-cell='{i},{j}']").click()
    frame(page)
    assert told(page, "chosen") == str(len(rows))
    title = page.find_element(By.ID, "chosen-title").text
    assert title.startswith(f"{i} predicted as {j} by {method.name}: {len(rows)} row")
    named = page.find_element(By.ID, "chosen-rows").text.split(", ")
    assert named == [str(row) for row in rows]
    assert picture(page) != before
    switch(page, "chosen-clear")
    assert not page.find_element(By.ID, "chosen").is_displayed()
    assert picture(page) == before


def test_found_and_right_class_by_class(page, comparison):
    method = best_method(comparison.methods)
    page.find_element(By.CSS_SELECTOR, "#per-class summary").click()
    rows = page.execute_script(
        "return [...document.querySelectorAll('#class-table tbody tr')].map("
        "(row) => [...row.children].map((cell) => cell.textContent))"
    )
    assert len(rows) == 10
    for name, n_rows, found, recall, predicted, precision in rows:
        of_class, as_class = comparison.y == int(name), method.predicted == int(name)
        assert [int(n_rows), int(predicted)] == [of_class.sum(), as_class.sum()]
        assert int(found) == (of_class & as_class).sum()
        assert recall == f"{100 * int(found) / of_class.sum():.1f} %"
        assert precision == f"{100 * int(found) / as_class.sum():.1f} %"


def test_a_row_is_found_by_its_name(page):
    field = page.find_element(By.ID, "find")
    field.send_keys("417")
    frame(page)
    assert told(page, "chosen") == "1"
    assert told(page, "row") == "417"
    field.clear()
    field.send_keys("88")
    frame(page)
    assert told(page, "chosen") == "1"  # exactly so named
    field.send_keys(Keys.BACKSPACE, Keys.BACKSPACE)
    frame(page)
    assert told(page, "chosen") == ""


def test_the_rows_can_be_taken_away(page, comparison):
    text = page.execute_script("return document.getElementById('latent').csv()")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 899
    method = best_method(comparison.methods)
    assert [int(line["digit"]) for line in lines] == comparison.y.tolist()
    assert [int(line["predicted"]) for line in lines] == method.predicted.tolist()
    assert [line["held_out"] == "yes" for line in lines] == comparison.held_out.tolist()
    Z = np.array([[float(line["dimension_1"]), float(line["dimension_2"])] for line in lines])
    np.testing.assert_allclose(Z, comparison.class_map.latent, atol=2e-4 * np.ptp(Z))


def test_training_rows_can_be_left_out(page, comparison):
    switch(page, "training")
    assert int(told(page, "drawn")) == comparison.held_out.sum()


def test_the_confusion_matrix_counts_every_row(page):
    cells = page.execute_script(
        "return [...document.querySelectorAll('#confusion td')].map((c) => Number(c.textContent))"
    )
    assert len(cells) == 100
    assert sum(cells) == 899


@pytest.mark.parametrize("deep", [False, True])
def test_hovering_shows_row_and_label(page, comparison, deep):
    if deep:
        show(page, "LowDimSVC")
        switch(page, "deep")
    y = comparison.y
    point_at(page, where(page, 5))
    row = int(told(page, "row"))
    found, asked = where(page, row), where(page, 5)
    assert abs(found["x"] - asked["x"]) + abs(found["y"] - asked["y"]) < 3  # it, or one upon it
    tip = page.find_element(By.ID, "tip")
    assert tip.is_displayed()
    lines = tip.text.split("\n")
    assert lines[:2] == [f"row {row}", f"class {y[row]}"]
    assert page.find_element(By.ID, "point").text.startswith(f"row {row}, class {y[row]}")
    point_at(page, {"x": 3, "y": 3})
    assert not tip.is_displayed()


def test_dragging_and_arrows_turn_three_dimensions(page):
    show(page, "LowDimSVC")
    switch(page, "deep")
    assert told(page, "view") == "3d"
    seen, yaw, pitch = picture(page), float(told(page, "yaw")), float(told(page, "pitch"))
    ActionChains(page).click_and_hold(canvas(page)).move_by_offset(80, 40).release().perform()
    frame(page)
    assert float(told(page, "yaw")) == pytest.approx(yaw + 0.8, abs=0.02)
    assert float(told(page, "pitch")) == pytest.approx(pitch + 0.4, abs=0.02)
    assert picture(page) != seen
    canvas(page).send_keys(Keys.ARROW_LEFT)
    frame(page)
    assert float(told(page, "yaw")) < yaw + 0.8 - 0.05
    canvas(page).send_keys("0")
    frame(page)
    assert float(told(page, "yaw")) == yaw
    page.find_element(By.ID, "flat").click()
    frame(page)
    assert told(page, "view") == "2d"


def test_filtering_classes(page, comparison):
    y = comparison.y
    page.find_element(By.CSS_SELECTOR, "#classes input[data-class='3']").click()
    frame(page)
    assert int(told(page, "drawn")) == (y != 3).sum()
    three = int((y == 3).argmax())
    assert not where(page, three)["visible"]
    page.find_element(By.ID, "none").click()
    frame(page)
    assert told(page, "drawn") == "0"
    page.find_element(By.CSS_SELECTOR, "#classes input[data-class='7']").click()
    switch(page, "regions")
    switch(page, "names")
    assert int(told(page, "drawn")) == (y == 7).sum()
    rows = np.flatnonzero((y == 7) & comparison.held_out)
    off = np.abs(colors_at(page, rows) - palette(y[rows])).max(axis=1)
    assert np.median(off) < 45  # edges of neighbours lie on some
    page.find_element(By.ID, "all").click()
    page.find_element(By.ID, "wrong").click()
    frame(page)
    wrong = page.execute_script(
        "return [...document.querySelectorAll('#confusion td.miss')]"
        ".reduce((sum, c) => sum + Number(c.textContent), 0)"
    )
    assert int(told(page, "drawn")) == wrong > 0


def test_decision_regions_show_what_the_map_says_and_can_be_hidden(page, comparison):
    page.find_element(By.ID, "none").click()  # nothing but the regions
    frame(page)
    shaded = picture(page)
    found = comparison.class_map
    regions = found.regions
    across, up, class_index = regions.x, regions.y, regions.class_index
    column = np.abs(across[None, :] - found.latent[:, :1]).argmin(axis=1)
    row = np.abs(up[None, :] - found.latent[:, 1:]).argmin(axis=1)
    off = np.abs(colors_at(page, range(len(column))) - palette(class_index[row, column]))
    assert np.mean(off.max(axis=1) < 20) > 0.8  # the others lie at a border
    switch(page, "regions")
    assert picture(page) != shaded
    show(page, "LowDimSVC")
    assert not page.find_element(By.ID, "regions").is_displayed()


def test_far_rows_are_marked_at_the_border(browser, tmp_path):
    comparison = made_up()
    comparison.class_map.latent[5] = [1e5, 0.0]
    path = write_report(comparison, tmp_path / "far.html")
    page = open_page(browser, path)
    assert told(page, "far") == "1"
    place, size = where(page, 5), canvas(page).size
    assert size["width"] - 30 < place["x"] < size["width"]
    point_at(page, place)
    assert "far outside" in page.find_element(By.ID, "point").text
    others = [where(page, row)["x"] for row in range(6, 200)]
    assert np.ptp(others) > size["width"] / 2  # not squeezed
    assert_quiet(browser, path)


def test_zoom_and_another_pair_of_axes(page):
    show(page, "LowDimSVC")
    first = where(page, 0)
    page.find_element(By.CSS_SELECTOR, "#pair option:nth-child(3)").click()
    frame(page)
    assert where(page, 0) != first
    page.find_element(By.ID, "closer").click()
    frame(page)
    assert float(told(page, "zoom")) == pytest.approx(1.4)
    page.find_element(By.ID, "reset").click()
    frame(page)
    assert float(told(page, "zoom")) == 1


def test_everything_works_by_keyboard(page):
    method = page.find_elements(By.CSS_SELECTOR, "#methods button")[2]
    method.send_keys(Keys.ENTER)
    frame(page)
    assert told(page, "method") == method.text
    canvas(page).send_keys("n")
    frame(page)
    assert told(page, "row") == "0"
    canvas(page).send_keys("n", "n", "p")
    frame(page)
    assert told(page, "row") == "1"
    assert page.find_element(By.ID, "point").text.startswith("row 1, class 2")
    canvas(page).send_keys("+")
    frame(page)
    assert float(told(page, "zoom")) > 1
    page.find_element(By.CSS_SELECTOR, "button.cell").send_keys(Keys.ENTER)
    frame(page)
    assert page.find_element(By.ID, "chosen").is_displayed()
    # Tab reaches the canvas and leaves it again.
    canvas(page).send_keys(Keys.TAB)
    assert page.execute_script("return document.activeElement.id") == "chosen-csv"


def test_phone_width(browser, digits):
    page = open_page(browser, digits, width=360, height=740, mobile=True)
    width = page.execute_script("return document.documentElement.scrollWidth")
    assert width <= 360
    box = canvas(page).rect
    assert box["width"] > 300
    assert page.find_element(By.ID, "classes").rect["y"] > box["y"] + box["height"]  # below
    assert told(page, "drawn") == "899"
    assert_quiet(browser, digits)


def test_dark_mode_and_its_change(browser, digits):
    page = open_page(browser, digits, dark=True)
    dark = picture(page)
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert page.execute_script(ground) == "rgb(20, 23, 26)"
    scheme = {"name": "prefers-color-scheme", "value": "light"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    frame(page)
    assert page.execute_script(ground) == "rgb(255, 255, 255)"
    assert picture(page) != dark
    assert_quiet(browser, digits)


def test_print_is_light_and_leaves_the_page_as_it_was(browser, digits):
    page = open_page(browser, digits, dark=True)
    before = picture(page)
    page.execute_script(
        "addEventListener('beforeprint', () => {"
        "  window.printed = document.getElementById('latent').toDataURL();"
        "  window.ground = getComputedStyle(document.body).backgroundColor; });"
    )
    page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    frame(page)
    assert page.execute_script("return window.ground") == "rgb(255, 255, 255)"
    assert page.execute_script("return window.printed") != before
    assert picture(page) == before
    assert_quiet(browser, digits)


def test_a_class_named_script_runs_nothing(browser, tmp_path):
    mark = "<img src=x onerror='window.broken=1'>" + EVIL.replace("alert(1)", "window.broken=1")
    comparison = made_up(
        title=mark, target=mark, classes=[mark, "b", "c", "d"], row_names=[mark] * 200
    )
    comparison = changed(comparison, 0, name=mark)
    path = write_report(comparison, tmp_path / "evil.html")
    page = open_page(browser, path)
    canvas(page).send_keys("n")
    frame(page)
    assert mark in page.find_element(By.ID, "point").text
    assert page.find_element(By.CSS_SELECTOR, "#confusion th[title]").get_attribute("title") == mark
    assert page.execute_script("return window.broken") is None
    assert page.find_elements(By.TAG_NAME, "img") == []
    assert_quiet(browser, path)


def test_one_dimension_and_twenty_thousand_rows(browser, tmp_path):
    comparison = made_up(20_000, n_classes=60, n_methods=2)
    comparison = changed(comparison, 1, latent=comparison.methods[1].latent[:, :1])
    path = write_report(comparison, tmp_path / "large.html")
    page = open_page(browser, path)
    assert told(page, "drawn") == "20000"
    show(page, "method 1")
    assert told(page, "drawn") == "20000"
    assert_quiet(browser, path)


def test_a_page_of_the_map_alone(browser, tmp_path):
    path = write_report(made_up(methods=[]), tmp_path / "map.html")
    page = open_page(browser, path)
    assert told(page, "drawn") == "200"
    assert page.find_elements(By.ID, "confusion") == []
    assert not page.find_element(By.ID, "picture").is_displayed()
    assert "Rings mark rows that the map misclassified" in page.find_element(By.ID, "keys").text
    assert_quiet(browser, path)
