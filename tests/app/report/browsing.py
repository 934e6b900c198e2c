"""Headless Chromium, and what tests ask of a page in it."""

import json
import shutil
import time

import numpy as np
import pytest

from supred.plotting.style import COLORS

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver import ActionChains, Keys  # noqa: E402, F401
from selenium.webdriver.common.by import By  # noqa: E402

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")


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


def show(browser, text):
    """Choose a picture."""
    for option in browser.find_elements(By.CSS_SELECTOR, "#picture option"):
        if text in option.text:
            option.click()
            frame(browser)
            return
    raise AssertionError(f"no picture {text}")


def switch(browser, name):
    browser.find_element(By.ID, name).click()
    frame(browser)


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


def palette(class_index):
    """Colours of classes, shape (n_rows, 3)."""
    colors = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in COLORS]
    return np.array(colors)[np.asarray(class_index) % len(COLORS)]


def point_at(browser, place):
    target = canvas(browser)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", target)
    size = target.size
    across = round(place["x"] - size["width"] / 2)
    up = round(place["y"] - size["height"] / 2)
    ActionChains(browser).move_to_element_with_offset(target, across, up).perform()
    frame(browser)
