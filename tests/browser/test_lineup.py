"""The line-up page in a real browser."""

from playwright.async_api import expect

from tests.browser.axe import sizes_and_schemes
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
