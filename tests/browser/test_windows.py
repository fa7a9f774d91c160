"""Many pages open at once in one browser, which opens six connections to a server and no more."""

from playwright.async_api import expect

from tests.browser.test_mission import until
from tests.served import served

STREAMING = "Number(!('resting' in document.querySelector('[hx-sse\\\\:connect]').dataset))"
SHOW = """(seen) => {
  Object.defineProperty(document, "hidden", { value: !seen, configurable: true });
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
}"""
THREE_ARE_FREE = r"""(fetch("/metrics").then((answer) => answer.text()).then((text) => {
  window.viewers = Number(/^temper_stream_viewers (\d+)/m.exec(text)[1]);
}), window.viewers <= 3)"""
"""Of six connections. The server learns of a closed stream a moment after the page."""
SEQ = "Number(document.getElementById('mission').dataset.seq)"


async def test_eight_pages_load_and_live_and_an_order_from_the_eighth_gets_through(browser, tmp_path):
    with served(tmp_path / "data", "--speed", "1") as server:
        context = await browser.new_context()
        order = {"host": "fixture", "mode": "auto"}
        live, queued = [
            (await (await context.request.post(f"{server.url}/api/v1/runs", data=order)).json())["id"] for _ in range(2)
        ]
        server.wait_for_kind("turn.started")
        same, other = f"/runs/{live}", f"/runs/{queued}"
        pages = []
        for path in (same, other, same, "/ops", "/fleet", other, same, same):
            pages.append(await context.new_page())
            await pages[-1].goto(server.url + path)
            await until(pages[-1], STREAMING)  # whoever opened it looks at it
        first, last = pages[0], pages[-1]
        await until(last, THREE_ARE_FREE)

        for one in (first, last):  # in sight, each goes on
            at = await one.evaluate(SEQ)
            await until(one, f"{SEQ} > {at}")
        await last.get_by_role("button", name="Pause").click()
        await expect(last.get_by_role("button", name="Resume")).to_be_visible()
        await expect(first.get_by_role("button", name="Resume")).to_be_visible()

        await first.evaluate(SHOW, False)
        at = await first.evaluate(SEQ)
        await last.get_by_role("button", name="Resume").click()
        await until(last, f"{SEQ} > {at + 10}")
        assert await first.evaluate(SEQ) == at, "nobody looks at it"
        newest = await last.evaluate(SEQ)
        await first.evaluate("window.opened = true")
        await first.evaluate(SHOW, True)
        await until(first, f"{SEQ} >= {newest}")
        assert await first.evaluate("window.opened"), "it caught up without a reload"
        assert await first.evaluate("document.body.classList.contains('stale')") is False
