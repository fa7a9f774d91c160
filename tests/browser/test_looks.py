"""Thirteen moments look as they did when they were last kept: five sizes, both schemes.

Every day each moment is compared at two of ten; with `--thorough` at all. `make looks` keeps new grids.
"""

import lzma
import os
import signal
import sqlite3
from contextlib import closing

import pytest
import pytest_asyncio
from playwright.async_api import expect

from app.events.record import GENESIS, hash_line, parse_line
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.browser.conftest import simulator_of
from tests.browser.looks import (
    DEJAVU,
    FONT,
    KEPT,
    MOST_CHANGED,
    SCHEMES,
    SIZES,
    draw_change,
    keep_grids,
    measure_change,
    read_kept,
    take_grid,
)
from tests.once import built_once
from tests.served import served

REPLAYED = {
    "planning": ("turn.started", 3, 3),
    "changing": ("action.proposed", 2, 0),
    "verifying": ("action.applied", 2, 4),
    "alarm": ("sentry.alarm", 0, 0),
    "undone": ("action.rolled_back", 0, 1),
    "escalated": ("item.escalated", 0, 0),
}
"""Moments of the kept log: the kind of event, which of them, and how many events after it."""
KEEPING = "TEMPER_KEEP_LOOKS" in os.environ
ALL_LOOKS = [(width, height, scheme) for width, height in SIZES for scheme in SCHEMES]
CARDS = (".now", ".item", ".lanes", ".machine", ".happened", "#lane-worker > .turn")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """A server that shows the kept log of a run."""

    def build(folder):
        (folder / "data").mkdir()
        database, log, previous = open_and_migrate_database(folder / "data" / "temper.sqlite"), [], GENESIS
        for line in lzma.decompress((KEPT / "run.jsonl.xz").read_bytes()).splitlines():
            previous = hash_line(previous, line)
            log.append(parse_line(line, previous))
        EventStore(database).append(log)
        database.dispose()

    data = built_once(tmp_path_factory, "recorded", build) / "data"
    with served(data, "--speed", "0", "--no-run", command="demo") as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def looked(browser, request):
    """A function that compares an open page with its kept grids, and the page."""
    context = await browser.new_context(reduced_motion="reduce", timezone_id="UTC", locale="en-US")
    page, bench = await context.new_page(), await context.new_page()
    assert await bench.evaluate(FONT) == DEJAVU, "the grids were made with DejaVu: apt-get install fonts-dejavu-core"

    async def compare(moment, besides=""):
        kept, grids = read_kept(moment), {}
        for width, height, scheme in ALL_LOOKS if KEEPING or request.config.getoption("thorough") else pick_two(moment):
            await page.set_viewport_size({"width": width, "height": height})
            await page.emulate_media(color_scheme=scheme)
            grids[f"{width}x{height} {scheme}"] = await take_grid(page, bench, besides)
        if KEEPING:
            keep_grids(moment, grids)
            return
        for title, seen in grids.items():
            change = measure_change(kept[title], seen)
            print(f"{moment} {title}: {change:.3f}")
            assert change <= MOST_CHANGED, f"{moment} {title}: {change:.1%}\n{draw_change(kept[title], seen)}"

    yield page, compare


def pick_two(moment):
    """Return two looks of a moment, of which the second is another one for other moments."""
    return [(1440, 900, "dark"), (*SIZES[1 + sum(moment.encode()) % 4], "light")]


async def open_quietly(page, address, url):
    """Open a page for somebody who has closed the introduction."""
    await page.context.add_cookies([{"name": "temper-intro", "value": "closed", "url": url}])
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto(f"{url}{address}")


def find_moment(server, moment):
    kind, which, after = REPLAYED[moment]
    run = server.runs()[0]
    with closing(sqlite3.connect(f"file:{server.data / 'temper.sqlite'}?mode=ro", uri=True)) as database:
        query = "select seq from event where run = ? and kind = ? order by seq limit 1 offset ?"
        return f"/runs/{run}?at={database.execute(query, (run, kind, which)).fetchone()[0] + after}"


@pytest.mark.parametrize("moment", REPLAYED)
async def test_a_moment_of_a_run_looks_as_before(looked, recorded, moment):
    page, compare = looked
    await open_quietly(page, find_moment(recorded, moment), recorded.url)
    await page.locator(".scrubber canvas:visible").wait_for()
    await expect(page.locator(".machine .engine").first).to_contain_text("tok/s now")
    await compare(moment)


@pytest.mark.parametrize(("moment", "address"), [("end", "/runs/{run}"), ("inbox", "/inbox"), ("operator", "/ops")])
async def test_a_page_after_the_run_looks_as_before(looked, recorded, moment, address):
    page, compare = looked
    await open_quietly(page, address.format(run=recorded.runs()[0]), recorded.url)
    if moment != "inbox":
        await page.locator("canvas:visible").first.wait_for()
        await expect(page.locator("#gpus")).to_contain_text("GiB")
    await compare(moment)


async def test_an_approval_and_faults_look_as_before(looked, tmp_path):
    page, compare = looked
    with served(tmp_path, "--speed", "0") as server:
        await open_quietly(page, "/", server.url)
        await compare("idle")
        order = {"host": "fixture", "rules": ["V-258227", "V-257985"], "mode": "review"}
        made = await page.request.post(f"{server.url}/api/v1/runs", data=order)
        await open_quietly(page, f"/runs/{(await made.json())['id']}", server.url)
        await page.get_by_role("button", name="Approve").wait_for()
        await expect(page.locator("#gpus")).to_contain_text("GiB")
        await compare("approval")
        simulator = simulator_of(server)
        os.kill(simulator, signal.SIGSTOP)
        try:
            await expect(page.locator(".fault.stops h2")).to_contain_text("3 engines stopped answering")
            await expect(page.locator("#gpus")).to_contain_text("no figures")
            await compare("engines-down")
        finally:
            os.kill(simulator, signal.SIGCONT)
        await expect(page.locator("#liveness")).to_have_text("LIVE")
        await expect(page.locator("#gpus")).to_contain_text("GiB")
        with closing(sqlite3.connect(server.data / "temper.sqlite")) as database:
            database.execute("begin immediate")
            await expect(page.locator(".fault.stops h2")).to_contain_text("cannot write its log")
            await compare("log-blocked")


async def test_a_card_that_lies_over_another_is_found(looked, recorded):
    """Each is moved by 40 pixels, as an overlap moves it. Unmoved, the page passes between two of them."""
    page, compare = looked
    await open_quietly(page, find_moment(recorded, "changing"), recorded.url)
    await page.locator(".scrubber canvas:visible").wait_for()
    await expect(page.locator(".machine .engine").first).to_contain_text("tok/s now")
    await compare("changing")
    for card in CARDS:
        with pytest.raises(AssertionError, match="changing"):
            await compare("changing", f"{card} {{ translate: 0 40px; }}")
    await compare("changing")
