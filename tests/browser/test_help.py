"""The documentation in a real browser: searched, read in both schemes and at 390 px, and opened from a disk."""

from playwright.async_api import expect

from app.web.pages.help.static_site import write_site
from tests.browser.axe import sizes_and_schemes


async def test_the_documentation_is_searched_and_axe_finds_nothing(page, browser, shown):
    await page.goto(f"{shown.url}/help")
    await page.get_by_label("Search the documentation").fill("fencing lease")
    await expect(page.get_by_role("status").filter(has_text="found")).to_be_visible()
    await page.locator("#help-found a").first.click()
    await expect(page.locator("article h1")).to_be_visible()
    assert "/help/" in page.url
    for name in ("/help", "/help/architecture"):
        opened = await browser.new_page(bypass_csp=True)
        await opened.goto(f"{shown.url}{name}")
        async for width in sizes_and_schemes(opened):
            assert await opened.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), (name, width)
        await opened.close()


async def test_the_site_is_searched_from_a_disk(page, tmp_path):
    write_site(tmp_path)
    await page.goto((tmp_path / "measurements/fanout.html").as_uri())
    await page.get_by_label("Search the documentation").fill("zyxwvutsrq")
    await expect(page.get_by_text("0 sections found")).to_be_visible()
    await page.get_by_label("Search the documentation").fill("exit codes")
    await page.locator("#help-found a").first.click()
    await expect(page.get_by_role("heading", name="Exit codes").first).to_be_visible()
