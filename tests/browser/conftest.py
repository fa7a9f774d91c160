import shutil

import pytest
from playwright.async_api import async_playwright

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture
async def browser():
    chromium = shutil.which("chromium")
    assert chromium, "the browser tests need Debian's chromium: apt-get install chromium"
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        yield opened
        await opened.close()


@pytest.fixture
async def page(browser):
    opened = await browser.new_page(viewport={"width": 1440, "height": 900})
    faults = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    yield opened
    assert faults == []
