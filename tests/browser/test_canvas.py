"""The mission page's layout at several sizes: nothing overlaps, nothing is cut off, and the room is used."""

import json
import os
import signal

import pytest
from playwright.async_api import expect

from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.browser.conftest import simulator_of
from tests.browser.layout import CLIPPED, CONTROLS_HIDDEN, EMPTY_SHARE, IN_SIGHT, NO_WIDER, OVERLAPS, WHOLE
from tests.served import served

SIZES = (*((1440, 900), (1920, 1080), (2560, 1440), (1100, 800), (1100, 700)), *((1000, 900), (768, 1024), (390, 844)))
COLUMNS = {768: 1, 1000: 1, 1100: 2, 1440: 2, 1920: 3, 2560: 4}
"""Panes beside each other, by width."""
MOMENTS = {
    "planned": ("plan", 0),
    "proposed": ("action.proposed", 0),
    "alarm": ("sentry.alarm", 0),
    "undone": ("action.rolled_back", 1),
    "second attempt": ("attempt.started", 3),
}
"""Seqs of the toured run: the kind of event, and how many events after it."""
IN_VIEW = ".stamp, .fault h2, .fault button, .shared .serving, .feed li:first-child, .approve .answering"
"""What a person looks for first: a window that shows its pane shows all of it."""
ONE_SCREEN = ((1440, 900), (1920, 1080), (2560, 1440))
ROOM_BETWEEN = """([one, other]) => {
  const [from, to] = [one, other].map((name) => document.querySelector(name).getBoundingClientRect());
  return Math.max(to.left - from.right, from.left - to.right, to.top - from.bottom, from.top - to.bottom);
}"""
CELL_WIDTHS = "[...document.querySelectorAll('#ribbon .cell')].map((one) => one.getBoundingClientRect().width)"
BESIDE = """() => new Set([...document.querySelectorAll(".talk, .evid, .machine, .happened")]
  .filter((one) => one.checkVisibility()).map((one) => Math.round(one.getBoundingClientRect().left))).size"""
PROJECTED = """() => [".talk", ".shared .serving"].every((one) => document.querySelector(one).checkVisibility())
  && ![".happened", "#gpus", ".scrubber", ".extras"].some((one) => document.querySelector(one).checkVisibility())"""
ANSWER = {
    "candidate": 0,
    "approach": 'Say "no" to <b>root</b> \\ and é',
    "paths": ["/etc/ssh/sshd_config"],
    "steps": ["Set PermitRootLogin to no", "Reload sshd"],
    "actions": [{"do": "replace_line", "path": "/etc/x", "old": "yes", "new": "<img src=x onerror=window.owned=1>"}],
    "risk": "None.",
}
GROW = """async (text) => {
  const body = document.querySelector(".lane .body[data-staged]"), { turn } = body.dataset, shown = [];
  for (const token of text) {
    const data = JSON.stringify({ turn, role: "architect", channel: "answer", text: token });
    dispatchEvent(new CustomEvent("token", { detail: { data } }));
  }
  await new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(ready)));
  return body.querySelector(".fields").innerText;
}"""


def find_seq(shown, kind, after):
    store = EventStore(open_and_migrate_database(shown.data / "temper.sqlite"))
    return next(iter(store.read_events(shown.runs()[0], kinds=[kind]))).seq + after


@pytest.mark.parametrize("moment", MOMENTS)
async def test_no_text_lies_over_other_text_and_the_room_is_used(browser, shown, moment):
    # Without motion: while the stamp falls into its place it is larger than its pane.
    opened = await browser.new_page(color_scheme="dark", reduced_motion="reduce")
    await opened.context.add_cookies([{"name": "temper-intro", "value": "closed", "url": shown.url}])
    await opened.goto(f"{shown.url}/runs/{shown.runs()[0]}?at={find_seq(shown, *MOMENTS[moment])}")
    await opened.evaluate("document.fonts.ready")
    for width, height in SIZES:
        await opened.set_viewport_size({"width": width, "height": height})
        for scheme in ("dark", "light") if width in (1440, 390) else ("dark",):
            await opened.emulate_media(color_scheme=scheme)
            assert await opened.evaluate(OVERLAPS) == [], (width, scheme)
            assert await opened.evaluate(NO_WIDER), width
        assert await opened.evaluate(CLIPPED) == [], (width, height)
        if (width, height) in ONE_SCREEN:
            assert await opened.evaluate(WHOLE, IN_VIEW) == [], width
        if width in COLUMNS:
            assert await opened.evaluate(BESIDE) == COLUMNS[width], width
        if width >= 1440:
            assert await opened.evaluate(EMPTY_SHARE) < 0.1, width


async def test_the_start_and_the_end_overlap_nowhere_and_a_first_visitor_is_told_what_this_is(browser, shown):
    opened = await browser.new_page()
    for at in ("", "?at=1", "?at=5"):
        await opened.goto(f"{shown.url}/runs/{shown.runs()[0]}{at}")
        for width, height in SIZES:
            await opened.set_viewport_size({"width": width, "height": height})
            assert await opened.evaluate(OVERLAPS) == [], (at, width)
            assert await opened.evaluate(NO_WIDER), (at, width)
            assert await opened.evaluate(CLIPPED) == [], (at, width, height)


async def test_a_fault_cuts_nothing_off_with_the_introduction_open_or_closed(page, tmp_path):
    with served(tmp_path, "--speed", "2", command="demo") as server:
        await page.goto(server.url)
        await expect(page.locator("#feed li").nth(8)).to_be_visible()
        simulator = simulator_of(server)
        os.kill(simulator, signal.SIGSTOP)
        try:
            for intro in ("open", "closed"):
                await page.context.add_cookies([{"name": "temper-intro", "value": intro, "url": server.url}])
                await page.goto(server.url)
                await expect(page.locator(".fault.stops .acts")).to_be_visible()
                await expect(page.locator(".shared .serving.down")).to_be_visible()
                for width, height in SIZES:
                    await page.set_viewport_size({"width": width, "height": height})
                    assert await page.evaluate(CLIPPED) == [], (intro, width, height)
                    assert await page.evaluate(OVERLAPS) == [], (intro, width)
                    assert await page.evaluate(NO_WIDER), (intro, width)
                    if (width, height) in ONE_SCREEN:
                        assert await page.evaluate(WHOLE, IN_VIEW) == [], (intro, width)
        finally:
            os.kill(simulator, signal.SIGCONT)


async def test_cells_of_the_ribbon_are_alike_and_stop_stands_apart(browser, tmp_path):
    opened = await browser.new_page()
    with served(tmp_path, "--speed", "1", command="demo") as server:
        await opened.goto(server.url)
        await expect(opened.locator("#ribbon .cell").nth(29)).to_be_visible()
        for width, height in SIZES:
            await opened.set_viewport_size({"width": width, "height": height})
            widths = await opened.evaluate(CELL_WIDTHS)
            assert max(widths) < 1.1 * min(widths), width
            if width > 700:  # on a phone the buttons lie at the bottom of the window
                assert await opened.evaluate(ROOM_BETWEEN, ["#stop-run", "#progress"]) >= 4, width


BAR = ".scrubber :is(.steps > *, .strip-head button, .enlarge, .rail input, label, .jump)"
PAGE = f".top a, .top summary, .extras summary, .item a, .controls button, #ribbon .cell, {BAR}"


@pytest.mark.parametrize("at", ["", "?t=3"])
async def test_the_bar_of_time_can_be_used_at_every_width(page, shown, at):
    """Between a phone and a wide window it has less room than it wants: nothing may stick out or lie over the other."""
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}{at}")
    await page.locator(".scrubber canvas:visible").wait_for()
    for width in (701, 800, 900, 1000, 1100, 1200, 1300, 1440):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate(NO_WIDER), width
        assert await page.evaluate(CONTROLS_HIDDEN, BAR) == [], width
        assert await page.evaluate(OVERLAPS) == [], width
        key = page.locator(".scrubber .keys-of .key:visible")
        assert await key.count() == 4, width
        assert await key.last.evaluate(IN_SIGHT), width


async def test_at_a_zoom_of_200_percent_every_control_of_the_page_stays_in_reach(page, shown):
    """A window of 1440 by 900 has 720 by 450 pixels then."""
    await page.set_viewport_size({"width": 720, "height": 450})
    for at in ("", "?t=3"):
        await page.goto(f"{shown.url}/runs/{shown.runs()[0]}{at}")
        await page.locator(".scrubber canvas:visible").wait_for()
        assert await page.evaluate(NO_WIDER), at
        assert await page.evaluate(CONTROLS_HIDDEN, PAGE) == [], at
        assert await page.evaluate(OVERLAPS) == [], at


async def test_the_decision_is_in_sight_at_every_size(browser, tmp_path):
    opened = await browser.new_page(viewport={"width": 1440, "height": 900})
    with served(tmp_path, "--speed", "0") as server:
        order = {"host": "fixture", "rules": ["V-258227"], "mode": "review"}
        made = await opened.request.post(f"{server.url}/api/v1/runs", data=order)
        await opened.goto(f"{server.url}/runs/{(await made.json())['id']}")
        approve = opened.get_by_role("button", name="Approve")
        await approve.wait_for()
        for width, height in SIZES:
            await opened.set_viewport_size({"width": width, "height": height})
            for name in ("Approve", "Refuse"):
                button = opened.get_by_role("button", name=name)
                if width < 1100:
                    await opened.locator(".approve").evaluate("(one) => one.scrollIntoView()")
                assert await button.evaluate(IN_SIGHT), (width, name)
            assert await opened.evaluate(OVERLAPS) == [], width
            assert await opened.evaluate(CLIPPED) == [], (width, height)


async def test_an_answer_is_shown_as_what_it_means_while_it_is_written(page, shown):
    run, at = shown.runs()[0], find_seq(shown, "turn.started", 0)
    await page.goto(f"{shown.url}/runs/{run}?at={at}")
    whole = json.dumps(ANSWER)
    half = await page.evaluate(GROW, whole[: whole.index("Reload")])
    assert half.split("\n")[0].startswith('Say "no" to <b>root</b> \\ and é')
    assert "Set PermitRootLogin to no" in half
    assert "{" not in half
    assert "candidate" not in half
    shown_all = await page.evaluate(GROW, whole[whole.index("Reload") :])
    assert "Reload sshd" in shown_all
    assert "Risk None." in shown_all
    assert "<img src=x onerror=window.owned=1>" in shown_all
    assert await page.evaluate("window.owned") is None
    assert not await page.locator(".body[data-staged] .answer").is_visible()
    await page.get_by_text("Show raw answer").click()
    assert json.loads(await page.locator(".body[data-staged] .answer").inner_text()) == ANSWER


@pytest.mark.parametrize(
    "text", ["[" * 5000, '{"a":' * 2000, '{"a": }, ]', '{"steps":[{"x', "not json", '{"note":"\\u12']
)
async def test_an_answer_that_is_no_json_harms_nothing(page, shown, text):
    run, at = shown.runs()[0], find_seq(shown, "turn.started", 0)
    await page.goto(f"{shown.url}/runs/{run}?at={at}")
    await page.evaluate(GROW, text)
    assert await page.locator(".body[data-staged] .answer").text_content() == text


async def test_a_projector_shows_the_transcript_and_the_label_at_twice_the_size(page, shown):
    address = f"{shown.url}/runs/{shown.runs()[0]}?at={find_seq(shown, 'plan', 1)}"
    await page.goto(address)
    size = "parseFloat(getComputedStyle(document.querySelector('.talk')).fontSize)"
    before = await page.evaluate(size)
    await page.keyboard.press("t")
    await page.wait_for_selector("html.theatre", state="attached")
    assert await page.evaluate(PROJECTED)
    assert await page.evaluate(size) >= 1.9 * before
    assert await page.evaluate(OVERLAPS) == []


async def test_a_number_says_where_it_comes_from_on_focus(page, shown):
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}?at={find_seq(shown, 'plan', 1)}")
    await page.locator("#meter-gemma-31b .num").focus()
    await page.locator(".note", has_text="vllm:generation_tokens_total").wait_for()


async def test_print_is_the_transcript_from_top_to_bottom(page, shown):
    await page.goto(f"{shown.url}/runs/{shown.runs()[0]}?at={find_seq(shown, 'sentry.alarm', 0)}")
    await page.emulate_media(media="print")
    assert await page.locator("#lane-architect .lead").last.is_visible()
    assert await page.locator("#lane-worker .diff").first.is_visible()
    assert not await page.locator(".scrubber").is_visible()
    assert await page.evaluate("getComputedStyle(document.body).overflow") == "visible"
    assert await page.evaluate(OVERLAPS) == []
