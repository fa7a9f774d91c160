"""The line-up page in a real browser."""

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from tests.served import served


async def test_a_click_probes_and_the_page_draws_itself_anew_and_axe_finds_nothing(page, browser, tmp_path):
    with served(tmp_path, "--speed", "100") as server:
        await page.goto(f"{server.url}/lineup")
        await expect(page.get_by_text("Not probed yet")).to_have_count(3)
        await page.get_by_role("button", name="Probe now").click()
        await expect(page.get_by_text("Probing.")).to_be_visible()
        await expect(page.get_by_role("button", name="Probe now")).to_be_visible()
        await expect(page.get_by_text("Not probed yet")).to_have_count(0)
        for scheme in ("dark", "light"):
            for width, height in ((1440, 900), (390, 844)):
                opened = await browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True
                )
                await opened.goto(f"{server.url}/lineup")
                await opened.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
                found = await Axe().run(opened)
                assert found.response["violations"] == [], (scheme, width, found.generate_report())
                assert await opened.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
                await opened.close()
