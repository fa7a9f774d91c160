"""The charts over time in a real browser: the strip of a live run, and the one that is a replay's timeline."""

import csv
import json
import os
import re
import signal
import time

from playwright.async_api import expect

from app.events.kinds import RunPaused, RunResumed
from app.events.record import GENESIS, build_recorded_event
from app.machine.sampling.engine_outages_from_log import read_outages_except_unended_of_departed_engines
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.browser.conftest import simulator_of
from tests.browser.test_mission import PATIENCE, SHIFT_AT_MOST, SHIFTS, until
from tests.served import served
from tests.web.pages.mission_log import EVENTS

PLACE = "Number(document.getElementById('place').dataset.seq)"
LENGTH = "Number(document.getElementById('timeline').dataset.seconds)"
TURNS = "document.querySelectorAll('#stretches .turn').length"
OPEN = "document.querySelector('#stretches .turn:not([data-end])')"
QUEUED, WAITED = 330.0, 600.0
PAUSED, RESUMED = RunPaused(by="ann"), RunResumed(by="ann")


def chain_events(run, timed):
    told, previous = [], GENESIS
    for seq, (at, event) in enumerate(timed, 1):
        told.append(build_recorded_event(run, seq, at, event, previous))
        previous = told[-1].hash
    return told


def gpu_series(times, looked):
    """A level of 10 GiB, sampled at the times that were looked at."""
    values = [10.0 if at in looked else None for at in times]
    known = {"unit": "GiB", "provenance": "simulated", "source": "told apart", "how": "mean"}
    return {"kind": "gpu", "of": "0", "host": "", "figure": "weights", "values": values, **known}


def role_series(times, rates):
    known = {"unit": "token/s", "provenance": "simulated", "source": "of its turns", "how": "mean"}
    values = [rates.get(at) for at in times]
    return {"kind": "role", "of": "worker", "host": "", "figure": "tok_s", "values": values, **known}


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
        assert await page.evaluate(f"{parts}.reduce((all, one) => all + one.decodedBodySize, 0)") < 240_000


async def test_the_strip_grows_from_a_runs_start_while_the_page_stays_open(page, tmp_path):
    """Its axis and its turns, by role, in the same page; a reload shows the same, and nothing moves."""
    with served(tmp_path, "--speed", "6", command="demo") as server:
        await page.goto(server.url)
        await page.evaluate(SHIFTS)
        await page.evaluate("window.same = true")
        before, turns = await page.evaluate(f"[{LENGTH}, {TURNS}]")
        for role in ("architect", "worker", "auditor", "sentry"):
            await until(page, f"document.querySelector('#stretches .{role}[data-end]') !== null")
        await until(page, f"{LENGTH} > {before + 3} && {TURNS} > {turns + 4}")
        await until(page, f"(window.turn = {OPEN}?.id) !== undefined")
        turn = await page.evaluate("window.turn")
        await until(page, f"document.querySelector('#{turn}[data-end]') !== null && {OPEN}?.id !== '{turn}'")
        await until(page, "document.getElementById('t').max - document.getElementById('t').value < 1")
        assert await page.evaluate("window.same")
        assert await page.evaluate("window.shift") < SHIFT_AT_MOST
        ended = "[...document.querySelectorAll('#stretches .turn[data-end]')].slice(0, 4).map((one) => one.outerHTML)"
        parts = "[id, one.getAttribute('class'), Math.round(10 * one.dataset.place), Math.round(10 * one.dataset.end)]"
        drawn = ended.replace("one.outerHTML", parts.replace("[id", "[one.id"))
        grown = await page.evaluate(drawn)
        await page.reload()
        assert await page.evaluate(drawn) == grown


async def test_the_strip_of_a_queued_run_begins_when_work_begins(page, tmp_path):
    with served(tmp_path, "--speed", "6", command="demo") as server:
        server.wait_for_kind("turn.started")
        [first] = server.runs()
        asked = await page.request.post(f"{server.url}/api/v1/runs", data={"host": "fixture"})
        await page.goto(f"{server.url}/runs/{(await asked.json())['id']}")
        await expect(page.get_by_text("The run waits in the queue.")).to_be_visible()
        await until(page, "document.getElementById('liveness').textContent === 'LIVE'")
        opened = time.time()
        await page.request.post(f"{server.url}/api/v1/runs/{first}/stop")
        await until(page, f"{TURNS} > 2")
        await expect(page.get_by_text("The run waits in the queue.")).to_be_hidden()
        first_turn = float(await page.locator("#stretches .turn.architect").first.get_attribute("data-place"))
        assert first_turn < time.time() - opened
        began = float(await page.locator(".overtime").get_attribute("data-since"))
        assert began > opened - 1, "the charts begin there, too"


async def test_a_live_strip_is_dragged_to_the_past_and_grows_on_until_jump_to_live(page, tmp_path):
    with served(tmp_path, "--speed", "3", command="demo") as server:
        await page.goto(server.url)
        await until(page, f"{TURNS} > 3 && {LENGTH} > 3")
        await page.evaluate("window.same = true")
        await page.evaluate(SHIFTS)
        jump = page.locator(".scrubber .jump")
        await expect(jump).to_be_hidden()
        box = await page.get_by_role("slider").bounding_box()
        await page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 8)
        await expect(page.locator("#liveness")).to_have_text("REPLAY")
        await until(page, "location.search.startsWith('?at=')")
        seq, length, turns = await page.evaluate(f"[{PLACE}, {LENGTH}, {TURNS}]")
        feed = await page.locator("#feed").inner_text()
        await until(page, f"{LENGTH} > {length + 2} && {TURNS} > {turns}")
        assert await page.evaluate(PLACE) == seq, "the moment stays"
        assert await page.locator("#feed").inner_text() == feed
        assert await page.evaluate("window.same")
        await page.reload()
        length, turns = await page.evaluate(f"[{LENGTH}, {TURNS}]")
        await until(page, f"{LENGTH} > {length + 1} && {TURNS} > {turns}")
        await jump.click()
        await expect(page.locator("#liveness")).to_have_text("LIVE")


async def test_an_outage_is_hatched_as_long_as_it_was_on_strip_and_lanes(page, tmp_path):
    """While it lasts and afterwards, from the states that were logged."""
    with served(tmp_path, "--speed", "2", command="demo") as server:
        await page.goto(server.url)
        await until(page, f"{OPEN} !== null")
        await expect(page.locator(".shared")).to_contain_text("ready")  # one that still loads is not missed
        simulator = simulator_of(server)
        os.kill(simulator, signal.SIGSTOP)
        try:
            await expect(page.locator(".shared .serving.down")).to_contain_text("not answering")
            await until(page, "document.querySelector('#stretches .outage:not([data-end])') !== null")
            lasting = "Number(document.querySelector('.shared .held [data-lasts].gap').getAttribute('x'))"
            await until(page, f"document.querySelector('.shared .held').viewBox.baseVal.x + 100 - {lasting} > 4")
        finally:
            os.kill(simulator, signal.SIGCONT)
        await until(page, "document.querySelector('#stretches .outage[data-end]') !== null")
        await until(page, "document.querySelector('.shared .held .gap:not([data-lasts])') !== null")
        await until(page, "document.querySelector('.shared .serving.on') !== null")
        await page.reload()
        drawn = await page.evaluate(GAPS)
        store = EventStore(open_and_migrate_database(server.data / "temper.sqlite"))
        found = [
            one
            for one in read_outages_except_unended_of_departed_engines(store, 0.0, time.time())
            if one.engine == "gemma-31b"
        ]
    seconds = sum(one.until - one.since for one in found)
    assert seconds > 4
    assert drawn == [round(seconds, 1)] * 2, "in the Architect's lane and in the Worker's"


GAPS = """[...document.querySelectorAll('.shared .held')].map((lane) => {
  const widths = [...lane.querySelectorAll('.gap')].map((one) => Number(one.getAttribute('width')));
  return Math.round(12 * widths.reduce((all, one) => all + one, 0)) / 10;
})"""
"""Seconds of each lane, of two minutes, in which its engine did not answer."""


async def test_moments_are_named_where_there_is_room_and_a_live_strip_takes_the_width(page, shown, tmp_path):
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}")
    words = page.locator("#moments text")
    await expect(words.first).to_be_visible()
    told = await words.all_text_contents()
    assert any(one.endswith(" the nightly backup locked out") and one.startswith("! ") for one in told), told
    for width in (1440, 900, 390):
        await page.set_viewport_size({"width": width, "height": 900})
        await until(page, f"({SPACED})()")
    await page.set_viewport_size({"width": 1440, "height": 900})
    await words.filter(has_text="the nightly backup locked out").click()
    await expect(page).to_have_url(re.compile(r"\?at=\d+"))
    await expect(page.locator(".words")).to_contain_text("The Sentry found the nightly backup locked out.")
    with served(tmp_path, "--speed", "2", command="demo") as server:
        await page.set_viewport_size({"width": 1440, "height": 900})
        await page.goto(server.url)
        await until(page, f"{OPEN} !== null")
        assert (await page.locator("#timeline").bounding_box())["width"] > 0.75 * 1440
        await expect(page.locator("#speed")).to_be_hidden()


SPACED = """() => {
  const rail = document.getElementById("timeline").getBoundingClientRect();
  const boxes = [...document.querySelectorAll("#moments text")].map((one) => one.getBoundingClientRect());
  boxes.sort((one, other) => one.left - other.left);
  const within = boxes.every((one) => one.left >= rail.left - 1 && one.right <= rail.right + 1);
  return boxes.length > 0 && within && boxes.every((one, at) => !at || boxes[at - 1].right <= one.left);
}"""
"""The words over the strip lie inside of it and beside each other."""


async def test_the_time_in_the_queue_is_left_out_and_a_long_wait_is_folded(page, tmp_path):
    """330 seconds in the queue and 600 paused, of a run of a few seconds."""
    at, timed = time.time() - 3600, []
    for event in EVENTS:
        at += {"run.started": QUEUED, "item.passed": WAITED}.get(event.__struct_config__.tag, 1.0)
        timed.append((at, event))
    began = timed[1][0]
    timed[7:7] = [(timed[7][0] - 0.5, PAUSED)]
    place = next(n for n, (_, event) in enumerate(timed) if event.__struct_config__.tag == "item.passed")
    timed[place:place] = [(timed[place][0] - 0.5, RESUMED)]
    data = tmp_path / "data"
    data.mkdir()
    database = open_and_migrate_database(data / "temper.sqlite")
    EventStore(database).append(chain_events("r1", timed))
    database.dispose()
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/api/v1/samples" in request.url else None)
    with served(data, "--no-run", command="demo") as server:
        await page.goto(f"{server.url}/runs/r1")
        await until(page, "document.querySelector('.scrubber canvas') !== null")
        assert await page.evaluate(LENGTH) < 60
        wait = page.locator("#stretches .wait")
        assert float(await wait.get_attribute("data-end")) - float(await wait.get_attribute("data-place")) == 5.0
        since = [float(url.split("since=")[1].split("&")[0]) for url in asked]
        assert min(since) >= began - 1, "no other run's tokens from before"
        kinds = [url.split("kind=")[1].split("&")[0] for url in asked]
        assert kinds == ["run%2Cmark"], "and none of another run at the same time"
        slider = page.get_by_role("slider")
        await slider.focus()
        await page.keyboard.press("Home")
        await until(page, f"{PLACE} === 2")
        last = await page.evaluate("document.querySelector('.scrubber [data-strip]').strip.shown[0].chart.scales.x.max")
        assert last < 60, "the chart has the same axis"


async def test_idle_sampling_is_joined_and_a_time_without_samples_is_a_gap(page, shown):
    """One sample in ten seconds is one level and not bars; half a minute without any is left open and hatched."""
    begin = int(time.time()) - 120
    times = list(range(begin, begin + 121))
    looked = {*range(begin, begin + 31, 10), *range(begin + 60, begin + 121, 10)}
    rates = dict.fromkeys(looked, 0.0) | {begin: 40.0}

    async def answer(route):
        series = [gpu_series(times, looked), role_series(times, rates)]
        said = {"since": "", "until": "", "step": 1.0, "times": times, "series": series, "marks": []}
        await route.fulfill(body=json.dumps(said), content_type="application/json")

    await page.route("**/api/v1/samples?*", answer)
    await page.goto(f"{shown.url}/ops")
    memory = "document.querySelector('[data-strip]').strip.panels[1]"
    await until(page, f"{memory}.columns[0]?.values.length === 121")
    bars = await page.evaluate(
        f"{memory}.columns[0].values.map((one) => (one === null ? ' ' : '#')).join('').trim().split(/ +/).length"
    )
    assert bars == 2, "before the gap and after it"
    assert await page.evaluate(f"{memory}.gaps") == [[begin + 31, begin + 60]]
    tokens = await page.evaluate("document.querySelector('[data-strip]').strip.panels[0].columns[1].values")
    assert tokens[:12] == [40, 40, 40, 40, 0, 0, 0, 0, 0, 0, 0, 0], "an idle machine generates nothing"


async def test_a_chart_opens_large_by_keyboard_is_zoomed_and_taken_along(page, shown):
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}")
    await until(page, "document.querySelector('.scrubber canvas') !== null")
    await until(page, "document.querySelector('.scrubber [data-strip]').strip.data.series.length > 2")
    opener = page.get_by_role("button", name="Open the chart of Tokens large")
    await opener.focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("heading")).to_have_text("Tokens: tokens per second of this run")
    await expect(dialog.locator(".strip-sources")).to_contain_text("simulated")
    whole = await dialog.locator(".strip-told").inner_text()
    await dialog.get_by_role("button", name="Zoom in").press("Enter")
    await expect(dialog.locator(".strip-told")).not_to_have_text(whole)
    async with page.expect_download() as told:
        await dialog.get_by_role("button", name="Save as CSV").press("Enter")
    saved = await told.value
    head, first, *_ = csv.reader((await saved.path()).read_text().splitlines())
    assert saved.suggested_filename.startswith("temper-tokens-")
    assert head[0] == "time (UTC)"
    assert len(first) == len(head) > 3
    async with page.expect_download() as told:
        await dialog.get_by_role("button", name="Save as PNG").press("Enter")
    assert (await (await told.value).path()).read_bytes().startswith(b"\x89PNG")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(opener).to_be_focused()
