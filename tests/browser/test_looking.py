"""The command palette, colours and density, saved views and the tour, in a real browser on one server."""

import pytest
from playwright.async_api import expect

from tests.browser.axe import violations
from tests.served import served

SCHEME = "document.documentElement.dataset.scheme"
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("looking"), "--speed", "0", command="demo") as server:
        server.wait_for_kind("run.finished")
        yield server


async def test_the_palette_is_worked_by_keyboard_and_gives_the_focus_back(page, server):
    await page.goto(f"{server.url}/fleet")
    palette, words = page.locator("#palette"), page.locator("#palette-words")
    await page.locator("#find").focus()
    await page.keyboard.press("Control+k")
    await expect(words).to_be_focused()
    await expect(page.locator("#palette-found [aria-selected=true]")).to_have_count(1)
    assert await violations(page) == []
    await page.keyboard.type("V-258107")
    await expect(page.locator("#palette [role=status]")).to_contain_text("result")
    await expect(page.locator("#palette-found [aria-selected=true] b")).to_have_text("V-258107")
    await page.keyboard.press("Escape")
    await expect(palette).to_be_hidden()
    await expect(page.locator("#find")).to_be_focused()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("operator")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{server.url}/ops")


async def test_hostile_words_are_shown_as_text(page, server):
    await page.goto(f"{server.url}/find?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert await page.locator("main img").count() == 0


async def test_colours_and_density_are_kept_from_the_first_paint(page, server):
    await page.emulate_media(color_scheme="light")
    await page.goto(server.url)
    light = await page.evaluate(BACKGROUND)
    await page.locator("#display summary").click()
    await page.locator("#scheme-dark").check()
    await page.locator("#density-compact").check()
    assert await page.evaluate(SCHEME) == "dark"
    assert await page.evaluate(BACKGROUND) != light
    answer = await page.request.get(server.url)
    assert '<html lang="en" data-scheme="dark" data-density="compact">' in await answer.text()
    await page.goto(f"{server.url}/ops")
    assert await page.evaluate(SCHEME) == "dark"
    assert await violations(page) == []
    await page.locator("#display summary").click()
    await page.locator("#scheme-usual").check()
    assert await page.evaluate(BACKGROUND) == light


async def test_the_tour_has_four_steps_and_does_not_come_back(page, server):
    await page.goto(server.url)
    tour, said = page.locator("#tour"), page.locator("#tour [role=status]")
    await expect(tour).to_have_attribute("open", "")
    for step in range(1, 5):
        await expect(said).to_have_text(f"Step {step} of 4")
        if step < 4:
            await page.get_by_role("button", name="Next").click()
    await page.get_by_role("button", name="End the tour").click()
    await expect(tour).not_to_have_attribute("open", "")
    await page.reload()
    await expect(tour).not_to_have_attribute("open", "")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("tour")
    await page.keyboard.press("Enter")
    await expect(tour).to_have_attribute("open", "")


async def test_a_view_is_saved_opened_and_removed(page, server):
    await page.goto(f"{server.url}/runs?q=fixture")
    menu = page.locator("details.views")
    await menu.locator("summary").click()
    await menu.get_by_label("Name").fill("<b>Mine")
    await page.keyboard.press("Enter")
    await expect(menu.locator("li a")).to_have_text("<b>Mine")
    await page.goto(f"{server.url}/runs")
    await menu.locator("summary").click()
    await menu.locator("li a").click()
    await page.wait_for_url(f"{server.url}/runs?q=fixture")
    await menu.locator("summary").click()
    await menu.get_by_role("button", name="Remove the view <b>Mine").click()
    await expect(menu.locator("li")).to_have_count(0)
