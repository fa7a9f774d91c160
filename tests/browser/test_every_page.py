"""One walk over the pages that no other test looks at: axe, 200 % zoom, and stillness for those who ask for it."""

from playwright.async_api import expect

from tests.browser.axe import ALL, OF_COLOURS, violations
from tests.browser.layout import NO_WIDER
from tests.browser.shown_faults import FAULTS, strike_fault
from tests.served import served

WINDOW, ZOOMED = {"width": 1440, "height": 900}, {"width": 720, "height": 450}
"""A window at 200 % zoom has half its pixels in each direction."""
MOVING = """() => document.getAnimations().filter((one) => one.playState === "running")
  .map((one) => `${one.animationName || one.transitionProperty} of ${one.effect.target.outerHTML.slice(0, 80)}`)"""
RULE, ASKED = "V-257985", "V-258227"


async def order(page, server, path, **words):
    answer = await page.request.post(f"{server.url}/api/v1/{path}", data=words)
    assert answer.status in (201, 202), await answer.text()
    return (await answer.json())["id"]


async def look_at(page, what):
    """Nothing is found in either scheme, nothing is cut off at 200 %, and nothing moves."""
    await page.set_viewport_size(WINDOW)
    for scheme, rules in (("dark", ALL), ("light", OF_COLOURS)):
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = await violations(page, rules)
        assert found == [], (what, scheme, [(one["id"], one["nodes"]) for one in found])
    assert await page.evaluate(MOVING) == [], what
    await page.set_viewport_size(ZOOMED)
    assert await page.evaluate(NO_WIDER), what


async def test_pages_are_clean_fit_at_twice_the_size_and_keep_still_for_those_who_ask(browser, tmp_path):
    page = await browser.new_page(bypass_csp=True, reduced_motion="reduce")
    with served(tmp_path / "data", "--speed", "0") as server:
        rollout = await order(page, server, "rollouts", hosts="fixture", rules=[RULE], mode="scan")
        server.wait_for_kind("rollout.ended")
        until = {"until": "2027-06-01"}
        await order(page, server, "waivers", rule=RULE, host="fixture", owner="Ops", reason="old client", **until)
        run = await order(page, server, "runs", host="fixture", rules=[ASKED], mode="review")
        server.wait_for_kind("approval.requested")
        for path in (
            "/fleet",
            f"/fleet/{rollout}",
            "/people",
            "/waivers",
            "/lessons",
            "/audit",
            "/scores",
            "/parameters",
            "/find?q=sshd",
            f"/runs/{run}",
        ):
            answer = await page.goto(server.url + path)
            assert answer.status == 200, path
            await look_at(page, path)
        await expect(page.locator("#approval")).to_be_visible()
        fault = next(one for one in FAULTS if one.name == "log blocked")
        with strike_fault(fault, server):
            await expect(page.locator("#health")).to_contain_text(fault.words)
            await look_at(page, "a fault")
    await page.close()
