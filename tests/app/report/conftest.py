"""A browser for all tests of pages."""

import pytest


@pytest.fixture(scope="session")
def browser():
    """Chromium, or a skipped test where there is none."""
    from tests.app.report.browsing import CHROMIUM, DRIVER, webdriver

    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium and chromedriver found (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(20)
    yield driver
    driver.quit()
