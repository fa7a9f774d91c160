"""The operator's page in a real browser: what it says while engines and server go, and when they come back."""

import os
import re
import signal

from playwright.async_api import expect

from tests.browser.axe import violations
from tests.browser.conftest import simulator_of
from tests.browser.test_mission import SHIFT_AT_MOST, SHIFTS, until
from tests.served import served

NEEDS = "[...document.querySelectorAll('[data-need]')].map((one) => one.dataset.need)"


async def test_the_console_tells_the_truth_while_engines_and_server_go_and_come_back(page, browser, tmp_path):
    with served(tmp_path / "data", "--speed", "50") as server:
        port = server.port
        await page.request.post(f"{server.url}/api/v1/runs", data={"host": "fixture", "mode": "scan"})
        server.wait_for_kind("run.finished")
        mission = await browser.new_page()
        await mission.goto(server.url)
        await expect(mission.locator("#meter-gemma-31b")).to_contain_text("ready")
        await page.goto(f"{server.url}/ops")
        await page.evaluate(SHIFTS)
        await until(
            page, "!document.body.classList.contains('lost') && document.querySelectorAll('.console').length === 3"
        )
        await expect(page.locator("#vitals")).to_contain_text("3 of 3")
        await expect(page.locator("#needs")).to_contain_text("Nothing needs you")
        await expect(page).to_have_title("Operator · Temper")
        assert await violations(page) == []

        os.kill(simulator_of(server), signal.SIGKILL)
        await until(page, f"{NEEDS}.length > 0 && document.title.startsWith('(')")
        await expect(page.locator("#needs button", has_text="Start engines")).to_be_visible()
        await expect(page.locator("#needs")).not_to_contain_text("Nothing needs you")
        await expect(page.locator("link[rel=icon]")).to_have_attribute("href", "/static/icon-needs.svg")
        await expect(page.locator("#engine-gemma-31b .num")).to_contain_text("—")
        await expect(mission.locator("#meter-gemma-31b .down")).to_contain_text("✗ not answering")
        await expect(mission.locator("#meter-gemma-31b .num")).to_contain_text("—")
        await mission.close()
        assert await page.evaluate("window.shift") <= SHIFT_AT_MOST
        assert await violations(page) == []
        await page.locator("#needs button", has_text="Start engines").click()
        await expect(page.locator("#vitals")).to_contain_text("3 of 3")

        frozen = simulator_of(server)
        os.kill(frozen, signal.SIGSTOP)
        await page.locator("#needs button", has_text="Restart engines").click()
        await expect(page.locator("#vitals")).to_contain_text("3 of 3")
        await expect(page.locator("#needs")).to_contain_text("Nothing needs you")
        assert simulator_of(server) != frozen

        await page.evaluate("window.opened = true")
        server.process.kill()
        await until(page, "document.body.classList.contains('lost')")
        await expect(page.locator("#lost")).to_contain_text("No connection to the server since")
        await expect(page).to_have_title(re.compile("^✗ lost"))
    with served(tmp_path / "data", "--speed", "50", port=port):
        await until(page, "!document.body.classList.contains('lost')")
        await expect(page.locator("#vitals")).to_contain_text("3 of 3")
        await expect(page).to_have_title("Operator · Temper")
        assert await page.evaluate("window.opened"), "it came back by itself, without a reload"
