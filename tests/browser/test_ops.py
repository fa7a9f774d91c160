"""The operator's page in a real browser: what it says while engines and server go, and when they come back."""

import os
import signal
from pathlib import Path

from axe_playwright_python.async_playwright import Axe

from tests.browser.test_mission import SHIFT_AT_MOST, SHIFTS, until
from tests.served import served

NEEDS = "[...document.querySelectorAll('[data-need]')].map((one) => one.dataset.need)"


def simulator_of(server):
    """The child that plays the engines."""
    for pid in Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split():
        if b"simulator" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return int(pid)
    raise AssertionError("no simulator")


async def test_the_console_tells_the_truth_while_engines_and_server_go_and_come_back(page, tmp_path):
    with served(tmp_path / "data", "--speed", "50") as server:
        port = server.port
        await page.goto(f"{server.url}/ops")
        await page.evaluate(SHIFTS)
        await until(
            page, "!document.body.classList.contains('lost') && document.querySelectorAll('.console').length === 3"
        )
        await until(page, "document.querySelector('#vitals').textContent.includes('3 of 3')")
        assert "Nothing needs you" in await page.locator("#needs").inner_text()
        assert await page.title() == "Operator · Temper"
        assert (await Axe().run(page)).response["violations"] == []

        os.kill(simulator_of(server), signal.SIGKILL)
        await until(page, f"{NEEDS}.length > 0 && document.title.startsWith('(')")
        assert await page.locator("#needs button", has_text="Start engines").is_visible()
        assert "Nothing needs you" not in await page.locator("#needs").inner_text()
        assert (
            await page.evaluate("document.querySelector('link[rel=icon]').getAttribute('href')")
            == "/static/icon-needs.svg"
        )
        assert "—" in await page.locator("#engine-gemma-31b .num").inner_text()
        assert await page.evaluate("window.shift") <= SHIFT_AT_MOST
        assert (await Axe().run(page)).response["violations"] == []
        await page.locator("#needs button", has_text="Start engines").click()
        await until(page, "document.querySelector('#needs .fine') !== null")

        await page.evaluate("window.opened = true")
        server.process.kill()
        await until(page, "document.body.classList.contains('lost')")
        assert "No word from the server since" in await page.locator("#lost").inner_text()
        assert (await page.title()).startswith("✗ lost")
    with served(tmp_path / "data", "--speed", "50", port=port):
        await until(page, "!document.body.classList.contains('lost')")
        await until(page, "document.querySelector('#vitals').textContent.includes('3 of 3')")
        assert await page.title() == "Operator · Temper"
        assert await page.evaluate("window.opened"), "it came back by itself, without a reload"
