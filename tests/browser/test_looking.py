"""The palette, the colours, the tour and saved views in a real browser, by keyboard where a keyboard is meant."""

from playwright.async_api import expect

from tests.browser.axe import sizes_and_schemes

FOCUSED = "document.activeElement.id"


async def test_the_palette_finds_by_keyboard_and_gives_the_focus_back(page, shown):
    await page.goto(f"{shown.url}/runs")
    await page.locator("#find").focus()
    await page.keyboard.press("Control+k")
    words, chosen = page.locator("#palette-words"), page.locator("#palette [aria-selected=true]")
    await expect(words).to_be_focused()
    await expect(words).to_have_attribute("aria-expanded", "true")
    first = await chosen.get_attribute("id")
    await page.keyboard.press("ArrowDown")
    await expect(chosen).not_to_have_attribute("id", first)
    await expect(words).to_have_attribute("aria-activedescendant", await chosen.get_attribute("id"))
    await page.keyboard.press("Escape")
    await expect(page.locator("#palette")).to_be_hidden()
    assert await page.evaluate(FOCUSED) == "find"
    await page.keyboard.press("Control+k")
    await words.fill("start a run")
    await page.keyboard.press("Enter")  # before the results are there: they are waited for
    await expect(page.locator("#start-run")).to_be_focused()
    await page.keyboard.press("Control+k")
    await words.fill("lessons")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/lessons")


async def test_axe_finds_nothing_in_the_open_palette_and_menu(browser, shown):
    opened = await browser.new_page(bypass_csp=True)
    await opened.goto(f"{shown.url}/runs")
    await opened.locator("#find").click()
    await expect(opened.locator("#palette [role=option]").first).to_be_visible()
    async for width in sizes_and_schemes(opened):
        assert await opened.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), width
    await opened.keyboard.press("Escape")
    await opened.locator("#display summary").click()
    async for width in sizes_and_schemes(opened):
        assert await opened.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), width


async def test_colours_and_density_are_kept_and_there_before_any_script(page, browser, shown):
    await page.emulate_media(color_scheme="light")
    await page.goto(f"{shown.url}/runs")
    await page.locator("#display summary").click()
    await page.get_by_label("Dark").check()
    await page.get_by_label("Compact").check()
    await expect(page.locator("html")).to_have_css("color-scheme", "dark")
    bare = await browser.new_context(java_script_enabled=False, color_scheme="light")
    await bare.add_cookies(await page.context.cookies())
    other = await bare.new_page()
    await other.goto(f"{shown.url}/hosts")
    await expect(other.locator("html")).to_have_css("background-color", "rgb(14, 19, 25)")
    await expect(other.locator("html")).to_have_attribute("data-density", "compact")


async def test_the_tour_covers_nothing_moves_nothing_and_never_comes_back_by_itself(page, shown):
    await page.goto(shown.url)
    height = "document.getElementById('tour').offsetHeight"
    before = await page.evaluate(height)
    for step in (2, 3, 4):
        await page.get_by_role("button", name="Next").click()
        await expect(page.get_by_text(f"Step {step} of 4")).to_be_visible()
        assert await page.evaluate(height) == before
        await expect(page.locator("[data-toured]").first).to_be_visible()
    await page.get_by_role("button", name="End the tour").click()
    await expect(page.locator("[data-toured]")).to_have_count(0)
    await page.goto(shown.url)
    await expect(page.locator(".tour")).to_be_hidden()
    await page.keyboard.press("Control+k")
    await page.locator("#palette-words").fill("show the tour")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Step 1 of 4")).to_be_visible()


async def test_a_view_is_saved_opened_and_removed_and_its_name_stays_text(page, shown):
    await page.goto(f"{shown.url}/runs?state=finished&q=")
    await page.locator(".views summary").click()
    await page.locator(".views input").fill("<b>Done</b>")
    await page.keyboard.press("Enter")
    await page.goto(f"{shown.url}/runs")
    await page.locator(".views summary").click()
    await page.get_by_role("link", name="<b>Done</b>").click()
    await page.wait_for_url("**/runs?state=finished")
    await page.locator(".views summary").click()
    await page.get_by_role("button", name="Remove the view <b>Done</b>").click()
    await expect(page.locator(".views li")).to_have_count(0)
