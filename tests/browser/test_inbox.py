"""The inbox by keyboard alone, from the list to an approval that is carried out, in a real browser."""

import json
import re

from playwright.async_api import expect

from tests.browser.axe import sizes_and_schemes
from tests.served import served

IN_VIEW = """(selector) => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return box.width > 0 && box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
}"""
WIDER = "document.documentElement.scrollWidth > innerWidth"
DEFERRED = "V-258055"


async def order(page, server, **words):
    answer = await page.request.post(f"{server.url}/api/v1/runs", data={"host": "fixture", **words})
    assert answer.status == 202
    return (await answer.json())["id"]


def kinds(server, run, kind):
    return [
        json.loads(line) for (line,) in server._rows("select line from event where run = ? and kind = ?", run, kind)
    ]


async def test_an_approval_from_the_list_to_the_host_by_keyboard_alone(page, browser, tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server:
        await order(page, server, rules=[DEFERRED], mode="auto")
        server.wait_for_kind("run.finished")
        run = await order(page, server, rules=["V-258227", "V-257985"], mode="review")
        server.wait_for_kind("approval.requested")
        elsewhere = await browser.new_page()
        await elsewhere.goto(f"{server.url}/ops")
        await expect(elsewhere.locator("#inbox-count")).to_have_text("2")
        await expect(elsewhere.locator("#needs .asks")).to_have_count(2)
        await page.goto(f"{server.url}/inbox")
        rows, sending = page.locator("#queue a"), page.locator("#sending")
        await expect(rows).to_have_count(2)
        await expect(page).to_have_title("(2) Inbox · Temper")

        await page.keyboard.press("j")
        await expect(rows.nth(1)).to_have_attribute("aria-current", "true")
        await expect(rows.nth(1)).to_be_focused()
        await page.keyboard.press("k")
        await expect(rows.nth(0)).to_have_attribute("aria-current", "true")
        asked = await rows.evaluate_all("(all) => all.findIndex((one) => one.dataset.item.startsWith('approval'))")
        await page.keyboard.press("j" if asked else "k")
        await expect(page.locator("#decision .answering")).to_have_attribute(
            "data-item", f"approval:{await approval(page)}"
        )
        await page.keyboard.press("Enter")
        await expect(page.locator("#decision")).to_be_focused()
        for part in ("#decision .diff", "#decision .breaks", "#decision .acts .go", "#decision [name=reason]"):
            assert await page.evaluate(IN_VIEW, part), part

        await page.keyboard.press("r")
        await expect(page.locator("[name=reason]")).to_be_focused()
        await expect(sending).to_be_hidden()
        await page.keyboard.type("no")
        await page.keyboard.press("Escape")
        await page.keyboard.press("r")
        await expect(sending).to_contain_text("Refuse change")
        await expect(sending.locator("b")).to_contain_text(" s")
        await page.keyboard.press("u")
        await expect(sending).to_be_hidden()
        await expect(page.locator("[name=reason]")).to_have_value("no")
        await page.locator("[name=reason]").fill("")
        await page.keyboard.press("Escape")

        await page.keyboard.press("a")
        await expect(sending).to_contain_text("Approve change")
        assert kinds(server, run, "approval.given") == [], "it waits in the browser"
        server.wait_for_kind("approval.given")
        assert kinds(server, run, "approval.refused") == []
        server.wait_for_kind("action.applied")
        await expect(
            page.locator(f"#queue a[data-item='approval:{kinds(server, run, 'approval.given')[0]['approval']}']")
        ).to_have_count(0)
        await answer_and_leave(browser, server, run)
        stopped = await page.request.post(f"{server.url}/api/v1/runs/{run}/stop", data={})
        assert stopped.status == 202
        for one in (page, elsewhere):
            await expect(one.locator("#inbox-count")).to_have_text("1")
        await expect(rows).to_have_count(1)


async def answer_and_leave(browser, server, run):
    """Refuse the run's next change, and close the tab while the answer could still be taken back."""
    window = await browser.new_context()
    await window.new_page()  # the window stays open, as closing it ends Chromium's network for it
    page = await window.new_page()
    await page.goto(f"{server.url}/inbox")
    await page.locator("#queue a[data-item^=approval]").click()
    await expect(page.locator("#decision")).to_have_attribute("data-shows", re.compile("^approval:"))
    await page.locator("[name=reason]").fill("not today")
    await page.locator("#decision .acts .stop").click()
    await expect(page.locator("#sending")).to_contain_text("Refuse change")
    assert kinds(server, run, "approval.refused") == []
    await page.close(run_before_unload=True)
    server.wait_for_kind("approval.refused")
    assert kinds(server, run, "approval.refused")[0]["reason"] == "not today"


async def approval(page):
    answer = await page.request.get(f"{page.url.partition('/inbox')[0]}/api/v1/approvals")
    return (await answer.json())["approvals"][0]["id"]


async def test_it_is_clean_in_both_themes_and_fits_a_phone(page, tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server:
        await order(page, server, rules=["V-258227"], mode="review")
        server.wait_for_kind("approval.requested")
        await page.goto(f"{server.url}/inbox")
        await expect(page.locator("#decision .diff")).to_be_visible()
        async for width in sizes_and_schemes(page):
            assert not await page.evaluate(WIDER), width
            assert await page.evaluate(IN_VIEW, "#decision .acts .go"), width
        await page.locator("details.edit summary").click()
        assert not await page.evaluate(WIDER)
