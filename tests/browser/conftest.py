"""One Chromium for all browser tests, each in a context of its own, and one whole run for those that read one."""

from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright, expect

from tests.chromium import program, surroundings
from tests.forkserver import temper
from tests.once import built_once
from tests.served import served

PATIENCE = 60_000
"""What comes of a click or of an event is waited for (`expect`), never looked at once."""
expect.set_options(timeout=PATIENCE)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_collection_modifyitems(items):
    """On one event loop: Chromium is spoken with on the one that it was started on."""
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium():
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=program(), args=list(QUIET), env=surroundings())
        yield opened
        await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium):
    """Nothing of one test, be it a page that is still open, is there in the next."""
    yield chromium
    for context in chromium.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser):
    opened = await browser.new_page(viewport={"width": 1440, "height": 900})
    faults = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    yield opened
    assert faults == []


@pytest.fixture(scope="session")
def toured(tmp_path_factory):
    """A data folder with a run of every rule, at its end: it is only read."""
    return built_once(tmp_path_factory, "toured", _tour) / "data"


def _tour(folder):
    done = temper("run", "--data", folder / "data", "--speed", "0", timeout=600)
    assert done.returncode == 2, done.stderr


@pytest.fixture(scope="session")
def shown(toured):
    """A server that shows it, for tests that change nothing."""
    with served(toured, "--speed", "0", "--no-run", command="demo") as server:
        yield server


def simulator_of(server):
    """The child that plays the engines: forked at first, and an interpreter of its own after a restart."""
    for pid in Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split():
        told = [Path(f"/proc/{pid}/{name}").read_text() for name in ("comm", "cmdline")]
        if told[0] == "simulator\n" or "app.engines.simulator" in told[1]:
            return int(pid)
    raise AssertionError("no simulator")
