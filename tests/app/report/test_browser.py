"""The page in headless Chromium: real methods on real data, used as a reader would."""

import json
import shutil
import time

import numpy as np
import pytest

from supred.app.report import write_report
from supred.plotting.style import COLORS
from tests.app.report.real import compare_on
from tests.app.report.test_page import EVIL, made_up

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="no chromium and chromedriver found (Debian: chromium, chromium-driver)",
)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(20)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def comparison():
    return compare_on("digits")


@pytest.fixture(scope="module")
def digits(comparison, tmp_path_factory):
    return write_report(comparison, tmp_path_factory.mktemp("report") / "digits.html")


@pytest.fixture
def page(browser, digits):
    """The digits, opened afresh; afterwards nothing may have gone wrong or out."""
    yield open_page(browser, digits)
    assert_quiet(browser, digits)


def open_page(browser, path, *, width=1200, height=900, mobile=False, dark=False):
    browser.get_log("browser"), browser.get_log("performance")  # forget what was before
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(path.as_uri())
    wait_for(lambda: browser.execute_script("return document.documentElement.dataset.ready"))
    frame(browser)
    return browser


def assert_quiet(browser, path):
    assert browser.get_log("browser") == []  # no error, no warning, no breach of the policy
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    assert asked == {path.as_uri()}


def wait_for(condition, tries=200):
    for _ in range(tries):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def frame(browser):
    """Wait until the next picture is on the canvas."""
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
    )


def canvas(browser):
    return browser.find_element(By.ID, "latent")


def told(browser, name):
    """What the canvas says of itself."""
    return browser.execute_script(
        "return document.getElementById('latent').dataset[arguments[0]]", name
    )


def picture(browser):
    return browser.execute_script("return document.getElementById('latent').toDataURL()")


def press(browser, text):
    for button in browser.find_elements(By.CSS_SELECTOR, "#methods button"):
        if button.text == text:
            button.click()
            frame(browser)
            return
    raise AssertionError(f"no method {text}")


def where(browser, row):
    return browser.execute_script(
        "return document.getElementById('latent').whereIs(arguments[0])", row
    )


def colors_at(browser, rows):
    """Colours on the canvas where rows lie, shape (n_rows, 3)."""
    return np.array(
        browser.execute_script(
            "const canvas = document.getElementById('latent');"
            "const { width, height } = canvas;"
            "const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;"
            "return arguments[0].map((row) => { const { x, y } = canvas.whereIs(row);"
            "  const at = 4 * (Math.floor(y) * width + Math.floor(x));"
            "  return [...pixels.slice(at, at + 3)]; });",
            [int(row) for row in rows],
        )
    )


def palette(codes):
    """Colours of classes, shape (n_codes, 3)."""
    colors = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in COLORS]
    return np.array(colors)[np.asarray(codes) % len(COLORS)]


def point_at(browser, place):
    target = canvas(browser)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", target)
    size = target.size
    across = round(place["x"] - size["width"] / 2)
    up = round(place["y"] - size["height"] / 2)
    ActionChains(browser).move_to_element_with_offset(target, across, up).perform()
    frame(browser)


def test_the_most_accurate_method_with_a_picture_is_shown_first(page):
    assert told(page, "method") == "LDA"
    assert told(page, "drawn") == "899"
    assert not page.find_element(By.ID, "deep").is_enabled()  # two dimensions


def test_switching_the_method_changes_every_part(page):
    before = picture(page)
    press(page, "LowDimSVC")
    assert told(page, "method") == "LowDimSVC"
    assert picture(page) != before
    headings = [e.text for e in page.find_elements(By.CSS_SELECTOR, "h2 small")]
    assert headings == ["of LowDimSVC"] * 3
    shown = [e for e in page.find_elements(By.CSS_SELECTOR, ".of-method") if e.is_displayed()]
    assert len(shown) == 1
    assert shown[0].find_elements(By.CSS_SELECTOR, ".traces svg")
    pressed = page.find_elements(By.CSS_SELECTOR, "#methods button[aria-pressed='true']")
    assert [b.text for b in pressed] == ["LowDimSVC"]
    press(page, "SVC")  # has no latent space, but predictions
    assert page.find_element(By.ID, "empty").is_displayed()
    assert page.find_elements(By.CSS_SELECTOR, "#confusion td")


def test_the_confusion_matrix_counts_every_row(page):
    cells = page.execute_script(
        "return [...document.querySelectorAll('#confusion td')].map((c) => Number(c.textContent))"
    )
    assert len(cells) == 100
    assert sum(cells) == 899


@pytest.mark.parametrize("method", ["LDA", "LowDimSVC"])
def test_hovering_shows_row_and_label(page, comparison, method):
    press(page, method)
    if method == "LowDimSVC":
        page.find_element(By.ID, "deep").click()
        frame(page)
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
    press(page, "LowDimSVC")
    page.find_element(By.ID, "deep").click()
    frame(page)
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
    frame(page)
    assert int(told(page, "drawn")) == (y == 7).sum()
    rows = np.flatnonzero(y == 7)
    off = np.abs(colors_at(page, rows) - palette(y[rows])).max(axis=1)
    assert np.mean(off < 12) > 0.7  # circles and edges of neighbours lie on some
    page.find_element(By.ID, "all").click()
    page.find_element(By.ID, "wrong").click()
    frame(page)
    wrong = page.execute_script(
        "return [...document.querySelectorAll('#confusion td.miss')]"
        ".reduce((sum, c) => sum + Number(c.textContent), 0)"
    )
    assert int(told(page, "drawn")) == wrong > 0


def test_decision_regions_show_what_the_model_says_and_can_be_hidden(page, comparison):
    press(page, "PCA + SVC")
    page.find_element(By.ID, "none").click()  # nothing but the regions
    frame(page)
    shaded = picture(page)
    method = next(m for m in comparison.methods if m.name == "PCA + SVC")
    across, up, codes = method.regions
    column = np.abs(across[None, :] - method.latent[:, :1]).argmin(axis=1)
    row = np.abs(up[None, :] - method.latent[:, 1:]).argmin(axis=1)
    off = np.abs(colors_at(page, range(len(column))) - palette(codes[row, column])).max(axis=1)
    assert np.mean(off < 20) > 0.8  # the others lie at a border
    page.find_element(By.ID, "regions").click()
    frame(page)
    assert picture(page) != shaded
    press(page, "LDA")
    assert not page.find_element(By.ID, "regions").is_displayed()


def test_zoom_and_another_pair_of_axes(page):
    press(page, "LowDimSVC")
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
    assert told(page, "method") == "CategorySpace"
    assert "first 3 of 10 latent dimensions" in page.find_element(By.ID, "keys").text
    page.find_element(By.ID, "deep").send_keys(Keys.SPACE)
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
    # Tab reaches the canvas and leaves it again.
    canvas(page).send_keys(Keys.TAB)
    assert page.execute_script("return document.activeElement.id") == "all"


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
    comparison.methods[0].name = mark
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
    comparison.methods[1].latent = comparison.methods[1].latent[:, :1]
    path = write_report(comparison, tmp_path / "large.html")
    page = open_page(browser, path)
    assert told(page, "drawn") == "20000"
    press(page, "method 1")
    assert told(page, "drawn") == "20000"
    assert_quiet(browser, path)
