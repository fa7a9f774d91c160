"""The charts over time in a real browser: the strip of a live run, and the one that is a replay's timeline."""

from tests.browser.test_mission import PATIENCE, SHIFT_AT_MOST, SHIFTS, until
from tests.served import served

PLACE = "Number(document.getElementById('place').dataset.seq)"


async def test_a_hand_on_the_chart_is_a_hand_on_the_slider(browser, shown):
    """With the mouse and with a finger, over whichever chart is chosen; the page is not loaded anew."""
    opened = await browser.new_page(viewport={"width": 1440, "height": 900}, has_touch=True)
    await opened.goto(f"{shown.url}/runs/{shown.runs()[0]}")
    await opened.evaluate("window.same = true")
    await until(opened, "document.querySelector('.scrubber canvas') !== null")
    await opened.get_by_role("button", name="Power").click()
    await until(
        opened, "[...document.querySelectorAll('.scrubber canvas')].filter((one) => one.offsetWidth).length === 1"
    )
    last = await opened.evaluate(PLACE)
    plot = opened.locator(".scrubber .strip-plot:visible")
    box = await plot.bounding_box()
    slider = opened.get_by_role("slider")
    rail = await opened.locator(".rail svg").bounding_box()
    assert (box["x"], box["width"]) == (rail["x"], rail["width"]), "a time stands at the same place in both"
    await opened.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 20)
    await opened.mouse.down()
    await opened.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 20)
    await opened.mouse.up()
    await until(opened, f"{PLACE} < {last} && location.search.startsWith('?at=')")
    assert 0.4 < await slider.evaluate("(one) => one.value / one.max") < 0.6
    middle = await opened.evaluate(PLACE)
    await opened.touchscreen.tap(box["x"] + box["width"] * 0.2, box["y"] + 20)
    await until(opened, f"{PLACE} < {middle}")
    assert await opened.evaluate("window.same")


async def test_the_charts_of_a_live_run_move_nothing_and_cost_little(page, tmp_path):
    await page.set_viewport_size({"width": 1920, "height": 1080})  # narrower pages keep the room for the log
    with served(tmp_path, "--speed", "10", command="demo") as server:
        await page.goto(server.url)
        await page.locator(".cell").nth(5).wait_for(timeout=PATIENCE)
        await page.reload()
        await page.evaluate(SHIFTS)
        await until(page, "document.querySelectorAll('.overtime canvas').length === 4")
        await page.get_by_role("button", name="15 min").click()
        await until(page, "document.querySelector('.overtime [aria-pressed=true]').textContent === '15 min'")
        await until(page, "document.querySelector('.overtime .strip-plot').ariaLabel.includes('newest architect')")
        assert await page.evaluate("window.shift") < SHIFT_AT_MOST
        parts = "performance.getEntriesByType('resource').filter((one) => one.name.includes('/static/'))"
        assert await page.evaluate(f"{parts}.reduce((all, one) => all + one.decodedBodySize, 0)") < 200_000
