"""The mission page in a real browser, over a real server."""

import asyncio
import os
import signal
import sqlite3
import time
from contextlib import closing, suppress

import pytest
from playwright.async_api import Error, expect

from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.browser.axe import sizes_and_schemes
from tests.browser.conftest import PATIENCE, simulator_of
from tests.served import GLANCE, served

LANES = "[...document.querySelectorAll('.lane .thought')].map((one) => one.textContent.trim())"
CELLS = "[...document.querySelectorAll('.cell')].map((one) => one.textContent)"
SHIFTS = """() => {
  window.shift = 0;
  const add = (list) => list.getEntries().forEach((one) => (window.shift += one.value));
  new PerformanceObserver(add).observe({ type: "layout-shift" });
}"""
SHIFT_AT_MOST = 0.02
"""Web Vitals calls 0.1 good; the items' titles may take one line or two."""
THOUGHTS = """() => {
  window.seen = {};
  const keep = () => document.querySelectorAll('.lane .body').forEach((body) => {
    const thought = body.querySelector('.thought');
    if (body.dataset.turn && thought && thought.textContent) window.seen[body.dataset.turn] = thought.textContent;
  });
  new MutationObserver(keep).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""

COUNTS_PENDING = """() => {
  window.pending = 0;
  const ajax = htmx.ajax;
  htmx.ajax = (...words) => {
    window.pending += 1;
    return ajax.call(htmx, ...words).finally(() => (window.pending -= 1));
  };
}"""
SAY = """() => {
  const body = document.querySelector(".lane .body[data-staged]"), { turn } = body.dataset, role = "architect";
  const frame = () => new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(ready)));
  window.say = async (words) => {
    for (let n = 0; n < words; n += 1) {
      const data = JSON.stringify({ turn, role, channel: "thought", text: ` word ${n}.` });
      dispatchEvent(new CustomEvent("token", { detail: { data } }));
    }
    await frame();
    return body.scrollHeight - body.scrollTop - body.clientHeight < 2;
  };
}"""
LOOKS = """() => new Promise((ready) => {
  const is = () => { try { return (%s); } catch { return false; } };
  const look = () => (is() ? ready() : setTimeout(look, 30));
  look();
})"""
"""Not in every frame: who looks in every frame has every frame drawn."""
CLEAR_OF_THE_BAR = """
  [...document.querySelectorAll('.cells a')].at(-1).getBoundingClientRect().bottom
  <= document.querySelector('.scrubber').getBoundingClientRect().top
"""

FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const box = one.getClientRects()[0];
  const x = Math.min(Math.max(box.x + box.width / 2, 1), innerWidth - 2);
  const y = Math.min(Math.max(box.y + box.height / 2, 1), innerHeight - 2);
  const top = document.elementFromPoint(x, y);
  const seen = box.bottom > 0 && box.top < innerHeight && top && (one.contains(top) || top.contains(one));
  const marked = getComputedStyle(one).outlineStyle !== "none";
  const name = `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`;
  return { name, seen: Boolean(seen), marked };
}"""
"""What has the focus, whether something lies over it, and whether it is marked; null where the page is through."""
SMALL = """() => [...document.querySelectorAll("a, button, summary, input:not([type=hidden]), select, .term")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((one) => !one.matches("p a, li a, dd a, h1 a, h2 a, h3 a") || getComputedStyle(one).display !== "inline")
  .map((one) => [one, one.matches("[type=radio], [type=checkbox]") && one.closest("label") || one])
  .map(([one, target]) => [one, target.getBoundingClientRect()])
  .filter(([, box]) => box.width > 2 && box.height > 2 && (box.width < 23.5 || box.height < 23.5))
  .map(([one]) => `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`)"""
"""Targets of less than 24 px that do not stand in a sentence."""
NO_WIDER = "document.documentElement.scrollWidth <= innerWidth + 1"


async def until(page, expression):
    """The page itself looks: each look from here would be work for the test, for the driver and for Chromium.

    Not with wait_for_function, whose string the page's own policy forbids."""
    until = time.monotonic() + PATIENCE / 1000
    while (left := until - time.monotonic()) > 0:
        with suppress(Error, TimeoutError):  # a page that is just being left has nothing to say
            return await asyncio.wait_for(page.evaluate(LOOKS % expression), left)
        await asyncio.sleep(GLANCE)
    raise AssertionError(f"never true: {expression}")


def thoughts(server):
    """Turn to its whole thought, from the log."""
    store = EventStore(open_and_migrate_database(server.data / "temper.sqlite"))
    events = [recorded.event for recorded in store.read_events(server.runs()[0], kinds=["turn.finished"])]
    return {event.turn: event.thought for event in events}


async def test_the_label_on_the_shared_engine_changes_hands(page, tmp_path):
    with served(tmp_path, "--speed", "3", command="demo") as server:
        await page.goto(server.url)
        for role in ("ARCHITECT", "WORKER", "ARCHITECT"):
            label = page.locator(f"#hold-gemma-31b .serving.role-{role.lower()} b", has_text=role)
            await expect(label).to_be_visible()  # word and colour in one look: it soon changes hands again


async def test_tokens_arrive_in_order_and_a_killed_server_loses_and_doubles_nothing(page, tmp_path):
    with served(tmp_path, "--speed", "4", command="demo") as server:
        await page.goto(server.url)
        await page.evaluate(THOUGHTS)
        await until(page, "Object.keys(window.seen).length > 2")
        port = server.port
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        await expect(page.locator("#liveness")).to_have_text("RECONNECTING")
    with served(tmp_path, "--speed", "4", command="demo", port=port) as again:
        await expect(page.locator("#liveness")).to_have_text("LIVE")
        whole = []
        while len(whole) < 4:  # what was cut off by the kill never ends: that many more are seen
            await until(page, f"Object.keys(window.seen).length > {len(whole) + 6}")
            seen = await page.evaluate("window.seen")
            said = thoughts(again)
            whole = [turn for turn in seen if turn in said]
    assert {turn: seen[turn] for turn in whole if not said[turn].startswith(seen[turn])} == {}


async def test_the_page_streams_however_late_an_extension_of_htmx_arrives(page, tmp_path):
    async def late(route):
        answer = await route.fetch()
        await until(page, "'htmx' in window")
        await page.evaluate("() => new Promise((ready) => setTimeout(ready))")  # whatever htmx put off has run
        await route.fulfill(response=answer)

    await page.route("**/hx-sse.min.js", late)
    with served(tmp_path, "--speed", "10", command="demo") as server:
        await page.goto(server.url)
        await expect(page.locator(".cell").nth(5)).to_be_visible()
        at = int(await page.locator("#mission").get_attribute("data-seq") or 0)
        await until(page, f"Number(document.getElementById('mission').dataset.seq) > {at}")


async def test_a_reload_shows_what_was_there_and_the_end_of_replay_is_the_end_of_the_run(page, shown):
    await page.goto(shown.url)
    await expect(page.locator("#liveness")).to_have_text("ENDED")
    live = await page.evaluate(CELLS), await page.evaluate(LANES)
    run = shown.runs()[0]
    await page.goto(f"{shown.url}/runs/{run}?at=5&speed=1000")
    await expect(page.locator("#liveness")).to_have_text("REPLAY")
    last = shown.last_seq(run)
    await expect(page).to_have_url(f"{shown.url}/runs/{run}?at={last}")
    await page.wait_for_load_state()
    assert (await page.evaluate(CELLS), await page.evaluate(LANES)) == live


async def test_the_keyboard_alone_runs_it(page, tmp_path):
    with served(tmp_path, "--speed", "0") as server:
        await page.goto(server.url)
        button = page.get_by_role("button", name="Start the first run")
        for _ in range(24):
            if await button.evaluate("(one) => one === document.activeElement"):
                break
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.locator(".cell.passed").first).to_be_visible()


@pytest.mark.parametrize("path", ["/runs/{run}", "/ops", "/runs", "/hosts"])
async def test_by_keyboard_the_whole_page_is_gone_through_with_the_focus_in_sight(page, shown, path):
    await page.goto(shown.url + path.format(run=shown.runs()[0]))
    await page.evaluate("document.fonts.ready")
    told = []
    for _ in range(400):
        await page.keyboard.press("Tab")
        found = await page.evaluate(FOCUSED)
        if found is None:
            break
        told.append(found)
    assert len(told) > 10
    assert [one["name"] for one in told if not (one["seen"] and one["marked"])] == []


async def test_nothing_moves_while_tokens_arrive(page, tmp_path):
    with served(tmp_path, "--speed", "10", command="demo") as server:
        await page.goto(server.url)
        await expect(page.locator(".cell").nth(5)).to_be_visible()
        await page.evaluate(THOUGHTS)
        await page.evaluate(SHIFTS)
        await until(page, "Object.keys(window.seen).length > 8")
        assert await page.evaluate("window.shift") < SHIFT_AT_MOST


def mid_turn(shown):
    """The address of a moment at which a role is thinking."""
    run = shown.runs()[0]
    store = EventStore(open_and_migrate_database(shown.data / "temper.sqlite"))
    return f"{shown.url}/runs/{run}?at={next(iter(store.read_events(run, kinds=['turn.delta']))).seq}"


async def test_a_long_text_grows_in_blocks_and_says_the_same(page, shown):
    await page.goto(mid_turn(shown))
    grown, before, blocks = await page.evaluate("""() => {
      const body = document.querySelector(".lane .body[data-staged]"), thought = body.querySelector(".thought");
      const before = thought.textContent, role = "architect";
      for (let n = 0; n < 600; n += 1) {
        const data = JSON.stringify({ turn: body.dataset.turn, role, channel: "thought", text: ` word ${n}.` });
        dispatchEvent(new CustomEvent("token", { detail: { data } }));
      }
      return [thought.textContent, before, thought.querySelectorAll(".part").length];
    }""")
    assert grown == before + "".join(f" word {n}." for n in range(600))
    assert blocks == 2


async def test_a_lane_follows_its_end_until_it_is_scrolled_up_and_a_frame_is_laid_out_once(page, shown):
    await page.goto(mid_turn(shown))
    await page.evaluate(SAY)
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")

    async def layouts():
        told = await session.send("Performance.getMetrics")
        return next(one["value"] for one in told["metrics"] if one["name"] == "LayoutCount")

    before = await layouts()
    assert await page.evaluate("say(300)"), "at its end"
    assert await layouts() - before < 30
    await page.evaluate("document.querySelector('.lane .body[data-staged]').scrollTop = 0")
    assert not await page.evaluate("say(300)")


async def test_the_page_never_says_live_over_what_is_broken(page, tmp_path):
    with served(tmp_path / "data", "--speed", "2", command="demo") as server:
        await page.goto(server.url)
        badge, clock = page.locator("#liveness"), page.locator("#clock .num")
        await expect(badge).to_have_text("LIVE")
        await expect(page.locator("#meter-gemma-31b")).to_contain_text("ready")
        simulator = simulator_of(server)
        os.kill(simulator, signal.SIGSTOP)
        await expect(badge).to_have_text("ENGINE FROZEN")
        await expect(page.locator("#health .fault.stops")).to_contain_text("3 engines are stalled")
        await expect(page.locator("#health")).to_contain_text("The host is safe")
        await expect(page.locator(".machine .serving.down")).to_have_count(3)
        await expect(page.locator("#now")).to_be_hidden()
        await expect(page.locator("#clock small")).to_be_hidden()
        stands = await clock.text_content()
        await page.wait_for_function("began => Date.now() - began > 2500", arg=await page.evaluate("Date.now()"))
        assert await clock.text_content() == stands, "the clock of work goes on while nothing works"
        os.kill(simulator, signal.SIGCONT)
        await expect(badge).to_have_text("LIVE")
        await expect(page.locator("#now")).to_be_visible()
        with closing(sqlite3.connect(tmp_path / "data" / "temper.sqlite")) as database:
            database.execute("begin immediate")  # as a full disk does, it keeps every event from being written
            await expect(badge).to_have_text("LOG STALLED")
            await expect(page.locator("#health")).to_contain_text("Temper cannot write its log")
        await expect(badge).to_have_text("LIVE")
        os.kill(simulator, signal.SIGKILL)
        await expect(badge).to_have_text("ENGINES DOWN")
        await expect(page.locator("#health")).to_contain_text("The simulated engines are stopped.")
        hosts = await page.context.browser.new_page()
        await hosts.goto(f"{server.url}/inbox")
        await expect(hosts.locator("#health-badge")).to_have_text("✗ ENGINES DOWN")
        address = page.url
        await page.get_by_role("button", name="Start engines").click()
        await expect(page.locator("#liveness")).to_have_text("LIVE")
        assert page.url.startswith(address), "where a fault is read it is answered"
        await expect(hosts.locator("#health-badge")).to_be_hidden()


async def test_a_change_waits_for_a_person_and_a_click_approves_it(page, tmp_path):
    with served(tmp_path, "--speed", "0") as server:
        order = {"host": "fixture", "rules": ["V-258227"], "mode": "review"}
        made = await page.request.post(f"{server.url}/api/v1/runs", data=order)
        await page.goto(f"{server.url}/runs/{(await made.json())['id']}")
        await page.get_by_label("Reason").fill("seen and meant")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator(".cell.passed")).to_be_visible()
        await expect(page.locator("#feed")).to_contain_text("seen and meant")


async def test_the_strip_of_time_is_dragged_and_stepped_without_a_reload(page, shown):
    """With the mouse, with arrows, and from item to item; the address follows, and what has the focus is in sight."""
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}")
    await page.evaluate("window.same = true")
    await page.evaluate(COUNTS_PENDING)
    strip = page.get_by_role("slider")
    box = await strip.bounding_box()
    await page.mouse.move(box["x"] + box["width"] - 6, box["y"] + 8)
    await page.mouse.down()
    for share in (0.8, 0.6, 0.5):
        await page.mouse.move(box["x"] + box["width"] * share, box["y"] + 8)
    await page.mouse.up()
    await until(page, "window.pending === 0 && location.search.startsWith('?at=')")
    await until(page, "document.querySelectorAll('.cell.waiting').length > 0")
    middle = int(await page.locator("#place").get_attribute("data-seq"))
    await page.locator("#next").click()
    await until(page, f"Number(document.getElementById('place').dataset.seq) > {middle}")
    await page.locator(".cells a").last.focus()
    await until(page, CLEAR_OF_THE_BAR)
    await strip.focus()
    await page.keyboard.press("Home")
    await until(page, "Number(document.getElementById('place').dataset.time) < 0.1")  # where work begins
    assert int(await page.locator("#place").get_attribute("data-seq")) > 1, "the queue is left out"
    await expect(page.locator("#liveness")).to_have_text("REPLAY")
    assert await page.evaluate("window.same")


async def test_a_word_is_explained_where_it_stands_and_a_lane_stays_where_it_was_put(page, shown):
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}?at=400")
    await page.locator(".term", has_text="CAT").focus()
    await expect(page.locator(".note")).to_contain_text("How serious a finding is")
    await page.keyboard.press("Escape")
    await expect(page.locator(".note")).to_be_hidden()
    await page.locator("#step-worker").click()
    await expect(page.locator("#lane-worker .body")).to_be_visible()
    await expect(page.locator(".lane .body:visible")).to_have_count(1)
    await page.get_by_text("What is this?").click()
    await page.reload()
    await expect(page.locator(".intro summary")).to_be_visible()
    await expect(page.locator(".intro p").first).to_be_hidden()


async def test_a_form_from_another_site_is_refused(page, tmp_path):
    with served(tmp_path, "--speed", "0") as server:
        answer = await page.request.post(f"{server.url}/runs", headers={"origin": "http://elsewhere.example"})
        assert answer.status == 403
        assert server.runs() == []


async def test_axe_finds_nothing(browser, shown):
    """Each page in both sizes and schemes: loaded once, and in the second scheme asked what colours can break."""
    run = shown.runs()[0]
    opened = await browser.new_page(color_scheme="dark", bypass_csp=True)
    for path in (
        "/",
        f"/runs/{run}?at=400",
        "/runs",
        f"/runs/{run}/summary",
        f"/compare?left={run}&right={run}",
        f"/runs/{run}/energy",
        f"/runs/{run}/items/V-257985",
        "/hosts",
        "/ops",
        "/runs/none",
    ):
        await opened.goto(shown.url + path)
        async for width in sizes_and_schemes(opened):
            assert await opened.evaluate(NO_WIDER), (path, width)
            assert await opened.evaluate(SMALL) == [], (path, width)


async def test_on_a_phone_every_other_page_fits_and_every_target_is_large_enough(browser, shown):
    run, opened = shown.runs()[0], await browser.new_page(viewport={"width": 390, "height": 844})
    others = (
        "/fleet",
        "/fleet?table=1",
        "/fleet/hosts/fixture",
        "/lessons",
        "/lineup",
        "/people",
        "/waivers",
        "/parameters",
    )
    for path in (*others, "/audit", "/scores", "/api/docs", f"/runs/{run}/items", f"/runs/{run}/events"):
        await opened.goto(shown.url + path)
        assert await opened.evaluate(NO_WIDER), path
        assert await opened.evaluate(SMALL) == [], path


async def test_hostile_text_is_shown_as_text_and_does_nothing(page, toured, tmp_path):
    """Through the model's mouth: a line-up cannot be that hostile, so the log is."""
    data = tmp_path / "data"
    data.mkdir()
    hostile = "<script>window.owned=1</script><img src=x onerror=window.owned=1><b hx-get=/x>\\u202e\\u001b[2J"
    with sqlite3.connect(toured / "temper.sqlite") as whole, sqlite3.connect(data / "temper.sqlite") as database:
        whole.backup(database)
        database.execute(
            'update event set line = cast(replace(cast(line as text), \'"thought":"\', ?) as blob)'
            " where kind = 'turn.finished'",
            [f'"thought":"{hostile}'],
        )
    with served(data, "--speed", "0") as server:
        run = server.runs()[0]
        await page.goto(f"{server.url}/runs/{run}?at=300")
        await expect(page.locator(".thought").first).to_contain_text("<script>window.owned=1</script>")
        await page.goto(f"{server.url}/runs/{run}?at=250&speed=1")
        await until(page, "Number(document.getElementById('mission').dataset.seq) > 400")
        assert await page.evaluate("window.owned") is None
        assert await page.locator(".lane [hx-get]").count() == 0
        text = await page.evaluate("document.body.textContent")
        assert "\u202e" not in text
        assert "\x1b" not in text
