"""The line-up page in a real browser."""

from playwright.async_api import expect

from tests.browser.axe import sizes_and_schemes
from tests.engines.endpoint_wire import play_endpoint
from tests.engines.test_server_capabilities import Server
from tests.served import served


async def test_a_click_probes_and_the_page_draws_itself_anew_and_axe_finds_nothing(page, browser, tmp_path):
    with served(tmp_path, "--speed", "100") as server:
        await page.goto(f"{server.url}/lineup")
        await expect(page.get_by_text("Not probed yet")).to_have_count(3)
        await page.get_by_role("button", name="Probe now").click()
        await expect(page.get_by_text("Probing.")).to_be_visible()
        await expect(page.get_by_role("button", name="Probe now")).to_be_visible()
        await expect(page.get_by_text("Not probed yet")).to_have_count(0)
        opened = await browser.new_page(color_scheme="dark", bypass_csp=True)
        await opened.goto(f"{server.url}/lineup")
        await opened.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        async for width in sizes_and_schemes(opened):
            assert await opened.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), width


async def test_a_server_of_ones_own_is_asked_by_the_keyboard_and_taken_into_use(page, browser, tmp_path):
    two = Server(models=[{"id": "m-7b"}, {"id": f"other-{'long-' * 20}2b"}], schema="ignores")
    with play_endpoint(two) as base, served(tmp_path, "--speed", "100") as server:
        await page.goto(f"{server.url}/lineup")
        await page.get_by_label("Address", exact=True).focus()
        await page.keyboard.type(base)
        await page.keyboard.press("Tab")
        await expect(page.get_by_label("Key, if the server requires one")).to_be_focused()
        await page.keyboard.press("Enter")
        seats = page.get_by_role("button", name="Use it for all four roles")
        await expect(seats).to_be_visible()
        opened = await browser.new_page(color_scheme="dark", bypass_csp=True)
        await opened.goto(page.url)
        await opened.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        async for width in sizes_and_schemes(opened):
            assert await opened.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), width
        await page.get_by_text("Choose a model for each role").focus()
        await page.keyboard.press("Enter")
        await page.get_by_label("Worker").fill(two.models[1]["id"])
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Stop using this server")).to_be_visible(timeout=30_000)
        await expect(page.get_by_role("heading", level=1)).to_contain_text("127.0.0.1")
