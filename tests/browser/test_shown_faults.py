"""Within two seconds of each fault the open page says so, and it returns to LIVE by itself."""

from playwright.async_api import expect

from tests.browser.shown_faults import FAULTS, NO_DATABASE, kill_server, measure_words, order_run, strike_fault
from tests.postgres import FOR_SPEED, new_database, postgres
from tests.served import served

KNOWN_AFTER = {"engines frozen": 1.0, "log blocked": 1.5}
"""Seconds for which a late answer is no fault yet (app/runtime/health_faults.py)."""
SLOW_MACHINE = 1.0
"""The processors of the tests have other work."""


async def test_every_fault_is_told_within_two_seconds_of_when_it_can_be_known(page, tmp_path):
    with served(tmp_path, "--speed", "1", command="demo") as server:
        port = server.port
        await page.goto(server.url)
        await expect(page.locator("#meter-gemma-31b")).to_contain_text("ready")
        took = {}
        for fault in FAULTS:
            await expect(page.locator("#liveness")).to_have_text("LIVE")
            with strike_fault(fault, server):
                took[fault.name] = await measure_words(page, fault.words) - KNOWN_AFTER.get(fault.name, 0.0)
            if fault.name == "engines killed":
                await page.request.post(f"{server.url}/ops/engines", form={"verb": "start"})
    assert max(took.values()) < 2.0 + SLOW_MACHINE, took
    with served(tmp_path, "--speed", "1", command="demo", port=port):
        await expect(page.locator("#liveness")).to_have_text("LIVE")
        await expect(page.locator("#feed")).to_contain_text("The server was killed or restarted")


async def test_a_database_that_is_gone_and_a_node_that_was_killed_are_told(page, tmp_path, postgres_folder):
    with postgres(*FOR_SPEED, like=postgres_folder) as database:
        shared = {"TEMPER_DATABASE_URL": new_database(database.address)}
        with served(tmp_path / "data", "--speed", "1", environment=shared) as first:
            run = await order_run(page, first)
            await page.goto(f"{first.url}/runs/{run}")
            await expect(page.locator("#feed")).to_contain_text("taken up")
            database.end()
            assert await measure_words(page, NO_DATABASE) < 1.5 + 2.0 + SLOW_MACHINE
            database.start()
            await expect(page.locator("#liveness")).to_have_text("LIVE")
            for _ in kill_server(first):
                assert await measure_words(page, "No connection to the server since") < 2.0 + SLOW_MACHINE
        with served(tmp_path / "data", "--speed", "1", environment=shared) as second:
            await page.goto(f"{second.url}/runs/{run}")
            await expect(page.locator("#feed")).to_contain_text("The server was killed or restarted")


async def test_a_run_that_another_node_takes_over_goes_on_in_the_open_page(page, tmp_path, postgres_folder):
    with postgres(*FOR_SPEED, like=postgres_folder) as database:
        shared = {"TEMPER_DATABASE_URL": new_database(database.address)}
        with served(tmp_path / "data", "--speed", "1", environment=shared) as first:
            run = await order_run(page, first)
            await page.goto(f"{first.url}/runs/{run}")
            await expect(page.locator("#feed")).to_contain_text("taken up")
            with served(tmp_path / "data", "--speed", "1", environment=shared) as second:
                await page.goto(f"{second.url}/runs/{run}")
                await expect(page.locator("#liveness")).to_have_text("LIVE")
                await page.evaluate("window.same = true")
                for _ in kill_server(first):
                    await expect(page.locator("#feed")).to_contain_text("resumed the run")
                await expect(page.locator("#liveness")).to_have_text("LIVE")
                await expect(page.locator("#health")).to_be_empty()
                assert await page.evaluate("window.same"), "the page was not loaded anew"
